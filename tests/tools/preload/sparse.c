/*
 * sparse - for LD_PRELOAD: files get their length, and no blocks. So a filter of terabytes can be made where
 * there is no room for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int lengthen(int fd, off_t end)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return errno;
    return status.st_size >= end || ftruncate(fd, end) == 0 ? 0 : errno;
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
    return lengthen(fd, offset + length);
}

int posix_fallocate64(int fd, off_t offset, off_t length)
{
    return lengthen(fd, offset + length);
}
