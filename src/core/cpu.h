/* cpu - the vector instructions of the processor that the program runs on. */
#ifndef UNSEEN_CORE_CPU_H
#define UNSEEN_CORE_CPU_H

#include <stdbool.h>

/* False on processors other than x86. */
bool cpu_has_avx2(void);   /* with BMI2 */
bool cpu_has_avx512(void); /* F, BW, DQ and VL */

/* Every 64-bit Arm has vectors. The kernel needs lanes in the order of the bytes in memory, which
 * little-endian machines have. */
#if defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CPU_HAS_NEON
#endif

#endif
