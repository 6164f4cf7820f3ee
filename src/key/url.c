#include "key/url.h"

#include "core/bytes.h"
#include "key/span.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* --- bytes --- */

/* The classes of a byte, one bit each. */
enum {
    HEX = 1,         /* a hex digit */
    SCHEME = 2,      /* allowed in a scheme */
    ENDS = 4,        /* ends the authority */
    DIVIDES = 8,     /* divides the authority, or is a bracket */
    UNRESERVED = 16, /* its %HH is decoded */
};
static const unsigned char meaning[256] = {
    0,  0,  0,  0,  0,  0,  0,  0,
    0,  0,  0,  0,  0,  0,  0,  0, /* control characters */
    0,  0,  0,  0,  0,  0,  0,  0,
    0,  0,  0,  0,  0,  0,  0,  0, /* */
    0,  0,  0,  4,  0,  0,  0,  0,
    0,  0,  0,  2,  0,  18, 18, 4, /*   ! " # $ % & ' ( ) * + , - . / */
    19, 19, 19, 19, 19, 19, 19, 19,
    19, 19, 8,  0,  0,  0,  0,  4, /* 0-9 : ; < = > ? */
    8,  19, 19, 19, 19, 19, 19, 18,
    18, 18, 18, 18, 18, 18, 18, 18, /* @ A-O */
    18, 18, 18, 18, 18, 18, 18, 18,
    18, 18, 18, 8,  0,  8,  0,  16, /* P-Z [ \ ] ^ _ */
    0,  19, 19, 19, 19, 19, 19, 18,
    18, 18, 18, 18, 18, 18, 18, 18, /* ` a-o */
    18, 18, 18, 18, 18, 18, 18, 18,
    18, 18, 18, 0,  0,  0,  16, 0, /* p-z { | } ~; bytes above ASCII are in no class */
};

static inline bool means(char c, unsigned bits)
{
    return (meaning[(unsigned char)c] & bits) != 0;
}

/* Sixteen bytes at once, by an extension that gcc and clang have for every machine; with SSE2 or
 * NEON each step is one instruction. gcc warns that vectors are passed differently without these,
 * which does not matter, because all these functions are inlined. */
#pragma GCC diagnostic ignored "-Wpsabi"
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef int8_t signed16 __attribute__((vector_size(16)));

