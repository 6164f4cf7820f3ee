#include "system/heap.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void heap_start(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
#endif
}
