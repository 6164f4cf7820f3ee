/*
 * Rows of CSV: each version of the fast way against the plain one, which looks at byte by byte, on
 * rows that are right, odd and wrong, cut anywhere between lines; and what small rows are.
 */
#include "core/rows.h"

#include "chance.h"
#include "core/kernel.h"
#include "guards.h"
#include "tap.h"

#include <string.h>

enum { SIDE = 4096, TEXT_MAX = 1500, ROWS_MAX = TEXT_MAX + 1 };

static const struct kernel *kernels[KERNELS_MAX];
static size_t kernel_count;

/* The plain way: the kernel leaves every row to it. */
/* NOLINTBEGIN(readability-non-const-parameter): as kernel.h has them */
static size_t find_none(const char *bytes, size_t length, struct row_scan *scan, size_t *starts,
                        uint8_t *kinds, size_t most)
{
    (void)bytes, (void)length, (void)kinds, (void)most;
    scan->at = starts[0];
    scan->odd = true;
    return 0;
}
/* NOLINTEND(readability-non-const-parameter) */

static const struct kernel twin = {.name = "twin", .rows = find_none};

/* --- what is found in a text --- */

/* A row, or a place where none is: then a row is sought after the next delimiter. */
struct found {
    size_t start, end;
    uint8_t kind;
    enum row_wrong wrong;
};

struct result {
    struct found found[ROWS_MAX];
    size_t n;
    bool amid;
};

struct text {
    char bytes[TEXT_MAX];
    size_t length; /* at the end of a line */
    struct line_ends ends;
    bool first;
};

static char *page; /* of memory, between guards */

static size_t line_end(const struct text *text, size_t at)
{
    const char *end = memchr(text->bytes + at, text->ends.delimiter, text->length - at);
    return end != NULL ? (size_t)(end - text->bytes) + 1 : text->length;
}

static void add_found(struct result *result, size_t start, size_t end, uint8_t kind,
                      enum row_wrong wrong)
{
    result->found[result->n++] = (struct found){start, end, kind, wrong};
}

/* Finds all rows. Without `chance` in one piece; otherwise in pieces of some lines, of which those
 * that are done are moved away, at most so many at a time, and some again. */
static void find_rows(const struct kernel *kernel, const struct text *text, struct chance *chance,
                      struct result *result)
{
    enum { CANARY = 0x5afe };
    static size_t starts[ROWS_MAX + 2];
    static uint8_t kinds[ROWS_MAX + 2];
    struct rows rows;
    size_t done = 0, base = 0, piece = 0; /* offsets in the text: of the next row, of the page */
    rows_begin(&rows, text->ends, text->first);
    rows.kernel = kernel;
    result->n = 0;
    while (true) {
        if (rows.at == piece) {
            size_t end = base + piece;
            if (end == text->length)
                break;
            unsigned lines = chance != NULL ? 1 + (unsigned)chance_below(chance, 6) : UINT32_MAX;
            for (; lines > 0 && end < text->length; lines--)
                end = line_end(text, end);
            rows_move(&rows, done - base);
            base = done;
            piece = end - base;
        }
        char *bytes = page + SIDE - piece;
        memcpy(bytes, text->bytes + base, piece);
        size_t most = chance == NULL            ? ROWS_MAX
                      : chance_next(chance) & 1 ? 1 + chance_below(chance, 5)
                                                : 1 + chance_below(chance, 200);
        starts[0] = done - base;
        starts[most + 1] = CANARY;
        kinds[most] = 0xee;
        size_t n = rows_find(&rows, bytes, piece, starts, kinds, most);
        tap_check(n <= most && starts[most + 1] == CANARY && kinds[most] == 0xee,
                  "%s: wrote behind %zu of %zu rows", kernel->name, n, most);
        bool again = chance != NULL && n > 0 && chance_below(chance, 8) == 0;
        if (again) {
            n = 1 + chance_below(chance, n);
            rows_restart(&rows, starts[n]);
        } else if (rows.wrong == ROW_RIGHT) {
            tap_check(rows.at == (n == most ? starts[n] : piece) &&
                          rows_is_amid(&rows) == (rows.at > starts[n]),
                      "%s: %zu of %zu bytes looked at after row %zu at %zu%s", kernel->name,
                      rows.at, piece, result->n + n, starts[n],
                      rows_is_amid(&rows) ? ", amid" : "");
        }
        for (size_t i = 0; i < n; i++)
            add_found(result, base + starts[i], base + starts[i + 1], kinds[i], ROW_RIGHT);
        done = base + starts[n];
        if (rows.wrong != ROW_RIGHT) {
            size_t next = line_end(text, done);
            add_found(result, done, next, 0, rows.wrong);
            done = next;
            rows_restart(&rows, done - base);
            rows.first = false;
        }
    }
    result->amid = rows_is_amid(&rows);
}

