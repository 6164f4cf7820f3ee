/* kernel - the choice between the versions; see kernel.h. */
#include "core/cells.h"
#include "core/cpu.h"
#include "core/kernel_list.h"

size_t kernel_all(const struct kernel *kernels[KERNELS_MAX])
{
    size_t n = 0;
    kernels[n++] = &kernel_plain;
#if defined(__x86_64__)
    if (cpu_has_avx2())
        kernels[n++] = &kernel_avx2;
    if (cpu_has_avx512())
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

bool kernel_block_test(const uint8_t *block, uint64_t word, struct geometry geometry)
{
    if (geometry.counting)
        return cells_test(block, word, geometry.fields);
    /* Keys that are tested one at a time are mostly new, so the first bit usually decides. */
    for (unsigned t = 0; t < geometry.fields; t++)
        if (!bit_test(block, geometry_field(word, t)))
            return false;
    return true;
}

void kernel_block_set(uint8_t *block, uint64_t word, struct geometry geometry)
{
    if (geometry.counting)
        cells_raise(block, word, geometry.fields);
    else
        block_set(block, word, geometry.fields);
}
