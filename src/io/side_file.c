#include "io/side_file.h"

#include "system/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void side_file_name(const char *filter, const char *suffix, char name[SIDE_FILE_NAME_MAX])
{
    char real[PATH_MAX];
    if (realpath(filter, real) == NULL)
        snprintf(real, sizeof real, "%s", filter);
    snprintf(name, SIDE_FILE_NAME_MAX, "%s%s", real, suffix);
}

void side_file_shown(const char *filter, const char *suffix, char name[SIDE_FILE_NAME_MAX])
{
    struct stat status;
    if (lstat(filter, &status) == 0 && S_ISLNK(status.st_mode))
        side_file_name(filter, suffix, name);
    else
        snprintf(name, SIDE_FILE_NAME_MAX, "%s%s", filter, suffix);
}

void side_file_copy_owner(int fd, const struct stat *like)
{
    struct stat now;
    if (fstat(fd, &now) != 0)
        return;
    mode_t mode = (like->st_mode & 0666) | 0600;
    if ((now.st_uid != like->st_uid || now.st_gid != like->st_gid) &&
        fchown(fd, like->st_uid, like->st_gid) != 0 && now.st_gid != like->st_gid &&
        fchown(fd, (uid_t)-1, like->st_gid) != 0)
        mode = 0600 | ((mode & mode >> 3 & 0006) * 011);
    if (S_ISDIR(now.st_mode))
        mode |= (mode & 0444) >> 2;
    (void)!fchmod(fd, mode);
}

bool side_file_is_trusted(const char *path, const struct stat *status, const struct stat *filter)
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

static int check_trusted(const char *path, const struct stat *status, const struct stat *filter,
                         struct fault *fault)
{
    if (side_file_is_trusted(path, status, filter))
        return 0;
    fault_set(fault, path, "belongs to user %ju, who may not write to the filter",
              (uintmax_t)status->st_uid);
    return fault_way_out(fault, "move it away");
}

int side_file_open(const char *path, int flags, const struct stat *filter, struct fault *fault)
{
    struct stat status;
    const int safe = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int fd = open(path, (flags & ~O_CREAT) | safe);
    if (fd < 0 && errno == ENOENT && (flags & O_CREAT) != 0) {
        fd = open(path, flags | O_EXCL | safe, 0600);
        if (fd >= 0)
            side_file_copy_owner(fd, filter);
    }
    if (fd < 0 && errno == ELOOP) {
        fault_set(fault, path, "is a symbolic link, and is not followed");
        return fault_way_out(fault, "move it away");
    }
    if (fd < 0)
        return fault_errno(fault, path, NULL, errno);
    if (fstat(fd, &status) != 0) {
        fault_errno(fault, path, NULL, errno);
    } else if (!S_ISREG(status.st_mode)) {
        fault_set(fault, path, "is not a regular file");
        fault_way_out(fault, "move it away");
    } else if (status.st_nlink > 1) {
        /* Somebody may have linked another user's file here to have it overwritten. */
        fault_set(fault, path, "is a hard link, and is not used");
        fault_way_out(fault, "put a copy in its place");
    } else if (check_trusted(path, &status, filter, fault) == 0) {
        return fd;
    }
    close(fd);
    return -1;
}

int side_file_open_directory(const char *path, const struct stat *filter, struct stat *status,
                             struct fault *fault)
{
    if (lstat(path, status) != 0)
        return fault_errno(fault, path, NULL, errno);
    /* The owner of a link can make it lead anywhere. */
    if (check_trusted(path, status, filter, fault) != 0)
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, status) != 0)
        fault_errno(fault, path, NULL, errno);
    else if (check_trusted(path, status, filter, fault) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int side_file_unnamed(const char *path)
{
    char directory[PATH_MAX], name[PATH_MAX + 16];
    path_directory(path, directory);
    snprintf(name, sizeof name, "%s/.unseen.XXXXXX", directory);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    return fd;
}
