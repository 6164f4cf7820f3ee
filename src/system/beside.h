/*
 * beside - what lies beside a filter: FILTER.queue, FILTER.flight-SLOT.
 *
 * Users may know one filter by several names, through symbolic links; what lies beside it has the
 * name of the real file. And who may use the filter may use what lies beside it.
 */
#ifndef UNSEEN_SYSTEM_BESIDE_H
#define UNSEEN_SYSTEM_BESIDE_H

#include <limits.h>
#include <sys/stat.h>

enum { BESIDE_MAX = PATH_MAX + 32 };

/* The filter's real name, or its name as it is if there is no such file, and `suffix` behind it. */
void beside_name(const char *filter, const char *suffix, char name[BESIDE_MAX]);

/* Gives the new file or directory `fd` the mode, and as far as this user can, the owner and the group of
 * the filter `like`, whatever the umask. Where it cannot be given to the group, that may do no more
 * than all others. */
void beside_take_after(int fd, const struct stat *like);

#endif
