/* The looks at a URL: all give the same answers, and a yes means that url/1 changes nothing. */
#include "key/look.h"

#include "key/url.h"

#include "chance.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SIDE = 4096, LINE_MAX_BYTES = 300 };

static const struct look *looks[LOOKS_MAX];
static size_t look_count;
static char *page; /* one page of memory between two that must not be touched */

static void make_page(void)
{
    char *pages = mmap(NULL, 3 * SIDE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + SIDE, SIDE, PROT_READ | PROT_WRITE) != 0)
        exit(1);
    page = pages + SIDE;
}

static bool url_is_same(struct span line)
{
    static char room[3 * URL_MAX + 32];
    struct url url;
    if (line.length > URL_MAX || !url_split(line, &url))
        return false;
    struct span made = url_write(&url, room);
    return made.length == line.length && memcmp(made.bytes, line.bytes, line.length) == 0;
}

/* Returns the answer. */
static bool check_at(struct span line)
{
    bool normal = looks[0]->line(line);
    for (size_t i = 1; i < look_count; i++)
        tap_check(looks[i]->line(line) == normal, "%s: not %d for %zu bytes '%.*s'", looks[i]->name,
                  normal, line.length, (int)line.length, line.bytes);
    tap_check(!normal || url_is_same(line), "not in normal form: '%.*s'", (int)line.length,
              line.bytes);
    return normal;
}

/* At either end of the page. */
static bool check_bytes(const char *bytes, size_t length)
{
    memcpy(page, bytes, length);
    bool normal = check_at((struct span){page, length});
    char *last = page + SIDE - length;
    memmove(last, bytes, length);
    check_at((struct span){last, length});
    return normal;
}

static void check(const char *line, bool wanted)
{
    tap_check(check_bytes(line, strlen(line)) == wanted, "not %d: %s", wanted, line);
}

static void answers(void)
{
    static const char *const yes[] = {
        "http://a/",
        "https://a/",
        "http://example.com/",
        "http://[::1]/",
        "https://example.com/a.b/c..d/e.?f=/g&h:i@j!$'()*+,;=~_-A",
        "http://a/%20%2F%C3%A9?%25#",
        "http://abcdefghijklmnopqrstuvwxyz.abcdefghijklmnopqrstuvwxyz.abcdefghijklmnopqrstuvwxyz/A",
    };
    static const char *const no[] = {
        "",           "h",          "http://",     "http://a",      "https://a",     "http:///",
        "https:///",  "HTTP://a/",  "ftp://a/",    "httpx://a/",    "http:/a/",      "http://A/",
        "http://Z/",  "http://@/",  "http://u@a/", "http://a:80/",  "http://a?/",    "http://a/.",
        "http://./",  "http://a#",  "http://a/#",  "http://a/%",    "http://a/%2",   "http://a/%2f",
        "http://%/",  "http://a/ ", " http://a/",  "http://a/%41",  "http://a/%7E",  "http://a/%2G",
        "http://a/[", "http://a/^", "http://a/`",  "http://a/\x7f", "http://a/\xc3", "http://a_b/",
    };
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        check(no[i], false);
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        check(yes[i], i != 3 && i != 5);
}

/* A URL of `length` bytes whose host ends at `slash`. */
static void make_url(char *line, size_t length, size_t slash)
{
    memset(line, 'a', length);
    memcpy(line, slash % 2 ? "http://" : "https://", 7 + (slash % 2 == 0));
    line[slash] = '/';
}

/* Each byte at each place of lines of every length: there is a yes without it. */
static void every_byte_everywhere(void)
{
    struct chance chance = {1};
    for (size_t length = 12; length <= 200; length++) {
        char line[LINE_MAX_BYTES];
        size_t slash = 9 + chance_below(&chance, length - 9);
        make_url(line, length, slash);
        tap_check(check_bytes(line, length), "no: '%.*s'", (int)length, line);
        for (size_t at = 0; at < length; at++) {
            for (unsigned tries = 0; tries < 12; tries++) {
                make_url(line, length, slash);
                line[at] = (char)chance_next(&chance);
                check_bytes(line, length);
            }
        }
    }
}

