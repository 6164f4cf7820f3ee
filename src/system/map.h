/*
 * map - a stretch of a file in memory, shared with whoever else maps it.
 *
 * Stretches begin on pages of 4096 bytes, on every machine. The system maps whole pages of its own,
 * which may be of 16 or 64 KB: so what is mapped begins up to such a page earlier.
 *
 * Reading or writing a mapped page raises SIGBUS if the file was cut off by somebody else, if the
 * disk is full where blocks are given out late, or if the disk fails. There is nothing to return
 * an error from, so this is the one place below the commands that prints and exits: which file,
 * why, and status 2. Lines in flight are then not remembered, so nothing is lost.
 */
#ifndef UNSEEN_SYSTEM_MAP_H
#define UNSEEN_SYSTEM_MAP_H

#include "system/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* What C libraries lack whose headers are older than Linux 5.14. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* Installs the handler of SIGBUS, on a stack of its own. */
void map_start(void);

/* Maps `bytes` bytes from `offset` on, a multiple of 4096, to be read and, if `write`, written. Bus
 * errors in it are those of `name`, which must stay where it is, in the first 256 maps; in others,
 * of "a file in use". NULL with the fault. */
void *map_file(int fd, bool write, uint64_t offset, size_t bytes, const char *name,
               struct fault *fault);

/* Whether so many bytes could be mapped at once, now. If not, the fault is that of `name`. */
bool map_has_room(uint64_t bytes, const char *name, struct fault *fault);

/* Takes back what map_file returned. */
void map_drop(void *address, size_t bytes);

/* madvise(2), for all pages with something of the stretch. Only a hint: errors mean nothing. */
void map_advise(void *address, size_t bytes, int advice);

#endif
