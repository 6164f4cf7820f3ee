/* kernel_bytes - the definitions for kernel_body.h that the versions without vectors share. */
#ifndef UNSEEN_CORE_KERNEL_BYTES_H
#define UNSEEN_CORE_KERNEL_BYTES_H

#include "core/bytes.h"

#include <stdint.h>

struct fields {
    unsigned count;
};

static inline struct fields fields_start(unsigned count)
{
    return (struct fields){count};
}

static inline uint64_t delimiter_mask(const char *bytes, char delimiter)
{
    uint64_t pattern = eight_bytes((uint8_t)delimiter);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t word = 0;
        /* Little-endian on every machine, so that byte i of the block gives bit i of the mask. */
        for (unsigned j = 0; j < 8; j++)
            word |= (uint64_t)(uint8_t)bytes[i * 8 + j] << (j * 8);
        uint64_t hits = zero_bytes(word ^ pattern) >> 7;
        /* The multiplication collects the bits 0, 8, .. 56 in the top byte. */
        mask |= (hits * UINT64_C(0x0102040810204080) >> 56) << (i * 8);
    }
    return mask;
}

#endif
