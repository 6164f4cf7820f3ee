/* bytes - eight of them at once, as a number. */
#ifndef UNSEEN_CORE_BYTES_H
#define UNSEEN_CORE_BYTES_H

#include <stdint.h>

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

#endif
