/*
 * kernel_body - the loops of kernel.h, written once and compiled once for each instruction set.
 *
 * The file that includes this defines
 *   KERNEL_NAME     name as a string
 *   KERNEL_STRUCT   name of the struct kernel to define
 *   KERNEL_TARGET   function attribute that allows the instructions, or nothing
 *   BLOCK_HAS(fields, block, word)     1 if all f bits of the word are set in the block, else 0
 *   BLOCK_ADD(fields, block, word)     sets them
 * and, if it has something better than what stands below,
 *   FIELDS, FIELDS_START(f)            a type that says which fields there are, and its value for f
 *   DELIMITER_MASK(bytes, delimiter)   64 bits: which of 64 bytes are the delimiter
 *   WITHIN_MASK(quotes)                64 bits: bit i is the parity of the quotes up to bit i
 *   CONTROL_MASK(bytes)                64 bits: which of 64 bytes are below 0x20
 *   PUNCTUATION_MASK(bytes)            64 bits: which of 64 bytes are one of {}[]:,
 *   URL_MASKS(bytes)                   struct url_masks of 64 bytes; else there is no loop for URLs
 *   FIRST_BIT(word)                    trailing zeros of 64 bits; of 0 any number
 *   STORE_BITS(out, first, word)       stores the number of each bit of 64 plus `first`, from the
 *                                      lowest on; may write up to 64 numbers and 16 more
 *   KERNEL_NONZERO(word)               a bit for each cell that is not zero
 *
 * How this loop was derived from the obvious one, step by step:
 *
 *   1. For each key, compute its bits and test them one by one. The key waits for memory once per
 *      block: 100 ns and more if the filter is larger than the cache.
 *   2. Keys come in batches, so the blocks of the key AHEAD places further on are prefetched while
 *      this key is tested; memory then serves dozens of keys at once. The few instructions that
 *      find a key's blocks are executed twice; storing their results would cost more.
 *   3. All f bits of a block are tested in one vector operation, without a branch per bit: a branch
 *      on random bits is mispredicted half the time.
 *   4. They are also set in one vector operation: combined in a register, with one load and one
 *      store per block. Set one by one in memory, each would wait for the one before, because the
 *      processor must assume that they hit the same word: 50 instead of 15 ns for 18 bits.
 *   5. Testing and setting key by key takes a branch per key, which cannot be predicted if half of
 *      the keys are new. In that case all keys of a short run are tested first, without a branch,
 *      and then the new ones are set: 9 instead of 14 ns.
 *   6. The loop has a few copies in which g is a constant, so that the walk over the blocks can be
 *      unrolled and its steps overlap. At -O2, compilers unroll it only if asked to: 13 instead of
 *      16 ns for a test of three blocks.
 */
#include "core/bytes.h"
#include "core/kernel.h"
#include "core/rows.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#ifndef FIELDS
#define FIELDS unsigned
#define FIELDS_START(count) (count)
#endif

#if !defined(DELIMITER_MASK) && defined(__SSE2__)
#define DELIMITER_MASK delimiter_mask
static inline uint64_t delimiter_mask(const char *bytes, char delimiter)
{
    const __m128i pattern = _mm_set1_epi8(delimiter);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i hits = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(bytes + i)),
                                      pattern);
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(hits) << i;
    }
    return mask;
}
#elif !defined(DELIMITER_MASK)
#define DELIMITER_MASK delimiter_mask
static inline uint64_t delimiter_mask(const char *bytes, char delimiter)
{
    uint64_t pattern = eight_bytes((uint8_t)delimiter);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t word = 0;
        /* Little-endian on every machine, so that byte i of the block gives bit i of the mask. */
        for (unsigned j = 0; j < 8; j++)
            word |= (uint64_t)(uint8_t)bytes[i * 8 + j] << (j * 8);
        uint64_t hits = zero_bytes(word ^ pattern) >> 7;
        /* The multiplication collects the bits 0, 8, .. 56 in the top byte. */
        mask |= (hits * UINT64_C(0x0102040810204080) >> 56) << (i * 8);
    }
    return mask;
}
#endif

