/*
 * poll - for LD_PRELOAD: a poll(2) by which nothing ever gets done.
 *
 * Of two descriptors the second can always be read, as if another process took what there is between
 * the answer and the read. A wait for one that has an end has none.
 */
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int ask(struct pollfd *fds, nfds_t n, int milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    return (int)syscall(SYS_ppoll, fds, n, milliseconds < 0 ? NULL : &time, NULL, 0);
}

int poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
    if (nfds == 1)
        return ask(fds, nfds, timeout > 0 ? -1 : timeout);
    int ready = ask(fds, nfds, 0);
    if (nfds != 2 || ready < 0 || fds[0].revents != 0)
        return ready;
    fds[1].revents = POLLIN;
    return 1;
}
