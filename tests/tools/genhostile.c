/*
 * genhostile - prints lines that make life hard for whoever takes keys of them.
 *
 *     genhostile [-f] [-z] LINES SEED
 *
 * Prints LINES lines, the same bytes for the same arguments on every machine; about two million a
 * second. Exit: 0, or 2 with a message.
 *
 *   -f  each line is a field of a row, of which there may be others
 *   -z  lines end with NUL, and hold newlines; else the other way round
 *
 * A line is put together from pieces that lists of URLs have, and from those that they should not
 * have. Every other line is one of the last few again, with something changed: what counts of two
 * lines is often the same though the lines are not, and now and then the other way round. The
 * pieces are few for the same reason.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PROFILE_MAX = 65536,  /* more is no URL: some lines are about so long */
    LINE_BYTES = 1 << 17, /* room for any line */
    RECENT = 64,          /* lines that may come again, */
    RECENT_BYTES = 2048,  /* if they are no longer */
    LONG_ONE_IN = 1000    /* of the lines, one is long */
};

struct generator {
    uint64_t state;
    bool fields;
    char delimiter;
    struct text {
        size_t length;
        char bytes[RECENT_BYTES];
    } recent[RECENT];
    size_t length;
    char line[LINE_BYTES];
};

/* clang-format off */

/* Pieces. A piece may hold any byte but NUL, which the last table of bytes brings. */
static const char *const schemes[] = {
    "http", "https", "HTTP", "Http", "hTTps", "ws", "WSS", "ftp", "FTP", "x+y", "a.b-", "mailto",
    "1ht", "", "ht tp", "h%74p", "file", "data", "http://", "-a"};
static const char *const after_schemes[] = {
    "://", "://", "://", "://", "://", "://", "://", ":/", ":", "//", "", ":///", "://@", ":\\\\",
    ":\\\\", ":/\\", ":\t//"};
static const char *const users[] = {
    "u@", "@", "u:p@", "u@x@", "User%40@", "[u]@", "u:@", "@@", "u%5d@", "a#@", "a?@", "a/@",
    "%7e@", "%@", "\xc3@", "u:80@", "<@", ":@", "u::@", ":p@", "u\\@", "%%34%41@"};
static const char *const hosts[] = {
    "a", "A", "example.com", "EXAMPLE.com", "www.Example.COM", "example.com.", "b\xc3\xbc.x",
    "b%c3%bc.x", "b%C3%BC.x", "%41", "%61", "a%2e", "a%2F", "a%", "a%4", "a%zz", "127.0.0.1",
    "0x7f.1", "[::1]", "[2001:DB8::1]", "[2001:db8::1]", "[v1.x]", "[]", "[::1", "::1]", "[::1]x",
    "a[b", "a]b", "under_score", "a b", "", ".", "..", "-", "a,b", "a;b", "h\x01", "\x7f", "a\\b",
    "xn--bcher-kva.example", "[::%31]", "[:]", "[::ffff:1.2.3.4]", "[1:0:0:2::3]", "[::01.2.3.4]",
    "[1:0:0:2:3:0:0:4]", "[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:8::]", "[0:0:0:0:0:0:0:0]",
    "[::1:%25e]",
    "B\xc3\xbc\xc3\x9c.\xc3.x", "%f0%9f%92%a9", "\xed\xa0\x80.\xc3\xa9", "\342\200\244a/",
    "\xc3\xbc-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xbc", "a%25%34", "a%%34%31"};
static const char *const ports[] = {
    ":80", ":443", ":21", ":", ":0", ":000", ":00080", ":8080", ":65536", ":0443", ":08080", ":8a",
    ":%38", ":1:80", "::", ":-1", ": 80", ":80 ", ":99999999999999999999999999", ":\xd9\xa1"};