#ifndef WITHIN_MASK
#define WITHIN_MASK within_mask
static inline uint64_t within_mask(uint64_t quotes)
{
    quotes ^= quotes << 1;
    quotes ^= quotes << 2;
    quotes ^= quotes << 4;
    quotes ^= quotes << 8;
    quotes ^= quotes << 16;
    return quotes ^ quotes << 32;
}
#endif

#if !defined(CONTROL_MASK) && defined(__SSE2__)
#define CONTROL_MASK control_mask
static inline uint64_t control_mask(const char *bytes)
{
    const __m128i last = _mm_set1_epi8(0x1f);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        __m128i hits = _mm_cmpeq_epi8(_mm_min_epu8(part, last), part);
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(hits) << i;
    }
    return mask;
}
#elif !defined(CONTROL_MASK)
#define CONTROL_MASK control_mask
static inline uint64_t control_mask(const char *bytes)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i++)
        mask |= (uint64_t)((uint8_t)bytes[i] < 0x20) << i;
    return mask;
}
#endif

#ifndef FIRST_BIT
#define FIRST_BIT(word) (unsigned)__builtin_ctzll((word) | UINT64_C(1) << 63)
#endif

#ifndef PUNCTUATION_MASK
#define PUNCTUATION_MASK(bytes)                                                                    \
    (DELIMITER_MASK(bytes, '{') | DELIMITER_MASK(bytes, '}') | DELIMITER_MASK(bytes, '[') |        \
     DELIMITER_MASK(bytes, ']') | DELIMITER_MASK(bytes, ':') | DELIMITER_MASK(bytes, ','))
#endif

/* Unless a cell has more than one bit. */
#ifndef KERNEL_NONZERO
#define KERNEL_NONZERO(word) (word)
#endif

/* Far enough ahead for memory to respond (about 100 ns, at 5 ns per key, and longer under load),
 * near enough for the first-level cache to hold all prefetched blocks: up to 7 blocks per key. */
#define AHEAD 40

#if defined(__clang__)
/* Clang unrolls without being asked, and warns about a request that it cannot follow. */
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define INLINE static inline __attribute__((always_inline)) KERNEL_TARGET

INLINE uint8_t *page_of(const struct bits *bits, struct key key)
{
    return bits->bytes + geometry_page(key, bits->pages) * PAGE_BYTES;
}

/* Blocks first..end of a key. */
INLINE void prefetch_key(const struct bits *bits, struct key key, unsigned first, unsigned end)
{
    const uint8_t *page = page_of(bits, key);
    struct walk walk = walk_start(key);
    UNROLL
    for (unsigned j = 0; j < end; j++, walk_next(&walk))
        if (j >= first)
            __builtin_prefetch(page + (size_t)walk.block * BLOCK_BYTES);
}

INLINE void prefetch_first(const struct bits *bits, const struct key *keys, size_t n,
                           unsigned blocks)
{
    for (size_t i = 0; i < n && i < AHEAD; i++)
        prefetch_key(bits, keys[i], 0, blocks);
}

INLINE unsigned key_test(const struct bits *bits, struct key key, unsigned first, unsigned end,
                         FIELDS fields)
{
    const uint8_t *page = page_of(bits, key);
    struct walk walk = walk_start(key);
    unsigned all = 1;
    UNROLL
    for (unsigned j = 0; j < end; j++, walk_next(&walk))
        if (j >= first)
            all &= BLOCK_HAS(fields, page + (size_t)walk.block * BLOCK_BYTES, walk.word);
    return all;
}

/* For input that is mostly new: the first block is usually enough to know that a key is new. */
INLINE unsigned key_test_early(const struct bits *bits, struct key key, unsigned blocks,
                               FIELDS fields)
{
    const uint8_t *page = page_of(bits, key);
    struct walk walk = walk_start(key);
    UNROLL
    for (unsigned j = 0; j < blocks; j++, walk_next(&walk))
        if (!BLOCK_HAS(fields, page + (size_t)walk.block * BLOCK_BYTES, walk.word))
            return 0;
    return 1;
}

INLINE void key_set(const struct bits *bits, struct key key, unsigned blocks, FIELDS fields)
{
    uint8_t *page = page_of(bits, key);
    struct walk walk = walk_start(key);
    UNROLL
    for (unsigned j = 0; j < blocks; j++, walk_next(&walk))
        BLOCK_ADD(fields, page + (size_t)walk.block * BLOCK_BYTES, walk.word);
}

