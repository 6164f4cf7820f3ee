/*
 * map - maps part of a file into memory, shared with all other processes that map it.
 *
 * Offsets are multiples of 4096 on every machine. If the system has larger pages, of 16 or 64 KB,
 * the mapping begins up to one of these earlier.
 *
 * Reading or writing a mapped page raises SIGBUS if another process truncated the file, if the disk
 * fails, or if it is full and the file system allocates late. No function could return this error,
 * so the program ends in the signal's handler. Lines in flight are then not remembered, so none is
 * lost.
 */
#ifndef UNSEEN_SYSTEM_MAP_H
#define UNSEEN_SYSTEM_MAP_H

#include "system/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* For headers older than Linux 5.14. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* Says that the map of a file failed, NULL if its name is not known, and ends the process. Called
 * in a signal handler: only async-signal-safe calls. */
typedef void map_failed(const char *name);

/* Installs the handler of SIGBUS, on a stack of its own. */
void map_start(map_failed *failed);

/* Maps `bytes` bytes from `offset`, a multiple of 4096, for reading and, if `write`, for writing.
 * `name` is for map_failed, and must remain valid; beyond 256 maps it gets NULL. Returns NULL with
 * the fault. */
void *map_file(int fd, bool write, uint64_t offset, size_t bytes, const char *name,
               struct fault *fault);
void map_drop(void *address, size_t bytes);

/* madvise(2) for all pages that these bytes touch. It is only a hint, so errors are ignored. */
void map_advise(void *address, size_t bytes, int advice);

#endif
