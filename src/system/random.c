#include "system/random.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t random_word(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t word = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 24;
    (void)!getrandom(&word, sizeof word, GRND_NONBLOCK);
    return word;
}

int random_secret(uint64_t *word, struct fault *fault)
{
    if (getrandom(word, sizeof *word, 0) == sizeof *word)
        return 0;
    return fault_errno(fault, "secret", "cannot get random bytes", errno);
}