/* Keys are tested in runs of this length. */
#define RUN 32

/* The first block tells nearly all keys that are new, and then no other need be fetched. So a run
 * is tested in two steps, without a branch that half of its keys would take: the first blocks,
 * which lists the keys that may be in, and has their other blocks fetched; and these, after the
 * next run. Only where nearly all keys of a run were in, the next is tested in one step. */
INLINE void test_keys(const struct bits *bits, const struct key *keys, size_t n, uint8_t *seen,
                      unsigned blocks)
{
    FIELDS fields = FIELDS_START(bits->geometry.fields);
    size_t lists[2][RUN], listed = 0, before = 0;
    bool whole = false;
    prefetch_first(bits, keys, n, 1);
    for (size_t from = 0, turn = 0; from < n + RUN; from += RUN, turn ^= 1) {
        size_t end = from >= n ? from : n - from < RUN ? n : from + RUN;
        size_t *list = lists[turn], tested = 0, in = 0;
        for (size_t i = from; i < end; i++) {
            if (i + AHEAD < n && !seen[i + AHEAD])
                prefetch_key(bits, keys[i + AHEAD], 0, whole ? blocks : 1);
            if (seen[i])
                continue;
            seen[i] = (uint8_t)key_test(bits, keys[i], 0, whole ? blocks : 1, fields);
            list[in] = i;
            in += seen[i];
            tested++;
        }
        listed = whole || blocks == 1 ? 0 : in;
        for (size_t j = 0; j < listed; j++)
            prefetch_key(bits, keys[list[j]], 1, blocks);
        for (size_t j = 0; j < before; j++) {
            size_t i = lists[turn ^ 1][j];
            seen[i] = (uint8_t)key_test(bits, keys[i], 1, blocks, fields);
        }
        before = listed;
        whole = in > tested - tested / 8;
    }
}

/* Does `insert` of kernel.h, key by key, for the first `n` of `left` keys. */
INLINE size_t insert_each(const struct bits *bits, const struct key *keys, size_t n, size_t left,
                          uint8_t *seen, uint64_t most, uint64_t *set, unsigned blocks)
{
    FIELDS fields = FIELDS_START(bits->geometry.fields);
    uint64_t count = 0;
    size_t i;
    for (i = 0; i < n; i++) {
        if (i + AHEAD < left)
            prefetch_key(bits, keys[i + AHEAD], 0, blocks);
        if (seen[i])
            continue;
        if (key_test_early(bits, keys[i], blocks, fields)) {
            seen[i] = 1;
            continue;
        }
        if (count == most)
            break;
        key_set(bits, keys[i], blocks, fields);
        count++;
    }
    *set = count;
    return i;
}

/* Inserts a run of keys: tests all, lists the new ones, and sets these. A key that comes twice in
 * the run is listed twice, so each is tested again before it is set; duplicates are rare, so this
 * branch is predicted well. Returns how many keys were set. */
INLINE uint64_t insert_run(const struct bits *bits, const struct key *keys, size_t left,
                           uint8_t *seen, unsigned blocks)
{
    FIELDS fields = FIELDS_START(bits->geometry.fields);
    size_t list[RUN], listed = 0;
    for (size_t i = 0; i < RUN; i++) {
        if (i + AHEAD < left)
            prefetch_key(bits, keys[i + AHEAD], 0, blocks);
        seen[i] = (uint8_t)(seen[i] | key_test(bits, keys[i], 0, blocks, fields));
        list[listed] = i;
        listed += !seen[i];
    }
    uint64_t count = listed;
    for (size_t j = 0; j < listed; j++) {
        size_t i = list[j];
        if (key_test_early(bits, keys[i], blocks, fields)) {
            seen[i] = 1;
            count--;
        } else {
            key_set(bits, keys[i], blocks, fields);
        }
    }
    return count;
}

