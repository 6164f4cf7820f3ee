/*
 * genlines - prints lines that look like a crawler's URLs, with a number of distinct ones that is
 * known without counting.
 *
 *     genlines LINES DISTINCT SEED [MINLEN MAXLEN]
 *
 * Prints LINES lines, exactly DISTINCT of them different; the same bytes for the same arguments on
 * every machine. With MINLEN and MAXLEN a line is letters and its number, and has so many bytes if
 * these are enough for the number, its newline not counted. Memory does not depend on LINES. Some
 * five million lines a second. Exit: 0, or 2 with a message.
 *
 * That two lines are equal if and only if their numbers are: a line's first run of digits is its
 * number, scrambled by a bijection; what stands before holds no digit, what follows begins with
 * another character, and everything but the number is computed from the number.
 *
 * Which line comes next: of the lines still to come a known share must be new (DISTINCT less those
 * printed, over LINES less those printed); a new one comes with just that probability. The share
 * becomes 1 or 0 in time, so that the count is met exactly and new lines are spread over the whole
 * output (Knuth's selection sampling, TAOCP 3.4.2). A repeat is drawn as crawlers meet them: half
 * of them among the last few thousand, the others from all, the early ones more often.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFER_BYTES = 1 << 20,
    LINE_BYTES = 512, /* no line is longer */
    RECENT = 5000,
    DIGITS_MAX = 20
};

/* Six bits choose one. None has a digit. */
static const char *const words[64] = {
    "al",      "annual", "best",   "blog",   "bridge", "catalog", "city",  "cor",
    "del",     "docs",   "early",  "en",     "est",    "fal",     "field", "forum",
    "free",    "garden", "gate",   "gra",    "hol",    "house",   "ink",   "item",
    "jor",     "kel",    "lab",    "local",  "lum",    "mar",     "mark",  "music",
    "net",     "news",   "nor",    "notes",  "open",   "oster",   "pen",   "port",
    "product", "quill",  "report", "rime",   "shop",   "simple",  "soft",  "stead",
    "tag",     "thread", "times",  "topics", "travel", "update",  "users", "vale",
    "ware",    "wiki",   "winter", "wood",   "works",  "yarn",    "yew",   "zinc",
};

struct generator {
    uint64_t lines;
    uint64_t distinct;
    uint64_t seed;
    uint64_t state;  /* of the draws */
    unsigned bits;   /* numbers are below 2^bits */
    size_t shortest; /* 0: natural lengths */
    size_t longest;
};

/* A bijection on 64-bit words whose output looks random: xor with own high bits and multiplication
 * by odd constants can both be undone. */
static uint64_t scramble(uint64_t x)
{
    x ^= x >> 31;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 29;
    x *= UINT64_C(0xcf1bbcdcbfa53e0b);
    return x ^ x >> 32;
}

static uint64_t draw(struct generator *g)
{
    g->state += UINT64_C(0x9e3779b97f4a7c15);
    return scramble(g->state);
}

/* A draw from 0..n-1, n > 0; its bias, n / 2^53, is of no account here. */
static uint64_t draw_below(struct generator *g, uint64_t n)
{
    return (uint64_t)((double)(draw(g) >> 11) * 0x1p-53 * (double)n) % n;
}

/* The same idea on numbers of fewer bits: the line's number as it is printed. */
static uint64_t number_of(const struct generator *g, uint64_t index)
{
    uint64_t mask = g->bits == 64 ? UINT64_MAX : (UINT64_C(1) << g->bits) - 1;
    unsigned half = g->bits / 2 + 1;
    uint64_t x = (index + g->seed * UINT64_C(0x632be59bd9b4e019)) & mask;

    for (int round = 0; round < 2; round++) {
        x = x * UINT64_C(0xd1342543de82ef95) & mask;
        x ^= x >> half;
    }
    return x;
}

static char *put_word(char *to, uint64_t dice)
{
    return stpcpy(to, words[dice & 63]);
}

static char *put_number(char *to, uint64_t number)
{
    char digits[DIGITS_MAX];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (n)
        *to++ = digits[--n];
    return to;
}

/* What stands before the number: scheme, host, a section, a few words. Few hosts have many pages:
 * the host's number is a product of two draws. No digit. */
