/*
 * beside - names of what lies beside a filter: FILTER.queue, FILTER.flight-SLOT.
 *
 * Users may know one filter by several names, through symbolic links; what lies beside it has the
 * name of the real file.
 */
#ifndef UNSEEN_FILE_BESIDE_H
#define UNSEEN_FILE_BESIDE_H

#include <limits.h>

enum { BESIDE_MAX = PATH_MAX + 32 };

/* The filter's real name, or its name as it is if there is no such file, and `suffix` behind it. */
void beside_name(const char *filter, const char *suffix, char name[BESIDE_MAX]);

#endif