INLINE size_t insert_keys(const struct bits *bits, const struct key *keys, size_t n, uint8_t *seen,
                          uint64_t most, uint64_t *set, unsigned blocks)
{
    uint64_t count = 0, new;
    bool mostly_new = true;
    prefetch_first(bits, keys, n, blocks);
    for (size_t from = 0; from < n; from += RUN) {
        size_t left = n - from;
        if (!mostly_new && left >= RUN && most - count >= RUN) {
            new = insert_run(bits, keys + from, left, seen + from, blocks);
            count += new;
        } else {
            size_t run = left < RUN ? left : RUN;
            size_t done = insert_each(bits, keys + from, run, left, seen + from, most - count, &new,
                                      blocks);
            count += new;
            if (done < run) {
                *set = count;
                return from + done;
            }
        }
        mostly_new = new > RUN - RUN / 4;
    }
    *set = count;
    return n;
}

INLINE void set_keys(const struct bits *bits, const struct key *keys, size_t n, unsigned blocks)
{
    FIELDS fields = FIELDS_START(bits->geometry.fields);
    prefetch_first(bits, keys, n, blocks);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            prefetch_key(bits, keys[i + AHEAD], 0, blocks);
        key_set(bits, keys[i], blocks, fields);
    }
}

/* One copy of a loop for each g up to 6 (p = 1e-12), and one for all larger g. */
#define FOR_BLOCKS(loop, ...)                                                                      \
    (bits->geometry.blocks == 1   ? loop(__VA_ARGS__, 1)                                           \
     : bits->geometry.blocks == 2 ? loop(__VA_ARGS__, 2)                                           \
     : bits->geometry.blocks == 3 ? loop(__VA_ARGS__, 3)                                           \
     : bits->geometry.blocks == 4 ? loop(__VA_ARGS__, 4)                                           \
     : bits->geometry.blocks == 5 ? loop(__VA_ARGS__, 5)                                           \
     : bits->geometry.blocks == 6 ? loop(__VA_ARGS__, 6)                                           \
                                  : loop(__VA_ARGS__, bits->geometry.blocks))

KERNEL_TARGET
static void kernel_test(const struct bits *bits, const struct key *keys, size_t n, uint8_t *seen)
{
    FOR_BLOCKS(test_keys, bits, keys, n, seen);
}

KERNEL_TARGET
static void kernel_set(const struct bits *bits, const struct key *keys, size_t n)
{
    FOR_BLOCKS(set_keys, bits, keys, n);
}

KERNEL_TARGET
static size_t kernel_insert(const struct bits *bits, const struct key *keys, size_t n,
                            uint8_t *seen, uint64_t most, uint64_t *set)
{
    return FOR_BLOCKS(insert_keys, bits, keys, n, seen, most, set);
}

KERNEL_TARGET
static size_t kernel_split(const char *bytes, size_t length, char delimiter, size_t *starts,
                           size_t most)
{
    size_t found = 0;
    size_t at = starts[0];
    /* Takes 64 bytes at a time, and finds each delimiter in them by counting trailing zeros. If
     * lines are about 64 bytes long, whether there is a delimiter at all cannot be predicted; so an
     * offset is always stored, but counts only if there is one. */
    for (; at + 64 <= length && found + 64 <= most; at += 64) {
        uint64_t mask = DELIMITER_MASK(bytes + at, delimiter);
        size_t next = found;
        found += (size_t)__builtin_popcountll(mask);
        do {
            starts[++next] = at + FIRST_BIT(mask) + 1;
            mask &= mask - 1;
        } while (mask != 0);
    }
    while (found < most && at < length) {
        const char *end = memchr(bytes + at, delimiter, length - at);
        if (end == NULL)
            break;
        at = (size_t)(end - bytes) + 1;
        starts[++found] = at;
    }
    return found;
}

/* --- rows of CSV --- */

/* Finds rows where there are no quotes, as kernel_split does, up to 64 bytes that have one. */
INLINE size_t split_plain(const char *bytes, size_t length, char delimiter, size_t *at,
                          size_t *starts, uint8_t *kinds, size_t most)
{
    size_t found = 0;
    for (; *at + 64 <= length && found + 64 <= most; *at += 64) {
        if (DELIMITER_MASK(bytes + *at, '"') != 0)
            break;
        uint64_t mask = DELIMITER_MASK(bytes + *at, delimiter);
        unsigned count = (unsigned)__builtin_popcountll(mask);
        size_t next = found;
        memset(kinds + found, 0, 8);
        if (count > 8)
            memset(kinds + found, 0, 64);
        found += count;
        do {
            starts[++next] = *at + FIRST_BIT(mask) + 1;
            mask &= mask - 1;
        } while (mask != 0);
    }
    return found;
}

