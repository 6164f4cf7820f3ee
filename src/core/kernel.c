/* kernel - the choice between the versions; see kernel.h. */
#include "core/cells.h"
#include "core/kernel_list.h"

/* What the processor can do. The C library has asked it already. To ask again, as the compiler's
 * own __builtin_cpu_supports does, takes half a dozen CPUID instructions, and under a hypervisor
 * each of them is a trip out of the machine: 20 us, of a run of one line a tenth. */
#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
/* CPU_FEATURE_ACTIVE, without its shift of a signed 1 by 31. */
static int cpu_is_active(unsigned number)
{
    const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(number / (8 * 4 * 4));
    return leaf->active_array[number / 32 % 4] >> (number % 32) & 1;
}
#define CPU_HAS(upper, lower) cpu_is_active(x86_cpu_##upper)
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
    if (CPU_HAS(AVX2, "avx2") && CPU_HAS(BMI2, "bmi2"))
        kernels[n++] = &kernel_avx2;
    if (CPU_HAS(AVX512BW, "avx512bw") && CPU_HAS(AVX512DQ, "avx512dq") &&
        CPU_HAS(AVX512VL, "avx512vl"))
        kernels[n++] = &kernel_avx512;
#endif
#if defined(KERNEL_HAS_NEON)
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

bool kernel_line_test(const uint8_t *line, uint64_t word, struct geometry geometry)
{
    return geometry.counting ? cells_test(line, word, geometry.fields)
                             : line_test(line, word, geometry.fields);
}

void kernel_line_set(uint8_t *line, uint64_t word, struct geometry geometry)
{
    if (geometry.counting)
        cells_raise(line, word, geometry.fields);
    else
        line_set(line, word, geometry.fields);
}
