/*
 * path - the two parts of a file's name.
 */
#ifndef UNSEEN_SYSTEM_PATH_H
#define UNSEEN_SYSTEM_PATH_H

#include <limits.h>

/* The directory that `path` lies in, "." if it names none; returns the last part, within `path`.
 * Neither need exist. A path too long for PATH_MAX is too long for every system call, too: its
 * directory is cut off and found by nobody. */
const char *path_directory(const char *path, char directory[PATH_MAX]);

#endif
