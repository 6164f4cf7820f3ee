/*
 * part_name - how the files of parts are called: a pattern such as part.%d or part.%03d.
 */
#ifndef UNSEEN_COMMANDS_PART_NAME_H
#define UNSEEN_COMMANDS_PART_NAME_H

#include <limits.h>
#include <stdint.h>

/* Whether it has exactly one %d or %0Wd, W from 1 to 9, and besides only %%, for a percent sign: so
 * no two parts have one name. Returns 0, or EXIT_TROUBLE after a message. */
int part_name_check(const char *pattern);

/* The name of a part. Precondition: the pattern was checked. */
void part_name_write(const char *pattern, uint32_t part, char name[PATH_MAX]);

#endif
