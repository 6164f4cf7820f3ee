/*
 * key_file - a file of keys beside a filter: of a flight (FILTER.flight-NUMBER), or pending.
 *
 * Little-endian:
 *
 *   offset size meaning
 *        0    8  magic: 89 75 6e 73 6b 65 79 0a  ("unskey" between a byte that is no text and LF)
 *        8    4  format version: 1
 *       12    4  kind: 1 in flight, 2 pending
 *       16   16  UUID of the filter
 *       32    8  pending: number of keys; in flight: 0
 *       40    8  pending: checksum of the keys, XXH3-64 with seed 0; in flight: 0
 *       48    8  checksum: the same of bytes 0..47
 *     4096 16*n  keys, lo then hi; in flight, then the table (filter/flight.h)
 *
 * A pending file is valid if and only if all of that holds and it ends after the last key. Of a
 * flight the head is all that is ever believed without its owner's lock: it says whose file it is.
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

enum { KEY_FILE_BYTES = 56 }; /* of a head */

void key_file_encode(const struct key_file_head *head, uint8_t bytes[KEY_FILE_BYTES]);

enum key_file_is {
    KEY_FILE_EMPTY,   /* it has no bytes */
    KEY_FILE_OTHER,   /* no file of keys */
    KEY_FILE_UNKNOWN, /* of another version */
    KEY_FILE_DAMAGED,
    KEY_FILE_GOOD
};

/* What a file is that begins with these bytes, `n` of them, the rest zeros; and its head if that is
 * good. */
enum key_file_is key_file_decode(const uint8_t bytes[KEY_FILE_BYTES], size_t n,
                                 struct key_file_head *head);

#endif