static const char *const segments[] = {
    "a", "b", "A", ".", "..", "%2e", "%2E%2e", ".%2e", "%2f..", "..%2f", "", "...", ".a", "..a",
    "a.", "x%7Ey", "x~y", "%41", "%61", "%", "%%", "%4", "%zz", "%25%34%31", "%%341", "%c3%a9",
    "%4%41", "%%34%41", "%%7e41", "%4%7e", "\\", "%\t41", "a'b",
    "%C3%A9", "\xc3\xa9", "\xff", "a b", "a+b", "a\tb", "\x01", "\x7f", "\"<>", "\\..\\", "^`{|}",
    "[x]", "%5B", "a;b=c", "a,b", "a:b@c", "!$&'()*", "{0}", "0", "7", "123", "123.html",
    "123.HTML", "123.", "123.tar.gz", "1.5", "1.2.3", ".html", "..html", "a.123", "12a.html",
    "123.h%74ml", "%31%32", "123.%20", "2024-02-31", "20240231", "20241301", "2024-1-1",
    "2024-00-10", "2024-12-32", "20241231.x", "2024-12-31", "99991231", "1234567890123456",
    "deadbeefdeadbeef", "deadbeefdeadbee1", "DEADBEEFDEADBEE1", "deadbeefdeadbe1",
    "abcdefabcdefabcdefabcdef", "9f86d081884c7d65.css", "9f86d081884c7d65g",
    "550E8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000.js",
    "550e8400-e29b-41d4-a716-44665544000", "550e8400e29b41d4a716446655440000", "%7B0%7D",
    "123%2ehtml", "%20", " "};
static const char *const parameters[] = {
    "a=1", "a=2", "a", "b=", "b", "=x", "=", "", "c=d=e", "A=1", "%61=1", "%c3=1", "%C3=2",
    "\xc3=3", "[x]=1", "{x}=1", "a%3d1", "a%26b=1", "a b=1", "?", "/../", "a?b=1", "z", "aa", "a-",
    "utm_source=x", "id=7", "%", "%zz=1", "a+b=1", "'=1", "q=%7e", ";a=1", "~", "\t=1"};
static const char *const fragments[] = {
    "#", "#x", "#a@b/", "#?a=1", " #f", "# ", "##", "#!", "#/", "#!/%7e[x]'b c",
    "#/../%4%41", "#x#/y", "#\\", "#\t/a"};
static const char *const bare[] = {
    "tel:5", "user@Host:8080", "mailto:a@b", "javascript:;", "/a/b", "//a/b", "?a=1", "#x", "\"a\"",
    "a@b@c", "a_b.c:", "a:1:2", ":80", "://a/", "", "\xef\xbb\xbfhttp://a/", " ", "\r"};
static const char *const blanks[] = {
    " ", "\t", "\r", "\v", "\f", "  ", "\r\r", " \t ", "\x01", "\x1f", "\xc2\xa0", "\x08"};
static const char *const separators[] = {
    ",", ",", ",", ",,", "\t", "\t", "\t\t", " ", "  ", " \t", "|", "\n"};
static const char *const words[] = {
    "1", "200", "ok", "OK", "", "", "\"x\"", "2024-01-01", " a ", "a@b", "\xc3\xa4", "A"};
/* What a change puts in, one byte. */
static const char bytes[] = "%%%%////....@@::[]?#&==\\~-_+;,|{}`^<>\"'() \t\r\v\f\x01\x1b\x7f\x80"
                            "\xa9\xc3\xe2\xff\n\0"
                            "0123456789abcdefABCDEFgGzZ";
/* What long lines are made of. */
static const char *const fillings[] = {
    "a", "/..", "/a/..", "%41", "%", "&a=1", "/1", "\xc3", " ", "@", ".", "/", "[", "A", "1", "&",
    ",x"};

/* Those that are special, and so have a host. */
static const char *const good_schemes[] = {
    "http", "https", "HTTP", "Http", "hTTps", "ws", "WSS", "ftp"};

/* clang-format on */

