/*
 * look_body - the look with vectors. The file that includes this defines LOOK_NAME, LOOK_STRUCT,
 * LOOK_TARGET, LOOK_SHORTEST, LOOK_ALWAYS and
 *
 *     struct look_constants, look_start()
 *     struct look_masks look_block(constants, const char *at, size_t n, size_t before)
 *     bool look_escapes(const char *at, size_t n, size_t before, uint64_t second)
 *
 * for the n (up to 64) bytes at `at`, with `before` bytes of the line before them: 1, or 65 and
 * more. They may read any byte of the line, which has LOOK_SHORTEST bytes or more, and no other.
 *
 * The staircase:
 *
 *   1. The obvious look asks of each byte what it is, and what was before it. Here 64 bytes are
 *      asked at once, and each answer is a number with a bit for each of them; then a host without
 *      an upper-case letter is: no bit below the lowest slash after the scheme. The first byte is
 *      an h: to begin after it means that there is always a byte before.
 *   2. Many lines end in the first block and many in the second, and no processor can guess which.
 *      So LOOK_ALWAYS bytes are asked of every line, there or not, where that costs little.
 *   3. What is the same for all lines is put into registers once. A call in between would empty
 *      them; so lines whose answer is not sure yet, those with a long host, wait for the end.
 *
 * A % is looked at with the two bytes after it, where the second of them is; so those of one block
 * may have their % in the block before, and a % among the last two bytes of the line is no good
 * anyway.
 */

/* Bit i is for byte i of the block; there are none from n on. */
struct look_masks {
    uint64_t bad;   /* no URL has it, or it is the dot of a /. */
    uint64_t unfit; /* no host in normal form has it; look_nibbles.h */
    uint64_t slash;
    uint64_t percent;
};

LOOK_TARGET
static inline struct look_masks look_block(struct look_constants constants, const char *at,
                                           size_t n, size_t before);

/* Is each byte with a bit in `second`, with the one before it, the digits of a %HH that stays? All
 * of them are in the line. */
LOOK_TARGET
static inline bool look_escapes(const char *at, size_t n, size_t before, uint64_t second);

enum look_answer { LOOK_NO, LOOK_YES, LOOK_UNSURE };

/* What was found in the blocks so far. */
struct look_state {
    uint64_t faults;  /* 0, or it is not in normal form */
    uint64_t percent; /* of the last one */
};

LOOK_TARGET
static inline struct look_masks look_next(struct look_constants constants, struct look_state *state,
                                          struct span line, size_t before)
{
    const char *at = line.bytes + before, *end = span_end(line);
    size_t left = line.length - before, n = left < 64 ? left : 64;
    struct look_masks masks = look_block(constants, at, n, before);
    uint64_t second = masks.percent << 2 | state->percent >> 62;
    state->faults |= masks.bad;
    if ((masks.percent | second) != 0)
        state->faults |= end[-1] == '%' || end[-2] == '%' || !look_escapes(at, n, before, second);
    state->percent = masks.percent;
    return masks;
}

LOOK_TARGET
static inline enum look_answer look_line(struct look_constants constants, struct span line)
{
    size_t scheme = look_scheme(line), before = 1;
    if (scheme == 0)
        return LOOK_NO;
    if (line.length < LOOK_SHORTEST)
        return LOOK_UNSURE;
    struct look_state state = {0, 0};
    struct look_masks masks = look_next(constants, &state, line, before);
    uint64_t after_scheme = ~UINT64_C(0) << (scheme - before), slash = masks.slash & after_scheme;
    /* All up to the lowest slash, which is not the first of them. */
    uint64_t host = (slash ^ (slash - 1)) & after_scheme;
    state.faults |= (masks.unfit & host) | ((host & (host - 1)) == 0);
    if (slash == 0)
        return LOOK_UNSURE;
    if (LOOK_ALWAYS > 64)
        look_next(constants, &state, line, line.length < 65 ? line.length : 65);
    for (before = 1 + LOOK_ALWAYS; before < line.length && state.faults == 0; before += 64)
        look_next(constants, &state, line, before);
    return state.faults == 0 ? LOOK_YES : LOOK_NO;
}

LOOK_TARGET
static bool look_one(struct span line)
{
    enum look_answer answer = look_line(look_start(), line);
    return answer == LOOK_UNSURE ? look_plain.line(line) : answer == LOOK_YES;
}

/* Flattened: nothing is called for a line. */
LOOK_TARGET __attribute__((flatten)) static void look_lines(const char *bytes, const size_t *starts,
                                                            size_t n, uint8_t *normal)
{
    const struct look_constants constants = look_start();
    unsigned unsure = 0;
    for (size_t i = 0; i < n; i++) {
        normal[i] = (uint8_t)look_line(constants, look_line_of(bytes, starts, i));
        unsure |= normal[i];
    }
    for (size_t i = 0; (unsure & LOOK_UNSURE) != 0 && i < n; i++)
        if (normal[i] == LOOK_UNSURE)
            normal[i] = look_plain.line(look_line_of(bytes, starts, i));
}

const struct look LOOK_STRUCT = {.name = LOOK_NAME, .line = look_one, .lines = look_lines};
