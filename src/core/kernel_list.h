/* kernel_list - all versions, for kernel.c and the files that define them. */
#ifndef UNSEEN_CORE_KERNEL_LIST_H
#define UNSEEN_CORE_KERNEL_LIST_H

#include "core/cpu.h"
#include "core/kernel.h"

extern const struct kernel kernel_plain;
extern const struct kernel kernel_cells; /* for counting layers */
#if defined(__x86_64__)
extern const struct kernel kernel_avx2;
extern const struct kernel kernel_avx512;
#endif
#if defined(CPU_HAS_NEON)
extern const struct kernel kernel_neon;
#endif

#endif
