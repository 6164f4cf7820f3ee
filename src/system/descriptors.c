#include "system/descriptors.h"

#include <sys/resource.h>

bool descriptors_allow(uint64_t more)
{
    enum { OPEN_ALREADY = 64 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    rlim_t wanted = (rlim_t)more + OPEN_ALREADY;
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < wanted) {
        bool allowed = limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= wanted;
        limit.rlim_cur = allowed ? wanted : limit.rlim_max;
        return setrlimit(RLIMIT_NOFILE, &limit) == 0 && allowed;
    }
    return true;
}
