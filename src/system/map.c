/* map - see map.h. */
#include "system/map.h"

#include "system/guard.h"

#include <sys/mman.h>
#include <unistd.h>

/* How far a number is behind the beginning of its page. */
static size_t behind(uint64_t number)
{
    return (size_t)(number & ((uint64_t)sysconf(_SC_PAGESIZE) - 1));
}

void *map_file(int fd, bool write, uint64_t offset, size_t bytes, const char *name)
{
    size_t before = behind(offset);
    int access = write ? PROT_READ | PROT_WRITE : PROT_READ;
    void *map = mmap(NULL, before + bytes, access, MAP_SHARED, fd, (off_t)(offset - before));
    if (map == MAP_FAILED)
        return NULL;
    guard_add(map, before + bytes, name);
    return (uint8_t *)map + before;
}

void map_drop(void *address, size_t bytes)
{
    size_t before = behind((uintptr_t)address);
    void *map = (uint8_t *)address - before;
    guard_remove(map);
    munmap(map, before + bytes);
}

void map_advise(void *address, size_t bytes, int advice)
{
    size_t before = behind((uintptr_t)address);
    madvise((uint8_t *)address - before, before + bytes, advice);
}
