/*
 * genlines - prints lines that look like a crawler's URLs, with a number of distinct ones that is
 * known without counting.
 *
 *     genlines LINES DISTINCT SEED [MINLEN MAXLEN]
 *
 * Prints LINES lines, exactly DISTINCT of them different; the same bytes for the same arguments on
 * every machine. With MINLEN and MAXLEN each line has so many bytes, its newline not counted.
 * Memory does not depend on LINES. Some five million lines a second. Exit: 0, or 2 with a message.
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
    NATURAL_MAX = 512,    /* no line is longer, unless a length is asked for */
    LENGTH_MAX = 1 << 15, /* the longest that can be asked for */
    FILLING_BYTES = 2 * LENGTH_MAX,
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
    char filling[FILLING_BYTES];
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
 * the host's number is a product of two draws. No digit, at most NATURAL_MAX / 2 bytes. */
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

/* One line without its newline, at most NATURAL_MAX or g->longest bytes. */
static char *put_line(const struct generator *g, char *to, uint64_t index)
{
    uint64_t number = number_of(g, index);
    uint64_t dice = scramble(number ^ g->seed << 32);

    if (!g->longest) {
        to = put_head(to, dice);
        to = put_number(to, number);
        return put_tail(to, dice);
    }

    char digits[DIGITS_MAX];
    size_t n = (size_t)(put_number(digits, number) - digits);
    size_t length = g->shortest + scramble(dice) % (g->longest - g->shortest + 1);
    char head[NATURAL_MAX];
    size_t head_length = (size_t)(put_head(head, dice) - head);

    if (length < n)
        length = n;
    /* Too short for a URL: letters instead, which are no worse for being cut anywhere. */
    if (head_length + n > length) {
        memcpy(to, g->filling + dice % LENGTH_MAX, length - n);
        memcpy(to + length - n, digits, n);
        return to + length;
    }
    char *end = to + length;
    memcpy(to, head, head_length);
    memcpy(to + head_length, digits, n);
    to += head_length + n;
    if (to < end)
        *to++ = '?';
    memcpy(to, g->filling + dice % LENGTH_MAX, (size_t)(end - to));
    return end;
}

/* Words to make lines longer with. */
static void fill(struct generator *g)
{
    char *to = g->filling, *end = g->filling + FILLING_BYTES - sizeof "product=";
    while (to < end) {
        uint64_t dice = draw(g);
        to = put_word(to, dice);
        *to++ = dice & 64 ? '=' : '&';
    }
    memset(to, '&', (size_t)(g->filling + FILLING_BYTES - to));
}

static uint64_t draw_repeat(struct generator *g, uint64_t printed)
{
    if (draw(g) & 1)
        return printed > RECENT ? printed - 1 - draw_below(g, RECENT) : draw_below(g, printed);
    return draw_below(g, draw_below(g, printed) + 1);
}

static bool generate(struct generator *g)
{
    char line[LENGTH_MAX + NATURAL_MAX];
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

static bool parse(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static int complain(const char *reason)
{
    fprintf(stderr, "genlines: %s\n", reason);
    return 2;
}

int main(int argc, char **argv)
{
    static struct generator g;
    uint64_t numbers[5] = {0};

    if (argc != 4 && argc != 6)
        return complain("usage: genlines LINES DISTINCT SEED [MINLEN MAXLEN]");
    for (int i = 1; i < argc; i++)
        if (!parse(argv[i], &numbers[i - 1]))
            return complain("not a number");
    g.lines = numbers[0];
    g.distinct = numbers[1];
    g.seed = numbers[2];
    if (g.distinct > g.lines || (g.lines && !g.distinct) || g.lines >> 53)
        return complain("DISTINCT must be from 1 to LINES, and LINES below 2^53");
    while (g.bits < 64 && g.distinct > UINT64_C(1) << g.bits)
        g.bits++;
    g.state = g.seed;

    if (argc == 6) {
        char largest[DIGITS_MAX];
        size_t digits = (size_t)(put_number(largest, (UINT64_C(1) << g.bits) - 1) - largest);
        if (numbers[3] > numbers[4] || numbers[4] > LENGTH_MAX)
            return complain("MINLEN must be at most MAXLEN, and MAXLEN at most 32768");
        if (numbers[4] < digits)
            return complain("so many distinct lines need a larger MAXLEN");
        g.shortest = (size_t)numbers[3];
        g.longest = (size_t)numbers[4];
        fill(&g);
    }
    setvbuf(stdout, NULL, _IOFBF, BUFFER_BYTES);
    if (!generate(&g))
        return complain(strerror(errno));
    return 0;
}
