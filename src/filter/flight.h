/*
 * flight - keys in flight: an exact set of any number of them, in the order of their lines.
 *
 * A log of keys, and an open table of places in it. The staircase from the obvious set to this:
 *
 *   1. A table of the keys. But the order of their lines is wanted, too: by CMD of -x, which may
 *      leave the last of them unread, and by a pending file. And where a table of 16 bytes a place
 *      grows, all that is in it moves.
 *   2. A log of keys, and a table of numbers in it, 32 bits each: 71 ns a key and 134 MB of table
 *      for 20 million, where a table of keys took 128 ns and 537 MB.
 *   3. A key that is not in should cost one cache miss. So the bits of a place that its number does
 *      not need are a tag, of the key's hash: a log is asked only where the tag is right.
 *   4. A stranger who knows the seed can choose lines: places are salted (core/salt.h).
 *
 * The bytes, little-endian, in a slot of the filter (slot.h) or in a file of their own:
 *
 *   log    `room` keys of 16 bytes, lo then hi
 *   table  `places` of 4 bytes, a power of two and more than `room`: 0 is empty, else the lower
 *          bits are the number of the key in the log, from 1 on, and the upper ones the tag. A key
 *          is at the place that the upper bits of its hash name, or after that, before the next
 *          empty one
 *
 * A file (format/key_file.h) has a page for its head, then room for 3072 << level keys in
 * 4096 << level places. It grows by a level: the new table lies behind the new log, which takes the
 * old table's place later. So the log stays where it is, and is the body of a pending file.
 *
 * The owner alone writes: the key, its place, then the count. So whoever looks without a lock finds
 * what was in before he looked; unless the flight was emptied or grew meanwhile, which its record
 * tells (others.c).
 */
#ifndef UNSEEN_FILTER_FLIGHT_H
#define UNSEEN_FILTER_FLIGHT_H

#include "core/hash.h"
#include "format/key_file.h"
#include "format/shared.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stddef.h>

/* One flight as this process sees it. */
struct flight {
    uint8_t *record; /* FLIGHT_RECORD_BYTES (format/shared.h), where others see what there is of
                      * keys, salt and file; NULL: nobody else looks, or it is somebody else's */
    uint8_t *log;
    uint32_t *table;
    uint64_t count;  /* keys in it, as its owner knows; others ask the record */
    uint64_t room;   /* keys */
    uint64_t places; /* a power of two */
    uint64_t salt;
    const char *path; /* of its file; NULL: it is in a slot */
    int fd;
    unsigned level;
    uint8_t *map; /* all of the file */
};

/* A flight in `bytes` of a slot. Whoever owns it empties it before its first use, and chooses the
 * salt, which the record has once there are keys. */
struct flight flight_in_slot(uint8_t *record, uint8_t *bytes, unsigned slot);

/* The head of a file of keys: of a flight, or pending. The first returns 0 or -1, with errno; the
 * second an enum key_file_is, or -1. */
int flight_write_head(int fd, const struct key_file_head *head);
int flight_read_head(int fd, struct key_file_head *head);

/* A flight in the file `fd`, as an owner or only to look.
 * flight_map maps it at a level; what the file lacks is a fault. Returns 0 or -1. */
int flight_map(struct flight *flight, bool write, unsigned level, struct fault *fault);
void flight_unmap(struct flight *flight);

/* How many keys a file has room for at a level, and its bytes. */
uint64_t flight_room(unsigned level);
uint64_t flight_bytes(unsigned level);

/* Keys from number `from` on, as long as nothing is added: in the log, or copied to `buffer`. */
const struct key *flight_keys(const struct flight *flight, uint64_t from, size_t n,
                              struct key *buffer);

/* seen[i] = 1 for keys that are in. About 2 ns a key in a slot, 15 to 40 in a large file. */
void flight_test(const struct flight *flight, const struct key *keys, size_t n, uint8_t *seen);

/* Adds the keys with seen[i] == 0 in order; of those that are in, seen[i] = 1. Stops before the new
 * key number most + 1, and where there is no more room. Returns how many keys were judged. */
size_t flight_take(struct flight *flight, const struct key *keys, size_t n, uint64_t most,
                   uint8_t *seen);

/* The last `n` keys leave. */
void flight_drop(struct flight *flight, uint64_t n);

/* All leave. flight_hide does it for others, in 1 ns; flight_clear follows, without a lock, before
 * the next key. */
void flight_hide(struct flight *flight);
void flight_clear(struct flight *flight, uint64_t n);

/* The next level, with all keys, in the file `fd`, into which those of a slot are copied. Allocates
 * blocks, and takes 15 to 70 ns a key; nobody else notices until the slot says so. Then `old` may
 * be unmapped. Returns 0, or -1 with the fault. */
int flight_enlarge(const struct flight *old, struct flight *larger, struct fault *fault);

/* Room for `n` more keys in a flight in a file that nobody else looks into: it has at least salt,
 * path and fd. Returns 0, or -1 with the fault. */
int flight_reserve(struct flight *flight, uint64_t n, struct fault *fault);

#endif