static inline bytes16 bytes_at(const char *at)
{
    bytes16 bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* Bit i of the result says whether truths[i], which is 0 or 0xff, is true. */
static inline unsigned mask16(bytes16 truths)
{
#if defined(__SSE2__)
    return (unsigned)_mm_movemask_epi8((__m128i)truths);
#else
    const uint64_t own = UINT64_C(0x8040201008040201), once = eight_bytes(1);
    uint64_t low = load64((const uint8_t *)&truths), high = load64((const uint8_t *)&truths + 8);
    return (unsigned)((low & own) * once >> 56 | (high & own) * once >> 56 << 8);
#endif
}

/* Bytes above ASCII are negative here, so they are never between. */
static inline bytes16 are_between(bytes16 bytes, int8_t low, int8_t high)
{
    return (bytes16)(((signed16)bytes > low) & ((signed16)bytes < high));
}

static inline bytes16 are_hex(bytes16 bytes)
{
    return are_between(bytes, '/', ':') | are_between(bytes | 0x20, '`', 'g');
}

/* Bytes that normal form may change: those that become %HH, each %, and brackets, which only a host
 * in brackets keeps. ! $ ~ are included because they are rare and leaving them out takes steps. */
static inline bytes16 are_odd(bytes16 bytes)
{
    signed16 folded = (signed16)(bytes | 0x20); /* brackets become braces */
    return (bytes16)(((signed16)bytes < '&') | ((bytes | 2) == '>') | (bytes == '`') |
                     ((folded > 'z') & (bytes != '_')));
}

/* --- whether a URL is in normal form --- */

/* A bit for each of 32 bytes that is odd, or that is a dot after a slash; reads at[-1], too. */
static inline uint32_t odd_bytes(const char *at)
{
    bytes16 low = bytes_at(at), high = bytes_at(at + 16);
    bytes16 low_dots = (bytes16)((low == '.') & (bytes_at(at - 1) == '/'));
    bytes16 high_dots = (bytes16)((high == '.') & (bytes_at(at + 15) == '/'));
    return mask16(are_odd(low) | low_dots) | mask16(are_odd(high) | high_dots) << 16;
}

/* Whether normal form keeps those bytes from `at` on that have a bit in `odd`: ! $ ~, and %HH with
 * digits in upper case that stand for no unreserved character. */
static inline bool are_kept(const char *at, uint32_t odd, const char *end)
{
    for (; odd != 0; odd &= odd - 1) {
        const char *byte = at + __builtin_ctz(odd);
        if (*byte == '!' || *byte == '$' || *byte == '~')
            continue;
        if (*byte != '%' || end - byte < 3 || !means(byte[1], HEX) || !means(byte[2], HEX) ||
            byte[1] >= 'a' || byte[2] >= 'a' ||
            means((char)(ascii_hex_value(byte[1]) << 4 | ascii_hex_value(byte[2])), UNRESERVED))
            return false;
    }
    return true;
}

bool url_is_normal(struct span line)
{
    enum { LEAST = 8 + 32 };
    char padded[LEAST];
    /* 1. http:// or https://, without a branch on which of the two it is. */
    if (line.length < 8 || line.length > URL_MAX)
        return false;
    const uint8_t *bytes = (const uint8_t *)line.bytes;
    size_t secure = bytes[4] == 's';
    if (load32(bytes) != 0x70747468 || load32(bytes + 3 + secure) >> 8 != 0x2f2f3a)
        return false;
    /* 2. A host, which ends at the first slash, and what stands beside it in 32 bytes. A shorter
     * line gets bytes at its end that are in normal form. */
    if (line.length < LEAST) {
        memset(padded, '-', sizeof padded);
        line = (struct span){memcpy(padded, line.bytes, line.length), LEAST};
    }
    const char *at = line.bytes + 7 + secure, *end = span_end(line);
    bytes16 low = bytes_at(at), high = bytes_at(at + 16);
    uint32_t slash = mask16((bytes16)(low == '/')) | mask16((bytes16)(high == '/')) << 16;
    uint32_t unfit = mask16(are_between(low, '9', 'a')) | mask16(are_between(high, '9', 'a')) << 16;
    uint32_t odd = odd_bytes(at), host = slash ^ (slash - 1); /* the host and its slash */
    if (slash == 0 || host == 1 || ((unfit | odd) & host) != 0 || !are_kept(at, odd, end))
        return false;
    /* 3. The rest. */
    for (at += 32; end - at > 32; at += 32) {
        odd = odd_bytes(at);
        if (odd != 0 && !are_kept(at, odd, end))
            return false;
    }
    odd = odd_bytes(end - 32);
    return odd == 0 || are_kept(end - 32, odd, end);
}

/* --- parts --- */

/* The text without the bytes up to 0x20 at both ends. */
static struct span strip(struct span text)
{
    const char *first = text.bytes, *end = span_end(text);
    while (first < end && (unsigned char)*first <= 0x20)
        first++;
    while (first < end && (unsigned char)end[-1] <= 0x20)
        end--;
    return span_between(first, end);
}

static char *put_lower(char *out, struct span text)
{
    for (size_t i = 0; i < text.length; i++)
        *out++ = ascii_lower(text.bytes[i]);
    return out;
}

/* Precondition: neither has a NUL. */
static bool is_default_port(struct span scheme, struct span port)
{
    static const char *const defaults[] = {"http:80", "https:443", "ws:80", "wss:443", "ftp:21"};
    char text[sizeof "https:443"];
    if (scheme.length + port.length + 2 > sizeof text)
        return false;
    *put_lower(mempcpy(put_lower(text, scheme), ":", 1), port) = '\0';
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (strcmp(text, defaults[i]) == 0)
            return true;
    return false;
}

bool url_split(struct span text, struct url *url)
{
    /* Rule 1, the ends; the fragment is dropped below. */
    text = strip(text);
    const char *end = span_end(text);

    /* The scheme, and ://. */
    size_t n = 0;
    if (text.length >= 8 && memcmp(text.bytes, "http", 4) == 0) /* nearly always */
        n = 4 + (size_t)(text.bytes[4] == 's');
    while (n < text.length && means(text.bytes[n], SCHEME))
        n++;
    if (text.length - n < 3 || memcmp(text.bytes + n, "://", 3) != 0 ||
        !ascii_is_letter(text.bytes[0]))
        return false;
    url->scheme = (struct span){text.bytes, n};

    /* The authority, to the first / ? or #. The host begins after the last @, and its port at the
     * first colon after that. */
    const char *user = text.bytes + n + 3, *host = user, *colon = NULL, *at = user;
    bool bracket = false;
    for (; at < end && !means(*at, ENDS); at++) {
        if (!means(*at, DIVIDES))
            continue;
        if (*at == '@') {
            host = at + 1;
            colon = NULL;
            bracket = false;
        } else if (*at != ':') {
            bracket = true;
        } else if (colon == NULL) {
            colon = at;
        }
    }

    /* The host. A bracket in it is only right around all of it: [ hex digits, colons, dots ]. */
    const char *port = colon != NULL ? colon : at;
    if (bracket) {
        port = host + 1;
        while (port < at && (ascii_is_hex(*port) || *port == ':' || *port == '.'))
            port++;
        if (*host != '[' || port == at || *port != ']' || port == host + 1)
            return false;
        port++;
    }
    if (port == host)
        return false;
    url->user = span_between(user, host);
    url->host = span_between(host, port);

    /* Rule 2, the port: digits without leading zeros, or nothing; none if it is the default. */
    if (port < at && *port++ != ':')
        return false;
    while (at - port > 1 && *port == '0')
        port++;
    url->port = span_between(port, at);
    for (; port < at; port++)
        if (!ascii_is_digit(*port))
            return false;
    if (url->port.length > 0 && is_default_port(url->scheme, url->port))
        url->port.length = 0;

    /* Path and query, to the first #. */
    const char *fragment = memchr(at, '#', (size_t)(end - at));
    if (fragment != NULL)
        end = fragment;
    const char *query = memchr(at, '?', (size_t)(end - at));
    if (query == NULL)
        query = end;
    url->path = span_between(at, query);
    url->query = span_between(query, end);
    return true;
}

/* --- normal form --- */

/* The values of hex digits. */
static inline bytes16 hex_values(bytes16 digits)
{
    return (digits & 15) + ((bytes16)((digits & 64) != 0) & 9);
}

/* The hex digits of numbers below 16. */
static inline bytes16 hex_digits(bytes16 values)
{
    return values + '0' + ((bytes16)(values > 9) & 7);
}

/* Writes the normal form of the first n bytes, at most 16, of the 18 at *text. Moves *text past
 * them and past a %HH that begins among them. Writes up to 2 bytes after the returned end. No
 * branch depends on a byte's value, and *text advances without waiting for the writes. */
static inline char *put_chunk(char *out, const char **text, size_t n, bool lower)
{
    bytes16 bytes = bytes_at(*text), second = bytes_at(*text + 1), third = bytes_at(*text + 2);
    bytes16 escaped = (bytes16)(bytes == '%') & are_hex(second) & are_hex(third);
    bytes ^= (bytes ^ (hex_values(second) * 16 | hex_values(third))) & escaped;
    if (lower)
        bytes |= are_between(bytes, '@', '[') & 0x20;
    bytes16 unreserved = are_between(bytes | 0x20, '`', '{') | are_between(bytes, '/', ':') |
                         are_between(bytes, ',', '/') | (bytes16)((bytes == '_') | (bytes == '~'));
    bytes16 odd = are_odd(bytes) & ~(bytes16)((bytes == '!') | (bytes == '$'));
    bytes16 encoded = ~unreserved & (odd | escaped);
    /* In memory, where a single byte can be read at no cost. */
    const bytes16 first[] = {bytes ^ ((bytes ^ '%') & encoded)}, lengths[] = {(encoded & 2) + 1};
    const bytes16 high[] = {hex_digits(bytes / 16)}, low[] = {hex_digits(bytes & 15)};
    unsigned digits = mask16(escaped) * 6; /* two after each % */
    for (unsigned left = ~digits & ((1U << n) - 1); left != 0; left &= left - 1) {
        int i = __builtin_ctz(left);
        out[0] = (char)first[0][i];
        out[1] = (char)high[0][i];
        out[2] = (char)low[0][i];
        out += lengths[0][i];
    }
    *text += n + (digits >> n & 1) + (digits >> (n + 1) & 1);
    return out;
}

/* Writes the normal form of a text, in lower case if it is a host. Writes up to 16 bytes after the
 * returned end.
 *
 * The obvious way tests each byte. But most bytes are kept, so 16 are tested at once, and copied.
 * Lines could be crafted so that a branch per byte is always mispredicted, so three bytes are
 * written for each byte of other chunks, and those not needed are overwritten. */
static inline char *put_text(char *out, struct span text, bool lower)
{
    const char *at = text.bytes, *end = span_end(text);
    while (at < end) {
        char last[18];
        const char *from = at, *first = at;
        size_t left = (size_t)(end - at), n = left < 16 ? left : 16;
        if (left < sizeof last) {
            memset(last, '-', sizeof last);
            from = first = memcpy(last, at, left);
        }
        bytes16 bytes = bytes_at(from);
        if (mask16(are_odd(bytes)) == 0) {
            if (lower)
                bytes |= are_between(bytes, '@', '[') & 0x20;
            memcpy(out, &bytes, sizeof bytes);
            out += n;
            from += n;
        } else {
            out = put_chunk(out, &from, n, lower);
        }
        at += from - first;
    }
    return out;
}

/* Removes the last segment of an absolute path, which ends at `out`, if it is "." or "..", and for
 * ".." the segment before it. Returns the new end, after a slash, or `out` if nothing was
 * removed. */
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

/* Writes the normal form of a path: rules 3 and 4, and a slash if it is empty. */
static char *put_path(char *path, struct span text)
{
    if (text.length == 0) {
        *path = '/';
        return path + 1;
    }
    char *end = put_text(path, text, false);
    /* Few paths have a dot after a slash, which a dot segment begins with. */
    bool dots = false;
    memset(end, 0, 17); /* the loop reads up to there */
    for (const char *at = path; at < end && !dots; at += 16)
        dots = mask16((bytes16)((bytes_at(at) == '/') & (bytes_at(at + 1) == '.'))) != 0;
    if (!dots)
        return end;
    char *out = path + 1;
    for (const char *at = out; at < end; at++) {
        if (*at != '/') {
            *out++ = *at;
            continue;
        }
        char *kept = drop_dots(path, out);
        if (kept == out)
            *kept++ = '/';
        out = kept;
    }
    return drop_dots(path, out);
}

/* All but the digits of a %HH is in lower case. */
static char *put_host(char *out, struct span host)
{
    return host.bytes[0] == '[' ? put_lower(out, host) : put_text(out, host, true);
}

struct span url_write(struct url *url, char *buffer)
{
    char *scheme = buffer;
    char *user = put_lower(scheme, url->scheme);
    url->scheme = span_between(scheme, user);
    *user++ = ':';
    *user++ = '/';
    *user++ = '/';
    char *host = put_text(user, url->user, false);
    url->user = span_between(user, host);
    char *port = put_host(host, url->host);
    url->host = span_between(host, port);
    port[0] = ':';
    port += url->port.length > 0;
    memcpy(port, url->port.bytes, url->port.length);
    url->port.bytes = port;
    char *path = port + url->port.length;
    char *query = put_path(path, url->path);
    url->path = span_between(path, query);
    char *end = put_text(query, url->query, false);
    url->query = span_between(query, end);
    return span_between(buffer, end);
}

/* --- the host alone --- */

bool url_take_host(struct span text, char *buffer, struct span *host)
{
    /* 1. It is a URL if :// precedes the first / ? or #. */
    text = strip(text);
    const char *first = text.bytes, *end = span_end(text), *at = first;
    while (at < end && !means(*at, ENDS))
        at++;
    if (end - at >= 2 && at > first && at[-1] == ':' && at[0] == '/' && at[1] == '/') {
        struct url url;
        if (!url_split(text, &url))
            return false;
        *host = span_between(buffer, put_host(buffer, url.host));
        return true;
    }

    /* 2. Otherwise it is a bare host, up to there: without port, and without user info to the last
     * @. */
    end = at;
    while (at > first && ascii_is_digit(at[-1]))
        at--;
    if (at > first && at[-1] == ':')
        end = at - 1;
    for (at = end; at > first && at[-1] != '@';)
        at--;
    *host = span_between(at, end);

    /* 3. It has bytes of names alone, and becomes lower case. */
    bool upper = false;
    for (; at < end; at++) {
        if (!ascii_is_letter(*at) && !ascii_is_digit(*at) && *at != '-' && *at != '_' && *at != '.')
            return false;
        upper |= ascii_is_upper(*at);
    }
    if (upper)
        *host = span_between(buffer, put_lower(buffer, *host));
    return host->length > 0;
}
