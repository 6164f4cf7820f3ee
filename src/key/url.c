#include "key/url.h"

#include "core/bytes.h"
#include "core/little.h"
#include "key/ascii.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* --- bytes --- */

/* What a byte may mean: a bit for each. A % changes, too, if no digits follow. Brackets stay in a
 * host in brackets alone; # is never asked what becomes of it, since all from it on was dropped. */
enum {
    CHANGES = 1,  /* becomes %HH */
    SCHEME = 4,   /* may be in a scheme */
    ENDS = 8,     /* ends the authority */
    DIVIDES = 16, /* divides the authority, or is a bracket */
};
static const unsigned char meaning[256] = {
    1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1, 1,  1, 1, /* control characters */
    1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1, 1,  1, 1, /* */
    1,  0, 1, 9, 0, 1, 0, 0, 0, 0, 0,  4,  0, 4,  4, 8, /*   ! " # $ % & ' ( ) * + , - . / */
    4,  4, 4, 4, 4, 4, 4, 4, 4, 4, 16, 0,  1, 0,  1, 8, /* 0-9 : ; < = > ? */
    16, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,  4,  4, 4,  4, 4, /* @ A-O */
    4,  4, 4, 4, 4, 4, 4, 4, 4, 4, 4,  17, 1, 17, 1, 0, /* P-Z [ \ ] ^ _ */
    1,  4, 4, 4, 4, 4, 4, 4, 4, 4, 4,  4,  4, 4,  4, 4, /* ` a-o */
    4,  4, 4, 4, 4, 4, 4, 4, 4, 4, 4,  1,  1, 1,  0, 1, /* p-z { | } ~ delete */
    1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1, 1,  1, 1, /* and what is no ASCII */
    1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1, 1,  1, 1, /* */
    1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1, 1,  1, 1, /* */
    1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1, 1,  1, 1, /* */
    1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1, 1,  1, 1, /* */
    1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1, 1,  1, 1, /* */
    1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1, 1,  1, 1, /* */
    1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1, 1,  1, 1, /* */
};

static inline bool means(char c, unsigned bits)
{
    return (meaning[(unsigned char)c] & bits) != 0;
}

#if defined(__SSE2__)
/* 16 bytes, or zeros from `end` on. */
static inline __m128i load_before(const char *at, const char *end)
{
    char few[16] = {0};
    if (end - at < 16)
        at = memcpy(few, at, (size_t)(end - at));
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline __m128i equal(__m128i bytes, int c)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)c));
}
#endif

/* --- parts --- */

struct span url_strip(struct span text)
{
    const char *first = text.bytes, *end = span_end(text);
    while (first < end && (unsigned char)*first <= 0x20)
        first++;
    while (first < end && (unsigned char)end[-1] <= 0x20)
        end--;
    return span_between(first, end);
}

/* The bytes before :// if they are a scheme, else 0. */
static size_t scheme_length(struct span text)
{
    size_t n = 0;
    if (text.length >= 8 && memcmp(text.bytes, "http", 4) == 0) /* nearly always; no loop */
        n = 4 + (size_t)(text.bytes[4] == 's');
    while (n < text.length && means(text.bytes[n], SCHEME))
        n++;
    bool ended = text.length - n >= 3 && memcmp(text.bytes + n, "://", 3) == 0;
    return ended && ascii_is_letter(text.bytes[0]) ? n : 0;
}

/* Of a host with brackets, and whatever follows: where it ends, or NULL if it is none. */
static const char *bracketed_end(struct span host)
{
    const char *at = host.bytes + 1, *end = span_end(host);
    if (*host.bytes != '[')
        return NULL;
    while (at < end && (ascii_is_hex(*at) || *at == ':' || *at == '.'))
        at++;
    if (at == end || *at != ']' || at == host.bytes + 1)
        return NULL;
    return at + 1;
}

static bool is_text(struct span span, const char *text)
{
    size_t i = 0;
    for (; i < span.length && text[i] != '\0'; i++)
        if (ascii_lower(span.bytes[i]) != text[i])
            return false;
    return i == span.length && text[i] == '\0';
}

static bool is_default_port(struct span scheme, struct span port)
{
    static const struct {
        const char *scheme, *port;
    } defaults[] = {{"http", "80"}, {"https", "443"}, {"ws", "80"}, {"wss", "443"}, {"ftp", "21"}};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (is_text(port, defaults[i].port) && is_text(scheme, defaults[i].scheme))
            return true;
    return false;
}

/* From its colon on, if it is there. Returns false if it is no number. */
static bool split_port(const char *at, const char *end, struct url *url)
{
    if (at < end && *at++ != ':')
        return false;
    while (end - at > 1 && *at == '0')
        at++;
    url->port = span_between(at, end);
    for (; at < end; at++)
        if (!ascii_is_digit(*at))
            return false;
    if (url->port.length > 0 && is_default_port(url->scheme, url->port))
        url->port.length = 0;
    return true;
}

/* What divides an authority: the byte after the last @, the first : from there on, and whether
 * there is a bracket. */
struct division {
    const char *host, *colon;
    bool bracket;
};

