/* fold - a text in lower case, eight bytes at once: -i. */
#ifndef UNSEEN_KEY_FOLD_H
#define UNSEEN_KEY_FOLD_H

#include "core/bytes.h"
#include "key/span.h"

#include <string.h>

/* Writes a text in lower case to `out`, where it may already be, at its start or further on: it is
 * copied forward. */
static inline struct span ascii_fold(struct span text, char *out)
{
    size_t at = 0;
    for (; text.length - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, text.bytes + at, sizeof word);
        /* The high bit of each byte that is A-Z: adding 0x80 - 'A' to it gives 0x80 or more, adding
         * 0x7f - 'Z' does not. */
        uint64_t low = word & eight_bytes(0x7f);
        uint64_t from_a = low + eight_bytes(0x80 - 'A'), after_z = low + eight_bytes(0x7f - 'Z');
        word |= (from_a & ~after_z & ~word & eight_bytes(0x80)) >> 2;
        memcpy(out + at, &word, sizeof word);
    }
    for (; at < text.length; at++)
        out[at] = ascii_lower(text.bytes[at]);
    return (struct span){out, text.length};
}

#endif