/* --- the same in every way --- */

/* Whether a row, which is right, is as ROW_QUOTED says. */
static bool is_usual_row(const struct text *text, struct found row)
{
    const char *bytes = text->bytes;
    const char separator = text->ends.separator;
    size_t at = row.start, end = row.end - 1; /* without the delimiter */
    while (true) {
        if (bytes[at] == '"') {
            for (at++; bytes[at] != '"' || bytes[at + 1] == '"'; at++)
                at += bytes[at] == '"';
            at++;
            at += at + 1 == end && bytes[at] == '\r';
            if (at != end && bytes[at] != separator)
                return false;
        }
        while (at < end && bytes[at] != separator)
            if (bytes[at++] == '"')
                return false;
        if (at == end)
            return true;
        at++;
    }
}

static uint8_t kind_wanted(const struct text *text, struct found row)
{
    bool first = text->first && row.start == 0 && text->ends.delimiter != '\0';
    if (row.wrong != ROW_RIGHT || (row.kind & ROW_ODD) == 0 || first || !is_usual_row(text, row))
        return row.kind;
    return (uint8_t)((row.kind & ~ROW_ODD) | ROW_QUOTED);
}

static void show(const struct text *text)
{
    printf("# '%c', delimiter %d%s%s: ", text->ends.separator, text->ends.delimiter,
           text->ends.trim ? ", trim" : "", text->first ? ", first" : "");
    for (size_t i = 0; i < text->length && i < 300; i++) {
        unsigned char c = (unsigned char)text->bytes[i];
        printf(c < ' ' || c > '~' ? "\\x%02x" : "%c", c);
    }
    putchar('\n');
}

static void check_ways(const struct text *text, struct chance *chance)
{
    static struct result wanted, got;
    unsigned reasons = tap.reasons;
    find_rows(&twin, text, NULL, &wanted);
    for (size_t i = 0; i < wanted.n; i++)
        wanted.found[i].kind = kind_wanted(text, wanted.found[i]);
    for (size_t k = 0; k <= 2 * kernel_count; k++) {
        const struct kernel *kernel = k < 2 * kernel_count ? kernels[k / 2] : &twin;
        find_rows(kernel, text, k % 2 == 0 ? chance : NULL, &got);
        tap_check(got.n == wanted.n && got.amid == wanted.amid, "%s: %zu rows, not %zu",
                  kernel->name, got.n, wanted.n);
        for (size_t i = 0; i < got.n && i < wanted.n; i++) {
            struct found a = got.found[i], b = wanted.found[i];
            uint8_t kind = kernel == &twin && (b.kind & ROW_QUOTED) != 0
                               ? (uint8_t)((b.kind & ~ROW_QUOTED) | ROW_ODD)
                               : b.kind;
            if (!tap_check(a.start == b.start && a.end == b.end && a.kind == kind &&
                               a.wrong == b.wrong,
                           "%s: row %zu: %zu-%zu, kind %u, wrong %u; not %zu-%zu, %u, %u",
                           kernel->name, i, a.start, a.end, a.kind, a.wrong, b.start, b.end, kind,
                           b.wrong))
                break;
        }
    }
    if (tap.reasons > reasons && reasons < TAP_REASONS_MAX)
        show(text);
}

/* --- texts --- */

static void add(struct text *text, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && text->length < TEXT_MAX - 1; i++)
        text->bytes[text->length++] = bytes[i];
}

static void add_letters(struct text *text, struct chance *chance, size_t most)
{
    for (uint64_t n = chance_below(chance, most + 1); n > 0; n--)
        add(text, &"abcdefgh"[chance_below(chance, 8)], 1);
}

/* One in `hostile` bytes of a field is any. */
static void add_any(struct text *text, struct chance *chance)
{
    static const char *const some[] = {"\"",  "\"\"", "\r",   " ",   "\t",     "\xef\xbb\xbf",
                                       "\v",  "\n",   ",\"",  "\",", "\"\r\n", "\r\r\n",
                                       " \"", "\" ",  "x\"y", ","};
    const char *chosen = some[chance_below(chance, sizeof some / sizeof *some)];
    uint64_t dice = chance_below(chance, 8);
    if (dice == 0)
        add(text, &text->ends.separator, 1);
    else if (dice == 1)
        add(text, &text->ends.delimiter, 1);
    else
        add(text, chosen, strlen(chosen));
}

