/* kernel - the choice between the versions, and the plain one; see kernel.h. */
#include "core/kernel.h"

#include <features.h> /* __GLIBC__ */

/* glibc has queried the processor already. The compiler's own __builtin_cpu_supports queries it
 * again with half a dozen CPUID instructions. Under a hypervisor each of these leaves the virtual
 * machine: 50 us in all, a twentieth of a run of one line. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_include)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
/* Like glibc's CPU_FEATURE_ACTIVE, which shifts a signed 1 by 31. */
#define ACTIVE(n)                                                                                  \
    (__x86_get_cpuid_feature_leaf((n) / 128)->active_array[(n) / 32 % 4] >> (n) % 32 & 1)
#define CPU_HAS(upper, lower) ACTIVE(x86_cpu_##upper)
#endif
#endif
#ifndef CPU_HAS
#define CPU_HAS(upper, lower) __builtin_cpu_supports(lower)
#endif

size_t kernel_all(const struct kernel *kernels[KERNELS_MAX])
{
    size_t n = 0;
    kernels[n++] = &kernel_plain;
#if defined(__x86_64__)
    if (CPU_HAS(AVX2, "avx2") && CPU_HAS(BMI2, "bmi2") && CPU_HAS(PCLMULQDQ, "pclmul"))
        kernels[n++] = &kernel_avx2;
    if (CPU_HAS(AVX512BW, "avx512bw") && CPU_HAS(AVX512DQ, "avx512dq") &&
        CPU_HAS(AVX512VL, "avx512vl") && CPU_HAS(PCLMULQDQ, "pclmul"))
        kernels[n++] = &kernel_avx512;
#endif
#if defined(CPU_HAS_NEON)
    kernels[n++] = &kernel_neon;
#endif
    return n;
}

const struct kernel *kernel_best(void)
{
    const struct kernel *kernels[KERNELS_MAX];
    unsigned n = kernel_all(kernels);
    return kernels[n - 1];
}

const struct kernel *kernel_for(struct geometry geometry)
{
    return geometry.counting ? &kernel_cells : kernel_best();
}

/* --- the loops in plain C, for every machine; all versions must give their results --- */

#define KERNEL_NAME "plain"
#define KERNEL_STRUCT kernel_plain
#define KERNEL_TARGET
#define BLOCK_HAS plain_block_has
#define BLOCK_ADD plain_block_add

static inline unsigned plain_block_has(unsigned fields, const uint8_t *block, uint64_t word)
{
    bool all = true;
    for (unsigned t = 0; t < fields; t++)
        all &= bit_test(block, geometry_field(word, t));
    return all;
}

static inline void plain_block_add(unsigned fields, uint8_t *block, uint64_t word)
{
    for (unsigned t = 0; t < fields; t++)
        bit_set(block, geometry_field(word, t));
}

#include "core/kernel_body.h"
