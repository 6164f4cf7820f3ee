/* look - the choice between the versions; see look.h. */
#include "key/look.h"

#include "core/cpu.h"
#include "key/look_list.h"

size_t look_all(const struct look *looks[LOOKS_MAX])
{
    size_t n = 0;
    looks[n++] = &look_plain;
#if defined(__x86_64__)
    if (cpu_has_avx2())
        looks[n++] = &look_avx2;
    if (cpu_has_avx512())
        looks[n++] = &look_avx512;
#endif
#if defined(CPU_HAS_NEON)
    looks[n++] = &look_neon;
#endif
    return n;
}

const struct look *look_best(void)
{
    const struct look *looks[LOOKS_MAX];
    size_t n = look_all(looks);
    return looks[n - 1];
}
