/*
 * side_file - the files in the same directory that belong to a filter: FILTER.queue, FILTER.failed,
 * FILTER.flight-NUMBER.
 *
 * A filter may have several names, through symbolic links; its side files are named after the real
 * file. Everybody who may use the filter may use its side files.
 */
#ifndef UNSEEN_IO_SIDE_FILE_H
#define UNSEEN_IO_SIDE_FILE_H

#include "system/fault.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum { SIDE_FILE_NAME_MAX = PATH_MAX + 32 };

/* The filter's real name, or its given name if there is no such file, followed by `suffix`. */
void side_file_name(const char *filter, const char *suffix, char name[SIDE_FILE_NAME_MAX]);

/* That name as the user would write it: after the given name, unless that is a symbolic link. */
void side_file_shown(const char *filter, const char *suffix, char name[SIDE_FILE_NAME_MAX]);

/* Gives the new file or directory `fd` the mode of the filter `like`, whatever the umask, and its
 * owner and group, as far as this user can. If the group cannot be changed, group and others get
 * only the rights that both had. */
void side_file_copy_owner(int fd, const struct stat *like);

/* Whether the side file at `path` belongs to root, to this user, or to a user who may write to the
 * filter. Files of other users are not trusted. A file's group proves nothing in a directory that
 * is writable by everybody and passes its group on. */
bool side_file_is_trusted(const char *path, const struct stat *status, const struct stat *filter);

/* Opens a side file, or a file in a side directory, if it is a regular file and trusted. With
 * O_CREAT a missing file is created, with the filter's mode and owner. Symbolic links and files
 * with several hard links are refused, and a FIFO does not block. Returns a descriptor, or -1 with
 * the fault. */
int side_file_open(const char *path, int flags, const struct stat *filter, struct fault *fault);

/* Opens a side directory if it is trusted; if `path` is a symbolic link, the link must be trusted,
 * too. Returns a descriptor, with the directory's status, or -1 with the fault. */
int side_file_open_directory(const char *path, const struct stat *filter, struct stat *status,
                             struct fault *fault);

/* Creates a file without a name in the directory of `path`, readable and writable by its owner
 * alone. Returns a descriptor, or -1 with errno. */
int side_file_unnamed(const char *path);

#endif
