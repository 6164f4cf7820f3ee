/* look_list - the versions there are, and what they share; for look.c and the files of each. */
#ifndef UNSEEN_KEY_LOOK_LIST_H
#define UNSEEN_KEY_LOOK_LIST_H

#include "core/cpu.h"
#include "core/little.h"
#include "key/ascii.h"
#include "key/look.h"
#include "key/url.h"

extern const struct look look_plain;
#if defined(__x86_64__)
extern const struct look look_avx2;
extern const struct look look_avx512;
#endif
#if defined(CPU_HAS_NEON)
extern const struct look look_neon;
#endif

/* Bytes of http:// or https:// at the beginning of a line; 0 if it has neither, or is too long. No
 * branch on which it is. */
static inline size_t look_scheme(struct span line)
{
    const uint8_t *at = (const uint8_t *)line.bytes;
    if (line.length < 8 || line.length > URL_MAX || load32(at) != 0x70747468)
        return 0;
    size_t secure = at[4] == 's';
    return load32(at + 3 + secure) >> 8 == 0x2f2f3a ? 7 + secure : 0;
}

/* Is the % at `at` one that stays? */
static inline bool look_escape(const char *at, const char *end)
{
    if (end - at < 3 || !ascii_is_upper_hex(at[1]) || !ascii_is_upper_hex(at[2]))
        return false;
    return !ascii_is_unreserved(
        (unsigned char)(ascii_hex_value(at[1]) << 4 | ascii_hex_value(at[2])));
}

/* What look_escapes of look_body.h says, one by one. */
static inline bool look_each(const char *at, uint64_t second)
{
    for (; second != 0; second &= second - 1) {
        const char *digit = at + __builtin_ctzll(second);
        if (!look_escape(digit - 2, digit + 1))
            return false;
    }
    return true;
}

/* Line i of a batch. */
static inline struct span look_line_of(const char *bytes, const size_t *starts, size_t i)
{
    return (struct span){bytes + starts[i], starts[i + 1] - 1 - starts[i]};
}

#endif