/* How a block of rows ended. */
struct row_edge {
    uint64_t inside; /* all bits, if within quotes; else 0 */
    uint64_t closed; /* 1, if its last byte closed a field; else 0 */
    uint64_t fits;   /* 1, if a quote may follow: to open a field, or as the second of two */
    uint64_t kind;   /* of the row that goes on */
    size_t quoted;   /* the offset of the last block that had a quote */
};

/* Takes the 64 bytes of `chunk`, which are those at offset `at`; only those count whose bits are in
 * `valid`. Stores the rows that end there, at most `most`, with their kinds. Returns how many.
 * *odd: the first byte that does not fit, 0 if there is none.
 *
 * A quote opens or closes a field, or is one of two for one: of these the first closes, and the
 * second opens again. So a byte is within quotes if an odd number of quotes was there, up to this
 * byte, which a few operations tell for 64 bytes:
 *
 *     rows     x , " a , " " b " , y \n
 *     quotes   . . 1 . . 1 1 . 1 . . .
 *     within   . . 1 1 1 . 1 1 . . . .
 *     opens    . . 1 . . . 1 . . . . .   quotes within
 *     closes   . . . . . 1 . . 1 . . .   the other quotes
 *     fits     . 1 1 1 . 1 1 . 1 1 . 1   quotes, separators and delimiters
 *
 * This holds if one of those stands before each quote that opens, and after each that closes: of
 * two quotes side by side one closes and one opens; and no other byte there is within quotes. A CR
 * may also stand after one that closes, if the row ends after it. */
INLINE unsigned take_block(const char *bytes, size_t length, const char *chunk, uint64_t valid,
                           size_t at, char delimiter, char separator, struct row_edge *edge,
                           uint64_t *odd, size_t *starts, uint8_t *kinds, size_t most)
{
    /* 1. Do the quotes fit? */
    uint64_t quotes = DELIMITER_MASK(chunk, '"');
    uint64_t delimiters = DELIMITER_MASK(chunk, delimiter) & valid;
    uint64_t within = WITHIN_MASK(quotes) ^ edge->inside;
    uint64_t opens = quotes & within, closes = quotes ^ opens;
    uint64_t fits = quotes | delimiters | DELIMITER_MASK(chunk, separator);
    uint64_t ends = delimiters & ~within, several = delimiters & within;
    uint64_t follows = (closes << 1 | edge->closed) & ~fits;
    *odd = (opens & ~(fits << 1 | edge->fits)) | follows | (delimiter == '\0' ? several : 0);
    edge->inside = (uint64_t)0 - (within >> 63);
    edge->closed = closes >> 63;
    edge->fits = fits >> 63;
    edge->quoted = quotes != 0 ? at : edge->quoted;
    if (*odd != 0) {
        uint64_t returns = follows & DELIMITER_MASK(chunk, '\r');
        *odd = (*odd ^ returns) | (returns << 1 & ~ends);
        if (returns >> 63 != 0 && (length - at <= 64 || bytes[at + 64] != delimiter))
            *odd |= UINT64_C(1) << 63;
        if (*odd != 0)
            ends &= (*odd & (0 - *odd)) - 1;
    }
    /* 2. As in kernel_split, one row is always stored, if only the one that does not end here. */
    unsigned count = (unsigned)__builtin_popcountll(ends);
    uint64_t kind = edge->kind;
    for (; count > most; count--)
        ends ^= UINT64_C(1) << (63 - __builtin_clzll(ends));
    const uint64_t keep = count == 0 ? UINT64_MAX : 0;
    do {
        uint64_t row = ends ^ (ends - 1); /* its bytes, and those before */
        kind |= (quotes & row) != 0 ? ROW_QUOTED : 0U;
        kind += (unsigned)__builtin_popcountll(several & row) * ROW_SEVERAL;
        *kinds++ = row_kind(kind);
        *++starts = at + FIRST_BIT(ends) + 1;
        quotes &= ~row;
        several &= ~row;
        kind &= keep;
        ends &= ends - 1;
    } while (ends != 0);
    edge->kind = (kind | (quotes != 0 ? ROW_QUOTED : 0U)) +
                 (unsigned)__builtin_popcountll(several) * ROW_SEVERAL;
    return count;
}

