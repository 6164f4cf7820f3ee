/*
 * shard_files - writes the shards of a list to files, one for each shard: part.1, part.2 ...
 *
 * As with split(1), existing files of these names are emptied first, and links are followed. A run
 * that fails, or is ended by a signal, removes the files that it made and empties the others,
 * because an incomplete shard looks like a complete one. SIGKILL leaves them.
 */
#ifndef UNSEEN_IO_SHARD_FILES_H
#define UNSEEN_IO_SHARD_FILES_H

#include "system/confine.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct shard_files;

/* The name of a shard's file. The pattern must have exactly one %d or %0Wd, W from 1 to 9, for the
 * shard's number, and may have %% for a percent sign, but no other %. Returns 0, or -1 with a fault
 * about the pattern. */
int shard_files_name(const char *pattern, uint32_t shard, char name[PATH_MAX], struct fault *fault);

/* Opens the files of shards 1 to `shards`, and then empties them. Returns NULL with the fault if
 * one cannot be opened, is not a regular file, has two of the names, or is written by another run
 * (a fault that may pass); no file was changed then. */
struct shard_files *shard_files_new(const char *pattern, uint32_t shards, struct fault *fault);

void shard_files_allow(const struct shard_files *files, struct confine *confine);

/* Adds lines to a shard, or to all shards if `shard` is 0. Returns 0, or -1 with the fault. */
int shard_files_add(struct shard_files *files, uint32_t shard, const char *bytes, size_t length,
                    struct fault *fault);

/* Completes the files. Returns 0, or -1 with the fault. */
int shard_files_finish(struct shard_files *files, struct fault *fault);

/* Closes the files. Removes or empties them unless shard_files_finish has succeeded. NULL is
 * allowed. */
void shard_files_free(struct shard_files *files);

#endif
