/*
 * newfile - a file, most often a filter, that is there whole, or not at all.
 *
 * It is made under a temporary name, filled, flushed, and only then renamed, which fails if
 * something has the real name by now and is not to be replaced. So a half-made filter is never seen
 * under its name, and a kill on the way leaves an older file as it was, and a temporary file.
 */
#ifndef UNSEEN_STORE_NEWFILE_H
#define UNSEEN_STORE_NEWFILE_H

#include "system/fault.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* What stands under a name. */
enum newfile_place {
    PLACE_FREE,        /* nothing */
    PLACE_REPLACEABLE, /* a file that may be replaced */
    PLACE_TAKEN,
};

/* What may be replaced, as bits. */
enum { OVER_EMPTY = 1, OVER_FILTER = 2 };

/* Returns what is there, or -1 with the fault if no filter can ever stand there, or none is to be
 * made there (system/network.h). */
int newfile_look(const char *path, unsigned over, struct fault *fault);

/* Whether what a name stands for begins as a filter does. */
bool newfile_is_filter(const char *path);

/* Writes the contents of a new, empty file. Returns 0, or -1 with errno. */
typedef int newfile_fill(int fd, const void *context);

struct newfile_plan {
    const char *path;        /* symbolic links are followed */
    bool over;               /* replace what is there */
    bool secret;             /* it has one in it: for its owner alone, from the first byte on */
    const char *suffix;      /* of a temporary name, if there must be one; NULL: any */
    const struct stat *like; /* NULL, or whose owner and mode it gets, before the first byte */
    newfile_fill *fill;      /* for newfile_make */
    const void *context;
};

/* The temporary name with a suffix: a dot, lest a shell's * finds it, the name of the file, cut off
 * if it would be too long, and the suffix. If something has it, another one is taken. */
enum { NEWFILE_NAME_MAX = PATH_MAX + 16 };
void newfile_temporary_name(const char *target, const char *suffix, char name[NEWFILE_NAME_MAX]);

/* Makes it. What replaces a file is for nobody else than that was, but for `like`. Returns 0; 1 if
 * something has the name and `over` is not set; -1 with errno. In the last two cases nothing was
 * changed. Takes as long as an fsync. */
int newfile_make(const struct newfile_plan *plan);

/* The same in two steps, for a file that is filled over a longer time: begin opens it, as *fd, for
 * the caller to fill; NULL with errno. End returns as newfile_make. Free closes it; what has no
 * name by then is gone. NULL is allowed. */
struct newfile;
struct newfile *newfile_begin(const struct newfile_plan *plan, int *fd);
int newfile_end(struct newfile *file);
void newfile_free(struct newfile *file);

#endif
