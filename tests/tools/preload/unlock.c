/*
 * unlock - for LD_PRELOAD: who gives up the lock for changes is without a processor for a second.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int result = (int)syscall(SYS_fcntl, fd, command, argument);
    const struct flock *lock = argument;
    struct timespec second = {1, 0};
    if (command == F_OFD_SETLK && lock->l_type == F_UNLCK && lock->l_start == INT64_C(1) << 62)
        (void)nanosleep(&second, NULL);
    return result;
}

int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));
