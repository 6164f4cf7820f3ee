/*
 * part_files - the files that a list is split into, one a part: part.1, part.2 ...
 *
 * They are written as split(1) writes its own: a file that has such a name is emptied first. A run
 * that fails, or is ended by a signal, removes them: a part with lines missing could be taken for a
 * whole one. SIGKILL leaves them.
 */
#ifndef UNSEEN_COMMANDS_PART_FILES_H
#define UNSEEN_COMMANDS_PART_FILES_H

#include "commands/inputs.h"

struct part_files;

/* Whether a pattern has exactly one %d or %0Wd, W from 1 to 9, and besides only %%, for a percent
 * sign: so no two parts have one name. Returns 0, or EXIT_TROUBLE after a message. */
int part_files_check_pattern(const char *pattern);

/* Whether lines can be written to all these files: none is an input, a filter, or what is not a
 * regular file. The pattern was checked. Returns 0, or EXIT_TROUBLE after a message. */
int part_files_check(const char *pattern, uint32_t parts, const struct inputs *inputs);

/* Opens them; from here on signals do not end the process by themselves. Precondition: they were
 * checked. NULL with the fault, and then none is left. */
struct part_files *part_files_new(const char *pattern, uint32_t parts, struct fault *fault);

/* Allows what removing them takes. */
void part_files_allow(const struct part_files *files, struct confine *confine);

/* Adds lines to a part, 1..parts; or to all, if it is 0. Returns 0, or -1 with the fault. */
int part_files_add(struct part_files *files, uint32_t part, const char *bytes, size_t length,
                   struct fault *fault);

/* All lines are in, and the files stay. Returns 0, or -1 with the fault. */
int part_files_finish(struct part_files *files, struct fault *fault);

/* Removes them, unless they were finished. NULL is allowed. */
void part_files_free(struct part_files *files);

#endif
