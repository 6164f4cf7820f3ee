#include "system/map.h"

#include "system/guard.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* How far a number lies past the beginning of its page. */
static size_t past(uint64_t number)
{
    return (size_t)(number & ((uint64_t)sysconf(_SC_PAGESIZE) - 1));
}

void *map_file(int fd, bool write, uint64_t offset, size_t bytes, const char *name,
               struct fault *fault)
{
    size_t before = past(offset);
    int access = write ? PROT_READ | PROT_WRITE : PROT_READ;
    void *map = mmap(NULL, before + bytes, access, MAP_SHARED, fd, (off_t)(offset - before));
    if (map == MAP_FAILED) {
        fault_errno(fault, name, "cannot be mapped", errno);
        return NULL;
    }
    guard_add(map, before + bytes, name);
    return (uint8_t *)map + before;
}

bool map_has_room(uint64_t bytes, const char *name, struct fault *fault)
{
    bool narrow = (size_t)bytes != bytes;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *map = narrow ? MAP_FAILED : mmap(NULL, (size_t)bytes, PROT_NONE, flags, -1, 0);
    if (map != MAP_FAILED) {
        munmap(map, (size_t)bytes);
        return true;
    }
    fault_set(fault, name, "does not fit into the address space");
    fault_way_out(fault, SIZE_MAX < UINT64_MAX ? "make it smaller, or use a 64-bit machine"
                                               : "make it smaller, or: ulimit -v unlimited");
    return false;
}

void map_drop(void *address, size_t bytes)
{
    size_t before = past((uintptr_t)address);
    void *map = (uint8_t *)address - before;
    guard_remove(map);
    munmap(map, before + bytes);
}

void map_advise(void *address, size_t bytes, int advice)
{
    size_t before = past((uintptr_t)address);
    madvise((uint8_t *)address - before, before + bytes, advice);
}

/* A page in a hole counts as a fault that reads, too, but without a wait: hence both counts. */
bool map_has_waited(struct map_waits *before)
{
    struct rusage usage;
    struct map_waits last = *before;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return false;
    *before = (struct map_waits){usage.ru_majflt, usage.ru_nvcsw};
    return before->faults != last.faults && before->sleeps != last.sleeps;
}