static void note_divider(struct division *division, const char *at)
{
    if (*at == '@')
        *division = (struct division){at + 1, NULL, false};
    else if (*at != ':')
        division->bracket = true;
    else if (division->colon == NULL)
        division->colon = at;
}

/* Notes what divides the authority at `at`. Returns where it ends. */
#if defined(__SSE2__)
static const char *divide(struct division *division, const char *at, const char *end)
{
    for (;; at += 16) {
        __m128i bytes = load_before(at, end);
        __m128i slashes = equal(_mm_or_si128(bytes, _mm_set1_epi8('?' - '/')), '?');
        __m128i names = _mm_or_si128(equal(bytes, '@'), equal(bytes, ':'));
        __m128i brackets = _mm_or_si128(equal(bytes, '['), equal(bytes, ']'));
        unsigned ends = (unsigned)_mm_movemask_epi8(_mm_or_si128(slashes, equal(bytes, '#')));
        unsigned divides = (unsigned)_mm_movemask_epi8(_mm_or_si128(names, brackets));
        size_t left = (size_t)(end - at);
        if (left < 16)
            ends |= 1U << left;
        for (divides &= ~ends & (ends - 1); divides != 0; divides &= divides - 1)
            note_divider(division, at + __builtin_ctz(divides));
        if (ends != 0)
            return at + __builtin_ctz(ends);
    }
}
#else
static const char *divide(struct division *division, const char *at, const char *end)
{
    for (; at < end && !means(*at, ENDS); at++)
        if (means(*at, DIVIDES))
            note_divider(division, at);
    return at;
}
#endif

/* Returns where it ends, or NULL if it is none. */
static const char *split_authority(const char *first, const char *end, struct url *url)
{
    struct division division = {first, NULL, false};
    const char *at = divide(&division, first, end);
    const char *after = division.colon != NULL ? division.colon : at;
    if (division.bracket)
        after = bracketed_end(span_between(division.host, at));
    if (after == NULL || after == division.host)
        return NULL;
    url->user = span_between(first, division.host);
    url->host = span_between(division.host, after);
    return split_port(after, at, url) ? at : NULL;
}

static void split_rest(const char *at, const char *end, struct url *url)
{
    const char *fragment = memchr(at, '#', (size_t)(end - at));
    if (fragment != NULL)
        end = fragment;
    const char *query = memchr(at, '?', (size_t)(end - at));
    if (query == NULL)
        query = end;
    url->path = span_between(at, query);
    url->query = span_between(query, end);
}

bool url_split(struct span text, struct url *url)
{
    text = url_strip(text);
    url->scheme = (struct span){text.bytes, scheme_length(text)};
    if (url->scheme.length == 0)
        return false;
    const char *end = span_end(text);
    const char *path = split_authority(span_end(url->scheme) + 3, end, url);
    if (path == NULL)
        return false;
    split_rest(path, end, url);
    return true;
}

/* --- normal form --- */

static char *put_encoded(char *out, unsigned char byte)
{
    static const char digits[] = "0123456789ABCDEF";
    *out++ = '%';
    *out++ = digits[byte >> 4];
    *out++ = digits[byte & 15];
    return out;
}

/* Bytes at `at` that are one: 3 of a %HH, else 1. */
static size_t count_one(const char *at, const char *end)
{
    bool escape = *at == '%' && end - at >= 3 && ascii_is_hex(at[1]) && ascii_is_hex(at[2]);
    return escape ? 3 : 1;
}

/* Writes what becomes of a byte that does not stay, or of a %HH. */
static char *put_other(char *out, const char *at, size_t count)
{
    unsigned char byte = (unsigned char)*at;
    if (count == 3)
        byte = (unsigned char)(ascii_hex_value(at[1]) << 4 | ascii_hex_value(at[2]));
    if (!ascii_is_unreserved(byte))
        return put_encoded(out, byte);
    *out = (char)byte;
    return out + 1;
}

#if defined(__SSE2__)

/* Those that change, and %. With bit 1 set, < is >; with bit 5 set, a bracket is a brace. */
static inline unsigned changes_of(__m128i bytes)
{
    __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    /* What is no ASCII is below 0. */
    __m128i low = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x21)), equal(bytes, 0x7f));
    __m128i braces = _mm_and_si128(_mm_cmpgt_epi8(folded, _mm_set1_epi8('z')),
                                   _mm_cmplt_epi8(folded, _mm_set1_epi8('~')));
    __m128i angles = equal(_mm_or_si128(bytes, _mm_set1_epi8(2)), '>');
    __m128i quotes = _mm_or_si128(equal(bytes, '"'), equal(bytes, '`'));
    __m128i others = _mm_or_si128(equal(bytes, '%'), equal(bytes, '^'));
    return (unsigned)_mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(_mm_or_si128(low, braces), _mm_or_si128(angles, quotes)),
                     others));
}

static inline __m128i lower_of(__m128i bytes)
{
    __m128i upper = _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8('A' - 1)),
                                  _mm_cmplt_epi8(bytes, _mm_set1_epi8('Z' + 1)));
    return _mm_or_si128(bytes, _mm_and_si128(upper, _mm_set1_epi8(0x20)));
}