KERNEL_TARGET
static size_t kernel_rows(const char *bytes, size_t length, struct row_scan *scan, size_t *starts,
                          uint8_t *kinds, size_t most)
{
    /* If some rows have quotes, whether the next block has one cannot be predicted. So quotes are
     * expected until that many bytes have none. */
    enum { CALM = 256 };
    const char delimiter = scan->delimiter, separator = scan->separator;
    struct row_edge edge = {scan->inside ? UINT64_MAX : 0, 0, 1, scan->kind, scan->at - CALM};
    size_t found = 0, at = scan->at;
    uint64_t odd = 0;
    while (odd == 0 && at < length && found < most) {
        /* 1. Where there are no quotes, also not before in the row at hand, rows are lines. */
        if (edge.kind == 0) {
            size_t from = at;
            found += split_plain(bytes, length, delimiter, &at, starts + found, kinds + found,
                                 most - found);
            if (at > from)
                edge.fits = bytes[at - 1] == separator || bytes[at - 1] == delimiter;
        }
        /* 2. Where there are some. */
        do {
            if (at + 64 > length || found + 64 > most)
                break;
            found += take_block(bytes, length, bytes + at, UINT64_MAX, at, delimiter, separator,
                                &edge, &odd, starts + found, kinds + found, 64);
            at += 64;
        } while (odd == 0 && (at - edge.quoted < CALM || edge.kind != 0));
        /* 3. What is left, or the last rows that are wanted. */
        if (odd == 0 && at < length && found < most && (at + 64 > length || found + 64 > most)) {
            char last[64] = {0};
            size_t n = length - at < 64 ? length - at : 64;
            uint64_t valid = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
            memcpy(last, bytes + at, n);
            found += take_block(bytes, length, last, valid, at, delimiter, separator, &edge, &odd,
                                starts + found, kinds + found, most - found);
            at += n;
        }
    }
    scan->odd = odd != 0 && found < most;
    scan->at = found < most && !scan->odd ? length : starts[found];
    scan->inside = scan->at == length && edge.inside != 0;
    scan->kind = scan->at == length ? edge.kind : 0;
    return found;
}

/* Finds a column of the row whose bytes are first..end, 64 bytes at a time; `limit` is where bytes
 * end that may be read. Within quotes, as above, a separator is none. */
INLINE void find_column(const char *bytes, size_t limit, size_t first, size_t end, bool quoted,
                        char separator, size_t column, struct row_field *field)
{
    uint64_t inside = 0;  /* all bits, if the last chunk ended within quotes; else 0 */
    uint64_t before = 0;  /* 1, if its last byte was a quote; else 0 */
    uint64_t doubled = 0; /* not 0: two quotes for one were found */
    for (size_t at = first; at < end; at += 64) {
        char last[64];
        const char *chunk = bytes + at;
        /* Without a branch: whether a row has more than 64 bytes cannot be predicted. */
        uint64_t valid = ((UINT64_C(1) << (end - at) % 64) - 1) | ((uint64_t)0 - (end - at >= 64));
        if (limit - at < 64)
            chunk = memcpy(last, chunk, limit - at);
        uint64_t ends = DELIMITER_MASK(chunk, separator) & valid;
        if (quoted) {
            uint64_t quotes = DELIMITER_MASK(chunk, '"') & valid;
            uint64_t within = WITHIN_MASK(quotes) ^ inside;
            doubled |= quotes & within & (quotes << 1 | before);
            inside = (uint64_t)0 - (within >> 63);
            before = quotes >> 63;
            ends &= ~within;
        }
        for (; ends != 0; ends &= ends - 1) {
            size_t found = at + (size_t)__builtin_ctzll(ends);
            if (--column == 0) {
                *field = (struct row_field){first, found, true, doubled != 0};
                return;
            }
            first = found + 1;
        }
    }
    *field = (struct row_field){first, end, column == 1, doubled != 0};
}

