/*
 * siphash_body - siphash_lines with vectors. The file that includes this defines SIPHASH_NAME,
 * SIPHASH_STRUCT, SIPHASH_TARGET and
 *
 *     WIDTH, vec           a vector of so many 64-bit numbers, as the compiler's extension has it
 *     vec turn(vec x, unsigned bits)
 *     void load_words(at, words, from, vec column[WIDTH])
 *
 * where column[c] gets word from + c of each of WIDTH lines, the one at at[i] in lane i. Whatever
 * it has for words that a line lacks, from words[i] on, those are not read.
 *
 * The staircase, from the obvious loop to this one, with ns a line for the URLs of genlines (70
 * bytes) and, in brackets, lines whose lengths differ more (79 bytes, deviation 53); XXH3 takes 10
 * (13):
 *
 *   1. The obvious loop, siphash.c: each step of a line waits for the one before. 34 (36). To take
 *      two lines in turns in plain C is no more than 9 % better, for one is longer than the other.
 *   2. Each line is a lane of a vector. Their words come by loading a piece of each line, and
 *      turning rows into columns. 13 (14) with AVX-512, 26 (28) with AVX2.
 *   3. Two vectors at once: one alone waits for itself, too. 10 (11), 19 (21).
 *   4. A lane whose line has ended keeps its state until the others' have. So lines of as many
 *      words wait for each other: in the order of input it is 10 (17), 22 (39).
 *
 * The last word, which all lines have, is taken by all at once; it is loaded with bytes before
 * it, which are there for all but the very first lines.
 */
#include "core/siphash_list.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline)) SIPHASH_TARGET

enum { VECTORS = 2, LANES = VECTORS * WIDTH };

#define EACH                                                                                       \
    UNROLL                                                                                         \
    for (unsigned i = 0; i < VECTORS; i++)

/* --- a group of lines, one a lane --- */

struct group {
    const uint8_t *at[LANES];
    uint64_t words[LANES]; /* whole ones */
    uint64_t last[LANES];
};

/* The four numbers of each lane. */
struct state {
    vec v0[VECTORS], v1[VECTORS], v2[VECTORS], v3[VECTORS];
};

INLINE vec all_lanes(uint64_t x)
{
    const vec zero = {0};
    return zero + x;
}

INLINE void load_lanes(const uint64_t lanes[LANES], vec to[VECTORS])
{
    memcpy(to, lanes, LANES * sizeof *lanes);
}

INLINE void mix(struct state *s, unsigned rounds)
{
#define ADD(a, b) EACH s->a[i] += s->b[i]
#define XOR(a, b) EACH s->a[i] ^= s->b[i]
#define TURN(a, bits) EACH s->a[i] = turn(s->a[i], bits)
    UNROLL
    for (unsigned round = 0; round < rounds; round++) {
        ADD(v0, v1);
        ADD(v2, v3);
        TURN(v1, 13);
        TURN(v3, 16);
        XOR(v1, v0);
        XOR(v3, v2);
        TURN(v0, 32);
        ADD(v2, v1);
        ADD(v0, v3);
        TURN(v1, 17);
        TURN(v3, 21);
        XOR(v1, v2);
        XOR(v3, v0);
        TURN(v2, 32);
    }
#undef ADD
#undef XOR
#undef TURN
}

INLINE void take(struct state *s, const vec word[VECTORS])
{
    EACH s->v3[i] ^= word[i];
    mix(s, 2);
    EACH s->v0[i] ^= word[i];
}

/* Word number `number`, in lanes that have more words than that. */
INLINE void take_if(struct state *s, const vec word[VECTORS], const vec words[VECTORS],
                    uint64_t number)
{
    struct state before = *s;
    take(s, word);
    EACH
    {
        vec has = (vec)(words[i] > all_lanes(number));
        s->v0[i] = (s->v0[i] & has) | (before.v0[i] & ~has);
        s->v1[i] = (s->v1[i] & has) | (before.v1[i] & ~has);
        s->v2[i] = (s->v2[i] & has) | (before.v2[i] & ~has);
        s->v3[i] = (s->v3[i] & has) | (before.v3[i] & ~has);
    }
}

INLINE void take_words(struct state *s, const struct group *group)
{
    uint64_t shortest = UINT64_MAX, longest = 0;
    vec words[VECTORS], column[VECTORS][WIDTH];
    load_lanes(group->words, words);
    for (unsigned i = 0; i < LANES; i++) {
        shortest = group->words[i] < shortest ? group->words[i] : shortest;
        longest = group->words[i] > longest ? group->words[i] : longest;
    }
    for (uint64_t from = 0; from < longest; from += WIDTH) {
        EACH load_words(group->at + i * WIDTH, group->words + i * WIDTH, from, column[i]);
        UNROLL
        for (unsigned c = 0; c < WIDTH; c++) {
            const vec word[VECTORS] = {column[0][c], column[1][c]};
            if (from + c < shortest)
                take(s, word);
            else if (from + c < longest)
                take_if(s, word, words, from + c);
        }
    }
}