/* Copies the bytes before the first that changes, in lower case if asked. Returns how many there
 * are. 16 at once, whatever they are: those that are too many are written over. */
static inline size_t put_run(char *out, struct span text, const char *limit, bool lower)
{
    size_t at = 0;
    for (;; at += 16) {
        __m128i bytes = load_before(text.bytes + at, limit);
        unsigned changes = changes_of(bytes);
        if (text.length - at < 16)
            changes |= 1U << (text.length - at);
        _mm_storeu_si128((__m128i *)(void *)(out + at), lower ? lower_of(bytes) : bytes);
        if (changes != 0)
            return at + (size_t)__builtin_ctz(changes);
    }
}

#else

static inline size_t put_run(char *out, struct span text, const char *limit, bool lower)
{
    size_t at = 0;
    (void)limit;
    for (; at < text.length && !means(text.bytes[at], CHANGES); at++)
        out[at] = lower ? ascii_lower(text.bytes[at]) : text.bytes[at];
    return at;
}

#endif

/* No byte is read from `limit` on, and up to 16 may be written after the end. */
static inline char *put_cased(char *out, struct span text, const char *limit, bool lower)
{
    const char *at = text.bytes, *end = span_end(text);
    for (;;) {
        size_t run = put_run(out, span_between(at, end), limit, lower);
        out += run;
        at += run;
        if (at == end)
            return out;
        size_t count = count_one(at, end);
        char *after = put_other(out, at, count);
        if (lower)
            *out = ascii_lower(*out);
        out = after;
        at += count;
    }
}

static char *put_text(char *out, struct span text, const char *limit)
{
    return put_cased(out, text, limit, false);
}

/* Of an absolute path that begins at `path` and whose last segment ends at `out`: if this is "." or
 * "..", takes it away, and the one before it for "..". Returns the new end, which follows a slash
 * then; else `out`. */
static char *drop_dots(const char *path, char *out)
{
    if (out[-1] != '.')
        return out;
    if (out[-2] == '/')
        return out - 1;
    if (out[-2] != '.' || out[-3] != '/')
        return out;
    out -= 3;
    if (out == path)
        return out + 1;
    while (out[-1] != '/')
        out--;
    return out;
}

/* Removes the dot segments of a path. Returns its new end. */
static char *remove_dots(char *path, const char *end)
{
    char *at = path + 1, *out = at;
    while (at < end) {
        if (*at != '/') {
            *out++ = *at++;
            continue;
        }
        char *kept = drop_dots(path, out);
        if (kept == out)
            *kept++ = '/';
        out = kept;
        at++;
    }
    return drop_dots(path, out);
}

/* Is there a slash with a dot after it? What follows `end` has 8 zeros. */
static bool has_dots(const char *at, const char *end)
{
    for (; at < end; at += 8) {
        uint64_t here = load64((const uint8_t *)at), next = load64((const uint8_t *)at + 1);
        if (zero_bytes((here ^ eight_bytes('/')) | (next ^ eight_bytes('.'))) != 0)
            return true;
    }
    return false;
}

static char *put_path(char *out, struct span text, const char *limit)
{
    if (text.length == 0) {
        *out = '/';
        return out + 1;
    }
    char *end = put_text(out, text, limit);
    memset(end, 0, 8);
    return has_dots(out, end) ? remove_dots(out, end) : end;
}

static char *put_lower(char *out, struct span text)
{
    for (size_t i = 0; i < text.length; i++)
        *out++ = ascii_lower(text.bytes[i]);
    return out;
}

/* As other text, but in lower case: all but the digits of a %HH. */
static char *put_host(char *out, struct span host, const char *limit)
{
    return host.bytes[0] == '[' ? put_lower(out, host) : put_cased(out, host, limit, true);
}

/* As far as can be seen without looking at a %HH. */
static bool is_normal_host(struct span host)
{
    const unsigned changes = host.bytes[0] == '[' ? 0 : CHANGES;
    for (size_t i = 0; i < host.length; i++)
        if (means(host.bytes[i], changes) || ascii_is_upper(host.bytes[i]))
            return false;
    return true;
}

void url_write_host(struct url *url, char *room)
{
    if (is_normal_host(url->host))
        return;
    url->host = span_between(room, put_host(room, url->host, span_end(url->query)));
}

struct span url_write(struct url *url, char *room)
{
    const char *limit = span_end(url->query);
    char *scheme = room;
    char *user = put_lower(scheme, url->scheme);
    url->scheme = span_between(scheme, user);
    *user++ = ':';
    *user++ = '/';
    *user++ = '/';
    char *host = put_text(user, url->user, limit);
    url->user = span_between(user, host);
    char *port = put_host(host, url->host, limit);
    url->host = span_between(host, port);
    port[0] = ':';
    port += url->port.length > 0;
    memcpy(port, url->port.bytes, url->port.length);
    url->port.bytes = port;
    char *path = port + url->port.length;
    char *query = put_path(path, url->path, limit);
    url->path = span_between(path, query);
    char *end = put_text(query, url->query, limit);
    url->query = span_between(query, end);
    return span_between(room, end);
}