static void add_field(struct text *text, struct chance *chance, unsigned quoted, unsigned hostile)
{
    static const size_t mosts[] = {0, 3, 8, 8, 20, 70, 140};
    size_t most = mosts[chance_below(chance, sizeof mosts / sizeof *mosts)];
    bool quotes = chance_below(chance, 8) < quoted;
    if (hostile > 0 && chance_below(chance, hostile) == 0)
        add_any(text, chance);
    if (quotes)
        add(text, "\"", 1);
    add_letters(text, chance, most);
    while (quotes && chance_below(chance, 3) == 0) {
        static const char *const inner[] = {"\"\"", "\"\"\"\"", "\n", "\r\n", ",", "\n\n", ";"};
        const char *chosen = inner[chance_below(chance, sizeof inner / sizeof *inner)];
        add(text, chosen, strlen(chosen));
        add_letters(text, chance, most);
    }
    if (quotes)
        add(text, "\"", 1);
    if (hostile > 0 && chance_below(chance, hostile) == 0)
        add_any(text, chance);
}

static void make_text(struct text *text, struct chance *chance)
{
    static const unsigned hostiles[] = {0, 0, 200, 50, 20, 8, 1};
    unsigned hostile = hostiles[chance_below(chance, sizeof hostiles / sizeof *hostiles)];
    unsigned quoted = (unsigned)chance_below(chance, 9);
    bool returns = chance_below(chance, 4) == 0;
    size_t length = 1 + chance_below(chance, TEXT_MAX - 2);
    uint64_t dice = chance_next(chance);
    text->length = 0;
    text->ends = (struct line_ends){.delimiter = dice % 8 == 0 ? '\0' : '\n',
                                    .rows = true,
                                    .separator = ",;\t "[dice >> 8 & (dice >> 10 & 3)],
                                    .trim = (dice >> 16 & 3) == 0};
    text->first = (dice >> 20 & 3) == 0;
    while (text->length < length) {
        for (uint64_t fields = chance_below(chance, 5); fields > 0; fields--) {
            add_field(text, chance, quoted, hostile);
            add(text, &text->ends.separator, 1);
        }
        add_field(text, chance, quoted, hostile);
        add(text, "\r", returns);
        add(text, &text->ends.delimiter, 1);
    }
    text->bytes[text->length++] = text->ends.delimiter;
}

static void every_way(void)
{
    static struct text text;
    struct chance chance = {23};
    for (unsigned i = 0; i < tap_cases(20000); i++) {
        make_text(&text, &chance);
        check_ways(&text, &chance);
    }
}

