/*
 * key_file - keys in order in a stretch of a file: 16 bytes each, lo then hi, little-endian.
 *
 * The journal of a stage, the order of a long flight and the body of a pending file are all of this
 * kind. How many keys there are is known to whoever keeps the file.
 */
#ifndef UNSEEN_STORE_KEY_FILE_H
#define UNSEEN_STORE_KEY_FILE_H

#include "core/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_file {
    int fd;
    uint64_t at; /* where key 0 lies */
};

/* Writes or reads the keys from number `from` on, 8 KB to a system call; no allocation. Both return
 * whether all `n` keys were moved. If not, errno says why, and is 0 where the file ended too early;
 * an unknown number of the keys has been moved then. */
bool key_file_write(struct key_file file, uint64_t from, const struct key *keys, size_t n);
bool key_file_read(struct key_file file, uint64_t from, struct key *keys, size_t n);

#endif
