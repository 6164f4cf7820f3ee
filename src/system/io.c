#include "system/io.h"

#include "system/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>
#ifndef FALLOC_FL_ZERO_RANGE /* musl's <fcntl.h> lacks it */
#define FALLOC_FL_ZERO_RANGE 0x10
#endif

size_t io_write(int fd, const void *bytes, size_t length, bool to_the_end)
{
    const char *from = bytes;
    size_t done = 0;
    while (done < length) {
        if (!to_the_end && signals_arrived()) {
            errno = EINTR;
            break;
        }
        ssize_t n = write(fd, from + done, length - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno == EAGAIN || errno == EWOULDBLOCK ? signals_wait(fd, POLLOUT, -1) < 0
                                                         : errno != EINTR)
            break;
    }
    return done;
}

size_t io_write_at(int fd, const void *bytes, size_t length, uint64_t at)
{
    const char *from = bytes;
    size_t done = 0;
    while (done < length) {
        ssize_t n = pwrite(fd, from + done, length - done, (off_t)(at + done));
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            break;
    }
    return done;
}

void io_read_ahead(int fd, uint64_t at, uint64_t bytes)
{
    /* Of more, a call may read no more than this. Its pages are single ones, unlike those that a
     * read or a page fault reads ahead. */
    enum { ONCE = 128 << 10 };
    for (uint64_t done = 0; done < bytes; done += ONCE)
        (void)posix_fadvise(fd, (off_t)(at + done),
                            (off_t)(bytes - done < ONCE ? bytes - done : ONCE),
                            POSIX_FADV_WILLNEED);
}

size_t io_read_at(int fd, void *bytes, size_t length, uint64_t at)
{
    char *to = bytes;
    size_t done = 0;
    while (done < length) {
        ssize_t n = pread(fd, to + done, length - done, (off_t)(at + done));
        if (n == 0)
            errno = 0;
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    return done;
}

void io_read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    text[fd < 0 ? 0 : io_read_at(fd, text, size - 1, 0)] = '\0';
    if (fd >= 0)
        close(fd);
}

int io_allocate(int fd, uint64_t at, uint64_t bytes)
{
    int error;
    do
        error = posix_fallocate(fd, (off_t)at, (off_t)bytes);
    while (error == EINTR && !signals_arrived());
    errno = error;
    return error == 0 ? 0 : -1;
}

int io_change(int fd, enum io_change change, uint64_t at, uint64_t bytes)
{
    static const int how[] = {
        [IO_RESERVE] = 0, [IO_FREE] = FALLOC_FL_PUNCH_HOLE, [IO_ZERO] = FALLOC_FL_ZERO_RANGE};
    int result;
    do
        result = fallocate(fd, how[change] | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
    while (result != 0 && errno == EINTR && !signals_arrived());
    return result;
}
