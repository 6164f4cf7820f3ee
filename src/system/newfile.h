/*
 * newfile - a file that is there whole, or not at all.
 *
 * It is made under a temporary name, filled, flushed, and only then renamed, which fails if
 * something has the real name by now and is not to be replaced. So a half-made file is never seen
 * under its name, and a kill on the way leaves an older file as it was, and a temporary file.
 */
#ifndef UNSEEN_SYSTEM_NEWFILE_H
#define UNSEEN_SYSTEM_NEWFILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Writes the contents of a new, empty file. Returns 0, or -1 with errno. */
typedef int newfile_fill(int fd, const void *context);

struct newfile_plan {
    const char *path;        /* symbolic links are followed */
    bool over;               /* replace what is there */
    bool secret;             /* it has one in it: for its owner alone, from the first byte on */
    const struct stat *like; /* NULL, or whose owner and mode it gets, before the first byte */
    newfile_fill *fill;
    const void *context;
};

/* Makes it. What replaces a file is for nobody else than that was, but for `like`. Returns 0; 1 if
 * something has the name and `over` is not set; -1 with errno. In the last two cases nothing was
 * changed. Takes as long as an fsync. */
int newfile_make(const struct newfile_plan *plan);

#endif
