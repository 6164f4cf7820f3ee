/*
 * shard_files - the files that a list is split into, one for each shard: part.1, part.2 ...
 *
 * They are written as split(1) writes its own: a file that has such a name is emptied first. A run
 * that fails, or is ended by a signal, removes them: a shard with lines missing could be taken for
 * a whole one. SIGKILL leaves them.
 */
#ifndef UNSEEN_IO_SHARD_FILES_H
#define UNSEEN_IO_SHARD_FILES_H

#include "system/confine.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct shard_files;

/* The name of a shard's file: the pattern, which has exactly one %d or %0Wd for its number, W from
 * 1 to 9, and besides only %%, for a percent sign; so no two shards have one name. Returns 0; or -1
 * with the fault, of the pattern. */
int shard_files_name(const char *pattern, uint32_t shard, char name[PATH_MAX], struct fault *fault);

/* Opens the files of shards 1 to `shards`. Returns NULL with the fault: then none is left, and if
 * one is not a regular file, or by links that of two shards, all are as they were. */
struct shard_files *shard_files_new(const char *pattern, uint32_t shards, struct fault *fault);

/* Allows what removing them takes. */
void shard_files_allow(const struct shard_files *files, struct confine *confine);

/* Adds lines to a shard; or to all, if it is 0. Returns 0, or -1 with the fault. */
int shard_files_add(struct shard_files *files, uint32_t shard, const char *bytes, size_t length,
                    struct fault *fault);

/* All lines are in, and the files stay. Returns 0, or -1 with the fault. */
int shard_files_finish(struct shard_files *files, struct fault *fault);

/* Removes them, unless they were finished. NULL is allowed. */
void shard_files_free(struct shard_files *files);

#endif
