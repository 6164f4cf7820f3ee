/*
 * part_files - the files that a list is split into, one a part.
 *
 * All are new files without names (store/newfile.h) until the last line is in and flushed to disk;
 * only then do they get their names, one after the other. A run that fails or is killed before
 * leaves whatever had these names as it was.
 */
#ifndef UNSEEN_COMMANDS_PART_FILES_H
#define UNSEEN_COMMANDS_PART_FILES_H

#include "system/confine.h"
#include "system/fault.h"

#include <stddef.h>
#include <stdint.h>

struct part_files;

/* Looks at what has their names, and opens `parts` new files; from here on signals do not end the
 * process by themselves. The pattern was checked by part_name_check. `inputs` are names, "-" for
 * standard input and NULL at the end, of which none may be replaced; nor may a filter, or what is
 * not a regular file. NULL with the fault, and then nothing was made. */
struct part_files *part_files_new(const char *pattern, uint32_t parts, const char *const *inputs,
                                  struct fault *fault);

/* Allows what giving them their names takes. */
void part_files_allow(const struct part_files *files, struct confine *confine);

/* Files without a name are gone. */
void part_files_free(struct part_files *files);

/* Adds lines to a part, 1..parts; or to all, if it is 0. Returns 0, or -1 with the fault. */
int part_files_add(struct part_files *files, uint32_t part, const char *bytes, size_t length,
                   struct fault *fault);

/* Gives them their names. Returns 0, or -1 with the fault: then no name was given, unless it is the
 * giving that failed, which the fault says. Takes as long as an fsync of each. */
int part_files_finish(struct part_files *files, struct fault *fault);

#endif
