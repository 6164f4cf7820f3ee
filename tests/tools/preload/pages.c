/*
 * pages - for LD_PRELOAD: a system whose pages are of 64 KB.
 *
 * sysconf(3) says so, and files are mapped, unmapped and advised on only from such a page on; memory
 * without a file too, of which the system here gives out smaller pages.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 65536 };

long sysconf(int name)
{
    /* What else the program asks for is how many processors and pages of memory there are. */
    if (name == _SC_PAGESIZE)
        return PAGE;
    return name == _SC_PHYS_PAGES ? 65536 : 2;
}

static int refuse(void)
{
    errno = EINVAL;
    return -1;
}

void *mmap(void *address, size_t length, int access, int flags, int fd, off_t offset)
{
    if (offset % PAGE != 0) {
        refuse();
        return MAP_FAILED;
    }
    if (fd < 0)
        return (void *)syscall(SYS_mmap, address, length, access, flags, fd, offset);
    /* To where such a page begins. */
    uint8_t *room = (uint8_t *)syscall(SYS_mmap, NULL, length + PAGE, PROT_NONE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint8_t *from = room + (PAGE - (uintptr_t)room % PAGE) % PAGE;
    return (void *)syscall(SYS_mmap, from, length, access, flags | MAP_FIXED, fd, offset);
}

/* The program's own name for it, since it is built with 64-bit offsets. */
void *mmap64(void *address, size_t length, int access, int flags, int fd, off_t offset)
{
    return mmap(address, length, access, flags, fd, offset);
}

int munmap(void *address, size_t length)
{
    if ((uintptr_t)address % PAGE != 0)
        return refuse();
    return (int)syscall(SYS_munmap, address, length);
}

int madvise(void *address, size_t length, int advice)
{
    if ((uintptr_t)address % PAGE != 0)
        return refuse();
    return (int)syscall(SYS_madvise, address, length, advice);
}
