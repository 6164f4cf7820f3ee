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
    uint64_t word;
    struct timespec now = {0, 0};
    if (getrandom(&word, sizeof word, GRND_NONBLOCK) == (ssize_t)sizeof word)
        return word;
    clock_gettime(CLOCK_REALTIME, &now);
    word = ((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec) * UINT64_C(0x9e3779b97f4a7c15);
    return word ^ (uint64_t)getpid() << 32 ^ (uintptr_t)&word;
}