INLINE void finish(struct state *s, uint64_t half[LANES])
{
    mix(s, 4);
    EACH
    {
        vec x = s->v0[i] ^ s->v1[i] ^ s->v2[i] ^ s->v3[i];
        memcpy(half + WIDTH * i, &x, sizeof x);
    }
}

INLINE void start(struct state *s, uint64_t k0, uint64_t k1)
{
    struct siphash_state lane = siphash_start(k0, k1);
    EACH
    {
        s->v0[i] = all_lanes(lane.v[0]);
        s->v1[i] = all_lanes(lane.v[1]);
        s->v2[i] = all_lanes(lane.v[2]);
        s->v3[i] = all_lanes(lane.v[3]);
    }
}

/* --- lines laid end to end, and where their keys go --- */

struct lines {
    const char *bytes;
    const size_t *starts;
    struct key *keys;
    uint64_t k0, k1;
};

static inline size_t length_of(const struct lines *lines, size_t i)
{
    return lines->starts[i + 1] - 1 - lines->starts[i];
}

static inline void hash_one(const struct lines *lines, size_t i)
{
    lines->keys[i] = siphash_key(lines->bytes + lines->starts[i], length_of(lines, i), lines->k0,
                                 lines->k1);
}

/* Those whose numbers are given. Eight bytes before the end of each may be read. */
SIPHASH_TARGET
static void hash_group(const struct lines *lines, const uint32_t numbers[LANES])
{
    struct group group;
    struct state s;
    vec last[VECTORS];
    uint64_t lo[LANES], hi[LANES];
    for (unsigned i = 0; i < LANES; i++) {
        size_t length = length_of(lines, numbers[i]);
        group.at[i] = (const uint8_t *)lines->bytes + lines->starts[numbers[i]];
        group.words[i] = length / 8;
        group.last[i] = siphash_last(group.at[i] + length, length);
    }
    load_lanes(group.last, last);
    start(&s, lines->k0, lines->k1);
    take_words(&s, &group);
    take(&s, last);
    EACH s.v2[i] ^= SIPHASH_FIRST;
    finish(&s, lo);
    EACH s.v1[i] ^= SIPHASH_SECOND;
    finish(&s, hi);
    for (unsigned i = 0; i < LANES; i++)
        lines->keys[numbers[i]] = (struct key){.lo = lo[i], .hi = hi[i]};
}

/* Fewer than LANES, or of many lengths. A vector takes about as long for a word as two lines by
 * themselves: so one line that is longer than all others together does not keep them company. */
SIPHASH_TARGET
static void hash_some(const struct lines *lines, uint32_t numbers[LANES], size_t n)
{
    size_t all = 0, longest = 0;
    for (size_t i = 0; i < n; i++) {
        size_t words = length_of(lines, numbers[i]) / 8;
        all += words;
        longest = words > longest ? words : longest;
    }
    if (all <= 2 * longest) {
        for (size_t i = 0; i < n; i++)
            hash_one(lines, numbers[i]);
        return;
    }
    for (size_t i = n; i < LANES; i++)
        numbers[i] = numbers[0];
    hash_group(lines, numbers);
}

/* --- which lines go together --- */

enum { MOST_WORDS = 2047, KINDS = 128 };

/* Lines that wait until there are LANES of their kind. */
struct waiting {
    uint8_t count[KINDS];
    uint32_t numbers[KINDS][LANES];
};

/* As floating-point numbers have it, five digits and an exponent: a kind for each number of words
 * below 32, then 16 kinds until it has doubled; one for all from 16 KB on. */
static inline size_t kind_of(size_t words)
{
    words = words < MOST_WORDS ? words : MOST_WORDS;
    unsigned shift = 59 - (unsigned)__builtin_clzll(words | 16);
    return shift * 16 + (words >> shift);
}

/* Those that wait in vain, from the shortest to the longest. */
SIPHASH_TARGET
static void hash_waiting(const struct lines *lines, const struct waiting *waiting)
{
    uint32_t numbers[LANES];
    size_t n = 0;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < waiting->count[kind]; i++) {
            numbers[n++] = waiting->numbers[kind][i];
            if (n == LANES) {
                hash_some(lines, numbers, n);
                n = 0;
            }
        }
    hash_some(lines, numbers, n);
}

SIPHASH_TARGET
static void hash_all(const char *bytes, const size_t *starts, size_t n, uint64_t k0, uint64_t k1,
                     struct key *keys)
{
    const struct lines lines = {bytes, starts, keys, k0, k1};
    struct waiting waiting;
    size_t i = 0;
    memset(waiting.count, 0, sizeof waiting.count);
    for (; i < n && starts[i + 1] - 1 - starts[0] < 8; i++)
        hash_one(&lines, i);
    for (; i < n; i++) {
        size_t kind = kind_of(length_of(&lines, i) / 8);
        waiting.numbers[kind][waiting.count[kind]++] = (uint32_t)i;
        if (waiting.count[kind] == LANES) {
            hash_group(&lines, waiting.numbers[kind]);
            waiting.count[kind] = 0;
        }
    }
    hash_waiting(&lines, &waiting);
}

const struct siphash SIPHASH_STRUCT = {.name = SIPHASH_NAME, .lines = hash_all};
