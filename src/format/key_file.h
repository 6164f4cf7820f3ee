/*
 * key_file - a file of keys: keys in flight (FILTER.flight-NUMBER), or the FILE of --pending.
 *
 * Little-endian:
 *
 *   offset size meaning
 *        0    8  magic: 89 75 6e 73 6b 65 79 0a  ("unskey" between a byte that is not ASCII and LF)
 *        8    4  format version: 1
 *       12    4  kind: 1 in flight, 2 pending
 *       16   16  UUID of the filter
 *       32    8  pending: number of keys; in flight: 0
 *       40    8  pending: checksum of the keys, XXH3-64 with seed 0; in flight: 0
 *       48    8  checksum of bytes 0..47, by the same function
 *     4096 16*n  keys, lo then hi; in flight, the table follows (filter/flight.h)
 *
 * A pending file is valid if and only if all of this holds and the file ends after the last key. In
 * a file of keys in flight, only the head is trusted if its owner's lock is free: it names the
 * filter that the file belongs to.
 */
#ifndef UNSEEN_FORMAT_KEY_FILE_H
#define UNSEEN_FORMAT_KEY_FILE_H

#include "format/header.h"

enum key_file_kind { KEYS_IN_FLIGHT = 1, KEYS_PENDING = 2 };

struct key_file_head {
    enum key_file_kind kind;
    uint8_t uuid[UUID_BYTES];
    uint64_t count, sum;
};

enum { KEY_FILE_BYTES = 56 }; /* the size of a head */

void key_file_encode(const struct key_file_head *head, uint8_t bytes[KEY_FILE_BYTES]);

enum key_file_is {
    KEY_FILE_EMPTY,   /* the file has no bytes */
    KEY_FILE_OTHER,   /* not a file of keys */
    KEY_FILE_UNKNOWN, /* another format version */
    KEY_FILE_DAMAGED,
    KEY_FILE_GOOD
};

/* Decodes the first bytes of a file, which has `n` of them; the rest are zeros. *head is set only
 * if the result is KEY_FILE_GOOD. */
enum key_file_is key_file_decode(const uint8_t bytes[KEY_FILE_BYTES], size_t n,
                                 struct key_file_head *head);

#endif
