/*
 * landlock - for LD_PRELOAD: at its end the process tries what it should no longer be able to do.
 *
 * It tells on descriptor 9, in one line, what it could: in the directory OUTSIDE, which has the files
 * `one` and `two`, and in the working directory, which has them, too:
 *
 *     outside=rwmd here=r tcp kill gains
 *
 * r to read a file, w to write into one, m to make one, d to remove one; tcp to connect, kill to
 * signal its parent, gains to get rights from a set-user-ID program.
 *
 * The kernel has another Landlock if FAKE_LANDLOCK says so: "N" is at most version N; "CALL ERROR" is
 * that errno for one call, 0 for the question which version there is, 1 to begin, 2 for a rule, 3 to
 * confine.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

typedef long system_call(long number, ...);

enum { CREATE = 444 };

long syscall(long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    void *first = va_arg(arguments, void *);
    intptr_t second = va_arg(arguments, intptr_t);
    void *third = va_arg(arguments, void *);
    long fourth = va_arg(arguments, long);
    va_end(arguments);
    system_call *real;
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    const char *fake = getenv("FAKE_LANDLOCK");
    long call = number - CREATE + (number != CREATE || first != NULL), which, error;
    int said = fake != NULL ? sscanf(fake, "%ld %ld", &which, &error) : 0;
    if (said == 2 && call == which) {
        errno = (int)error;
        return -1;
    }
    long result = real(number, first, second, third, fourth);
    return said == 1 && call == 0 && result > which ? which : result;
}

static void try_file(const char *directory, const char *name, int flags, char what)
{
    char path[4096], done[2] = {what, '\0'};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = what == 'd' ? unlink(path) : open(path, flags | O_CLOEXEC, 0600);
    if (fd >= 0)
        (void)!write(9, done, 1);
    if (fd > 0)
        close(fd);
}

static void try_directory(const char *called, const char *directory)
{
    (void)!write(9, called, strlen(called));
    try_file(directory, "one", O_RDONLY, 'r');
    try_file(directory, "one", O_WRONLY, 'w');
    try_file(directory, "made", O_WRONLY | O_CREAT | O_EXCL, 'm');
    try_file(directory, "two", 0, 'd');
}

/* Nobody listens: it is refused, by the other end or by the kernel. */
static int connects(void)
{
    struct sockaddr_in nowhere = {.sin_family = AF_INET, .sin_port = htons(1)};
    nowhere.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(fd, (struct sockaddr *)&nowhere, sizeof nowhere) == 0 || errno != EACCES;
}

__attribute__((destructor)) static void try_all(void)
{
    if (fcntl(9, F_GETFD) < 0)
        return;
    try_directory("outside=", getenv("OUTSIDE"));
    try_directory(" here=", ".");
    if (connects())
        (void)!write(9, " tcp", 4);
    if (kill(getppid(), 0) == 0)
        (void)!write(9, " kill", 5);
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0)
        (void)!write(9, " gains", 6);
    (void)!write(9, "\n", 1);
}
