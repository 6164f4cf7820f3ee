/* cpu - what the processor can do, for what is chosen when the program runs. */
#ifndef UNSEEN_CORE_CPU_H
#define UNSEEN_CORE_CPU_H

#include <stdbool.h>

/* Of x86; false on all others. */
bool cpu_has_avx2(void);   /* with BMI2 */
bool cpu_has_avx512(void); /* F, BW, DQ and VL: all that but the first of these processors had */

/* Every 64-bit Arm has vectors. Their lanes are numbered as bytes are only where words are
 * little-endian. */
#if defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CPU_HAS_NEON
#endif

#endif