/* Quotes on both sides of each place where a block may end. */
static void every_place(void)
{
    static const char *const rows[] = {
        "\"a\"",
        "b,\"a\"",
        "\"a\"\r",
        "\"\"\"\"",
        "\"a\nb\",c",
        "\"\n\"",
        "\"\"",
        "\"a\"\r\r",
        "\"a\"b",
        " \"a\"",
        "a\"b\"",
        "\xef\xbb\xbf\"a\nb\"",
        "a, \"b\n,\"\nc",
        "\"a\"\"\r\n",
        "\"a\" ,b",
        "\"a\r\",b",
        "",
        "\"a\",\"b\"\nc,\"d\"",
    };
    static struct text text;
    struct chance chance = {24};
    for (size_t before = 0; before < 140; before++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (unsigned way = 0; way < 12; way++) {
                text.length = 0;
                text.first = (way & 1) != 0;
                text.ends = (struct line_ends){way / 4 == 2 ? '\0' : '\n', true, ',',
                                               (way & 2) != 0};
                for (size_t j = 0; j < before; j++)
                    add(&text, way / 4 == 1 && j % 10 == 9 ? "\n" : "x", 1);
                add(&text, before > 0 && (i & 1) != 0 ? "," : &text.ends.delimiter, 1);
                add(&text, rows[i], strlen(rows[i]));
                add(&text, &text.ends.delimiter, 1);
                add(&text, rows[i], strlen(rows[i]));
                add(&text, "\nz,\"y\"", before % 7);
                add(&text, &text.ends.delimiter, 1);
                check_ways(&text, &chance);
            }
}

/* --- small rows --- */

struct example {
    const char *bytes;   /* after which nothing comes */
    const char *kinds;   /* a digit for each row, and why the next one is none: U, B, S or R */
    const char *trimmed; /* with trim, if that is another */
};

/* Of the kinds above: ROW_QUOTED is 1, ROW_ODD 2, and 4 for each line beyond the first. */
static const struct example examples[] = {
    {"a\n", "0", NULL},
    {"\n\n", "00", NULL},
    {"\"1\",x\n", "1", NULL},
    {"1,\"a,\"\"b\"\"\"\n", "1", NULL},
    {"\"a\",\"b,c\",d\na\n", "10", NULL},
    {"1,\"unfin\n", "U", NULL},
    {"7,\"two\nlines\"\n8\n", "50", NULL},
    {"7,\"\",x\n", "1", NULL},
    {"a\n\"a\"b,c\n", "0B", NULL},
    {"1,5\" disk\n2\n", "20", NULL},
    {"1,5\" disk\"\n", "2", NULL},
    {"1,\"a\"\r\n2\r\n", "10", NULL},
    {"1,\"a\"\r\r\n2\r\r\n", "20", NULL},
    {"1,\"a\"\r,2\n", "B", "2"},
    {"1,\"a\" ,2\n", "B", "2"},
    {"2, \"a,c\"\n", "S", "2"},
    {"2, \"a\nc\"\n", "S", "6"},
    {"2, \"a\n", "S", "U"},
    {"2, \"a\"\n", "2", "2"},
    {"7, \"hello\" he said\n", "2", "B"},
    {"\xef\xbb\xbf\"a\nb\",c\n", "6", NULL},
    {"a,\xef\xbb\xbf\"b\n", "2", NULL},
    {"\"a\n\"\"\"\"\n\"\n", "9", NULL},
    {"7,\"\n9,4\"\n", "5", NULL},
    {"x\n7,\"\n9,\"4\n", "0B", NULL},
};

static const char wrongs[] = {[ROW_RIGHT] = '-',
                              [ROW_UNCLOSED] = 'U',
                              [ROW_BYTES_FOLLOW] = 'B',
                              [ROW_BLANKS] = 'S',
                              [ROW_RETURNS] = 'R'};

/* What is found, as in `examples`. */
static const char *kinds_of(const struct kernel *kernel, const char *bytes, size_t length,
                            struct line_ends ends, bool first)
{
    static char digits[64];
    size_t starts[64] = {0}, n;
    uint8_t kinds[64];
    struct rows rows;
    rows_begin(&rows, ends, first);
    rows.kernel = kernel;
    n = rows_find(&rows, bytes, length, starts, kinds, 62);
    for (size_t i = 0; i < n; i++)
        digits[i] = (char)('0' + kinds[i]);
    if (rows.wrong != ROW_RIGHT || rows_is_amid(&rows))
        digits[n++] = rows_is_amid(&rows) && rows.wrong == ROW_RIGHT ? 'U' : wrongs[rows.wrong];
    digits[n] = '\0';
    return digits;
}

static void check_small(const char *bytes, size_t length, struct line_ends ends, bool first,
                        const char *wanted)
{
    for (size_t i = 0; i < kernel_count; i++) {
        const char *got = kinds_of(kernels[i], bytes, length, ends, first);
        tap_check(strcmp(got, wanted) == 0, "%s: '%s'%s: %s, not %s", kernels[i]->name, bytes,
                  ends.trim ? " with trim" : "", got, wanted);
    }
}

static void small_rows(void)
{
    struct line_ends ends = {.delimiter = '\n', .rows = true, .separator = ','};
    struct line_ends trim = {.delimiter = '\n', .rows = true, .separator = ',', .trim = true};
    struct line_ends nul = {.delimiter = '\0', .rows = true, .separator = ','};
    struct line_ends tabs = {.delimiter = '\n', .rows = true, .separator = '\t'};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *one = &examples[i];
        size_t length = strlen(one->bytes);
        check_small(one->bytes, length, ends, false, one->kinds);
        check_small(one->bytes, length, trim, false,
                    one->trimmed != NULL ? one->trimmed : one->kinds);
    }
    /* With NUL as the delimiter, newlines are data, and quotes end at it. */
    check_small("a\n,\"b\nc\"\0\"d\0e\"", 14, nul, false, "1U");
    check_small("a\0\"b\0\"c", 5, nul, false, "0U");
    /* A separator is no blank. */
    check_small("a\t\"b\tc\nd\"\n", 10, tabs, false, "5");
    /* CRs in the first row of an input, outside quotes. */
    check_small("a\rb\n", 4, ends, true, "R");
    check_small("a\rb\n", 4, ends, false, "0");
    check_small("a,\"\r\"\r\r\nb\rc\n", 12, ends, true, "20");
    check_small("\"a\"\rb\n", 6, ends, true, "R");
    check_small("a\rb\0", 4, nul, true, "0");
    /* Lines beyond the first are counted up to 63. */
    for (size_t i = 0; i < 2 * kernel_count; i++)
        for (size_t n = 61; n < 300; n += n < 65 ? 1 : 97) {
            char bytes[320] = {0};
            bytes[0] = i % 2 == 0 ? '"' : ' '; /* odd, with trim */
            bytes[1] = '"';
            memset(bytes + 2 - (i % 2 == 0), '\n', n);
            memcpy(bytes + 2 - (i % 2 == 0) + n, "\"\n", 3);
            const char *digits = kinds_of(kernels[i / 2], bytes, n + 4 - (i % 2 == 0), trim, false);
            const int wanted = (int)(n < 63 ? n : 63) * ROW_SEVERAL + (i % 2 == 0 ? 1 : 2);
            tap_check((uint8_t)digits[0] == (uint8_t)('0' + wanted), "%s: %zu lines: kind %d",
                      kernels[i / 2]->name, n, (uint8_t)digits[0] - '0');
        }
}

