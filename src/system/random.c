#include "system/random.h"

#include "system/signals.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

int random_fill(void *bytes, size_t length)
{
    ssize_t n;
    do
        n = getrandom(bytes, length, 0);
    while (n < 0 && errno == EINTR && !signals_pending());
    return n == (ssize_t)length ? 0 : -1;
}

uint64_t random_word(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t word = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 24;
    (void)!getrandom(&word, sizeof word, GRND_NONBLOCK);
    return word;
}
