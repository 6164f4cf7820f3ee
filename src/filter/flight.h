/*
 * flight - the keys in flight of one writer: an exact set, in the order of their lines.
 *
 * A flight is a log of keys, and a hash table of positions in the log. How this was derived, step
 * by step:
 *
 *   1. The obvious set is a hash table of keys. But the order of the lines is needed, too: CMD of
 *      -x may leave the last lines unread, and a pending file keeps the order. And where a table of
 *      16 bytes per place grows, every key moves.
 *   2. So the keys are in a log, and the table has their numbers, 32 bits each. For 20 million keys
 *      this takes 71 ns per key and 134 MB of table, against 128 ns and 537 MB.
 *   3. A key that is not in should cost one cache miss. So the bits of a table entry that the
 *      number does not need are a tag from the key's hash, and the log is read only if the tag
 *      matches.
 *   4. Somebody who knows the seed can craft lines that collide. So places are salted
 *      (core/hash.h).
 *
 * The bytes, little-endian, in a slot of the filter (slot.c) or in a side file:
 *
 *   log    `capacity` keys of 16 bytes, lo then hi
 *   table  `places` entries of 4 bytes, a power of two and more than `capacity`. 0 is empty; else
 *          the lower bits are the number of the key in the log, from 1 on, and the upper bits the
 *          tag. Linear probing: a key is at the place named by the upper bits of its hash, or at
 *          one of the next, before the first empty place
 *
 * A side file (format/key_file.h) has a page for its head, then 3072 << level keys and 4096 <<
 * level places. When it grows, by a level or more, the new table begins after the new log, which
 * later overwrites the old table. So the log never moves, and becomes the body of a pending file.
 *
 * Only the owner writes: the key, its entry, then the count. So a reader without a lock finds every
 * key that was in before the reader looked, unless the flight was emptied or enlarged meanwhile;
 * the record tells that (slot.c).
 */
#ifndef UNSEEN_FILTER_FLIGHT_H
#define UNSEEN_FILTER_FLIGHT_H

#include "core/hash.h"
#include "format/key_file.h"
#include "format/shared.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stddef.h>

/* The lock of a side file with keys in flight (system/lock.h). */
enum { LOCK_FLIGHT = 0 };

/* One flight as this process sees it. */
struct flight {
    uint8_t *record; /* FLIGHT_RECORD_BYTES (format/shared.h), where other processes see the count,
                      * salt and file; NULL: private, or the flight of another writer */
    uint8_t *log;
    uint32_t *table;
    uint64_t count; /* keys, as the owner knows; other processes read the record */
    uint64_t capacity;
    uint64_t places;   /* a power of two */
    uint64_t expected; /* keys that it may come to have, a hint; 0: nobody knows */
    uint64_t salt;
    const char *path; /* of its file; NULL: it is in a slot */
    int fd;
    unsigned level;
    uint8_t *map; /* all of the file */
};

/* A flight in `bytes` of a slot. Its owner empties it before the first use, and chooses the salt,
 * which goes to the record with the first key. */
struct flight flight_in_slot(uint8_t *record, uint8_t *bytes, unsigned slot);

/* Write and read the head of a file of keys, in flight or pending. The first returns 0, or -1 with
 * errno; the second an enum key_file_is, or -1 with errno. */
int flight_write_head(int fd, const struct key_file_head *head);
int flight_read_head(int fd, struct key_file_head *head);

/* Maps the flight in the file flight->fd at a level, to write as its owner or only to read. Returns
 * 0, or -1 with the fault. Precondition: the file has flight_bytes(level) bytes. */
int flight_map(struct flight *flight, bool write, unsigned level, struct fault *fault);
void flight_unmap(struct flight *flight);

/* The size of a file of a level. */
static inline uint64_t flight_bytes(unsigned level)
{
    return FLIGHT_HEAD_BYTES + ((uint64_t)FLIGHT_FILE_BYTES << level);
}

/* n keys from number `from` on: in the log, or copied to `buffer`. Valid until keys are added. */
const struct key *flight_keys(const struct flight *flight, uint64_t from, size_t n,
                              struct key *buffer);

/* Sets seen[i] = 1 for keys that are in. About 2 ns per key in a slot, 15 to 40 in a large file. */
void flight_test(const struct flight *flight, const struct key *keys, size_t n, uint8_t *seen);

/* Adds the keys with seen[i] == 0, in order; sets seen[i] = 1 for those that are in. Stops after
 * `most` new keys, or when the flight is full. Returns how many keys were judged. */
size_t flight_add(struct flight *flight, const struct key *keys, size_t n, uint64_t most,
                  uint8_t *seen);

/* Removes the last `n` keys. Needs no lock: the last is removed first, so readers see the flight as
 * it was before. */
void flight_drop(struct flight *flight, uint64_t n);

/* Removes all keys. flight_hide makes them invisible to others, in 1 ns; flight_clear follows,
 * without a lock, before the next key is added. */
void flight_hide(struct flight *flight);
void flight_clear(struct flight *flight, uint64_t n);

/* Makes `larger`, at the next level of the file larger->fd, or up to two above it if old->expected
 * says so and there are blocks and memory, with all keys of `old`. Allocates blocks; about 10 ns
 * per key. Other processes see no change until the slot names the file and level; then `old` may be
 * unmapped. Returns 0, or -1 with the fault. */
int flight_enlarge(const struct flight *old, struct flight *larger, struct fault *fault);

/* Makes space for `n` more keys in a private flight in a file: salt, path, fd are set. Returns 0,
 * or -1 with the fault. */
int flight_reserve(struct flight *flight, uint64_t n, struct fault *fault);

#endif
