/* kernel_list - all versions, for kernel.c and the files that define them. */
#ifndef UNSEEN_CORE_KERNEL_LIST_H
#define UNSEEN_CORE_KERNEL_LIST_H

#include "core/kernel.h"

extern const struct kernel kernel_plain;
extern const struct kernel kernel_cells; /* for counting layers */
#if defined(__x86_64__)
extern const struct kernel kernel_avx2;
extern const struct kernel kernel_avx512;
#endif
/* Every 64-bit Arm has vectors. The kernel needs lanes in the order of the bytes in memory, which
 * little-endian machines have. */
#if defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CPU_HAS_NEON
extern const struct kernel kernel_neon;
#endif

#endif
