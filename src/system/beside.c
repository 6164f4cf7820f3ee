#include "system/beside.h"

#include "system/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void beside_name(const char *filter, const char *suffix, char name[BESIDE_MAX])
{
    char real[PATH_MAX];
    if (realpath(filter, real) == NULL)
        snprintf(real, sizeof real, "%s", filter);
    snprintf(name, BESIDE_MAX, "%s%s", real, suffix);
}

void beside_take_after(int fd, const struct stat *like)
{
    struct stat now;
    if (fstat(fd, &now) != 0)
        return;
    mode_t mode = (like->st_mode & 0666) | 0600;
    if ((now.st_uid != like->st_uid || now.st_gid != like->st_gid) &&
        fchown(fd, like->st_uid, like->st_gid) != 0 && now.st_gid != like->st_gid &&
        fchown(fd, (uid_t)-1, like->st_gid) != 0)
        mode = (mode & 0606) | (mode & 0006) << 3;
    if (S_ISDIR(now.st_mode))
        mode |= (mode & 0444) >> 2;
    (void)!fchmod(fd, mode);
}

bool beside_is_trusted(const char *path, const struct stat *status, const struct stat *filter)
{
    struct stat around;
    char directory[PATH_MAX];
    const mode_t for_all = S_ISGID | S_IWOTH;
    if (status->st_uid == 0 || status->st_uid == geteuid() || status->st_uid == filter->st_uid ||
        (filter->st_mode & S_IWOTH) != 0)
        return true;
    if ((filter->st_mode & S_IWGRP) == 0 || status->st_gid != filter->st_gid)
        return false;
    path_directory(path, directory);
    return stat(directory, &around) == 0 && (around.st_mode & for_all) != for_all;
}

int beside_nameless(const char *path)
{
    char directory[PATH_MAX], name[PATH_MAX];
    path_directory(path, directory);
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    /* Not every file system can do that. */
    snprintf(name, sizeof name, "%s.XXXXXX", path);
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    return fd;
}