static char *put_head(char *to, uint64_t dice)
{
    uint64_t host = scramble((dice & 0x3ff) * (dice >> 10 & 0x3ff) >> 6);

    to = stpcpy(to, dice >> 20 & 7 ? "https://" : "http://");
    if (host & 3)
        to = stpcpy(to, "www.");
    to = put_word(to, host >> 2);
    to = put_word(to, host >> 8);
    to = stpcpy(to, host >> 14 & 3 ? ".example/" : ".org.test/");
    to = put_word(to, dice >> 24);
    *to++ = '/';
    for (unsigned n = dice >> 30 & 3, i = 0; i <= n; i++) {
        to = put_word(to, dice >> (32 + 6 * i));
        *to++ = '-';
    }
    return to;
}

/* What follows the number: nothing, a suffix, a query. Begins with no digit. */
static char *put_tail(char *to, uint64_t dice)
{
    switch (dice >> 58 & 3) {
    case 0:
        return to;
    case 1:
        return stpcpy(to, ".html");
    case 2:
        to = stpcpy(to, "?page=");
        return put_number(to, dice >> 51 & 31);
    default:
        to = stpcpy(to, ".html?utm_source=");
        return put_word(to, dice >> 51);
    }
}

/* One line without its newline. */
static char *put_line(const struct generator *g, char *to, uint64_t index)
{
    uint64_t number = number_of(g, index);
    uint64_t dice = scramble(number ^ g->seed << 32);
    char digits[DIGITS_MAX];
    size_t n = (size_t)(put_number(digits, number) - digits);

    if (g->longest == 0) {
        to = put_head(to, dice);
        to = put_number(to, number);
        return put_tail(to, dice);
    }
    size_t length = g->shortest + scramble(dice) % (g->longest - g->shortest + 1);
    for (; n < length; length--, dice = dice >> 5 | dice << 59)
        *to++ = (char)('a' + dice % 26);
    memcpy(to, digits, n);
    return to + n;
}

static uint64_t draw_repeat(struct generator *g, uint64_t printed)
{
    if (draw(g) & 1)
        return printed > RECENT ? printed - 1 - draw_below(g, RECENT) : draw_below(g, printed);
    return draw_below(g, draw_below(g, printed) + 1);
}

static bool generate(struct generator *g)
{
    char line[LINE_BYTES];
    uint64_t printed = 0; /* distinct ones */

    for (uint64_t left = g->lines; left; left--) {
        uint64_t owed = g->distinct - printed;
        bool is_new = owed == left || !printed || (owed && draw_below(g, left) < owed);
        char *end = put_line(g, line, is_new ? printed : draw_repeat(g, printed));

        *end++ = '\n';
        printed += is_new;
        if (fwrite_unlocked(line, 1, (size_t)(end - line), stdout) != (size_t)(end - line))
            return false;
    }
    return fflush(stdout) == 0;
}

static int complain(const char *reason)
{
    fprintf(stderr, "genlines: %s\n", reason);
    return 2;
}

int main(int argc, char **argv)
{
    uint64_t numbers[5] = {0};

    if (argc != 4 && argc != 6)
        return complain("usage: genlines LINES DISTINCT SEED [MINLEN MAXLEN]");
    for (int i = 1; i < argc; i++)
        numbers[i - 1] = strtoull(argv[i], NULL, 10);
    struct generator g = {.lines = numbers[0],
                          .distinct = numbers[1],
                          .seed = numbers[2],
                          .state = numbers[2],
                          .shortest = (size_t)numbers[3],
                          .longest = (size_t)numbers[4]};
    if (g.distinct > g.lines || (g.lines && !g.distinct) || g.lines >> 53)
        return complain("DISTINCT must be from 1 to LINES, and LINES below 2^53");
    if (g.shortest > g.longest || g.longest >= LINE_BYTES)
        return complain("MINLEN must be at most MAXLEN, and MAXLEN below 512");
    while (g.bits < 64 && g.distinct > UINT64_C(1) << g.bits)
        g.bits++;
    setvbuf(stdout, NULL, _IOFBF, BUFFER_BYTES);
    if (!generate(&g))
        return complain(strerror(errno));
    return 0;
}