KERNEL_TARGET
static void kernel_column(const char *bytes, const size_t *starts, const uint8_t *kinds, size_t n,
                          char separator, size_t column, struct row_field *fields)
{
    for (size_t i = 0; i < n; i++) {
        size_t first = starts[i], end = starts[i + 1] - 1;
        if (kinds == NULL) {
            find_column(bytes, starts[n] - 1, first, end, false, separator, column, &fields[i]);
            continue;
        }
        if ((kinds[i] & ROW_ODD) != 0)
            continue;
        first += mark_length(bytes + first, end - first);
        while (end > first && bytes[end - 1] == '\r')
            end--;
        if ((kinds[i] & ROW_QUOTED) != 0)
            find_column(bytes, starts[n] - 1, first, end, true, separator, column, &fields[i]);
        else
            find_column(bytes, starts[n] - 1, first, end, false, separator, column, &fields[i]);
    }
}

/* --- URLs --- */

#ifdef URL_MASKS
/* As url_is_normal in key/url.h, but with any % it is false. Takes 128 bytes at a time: whether a
 * URL has more than 64 cannot be predicted. The last lines are left to that function. */
INLINE bool is_normal_url(const char *bytes, size_t limit, size_t at, size_t end)
{
    enum { STEP = 128 };
    const uint8_t *line = (const uint8_t *)bytes + at;
    uint64_t before = 1; /* whether the last byte was a slash */
    if (end - at < 8)
        return false;
    size_t secure = line[4] == 's';
    if (load32(line) != 0x70747468 || load32(line + 3 + secure) >> 8 != 0x2f2f3a)
        return false;
    at += 7 + secure;
    for (bool is_host = true; at < end || is_host; at += STEP, is_host = false) {
        if (limit - at < STEP)
            return false;
        const struct url_masks low = URL_MASKS(bytes + at), high = URL_MASKS(bytes + at + 64);
        const size_t left = end - at;
        const uint64_t some = (UINT64_C(1) << left % 64) - 1, two = (uint64_t)0 - (left >= 64);
        const uint64_t valid = some | two, more = (some & two) | ((uint64_t)0 - (left >= STEP));
        uint64_t odd = ((low.dots & (low.slashes << 1 | before)) | ~low.kept) & valid;
        odd |= ((high.dots & (high.slashes << 1 | low.slashes >> 63)) | ~high.kept) & more;
        before = high.slashes >> 63;
        if (is_host) {
            const uint64_t slash = low.slashes & valid;
            const uint64_t host = slash ^ (slash - 1); /* and its slash */
            if (host == 1 || host >> 32 != 0)
                return false;
            odd |= ~low.of_host & host;
        }
        if (odd != 0)
            return false;
    }
    return true;
}

KERNEL_TARGET
static size_t kernel_urls(const char *bytes, const size_t *starts, size_t n, size_t longest)
{
    size_t i = 0;
    while (i < n && starts[i + 1] - starts[i] <= longest + 1 &&
           is_normal_url(bytes, starts[n] - 1, starts[i], starts[i + 1] - 1))
        i++;
    return i;
}
#else
#define kernel_urls NULL
#endif

/* --- lines of JSON --- */

/* The backslashes that begin an escape: the first, third, ... of each run. *escaped: which bytes
 * are after one of these; before, whether the first byte is, and afterwards, whether the next. */
INLINE uint64_t find_escapes(uint64_t backslashes, uint64_t *before, uint64_t *escaped)
{
    uint64_t escapes = 0;
    *escaped = *before;
    for (uint64_t left = backslashes & ~*escaped; left != 0; left &= ~*escaped) {
        uint64_t first = left & (0 - left);
        escapes |= first;
        *escaped |= first << 1;
        left ^= first;
    }
    *before = escapes >> 63;
    return escapes;
}

#ifndef STORE_BITS
#define STORE_BITS store_bits
/* Eight at a time, in as many steps for most words as for their neighbours. */
INLINE void store_bits(uint32_t *out, uint32_t first, uint64_t bits)
{
    for (; bits != 0; out += 8) {
        UNROLL
        for (unsigned i = 0; i < 8; i++) {
            uint32_t next = first + (uint32_t)FIRST_BIT(bits);
            __asm__("" : "+r"(next)); /* eight are not to be collected in a vector */
            out[i] = next;
            bits &= bits - 1;
        }
    }
}
#endif

