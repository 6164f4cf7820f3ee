/* Whether a URL is in normal form: what is seen 16 bytes at once is what the plain rules say of
 * each byte, and a yes means that url_write changes nothing. */
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
    return is_plain(*at) || (*at == '.' && at[-1] != '/') || is_one_of(*at, "!$&'()*+,-/:;=?@_~");
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
    static char room[3 * URL_MAX + 32];
    struct url url;
    if (!url_split(line, &url))
        return false;
    struct span made = url_write(&url, room);
    return made.length == line.length && memcmp(made.bytes, line.bytes, line.length) == 0;
}

/* --- both --- */

static bool check_at(struct span line)
{
    bool wanted = is_normal(line);
    tap_check(url_is_normal(line) == wanted, "not %d for %zu bytes '%.*s'", wanted, line.length,
              (int)line.length, line.bytes);
    tap_check(!wanted || url_is_same(line), "not in normal form: '%.*s'", (int)line.length,
              line.bytes);
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

int main(void)
{
    page = guarded(SIDE);
    tap_run("any byte and any %HH at any place", every_place);
    tap_run("lines of all that a URL is made of", many_lines);
    tap_run("the longest lines", longest_lines);
    return tap_end();
}
