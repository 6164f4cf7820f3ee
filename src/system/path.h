/*
 * path - the two parts of a file's name, and whether two names are one file's.
 */
#ifndef UNSEEN_SYSTEM_PATH_H
#define UNSEEN_SYSTEM_PATH_H

#include "system/fault.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* The directory that `path` lies in, "." if it names none; returns the last part, within `path`.
 * Neither need exist. A path too long for PATH_MAX is too long for every system call, too: its
 * directory is cut off and found by nobody. */
const char *path_directory(const char *path, char directory[PATH_MAX]);

/* Flushes that directory, so that a new name in it lasts. Not all file systems can. */
void path_sync_directory(const char *path);

/* Whether the file, which does not exist, could be made in its directory. Returns 0, or -1 with the
 * fault, which names that. */
int path_check_directory(const char *path, struct fault *fault);

/* Whether a new file may take the place of `file`, which `path` leads to. In a directory with the
 * sticky bit only its owner can replace it, and the directory's owner and root, who should not:
 * anybody may have prepared it, and the new file would take after it. Nor is a stranger's link
 * followed there, which could lead to any file of this user. Returns 0 or -1. */
int path_check_replaceable(const char *path, const struct stat *file, struct fault *fault);

static inline bool path_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether two names, both of which exist, are the same file. */
bool path_is_same(const char *a, const char *b);

/* Whether they are the same name in the same directory; neither need exist. */
bool path_is_same_name(const char *a, const char *b);

#endif