/* --- rows that lie end to end --- */

static void check_helpers(const struct text *text, const struct result *all, size_t length)
{
    const struct line_ends ends = text->ends;
    const char *bytes = text->bytes;
    size_t whole = 0, first = 0, n = 0;
    for (; n < all->n && all->found[n].wrong == ROW_RIGHT && all->found[n].end <= length; n++) {
        whole = all->found[n].end;
        first = n == 0 ? whole : first;
    }
    size_t got = rows_whole(ends, bytes, length);
    tap_check(got == whole, "%zu of %zu bytes are whole, not %zu", got, length, whole);
    got = rows_first(ends, bytes, length);
    tap_check(got == first, "the first row has %zu bytes, not %zu", got, first);
    uint64_t count = rows_count(ends, bytes, length);
    tap_check(count == n, "%u rows, not %zu", (unsigned)count, n);
    for (size_t most = 0; most < 2 * length; most = most * 2 + 1) {
        size_t fit = first;
        for (size_t i = 0; i < n && all->found[i].end <= most; i++)
            fit = all->found[i].end;
        got = rows_fitting(ends, bytes, length, most);
        tap_check(got == fit, "%zu bytes fit into %zu, not %zu", got, most, fit);
    }
}

/* Also of the rows before the end of what is there, wherever that is; and more than the 256 that
 * are looked for at a time. */
static void end_to_end(void)
{
    static struct text text;
    static struct result all;
    struct chance chance = {25};
    for (unsigned i = 0; i < tap_cases(2000); i++) {
        make_text(&text, &chance);
        text.first = false;
        find_rows(&twin, &text, NULL, &all);
        check_helpers(&text, &all, text.length);
        check_helpers(&text, &all, chance_below(&chance, text.length));
    }
    for (size_t rows = 254; rows < 260; rows++) {
        text.length = 0;
        for (size_t i = 0; i < rows; i++)
            add(&text, "\"\n\"\n", 4);
        find_rows(&twin, &text, NULL, &all);
        tap_check(all.n == rows, "%zu rows, not %zu", all.n, rows);
        check_helpers(&text, &all, text.length);
    }
    text.ends.rows = false;
    uint64_t lines = rows_count(text.ends, text.bytes, text.length);
    tap_check(lines == 518, "%u lines", (unsigned)lines);
    tap_check(rows_first(text.ends, text.bytes, text.length) == 2, "the first line");
    tap_check(rows_whole(text.ends, text.bytes, 7) == 6, "whole lines");
    tap_check(rows_fitting(text.ends, text.bytes, text.length, 5) == 4, "lines of 5 bytes");
}

int main(void)
{
    kernel_count = kernel_all(kernels);
    page = guarded(SIDE);
    tap_run("small rows: how many there are, their kinds, and what is wrong", small_rows);
    tap_run("every version, cut and moved and begun again, on rows of chance", every_way);
    tap_run("every version, quotes at each place of a block", every_place);
    tap_run("rows end to end: whole, first, fitting, counted", end_to_end);
    return tap_end();
}
