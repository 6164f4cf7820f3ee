/* kernel - the choice between the versions; see kernel.h. */
#include "core/kernel_list.h"

size_t kernel_all(const struct kernel *kernels[], size_t most)
{
    size_t n = 0;
    if (n < most)
        kernels[n++] = &kernel_plain;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (n < most && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        kernels[n++] = &kernel_avx2;
    if (n < most && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        kernels[n++] = &kernel_avx512;
#endif
    return n;
}

const struct kernel *kernel_best(void)
{
    const struct kernel *kernels[KERNELS_MAX];
    size_t n = kernel_all(kernels, KERNELS_MAX);
    return kernels[n - 1];
}
