/*
 * keyer - makes the keys of lines by a recipe, and hashes them.
 *
 * Only keyer_new, keyer_copy, keyer_reserve, keyer_read_header and keyer_texts allocate memory. A
 * keyer is for one thread at a time.
 */
#ifndef UNSEEN_KEY_KEYER_H
#define UNSEEN_KEY_KEYER_H

#include "core/hash.h"
#include "key/recipe.h"
#include "system/fault.h"

struct keyer;

/* Return NULL if memory is short. A copy is for another thread, and knows the header line that the
 * first one has read. */
struct keyer *keyer_new(const struct recipe *recipe);
struct keyer *keyer_copy(const struct keyer *keyer);
void keyer_free(struct keyer *keyer);

/* Prepares for lines of up to `length` bytes. keyer_new prepares for 192 KiB, so only very long
 * lines need this. Returns 0, or -1 if memory is short. */
int keyer_reserve(struct keyer *keyer, size_t length);

/* Reads the header line of an input, before its other lines. Returns 0, or -1 with a fault about
 * `input`. */
int keyer_read_header(struct keyer *keyer, const char *line, size_t length, const char *input,
                      struct fault *fault);

/* Whether a line has a key, and else why not. */
enum no_key {
    HAS_KEY,
    NO_KEY,          /* it lacks a value, a URL or a host */
    NO_KEY_NOT_JSON, /* it is no JSON text */
    NO_KEY_IDLE      /* it is empty, or with --jsonl [ or ], but for blanks: no data is in it */
};

/* The key of a line. */
struct key_text {
    const char *bytes; /* in the line, or in the keyer until the next call */
    size_t length;
    enum no_key no_key; /* if it has none, all of the line */
};

/* `kind` of a row: what rows_find has told, or ROW_ODD. Precondition, here and below: keyer_reserve
 * for the longest line. */
struct key_text keyer_text(struct keyer *keyer, const char *line, size_t length, uint8_t kind);

/* Which of several members the keys so far had, of any line: bit i for the i-th of the recipe. */
unsigned keyer_members(const struct keyer *keyer);

/* Hash functions, and where the hashes of n lines go. */
struct hashes {
    struct hashers hashers;
    struct key *keys;
};

/* Hashes the keys of `n` lines that lie end to end, as in hash_lines, once for each of `count`
 * hashes; no_key[i]: an enum no_key of line i. `kinds` of rows, from rows_find; NULL for
 * other lines. */
void keyer_hash(struct keyer *keyer, const char *bytes, const size_t *starts, const uint8_t *kinds,
                size_t n, const struct hashes *hashes, unsigned count, uint8_t *no_key);

/* Bytes of keys that are no part of their lines. All zeros at first; the caller frees `bytes`. */
struct key_bytes {
    char *bytes;
    size_t capacity;
};

/* Makes the keys of lines in the same way without hashing them. Their texts point into the lines,
 * or into *kept. Returns how many: fewer than n if memory is short. */
size_t keyer_texts(struct keyer *keyer, const char *bytes, const size_t *starts,
                   const uint8_t *kinds, size_t n, struct key_text *texts, uint8_t *no_key,
                   struct key_bytes *kept);

#endif
