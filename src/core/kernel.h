/*
 * kernel - the inner loops: find the lines or rows of a buffer, URLs, or the tokens of lines of
 * JSON; test keys, set keys, count bits.
 *
 * Each loop exists in several versions with the same results: a plain one, which runs on every
 * machine and which the other versions are tested against (tests/unit/test_kernel.c), and vector
 * versions. The version is chosen when the program starts, so that one package serves every CPU.
 * kernel_body.h explains what makes them fast.
 *
 * None allocates memory or fails. `seen` has one byte per key, 0 or 1.
 */
#ifndef UNSEEN_CORE_KERNEL_H
#define UNSEEN_CORE_KERNEL_H

#include "core/geometry.h"

/* How far rows of CSV were looked at. */
struct row_scan {
    char delimiter, separator;
    size_t at;     /* bytes before this offset were looked at; */
    uint64_t kind; /* what is known of the row at hand (rows.h), */
    bool inside;   /* which is within quotes */
    bool odd;      /* this row is not for `rows` */
};

/* A field of a row, with its quotes, if any. */
struct row_field {
    size_t first, end; /* offsets */
    bool found;        /* the row has it */
    bool doubled;      /* it may have two quotes for one */
};

/* How far lines of JSON were looked at. All zeros but `delimiter`: not at all. */
struct token_scan {
    char delimiter;
    size_t at;    /* bytes before this offset were looked at; */
    bool inside;  /* the last of them is within a string, */
    bool escaped; /* or is the backslash of an escape, */
    bool word;    /* or belongs to a number or a word */
    bool stray;   /* some escape is in no string */
};

/* Which of 64 bytes of a URL are slashes, or dots; keep their form anywhere, or in a host, too. */
struct url_masks {
    uint64_t slashes, dots, kept, of_host;
};

/* The last two as sets of ASCII: for each low half of a byte, a bit for each high half from 2 to 7.
 * Not kept are control bytes, blanks and one of " # % ' < > [ \ ] ^ ` { | }; in a host neither one
 * of ! $ ~ and bytes from : to `. */
#define URL_KEPT 46, 63, 62, 62, 63, 62, 63, 62, 63, 63, 63, 23, 21, 23, 53, 31
#define URL_OF_HOST 34, 50, 50, 50, 50, 50, 51, 50, 51, 51, 49, 17, 17, 17, 17, 17
#define URL_HALVES 0, 0, 1, 2, 4, 8, 16, 32, 0, 0, 0, 0, 0, 0, 0, 0

/* Room for tokens that is always enough for some. */
enum { TOKENS_LEAST = 64 + 16 };

struct kernel {
    const char *name;

    /* Finds the lines in `length` bytes, from offset starts[0] on. Stores the offset after each
     * delimiter in starts[1], starts[2]... Returns the number of whole lines, at most `most`.
     * `starts` has most + 1 entries. */
    size_t (*split)(const char *bytes, size_t length, char delimiter, size_t *starts, size_t most);

    /* Finds rows of CSV in the same way, from scan->at on, of which the first begins at starts[0];
     * stores their kinds. At a row that is wrong, or has quotes that only rows.c understands, it
     * stops with scan->odd set and scan->at where this row begins. Otherwise it has found `most`,
     * and scan->at is after them; or all bytes were looked at, and the next call may go on.
     * Preconditions: `length` is at the end of a line, `most` is not 0, and the separator is no
     * quote, CR or delimiter. */
    size_t (*rows)(const char *bytes, size_t length, struct row_scan *scan, size_t *starts,
                   uint8_t *kinds, size_t most);

    /* Finds a column, from 1 on, of n rows that lie end to end, of which none is ROW_ODD; such rows
     * are passed over. A byte order mark at the beginning of a row, and CRs at its end, are no part
     * of it. The last delimiter is not read. If `kinds` is NULL, these are lines, not rows: quotes,
     * marks and CRs are bytes as others. */
    void (*column)(const char *bytes, const size_t *starts, const uint8_t *kinds, size_t n,
                   char separator, size_t column, struct row_field *fields);

    /* How many of n lines that lie end to end, from the first on, are URLs in normal form of at
     * most `longest` bytes. It stops at others, and at some that are normal, too (url_is_normal in
     * key/url.h). NULL where it would not be faster than that. */
    size_t (*urls)(const char *bytes, const size_t *starts, size_t n, size_t longest);

    /* Finds the tokens of lines of JSON, from scan->at on: brackets, colons and commas outside
     * strings; where a string, a number or a word begins, or anything else that is no blank; in
     * strings the backslashes that begin an escape, and control bytes; and delimiters, which end a
     * string, too. Stores their offsets. Goes on while there is room for TOKENS_LEAST. Returns how
     * many there are. `length` is at most UINT32_MAX. */
    size_t (*tokens)(const char *bytes, size_t length, struct token_scan *scan, uint32_t *tokens,
                     size_t most);

    /* For each of `n` keys with seen[i] == 0: seen[i] = 1 if all its bits are set. */
    void (*test)(const struct bits *bits, const struct key *keys, size_t n, uint8_t *seen);

    /* Sets the bits of `n` keys. */
    void (*set)(const struct bits *bits, const struct key *keys, size_t n);

    /* Tests and sets the keys with seen[i] == 0, in order: seen[i] = 1 if all bits of the key are
     * set already, perhaps by an earlier one of these keys; otherwise sets them. Stops before it
     * would set more than `most` keys. Returns how many keys were tested; *set: how many were
     * set. */
    size_t (*insert)(const struct bits *bits, const struct key *keys, size_t n, uint8_t *seen,
                     uint64_t most, uint64_t *set);

    /* Counts the bits set in each block of a page, which may have any alignment. Returns the
     * sum. */
    unsigned (*count)(const uint8_t *page, uint16_t set[PAGE_BLOCKS]);
};

extern const struct kernel kernel_plain;
extern const struct kernel kernel_cells; /* for counting layers: cells.c */
#if defined(__x86_64__)
extern const struct kernel kernel_avx2;
extern const struct kernel kernel_avx512;
#endif
/* Every 64-bit Arm has vectors. The kernel needs lanes in the order of the bytes in memory, which
 * little-endian machines have. */
#if defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CPU_HAS_NEON
extern const struct kernel kernel_neon;
#endif

/* The fastest version that this machine runs. */
const struct kernel *kernel_best(void);

/* The version for this geometry: the fastest for bits, or the one for counting cells, where `set`
 * raises a key's cells and `count` counts the cells that are not zero (cells.h). */
const struct kernel *kernel_for(struct geometry geometry);

/* Stores the versions for bits that this machine can run, the plain one first. Returns how many. */
enum { KERNELS_MAX = 3 };
size_t kernel_all(const struct kernel *kernels[KERNELS_MAX]);

#endif
