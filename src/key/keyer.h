/*
 * keyer - makes the keys of lines by a recipe, and hashes them.
 *
 * Only keyer_new and keyer_reserve allocate memory. A keyer is for one thread at a time.
 */
#ifndef UNSEEN_KEY_KEYER_H
#define UNSEEN_KEY_KEYER_H

#include "core/hash.h"
#include "key/recipe.h"
#include "system/fault.h"

struct keyer;

/* Returns NULL if memory is short. */
struct keyer *keyer_new(const struct recipe *recipe);
void keyer_free(struct keyer *keyer);

/* Prepares for lines of up to `length` bytes. keyer_new prepares for 192 KiB, so only very long
 * lines need this. Returns 0, or -1 if memory is short. */
int keyer_reserve(struct keyer *keyer, size_t length);

/* Reads the header line of an input, before its other lines. Precondition: keyer_reserve for it.
 * Returns 0, or -1 with a fault about `input`. */
int keyer_read_header(struct keyer *keyer, const char *line, size_t length, const char *input,
                      struct fault *fault);

/* The key of a line. */
struct key_text {
    const char *bytes; /* in the line, or in the keyer until the next call */
    size_t length;
    bool no_key; /* all of the line, because it has no key */
};

/* Precondition, here and below: keyer_reserve for the longest line. */
struct key_text keyer_text(struct keyer *keyer, const char *line, size_t length);

/* Why the line of the last call is not CSV, as a reason for a fault; NULL: it is, or need not
 * be. */
const char *keyer_wrong(const struct keyer *keyer);

/* Hashes the keys of `n` lines that lie end to end, as in hash_lines; no_key[i] = 1 if line i has
 * no key, else 0. Stops before a line for which keyer_wrong has a reason. Returns how many lines
 * were hashed. */
size_t keyer_hash(struct keyer *keyer, const char *bytes, const size_t *starts, size_t n,
                  struct hashers hashers, struct key *keys, uint8_t *no_key);

/* The same with two pairs of hash functions; each key is made only once. */
size_t keyer_hash_twice(struct keyer *keyer, const char *bytes, const size_t *starts, size_t n,
                        const struct hashers hashers[2], struct key *const keys[2],
                        uint8_t *no_key);

#endif
