/*
 * newfile - creates or replaces a file atomically.
 *
 * The file is created under a temporary name, filled, flushed, and then renamed. Unless it is to
 * replace a file, the rename fails if a file of that name exists by then. So a half-made file never
 * has the final name, and a kill leaves an older file unchanged and the temporary one behind, until
 * the next file of that name is made.
 */
#ifndef UNSEEN_IO_NEWFILE_H
#define UNSEEN_IO_NEWFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* The lock of a file that has its temporary name (system/lock.h). */
enum { LOCK_MAKING = 4100 };

/* Writes the contents of a new, empty file. Returns 0, or -1 with errno. */
typedef int newfile_fill(int fd, const void *context);

struct newfile_plan {
    const char *path;        /* symbolic links are followed */
    bool over;               /* replace an existing file */
    bool secret;             /* readable by its owner alone, from the first byte on */
    const struct stat *like; /* whose owner and mode it gets; NULL: those of the replaced file */
    /* What the file begins with; the temporary file has it before it is filled. */
    const void *mark;
    size_t mark_bytes; /* at most 16 */
    newfile_fill *fill;
    const void *context;
};

/* Makes the file. First removes temporary files for the same name that dead processes left: they
 * have the name of one, its mark or no bytes at all, and nobody holds LOCK_MAKING. A file that
 * replaces another is never open to more users than that was, access control lists (acl(5)) aside,
 * which are not copied. Returns 0; 1 if a file has the name and `over` is not set; -1 with errno.
 * In the last two cases nothing was changed. Takes as long as an fsync. */
int newfile_make(const struct newfile_plan *plan);

#endif