static void all_bytes_in_a_path(void)
{
    for (unsigned byte = 0; byte < 256; byte++)
        for (size_t length = 20; length < 150; length += 3) {
            char line[LINE_MAX_BYTES];
            make_url(line, length, 10);
            line[length - 5] = (char)byte;
            bool normal = check_bytes(line, length);
            bool allowed = byte != 0 && byte < 128 &&
                           strchr("!$&'()*+,-./:;=?@_~", (int)byte) != NULL;
            allowed |= (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= 'a' && byte <= 'z');
            tap_check(normal == allowed, "byte %02x at %zu: %d", byte, length - 5, normal);
        }
}

/* Every %HH, whole and cut off, at each place of a block. */
static void every_escape(void)
{
    static const char digits[] = "0123456789ABCDEFabcdefGg@/:`";
    for (size_t i = 0; i < sizeof digits - 1; i++)
        for (size_t j = 0; j < sizeof digits - 1; j++)
            for (size_t length = 20; length < 150; length++) {
                char line[LINE_MAX_BYTES];
                make_url(line, length, 10);
                memcpy(line + length - 4, (char[]){'%', digits[i], digits[j]}, 3);
                bool normal = check_bytes(line, length);
                tap_check(normal == url_is_same((struct span){line, length}), "%.*s: %d",
                          (int)length, line, normal);
                check_bytes(line, length - 2);
            }
}

/* Bytes of what a URL is made of, changed here and there. */
static void mutated_urls(void)
{
    static const char *const pieces[] = {"/", ".", "%", "%20", "%2e", "?", ":", "@", "A",
                                         "#", "a", "b", "c",   "é",   "=", "&", "",  "-"};
    struct chance chance = {2};
    unsigned yes = 0, urls = tap_cases(500000);
    for (unsigned i = 0; i < urls; i++) {
        char line[LINE_MAX_BYTES] = "https://a.b/";
        size_t length = 12, most = 13 + chance_below(&chance, 200);
        while (length + 3 < most) {
            const char *piece =
                pieces[chance_below(&chance, 40) == 0 ? chance_below(&chance, 18) : 10];
            memcpy(line + length, piece, strlen(piece));
            length += strlen(piece) + (piece[0] == '\0');
            line[length - 1] = line[length - 1] == '\0' ? '_' : line[length - 1];
        }
        yes += check_bytes(line, length);
    }
    tap_check(yes > urls / 10 && yes < urls / 10 * 9, "%u yes", yes);
}

static void longest_lines(void)
{
    static char line[URL_MAX + 1];
    make_url(line, sizeof line, 10);
    tap_check(check_at((struct span){line, URL_MAX}), "no for the longest");
    tap_check(!check_at((struct span){line, URL_MAX + 1}), "yes for more");
}

/* Batches: what one line gets. */
static void batches(void)
{
    enum { LINES = 1000 };
    static char bytes[LINES * LINE_MAX_BYTES];
    size_t starts[LINES + 1] = {0};
    uint8_t normal[LINES];
    struct chance chance = {3};
    for (size_t i = 0; i < LINES; i++) {
        size_t length = 12 + chance_below(&chance, 200);
        make_url(bytes + starts[i], length, 10);
        if (i % 3 == 0)
            bytes[starts[i] + chance_below(&chance, length)] = '%';
        starts[i + 1] = starts[i] + length + 1;
    }
    for (size_t v = 0; v < look_count; v++) {
        memset(normal, 7, sizeof normal);
        looks[v]->lines(bytes, starts, LINES, normal);
        for (size_t i = 0; i < LINES; i++) {
            struct span line = {bytes + starts[i], starts[i + 1] - 1 - starts[i]};
            tap_check(normal[i] == looks[0]->line(line), "%s: line %zu", looks[v]->name, i);
        }
    }
}

int main(void)
{
    look_count = look_all(looks);
    make_page();
    printf("# versions:");
    for (size_t i = 0; i < look_count; i++)
        printf(" %s", looks[i]->name);
    putchar('\n');
    tap_run("yes and no", answers);
    tap_run("any byte at any place", every_byte_everywhere);
    tap_run("which bytes a path may have", all_bytes_in_a_path);
    tap_run("which %HH stay", every_escape);
    tap_run("URLs with something changed", mutated_urls);
    tap_run("the longest lines", longest_lines);
    tap_run("batches get what single lines get", batches);
    return tap_end();
}