KERNEL_TARGET
static size_t kernel_tokens(const char *bytes, size_t length, struct token_scan *scan,
                            uint32_t *tokens, size_t most)
{
    const char delimiter = scan->delimiter;
    uint64_t inside = scan->inside ? UINT64_MAX : 0, before = scan->escaped, word = scan->word;
    uint64_t stray = scan->stray;
    size_t found = 0, at = scan->at, step = 64;
    for (; at < length && found + TOKENS_LEAST <= most; at += step) {
        char last[64];
        const char *chunk = bytes + at;
        if (length - at < 64) /* behind the last bytes are blanks */
            chunk = memcpy(memset(last, ' ', sizeof last), chunk, length - at);

        /* 1. Strings: from a quote to the next that no backslash escapes. */
        uint64_t backslashes = DELIMITER_MASK(chunk, '\\');
        uint64_t quotes = DELIMITER_MASK(chunk, '"'), escapes = 0;
        if ((backslashes | before) != 0) {
            uint64_t escaped;
            escapes = find_escapes(backslashes, &before, &escaped);
            quotes &= ~escaped;
        }
        uint64_t within = WITHIN_MASK(quotes) ^ inside;
        stray |= escapes & ~within;

        /* 2. What is outside them: a word is all that is nothing else. */
        uint64_t ends = DELIMITER_MASK(chunk, delimiter);
        uint64_t blanks = DELIMITER_MASK(chunk, ' ');
        uint64_t controls = CONTROL_MASK(chunk) & ~ends;
        bool cut = (ends & within) != 0;
        if (controls != 0) {
            blanks |= (DELIMITER_MASK(chunk, '\t') | DELIMITER_MASK(chunk, '\r') |
                       DELIMITER_MASK(chunk, '\n')) &
                      ~ends;
            controls &= within; /* others are words */
        }
        uint64_t punctuation = PUNCTUATION_MASK(chunk) & ~within;
        uint64_t words = ~(within | quotes | blanks | ends | punctuation);
        uint64_t begin = words & ~(words << 1 | word);
        uint64_t mask = punctuation | ((quotes | escapes) & within) | begin | controls | ends;
        inside = (uint64_t)0 - (within >> 63);
        word = words >> 63;
        step = 64;
        if (cut) {
            /* What follows the end of a line within a string is looked at again. */
            step = (size_t)__builtin_ctzll(ends & within) + 1;
            mask &= UINT64_MAX >> (64 - step);
            inside = before = word = 0;
        }

        STORE_BITS(tokens + found, (uint32_t)at, mask);
        found += (size_t)__builtin_popcountll(mask);
    }
    *scan = (struct token_scan){delimiter,   at < length ? at : length,
                                inside != 0, before != 0,
                                word != 0,   stray != 0};
    return found;
}

/* Half a page is prefetched, because processors do not cross a page boundary by themselves. Beyond
 * the last page, even where no memory is mapped, this does no harm. */
KERNEL_TARGET
static unsigned kernel_count(const uint8_t *page, uint16_t set[PAGE_BLOCKS])
{
    unsigned sum = 0;
    for (unsigned block = 0; block < PAGE_BLOCKS; block++, page += BLOCK_BYTES) {
        unsigned count = 0;
        __builtin_prefetch(page + PAGE_BYTES / 2);
        UNROLL
        for (unsigned i = 0; i < BLOCK_BYTES; i += 8)
            count += (unsigned)__builtin_popcountll(KERNEL_NONZERO(load64(page + i)));
        set[block] = (uint16_t)count;
        sum += count;
    }
    return sum;
}

const struct kernel KERNEL_STRUCT = {
    .name = KERNEL_NAME,
    .split = kernel_split,
    .rows = kernel_rows,
    .column = kernel_column,
    .urls = kernel_urls,
    .tokens = kernel_tokens,
    .test = kernel_test,
    .set = kernel_set,
    .insert = kernel_insert,
    .count = kernel_count,
};
