/*
 * beside - what lies beside a filter: FILTER.queue, FILTER.failed, FILTER.flight-NUMBER.
 *
 * Users may know one filter by several names, through symbolic links; what lies beside it is named
 * after the real file. And whoever may use the filter may use what lies beside it.
 */
#ifndef UNSEEN_SYSTEM_SIDE_FILE_H
#define UNSEEN_SYSTEM_SIDE_FILE_H

#include "system/fault.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum { SIDE_FILE_NAME_MAX = PATH_MAX + 32 };

/* The filter's real name, or its name as it is if there is no such file, followed by `suffix`. */
void side_file_name(const char *filter, const char *suffix, char name[SIDE_FILE_NAME_MAX]);

/* Gives the new file or directory `fd` the mode and, as far as this user can, the owner and the
 * group of the filter `like`, whatever the umask. If it cannot be given to that group, the group it
 * has may do no more than all others. */
void side_file_copy_owner(int fd, const struct stat *like);

/* Whether what lies beside a filter, at `path`, belongs to somebody who may write to the filter, or
 * to root, or to this user. Of others nothing is believed. A group tells nothing where anybody can
 * make files of it: in a directory for all to write to that hands on its group. */
bool side_file_is_trusted(const char *path, const struct stat *status, const struct stat *filter);

/* Opens a file beside a filter, or in a directory there, if it is a regular file and trusted; with
 * O_CREAT it is made like the filter if it is not there. No link is followed, not even a hard one,
 * and no FIFO is waited for. Returns a descriptor, or -1 with the fault. */
int side_file_open(const char *path, int flags, const struct stat *filter, struct fault *fault);

/* Opens a directory beside a filter, if it is trusted, and so is a link of that name. Returns a
 * descriptor, and its status; or -1 with the fault. */
int side_file_open_directory(const char *path, const struct stat *filter, struct stat *status,
                             struct fault *fault);

/* A new file without a name in the directory of `path`, for its maker alone. -1 with errno. */
int side_file_unnamed(const char *path);

#endif
