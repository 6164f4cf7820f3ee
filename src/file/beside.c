/* beside - see beside.h. */
#include "file/beside.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void beside_name(const char *filter, const char *suffix, char name[BESIDE_MAX])
{
    char real[PATH_MAX];
    if (realpath(filter, real) == NULL)
        snprintf(real, sizeof real, "%s", filter);
    snprintf(name, BESIDE_MAX, "%s%s", real, suffix);
}

void beside_take_after(int fd, int like)
{
    struct stat status;
    if (fstat(like, &status) != 0)
        return;
    mode_t mode = status.st_mode & 0666;
    bool given = fchown(fd, status.st_uid, status.st_gid) == 0 ||
                 fchown(fd, (uid_t)-1, status.st_gid) == 0;
    if (!given)
        mode &= (mode << 3 & 0060) | 0606;
    (void)!fchmod(fd, mode);
}
