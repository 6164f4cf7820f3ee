/* URLs: what is seen 16 bytes at once is what the plain rules say of each byte, and a yes of
 * url_is_normal means that url_write changes nothing; the normal form is its own; and it keeps to
 * its room. TEST_URLS is the number of random lines, 200,000 if it is not set. */
#include "core/kernel.h"
#include "key/url.h"

#include "chance.h"
#include "guards.h"
#include "tap.h"

#include <string.h>

enum { SIDE = 4096, LINE_MAX_BYTES = 300 };

static char *page; /* of memory, between guards */

/* --- the plain rules --- */

static bool is_one_of(char c, const char *bytes)
{
    return c != '\0' && strchr(bytes, c) != NULL;
}

static bool is_upper_hex(char c)
{
    return is_one_of(c, "0123456789ABCDEF");
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool may_stand(const char *at, const char *end)
{
    if (*at == '%') {
        if (end - at < 3 || !is_upper_hex(at[1]) || !is_upper_hex(at[2]))
            return false;
        char byte = (char)strtoul((char[]){at[1], at[2], '\0'}, NULL, 16);
        return !is_plain(byte) && !is_one_of(byte, "-._~");
    }
    return is_plain(*at) || (*at == '.' && at[-1] != '/') || is_one_of(*at, "!$&()*+,-/:;=?@_~");
}

static bool is_normal(struct span line)
{
    const char *at = line.bytes, *end = span_end(line);
    size_t scheme = line.length < 8 || line.length > URL_MAX ? 0
                    : memcmp(line.bytes, "http://", 7) == 0  ? 7
                    : memcmp(line.bytes, "https://", 8) == 0 ? 8
                                                             : 0;
    const char *slash = memchr(at + scheme, '/', line.length - scheme);
    if (scheme == 0 || slash == NULL || slash == at + scheme || slash - at - (long)scheme > 31)
        return false;
    for (at += scheme; at < slash; at++)
        if (!may_stand(at, end) || (*at > '9' && *at < 'a') || is_one_of(*at, "!$%~"))
            return false;
    for (; at < end; at++)
        if (!may_stand(at, end))
            return false;
    return true;
}

static bool url_is_same(struct span line)
{
    static char room[URL_ROOM];
    struct url url;
    if (!url_split(line, room, &url))
        return false;
    struct span made = url_write(&url, room);
    return made.length == line.length && memcmp(made.bytes, line.bytes, line.length) == 0;
}

/* The kernels find the same, but for URLs with %: of two lines, of which the second is no URL, and
 * has only slashes, or bytes that no URL has. */
static void check_kernels(struct span line, bool wanted)
{
    enum { SECOND = 256 };
    static char bytes[URL_MAX + 2 + SECOND];
    const size_t starts[] = {0, line.length + 1, line.length + 1 + SECOND};
    const struct kernel *kernels[KERNELS_MAX];
    size_t n = line.length <= URL_MAX + 1 ? 2 * kernel_all(kernels) : 0;
    for (size_t i = 0; i < n; i++) {
        const struct kernel *kernel = kernels[i / 2];
        memset(mempcpy(bytes, line.bytes, line.length), i % 2 ? '<' : '/', SECOND);
        tap_check(kernel->urls == NULL || kernel->urls(bytes, starts, 2, URL_MAX) == (size_t)wanted,
                  "%s: not %d for %zu bytes '%.*s'", kernel->name, wanted, line.length,
                  (int)line.length, line.bytes);
    }
}

/* --- both --- */

static bool check_at(struct span line)
{
    bool wanted = is_normal(line);
    tap_check(url_is_normal(line) == wanted, "not %d for %zu bytes '%.*s'", wanted, line.length,
              (int)line.length, line.bytes);
    tap_check(!wanted || url_is_same(line), "not in normal form: '%.*s'", (int)line.length,
              line.bytes);
    check_kernels(line, wanted && memchr(line.bytes, '%', line.length) == NULL);
    return wanted;
}

/* At either end of the page. */
static bool check_bytes(const char *bytes, size_t length)
{
    char *last = page + SIDE - length;
    memcpy(page, bytes, length);
    check_at((struct span){page, length});
    memmove(last, bytes, length);
    return check_at((struct span){last, length});
}

/* A URL of `length` bytes whose host ends at `slash`. */
static void make_url(char *line, size_t length, size_t slash)
{
    memset(line, 'a', length);
    memcpy(line, slash % 2 ? "http://" : "https://", 7 + (slash % 2 == 0));
    line[slash] = '/';
}

/* Each byte, and each %HH, at each place of lines of every length up to some blocks. */
static void every_place(void)
{
    static const char digits[] = "0123456789ABCDEFabcdefGg@/:`";
    enum { DIGITS = sizeof digits - 1 };
    struct chance chance = {1};
    for (size_t length = 12; length <= 150; length++)
        for (size_t at = 0; at < length; at++)
            for (unsigned tries = 0; tries < 40; tries++) {
                char line[LINE_MAX_BYTES];
                make_url(line, length, 9 + chance_below(&chance, length < 60 ? length - 9 : 51));
                line[at] = (char)chance_next(&chance);
                if (tries % 2) /* cut off at the end */
                    for (size_t i = 0; i < 3 && at + i < length; i++)
                        line[at + i] = i == 0 ? '%' : digits[chance_below(&chance, DIGITS)];
                check_bytes(line, length);
            }
}

/* Lines of what a URL is made of, from those with a piece or two that are not in normal form to
 * those of nothing else. */
static void many_lines(void)
{
    static const char *const pieces[] = {"/", ".", "%", "%20", "%2e", "?", ":", "@",  "A",
                                         "#", "a", "b", "c",   "é",   "=", "&", "/.", "-",
                                         "~", "!", "$", "_",   " ",   "[", "^", "%C3"};
    enum { PIECES = sizeof pieces / sizeof *pieces };
    struct chance chance = {2};
    unsigned yes = 0, lines = tap_cases(300000);
    for (unsigned i = 0; i < lines; i++) {
        char line[LINE_MAX_BYTES] = "https://a.b/";
        size_t length = i % 3 ? 12 : 8, most = length + 4 + chance_below(&chance, 200);
        unsigned rare = 1U << chance_below(&chance, 8);
        while (length + 4 < most) {
            const char *piece =
                pieces[chance_below(&chance, rare) == 0 ? chance_below(&chance, PIECES) : 10];
            while (*piece != '\0')
                line[length++] = *piece++;
            if (chance_below(&chance, 4 * (uint64_t)rare) == 0)
                line[length - 1] = (char)chance_next(&chance);
        }
        yes += check_bytes(line, length);
    }
    tap_check(yes > lines / 20 && yes < lines / 10 * 9, "%u yes", yes);
}

static void longest_lines(void)
{
    static char line[URL_MAX + 1];
    make_url(line, sizeof line, 10);
    tap_check(check_at((struct span){line, URL_MAX}), "no for the longest");
    tap_check(!check_at((struct span){line, URL_MAX + 1}), "yes for more");
}

/* --- the normal form --- */

static bool spans_are_equal(struct span a, struct span b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* The buffers have their ends where no memory is. Returns whether the line is a URL. */
static bool check_twice(struct span line)
{
    enum { ROOM = (URL_ROOM + SIDE - 1) / SIDE * SIDE };
    static char *rooms[2];
    struct url url;
    for (unsigned i = 0; i < 2 && rooms[1] == NULL; i++)
        rooms[i] = guarded(ROOM) + ROOM - URL_ROOM;
    if (!url_split(line, rooms[0], &url))
        return false;
    struct span once = url_write(&url, rooms[0]);
    tap_check(once.length <= URL_WRITTEN(line.length), "%zu bytes become %zu", line.length,
              once.length);
    if (once.length > URL_MAX)
        return true;
    if (tap_check(url_split(once, rooms[1], &url), "no URL any more: '%.*s'", (int)line.length,
                  line.bytes))
        tap_check(spans_are_equal(url_write(&url, rooms[1]), once), "twice is not once: '%.*s'",
                  (int)line.length, line.bytes);
    return true;
}

/* The normal form is one already. */
static void twice_is_once(void)
{
    static const char *const beginnings[] = {"http://",     "HTTPS://u:@",   "ftp:\\\\",
                                             "x-y://",      "http://[",      "ws:/\t/a/",
                                             "http://a/#!", "http://\"\"\"", "http://a/?"};
    static const char *const pieces[] = {"/",        ".",      "..",
                                         "%",        "%2",     "%2e",
                                         "%41",      "%34",    "4",
                                         "A",        "a",      "?",
                                         "#",        "#/",     "#!",
                                         ":",        "@",      "80",
                                         "\\",       "\t",     "'",
                                         "\"",       "[",      "]",
                                         "::",       "1.2.",   "0:",
                                         " ",        "{",      "~",
                                         "\xc3\xbc", "%c3%bc", "\xf0\x9f\x98\x80",
                                         "\xc3",     "xn--",   "\xdf\xbf"};
    enum { BEGINNINGS = sizeof beginnings / sizeof *beginnings };
    enum { PIECES = sizeof pieces / sizeof *pieces };
    const char *number = getenv("TEST_URLS");
    struct chance chance = {3};
    unsigned long urls = 0, lines = number != NULL ? strtoul(number, NULL, 10) : tap_cases(200000);
    for (unsigned long i = 0; i < lines; i++) {
        char line[LINE_MAX_BYTES + 8];
        const char *piece = beginnings[chance_below(&chance, BEGINNINGS)];
        size_t length = 0, most = chance_below(&chance, i % 8 ? 40 : LINE_MAX_BYTES - 32);
        unsigned few = 2 + (unsigned)chance_below(&chance, PIECES - 1); /* pieces next to another */
        unsigned first = (unsigned)chance_below(&chance, PIECES);
        for (most += strlen(piece);;) {
            while (*piece != '\0')
                line[length++] = *piece++;
            if (length >= most)
                break;
            piece = pieces[(first + chance_below(&chance, few)) % PIECES];
            if (chance_below(&chance, 64) == 0)
                line[length++] = (char)chance_next(&chance);
        }
        urls += check_twice((struct span){line, length});
    }
    tap_check(urls > lines / 4, "%lu URLs of %lu", urls, lines);
}

/* The longest lines, each of one piece again and again, in user info, host, path, query, route. */
static void worst_growth(void)
{
    static const char *const beginnings[] = {"http://",  "http://u@", "x://a/",     "ws://a?",
                                             "ws://a#/", "http://[",  "\thttp://u@"};
    static const char *const pieces[] = {" ",
                                         "\xff",
                                         "\xdf\xbf",
                                         "\xdf\xbf.",
                                         "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\xdf\xbf.",
                                         "%",
                                         "%4",
                                         "%41",
                                         "\xc3\xbc",
                                         "a.",
                                         "@",
                                         "/.",
                                         "/..",
                                         "\t",
                                         "\\",
                                         "\xf4\x8f\xbf\xbf.",
                                         "0:"};
    static char line[URL_MAX];
    for (size_t b = 0; b < sizeof beginnings / sizeof *beginnings; b++)
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++)
            for (size_t end = 0; end < 2; end++) {
                size_t length = strlen(beginnings[b]), n = strlen(pieces[p]);
                memcpy(line, beginnings[b], length);
                for (; length < sizeof line; length++)
                    line[length] = pieces[p][(length - strlen(beginnings[b])) % n];
                memcpy(line + sizeof line - 8, end ? "@a/12345" : pieces[p],
                       end     ? 8
                       : n < 8 ? n
                               : 8);
                check_twice((struct span){line, sizeof line});
            }
}

int main(void)
{
    page = guarded(SIDE);
    tap_run("any byte and any %HH at any place", every_place);
    tap_run("lines of all that a URL is made of", many_lines);
    tap_run("the longest lines", longest_lines);
    tap_run("the normal form is one", twice_is_once);
    tap_run("what grows most has room", worst_growth);
    return tap_end();
}
