/*
 * network - for LD_PRELOAD: a file system that is not the one it is.
 *
 * Files whose name has FAKE_PLACE in it lie on one of the type FAKE_TYPE, a number as in statfs(2); if
 * that is "none", it cannot be told. The list of mounts is the file FAKE_MOUNTS, if that is set.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

static int lies_there(int fd)
{
    char link[64], name[PATH_MAX];
    const char *place = getenv("FAKE_PLACE");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (place == NULL || length < 0)
        return 0;
    name[length] = '\0';
    return strstr(name, place) != NULL;
}

int fstatfs(int fd, struct statfs *status)
{
    const char *type = getenv("FAKE_TYPE");
    memset(status, 0, sizeof *status);
    status->f_type = 0xef53;
    if (type == NULL || !lies_there(fd))
        return 0;
    errno = ENOSYS;
    status->f_type = strtol(type, NULL, 16);
    return strcmp(type, "none") == 0 ? -1 : 0;
}

int fstatfs64(int fd, struct statfs64 *status) __attribute__((alias("fstatfs")));

FILE *fopen(const char *path, const char *mode)
{
    const char *mounts = strcmp(path, "/proc/self/mountinfo") == 0 ? getenv("FAKE_MOUNTS") : NULL;
    int fd = open(mounts != NULL ? mounts : path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? fdopen(fd, mode) : NULL;
}

FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));
