#include "system/random.h"

#include "system/signals.h"

#include <errno.h>
#include <sys/random.h>

int random_fill(void *bytes, size_t length)
{
    ssize_t n;
    do
        n = getrandom(bytes, length, 0);
    while (n < 0 && errno == EINTR && !signals_pending());
    return n == (ssize_t)length ? 0 : -1;
}