static uint64_t draw(struct generator *g)
{
    uint64_t x = g->state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A draw from 0..n-1, n > 0; its bias is of no account here. */
static size_t below(struct generator *g, size_t n)
{
    return (size_t)(draw(g) >> 11) % n;
}

static bool one_in(struct generator *g, size_t n)
{
    return below(g, n) == 0;
}

/* A place in a table of pieces, or of bytes. */
#define PICK(g, table) ((table)[below(g, sizeof(table) / sizeof *(table))])

/* Puts bytes in at a place in the line, as many as there is room for. */
static void insert_bytes(struct generator *g, size_t at, const char *from, size_t n)
{
    if (n > sizeof g->line - g->length)
        n = sizeof g->line - g->length;
    memmove(g->line + at + n, g->line + at, g->length - at);
    memcpy(g->line + at, from, n);
    g->length += n;
}

static void insert(struct generator *g, size_t at, const char *text)
{
    insert_bytes(g, at, text, strlen(text));
}

static void put(struct generator *g, const char *text)
{
    insert(g, g->length, text);
}

/* --- New lines --- */

static void put_path(struct generator *g)
{
    for (size_t n = below(g, 5); n > 0; n--) {
        put(g, "/");
        put(g, PICK(g, segments));
    }
    if (one_in(g, 3))
        put(g, "/");
}

static void put_query(struct generator *g)
{
    put(g, "?");
    for (size_t n = below(g, 5); n > 0; n--) {
        put(g, PICK(g, parameters));
        if (n > 1)
            put(g, "&");
    }
}

/* All of a URL that comes after its scheme. */
static void put_place(struct generator *g)
{
    if (one_in(g, 12))
        put(g, PICK(g, users));
    put(g, one_in(g, 3) ? PICK(g, hosts) : hosts[below(g, 6)]);
    if (one_in(g, 4))
        put(g, one_in(g, 2) ? PICK(g, ports) : ports[below(g, 9)]);
    put_path(g);
    if (one_in(g, 3))
        put_query(g);
    if (one_in(g, 6))
        put(g, PICK(g, fragments));
}

/* Most URLs have a usual beginning: what comes later would not be looked at otherwise. */
static void put_url(struct generator *g)
{
    if (one_in(g, 8)) {
        put(g, PICK(g, schemes));
        put(g, PICK(g, after_schemes));
    } else {
        put(g, one_in(g, 4) ? PICK(g, good_schemes) : "http");
        put(g, "://");
    }
    put_place(g);
}

static void put_new(struct generator *g)
{
    size_t dice = below(g, 24);

    if (dice == 0)
        put(g, PICK(g, bare));
    else if (dice < 4)
        put_place(g);
    else
        put_url(g);
}

/* --- Changes --- */

/* The line becomes a field among others, most often the second. */
static void wrap(struct generator *g)
{
    const char *separator = PICK(g, separators);

    for (size_t n = one_in(g, 2) ? 1 : below(g, 3); n > 0; n--) {
        insert(g, 0, separator);
        insert(g, 0, PICK(g, words));
    }
    for (size_t n = below(g, 3); n > 0; n--) {
        put(g, separator);
        put(g, PICK(g, words));
    }
}

static void add_blanks(struct generator *g)
{
    if (one_in(g, 2))
        insert(g, 0, PICK(g, blanks));
    else
        put(g, PICK(g, blanks));
}

/* A byte comes in, goes or becomes another one. */
static void change_byte(struct generator *g)
{
    size_t at = below(g, g->length + 1);
    size_t dice = below(g, 3);

    if (dice != 0 && at < g->length) {
        memmove(g->line + at, g->line + at + 1, g->length - at - 1);
        g->length--;
    }
    if (dice != 1)
        insert_bytes(g, at, &PICK(g, bytes), 1);
}

static void change_case(struct generator *g)
{
    char *byte = g->line + below(g, g->length);

    if ((*byte >= 'a' && *byte <= 'z') || (*byte >= 'A' && *byte <= 'Z'))
        *byte = (char)(*byte ^ 0x20);
}

static void encode_byte(struct generator *g)
{
    size_t at = below(g, g->length);
    char triplet[4];

    snprintf(triplet, sizeof triplet, one_in(g, 2) ? "%%%02x" : "%%%02X",
             (unsigned)(unsigned char)g->line[at]);
    g->line[at] = triplet[2];
    insert_bytes(g, at, triplet, 2);
}

/* After one of the slashes, if there is one after a place drawn. */
static void add_segment(struct generator *g)
{
    static const char *const additions[] = {"./", "../", "x/../", "%2E/", "/", "a/%2e./"};
    size_t at = below(g, g->length);
    const char *slash = memchr(g->line + at, '/', g->length - at);

    if (slash)
        insert(g, (size_t)(slash - g->line) + 1, PICK(g, additions));
}

static void change(struct generator *g)
{
    switch (g->length == 0 ? 0 : below(g, 8)) {
    case 0:
        wrap(g);
        break;
    case 1:
        add_blanks(g);
        break;
    case 2:
        change_case(g);
        break;
    case 3:
        encode_byte(g);
        break;
    case 4:
        add_segment(g);
        break;
    case 5:
        put(g, PICK(g, fragments));
        break;
    default:
        change_byte(g);
    }
}

/* Filling goes in anywhere, until the line is just as long as a URL may be, or nearly so. */
static void make_long(struct generator *g)
{
    const char *filling = PICK(g, fillings);
    size_t goal = one_in(g, 4) ? below(g, LINE_BYTES) : PROFILE_MAX - 1 + below(g, 3);
    size_t at = below(g, g->length + 1);
    size_t n = goal > g->length ? goal - g->length : 0;

    memmove(g->line + at + n, g->line + at, g->length - at);
    for (size_t i = 0; i < n; i++)
        g->line[at + i] = filling[i % strlen(filling)];
    g->length += n;
}

/* --- All of it --- */

static void take_recent(struct generator *g)
{
    const struct text *text = &g->recent[below(g, RECENT)];

    memcpy(g->line, text->bytes, text->length);
    g->length = text->length;
}

static void keep_recent(struct generator *g)
{
    struct text *text = &g->recent[below(g, RECENT)];

    if (g->length == 0 || g->length > sizeof text->bytes)
        return;
    memcpy(text->bytes, g->line, g->length);
    text->length = g->length;
}

static void make_hostile(struct generator *g)
{
    bool again = one_in(g, 2);

    if (again)
        take_recent(g);
    if (g->length == 0)
        put_new(g);
    for (size_t n = below(g, again ? 3 : 2); n > 0; n--)
        change(g);
    keep_recent(g);
    if (one_in(g, LONG_ONE_IN))
        make_long(g);
    if (g->fields)
        wrap(g);
}

/* A line does not hold what ends lines, but what ends them elsewhere. */
static void finish(struct generator *g)
{
    char other = g->delimiter == '\n' ? '\0' : '\n';

    for (char *c = g->line; (c = memchr(c, g->delimiter, g->length - (size_t)(c - g->line)));)
        *c = other;
}

static bool print_lines(struct generator *g, uint64_t lines)
{
    for (; lines > 0; lines--) {
        g->length = 0;
        make_hostile(g);
        finish(g);
        fwrite(g->line, 1, g->length, stdout);
        putchar(g->delimiter);
    }
    return fflush(stdout) == 0 && !ferror(stdout);
}

int main(int argc, char **argv)
{
    static struct generator g = {.delimiter = '\n'};
    int option;

    while ((option = getopt(argc, argv, "fz")) != -1) {
        g.fields |= option == 'f';
        g.delimiter = option == 'z' ? '\0' : g.delimiter;
    }
    if (argc - optind != 2) {
        fputs("usage: genhostile [-f] [-z] LINES SEED\n", stderr);
        return 2;
    }
    g.state = strtoull(argv[optind + 1], NULL, 10);
    if (!print_lines(&g, strtoull(argv[optind], NULL, 10))) {
        perror("genhostile");
        return 2;
    }
    return 0;
}
