/*
 * faults - a library to preload: calls that do less than they were asked, and memory that is short.
 *
 *     FAULT_SHORT=SEED      read, write, pread and pwrite move only a part of what they might
 *     FAULT_MALLOC=N        the N-th allocation fails, and only it
 *     FAULT_MALLOC_LOG=FILE gets "INJECTED" when that allocation was reached
 *
 * A short write to a pipe or file is legal at any time, so the output must not change. Counting
 * begins in the program, not in the loader, which allocates before this library is there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static uint64_t state;
static long allocations, failing;
static int log_fd = -1; /* opened before the program confines itself */

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("FAULT_SHORT");
    if (text != NULL)
        state = strtoull(text, NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    text = getenv("FAULT_MALLOC");
    if (text != NULL)
        failing = strtol(text, NULL, 10);
    text = getenv("FAULT_MALLOC_LOG");
    int fd = text != NULL ? open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 100);
        close(fd);
    }
}

/* Of `length` bytes that are asked for, how many are tried. */
static size_t some(size_t length)
{
    if (state == 0 || length < 2)
        return length;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    uint64_t random = state * UINT64_C(0x2545f4914f6cdd1d) >> 11;
    size_t most = random % 3 == 0 && length > 7 ? 7 : length;
    return random % 4 == 0 ? length : 1 + random / 4 % most;
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

ssize_t read(int fd, void *buffer, size_t length)
{
    static ssize_t (*real)(int, void *, size_t);
    if (real == NULL)
        *(void **)&real = next("read");
    return real(fd, buffer, some(length));
}

ssize_t write(int fd, const void *buffer, size_t length)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (real == NULL)
        *(void **)&real = next("write");
    return real(fd, buffer, some(length));
}

ssize_t pread(int fd, void *buffer, size_t length, off_t at)
{
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (real == NULL)
        *(void **)&real = next("pread");
    return real(fd, buffer, some(length), at);
}

ssize_t pwrite(int fd, const void *buffer, size_t length, off_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (real == NULL)
        *(void **)&real = next("pwrite");
    return real(fd, buffer, some(length), at);
}

/* With _FORTIFY_SOURCE these are called instead. */
ssize_t __read_chk(int fd, void *buffer, size_t length, size_t room);
ssize_t __read_chk(int fd, void *buffer, size_t length, size_t room)
{
    return read(fd, buffer, length < room ? length : room);
}

ssize_t __pread_chk(int fd, void *buffer, size_t length, off_t at, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t length, off_t at, size_t room)
{
    return pread(fd, buffer, length < room ? length : room, at);
}

/* glibc's own, so that dlsym(3), which allocates, is not needed here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static int fails(void)
{
    if (failing == 0 || ++allocations != failing)
        return 0;
    if (log_fd >= 0)
        (void)!write(log_fd, "INJECTED\n", 9);
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
