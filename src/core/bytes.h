/* bytes - eight of them at once, as a number; and how often one is among many. */
#ifndef UNSEEN_CORE_BYTES_H
#define UNSEEN_CORE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The byte, eight times. */
static inline uint64_t eight_bytes(uint8_t byte)
{
    return byte * UINT64_C(0x0101010101010101);
}

/* Which of 8 bytes are zero: the high bit of each that is (Mycroft; this form has no false hits
 * above a true one, since nothing is carried from byte to byte). */
static inline uint64_t zero_bytes(uint64_t x)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return ~(((x & low) + low) | x | low);
}

static inline uint64_t count_byte(const char *bytes, size_t length, char byte)
{
    uint64_t count = 0;
    const char *end = bytes + length;
    for (const char *at = bytes; (at = memchr(at, byte, (size_t)(end - at))) != NULL; at++)
        count++;
    return count;
}

#endif
