/*
 * sync - for LD_PRELOAD: a disk that takes a fifth of a second for each piece of a file, however small.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags)
{
    struct timespec fifth = {0, 200000000};
    (void)nanosleep(&fifth, NULL);
    return (int)syscall(SYS_sync_file_range, fd, offset, bytes, flags);
}
