/*
 * merged - the file that a merge makes.
 */
#ifndef UNSEEN_UNION_MERGED_H
#define UNSEEN_UNION_MERGED_H

#include "format/header.h"
#include "union/group.h"

#include <sys/stat.h>

/* Writes `count` groups as the layers of a filter with that header to a file of its own, and gives it
 * its name, over what is there if `over` is set, with the owner and mode of `like` if not NULL.
 * Returns 0; 1 if something is there; -1 with the fault. In the last two cases nothing was changed. */
int merged_write(const struct header *header, const struct group *groups, unsigned count,
                 const char *path, bool over, const struct stat *like, struct fault *fault);

#endif
