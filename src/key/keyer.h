/*
 * keyer - makes keys of lines, as a recipe says.
 *
 * Bytes in, key out: no I/O, and no allocation but in keyer_new and keyer_reserve. One thread at a
 * time uses a keyer.
 */
#ifndef UNSEEN_KEY_KEYER_H
#define UNSEEN_KEY_KEYER_H

#include "core/hash.h"
#include "key/recipe.h"

struct keyer;

/* NULL if memory is short. */
struct keyer *keyer_new(const struct recipe *recipe);
void keyer_free(struct keyer *keyer);

/* Makes room for the keys of lines of up to `length` bytes; keyer_new makes it for those of 64 KiB,
 * so only very long lines need this. Returns 0, or -1 if memory is short. */
int keyer_reserve(struct keyer *keyer, size_t length);

/* What counts in a line. */
struct key_text {
    const char *bytes; /* in the line, or in the keyer until the next call */
    size_t length;
    bool no_key; /* all of the line, because it has no key */
};

/* Precondition: there is room for it. */
struct key_text keyer_text(struct keyer *keyer, const char *line, size_t length);

/* The keys of `n` lines laid end to end, as in hash_lines; no_key[i] = 1 if line i has no
 * key, else 0. Precondition: there is room for each. */
void keyer_hash(struct keyer *keyer, const char *bytes, const size_t *starts, size_t n,
                struct hashers hashers, struct key *keys, uint8_t *no_key);

/* Two keys of each line with two pairs of hashes, at the cost of one text. */
void keyer_hash_twice(struct keyer *keyer, const char *bytes, const size_t *starts, size_t n,
                      const struct hashers hashers[2], struct key *const keys[2], uint8_t *no_key);

#endif
