#include "key/url.h"

#include "core/bytes.h"
#include "key/ipv6.h"
#include "key/punycode.h"
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

/* The 16 bytes at `at`, of which only `left` are there: instead of others, dashes. */
static inline bytes16 bytes_left(const char *at, size_t left)
{
    bytes16 bytes;
    if (left >= sizeof bytes)
        return bytes_at(at);
    memset(&bytes, '-', sizeof bytes);
    memcpy(&bytes, at, left);
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

/* A bit for each of 16 bytes that is odd, a ' (which a query does not keep), or a dot after a
 * slash; reads at[-1], too. */
static inline uint32_t odd_of_16(const char *at)
{
    bytes16 bytes = bytes_at(at);
    bytes16 dots = (bytes16)((bytes == '.') & (bytes_at(at - 1) == '/'));
    return mask16(are_odd(bytes) | (bytes16)(bytes == '\'') | dots);
}

static inline uint32_t odd_bytes(const char *at)
{
    return odd_of_16(at) | odd_of_16(at + 16) << 16;
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

/* The default port of a special scheme; NULL for any other scheme. */
static const char *default_port(struct span scheme)
{
    static const struct {
        char name[6], port[4];
    } special[] = {{"http", "80"}, {"https", "443"}, {"ws", "80"}, {"wss", "443"}, {"ftp", "21"}};
    char name[6] = "";
    if (scheme.length >= sizeof name)
        return NULL;
    const uint8_t *bytes = (const uint8_t *)scheme.bytes;
    if (scheme.length >= 4 && (load32(bytes) | 0x20202020) == 0x70747468) /* http, nearly always */
        return scheme.length == 4 ? "80" : (bytes[4] | 0x20) == 's' ? "443" : NULL;
    put_lower(name, scheme);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (memcmp(name, special[i].name, sizeof name) == 0)
            return special[i].port;
    return NULL;
}

/* The scheme that text begins with, whatever follows; it may be empty. */
static inline struct span scheme_of(struct span text)
{
    size_t n = 0;
    if (text.length >= 8 && memcmp(text.bytes, "http", 4) == 0) /* nearly always */
        n = 4 + (size_t)(text.bytes[4] == 's');
    else if (text.length > 0 && !ascii_is_letter(text.bytes[0]))
        return (struct span){text.bytes, 0};
    while (n < text.length && means(text.bytes[n], SCHEME))
        n++;
    return (struct span){text.bytes, n};
}

/* Whether a text has a TAB, CR, LF or \; it may say so of other control characters, too. */
static inline bool is_unclean(struct span text)
{
    const char *at = text.bytes, *end = span_end(text);
    bytes16 bytes = text.length < 16 ? bytes_left(at, text.length) : bytes_at(end - 16);
    bytes16 seen = (bytes16)((bytes < 14) | (bytes == '\\'));
    for (; end - at > 16; at += 16) {
        bytes = bytes_at(at);
        seen |= (bytes16)((bytes < 14) | (bytes == '\\'));
    }
    return mask16(seen) != 0;
}

/* Rule 1 without the ends: writes the text to `room` without TABs, CRs and LFs, and with slashes
 * for backslashes. */
static __attribute__((noinline)) struct span clean(struct span text, char *room)
{
    size_t n = 0, i = 0;
    for (; i < text.length; i++) {
        char c = text.bytes[i];
        room[n] = c;
        n += (size_t)(c != '\t' && c != '\r' && c != '\n');
    }
    text = (struct span){room, n};
    const struct span scheme = scheme_of(text);
    if (scheme.length == n || *span_end(scheme) != ':' || default_port(scheme) == NULL)
        return text;
    for (i = 0; i < n && room[i] != '?' && room[i] != '#'; i++)
        room[i] = room[i] == '\\' ? '/' : room[i];
    return text;
}

/* Rule 1. */
static inline struct span strip_and_clean(struct span text, char *buffer)
{
    text = strip(text);
    return is_unclean(text) ? clean(text, buffer + URL_ROOM - URL_MAX) : text;
}

/* Rule 4, the host: it ends where its port begins. Returns false if it is empty, or has a bracket
 * and is no address of IPv6. */
static inline bool is_host(struct span host, bool bracket)
{
    uint16_t groups[IPV6_GROUPS];
    if (!bracket)
        return host.length > 0;
    return host.length > 2 && host.bytes[0] == '[' && span_end(host)[-1] == ']' &&
           ipv6_read((struct span){host.bytes + 1, host.length - 2}, groups);
}

/* Where the host ends that begins an authority without user info. `colon` is the first in it, or
 * NULL. */
static inline const char *host_end(struct span rest, const char *colon, bool bracket)
{
    const char *close = NULL;
    if (bracket && rest.length > 0 && rest.bytes[0] == '[')
        close = memchr(rest.bytes, ']', rest.length);
    return close != NULL ? close + 1 : colon != NULL ? colon : span_end(rest);
}

/* Rule 4, user info: without its @, and without an empty password. */
static inline struct span user_of(struct span user)
{
    if (user.length == 0) /* nearly always */
        return user;
    user.length--; /* its @ */
    const char *colon = memchr(user.bytes, ':', user.length);
    if (colon != NULL && colon + 1 == span_end(user))
        user.length--;
    return user;
}

/* Path, query and route, which begin at `at`. */
static inline void split_rest(const char *at, const char *end, struct url *url)
{
    const char *fragment = memchr(at, '#', (size_t)(end - at));
    url->route = (struct span){end, 0};
    if (fragment != NULL) {
        if (end - fragment > 1 && (fragment[1] == '!' || fragment[1] == '/'))
            url->route = span_between(fragment, end);
        end = fragment;
    }
    const char *query = memchr(at, '?', (size_t)(end - at));
    if (query == NULL)
        query = end;
    url->path = span_between(at, query);
    url->query = span_between(query, end);
}

/* Rules 1 to 5 of a text that is clean. */
static bool split_clean(struct span text, struct url *url)
{
    /* The scheme, and ://. */
    const char *end = span_end(text);
    const struct span scheme = scheme_of(text);
    if (scheme.length == 0 || text.length - scheme.length < 3 ||
        memcmp(span_end(scheme), "://", 3) != 0)
        return false;
    const char *default_digits = default_port(scheme);
    url->scheme = scheme;
    url->special = default_digits != NULL;

    /* The authority, to the first / ? or #. The host begins after the last @, and its port at the
     * first colon after that. */
    const char *user = span_end(scheme) + 3, *host = user, *colon = NULL, *at = user;
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
    const char *port = host_end(span_between(host, at), colon, bracket);
    url->user = user_of(span_between(user, host));
    url->host = span_between(host, port);
    if (!is_host(url->host, bracket))
        return false;

    /* The port: digits without leading zeros, or nothing; none if it is the default. */
    if (port < at && *port++ != ':')
        return false;
    while (at - port > 1 && *port == '0')
        port++;
    url->port = span_between(port, at);
    for (; port < at; port++)
        if (!ascii_is_digit(*port))
            return false;
    if (url->special && url->port.length > 0 && url->port.length == strlen(default_digits) &&
        memcmp(url->port.bytes, default_digits, url->port.length) == 0)
        url->port.length = 0;

    split_rest(at, end, url);
    return true;
}

bool url_split(struct span text, char *buffer, struct url *url)
{
    return split_clean(strip_and_clean(text, buffer), url);
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

/* What a text is, and so what is done to its bytes. The first three have two bytes before them. */
enum part {
    PLAIN,   /* user info, a path, the query of a scheme that is not special: rule 6 */
    QUERY,   /* of a special scheme: ' is encoded, too */
    ROUTE,   /* # and brackets are kept */
    DECODED, /* a host: each %HH is decoded; in lower case */
    ENCODED, /* a host, decoded: what it does not allow is encoded, % too */
};

/* Bytes that a host keeps. */
static inline bytes16 are_of_host(bytes16 bytes)
{
    return are_between(bytes | 0x20, '`', '{') | are_between(bytes, '%', '/') |
           are_between(bytes, '/', ':') |
           (bytes16)((bytes == '!') | (bytes == '$') | (bytes == ';') | (bytes == '=') |
                     (bytes == '_') | (bytes == '~'));
}

/* Bytes that are not copied as they are, or may not be. */
static inline bytes16 are_odd_in(bytes16 bytes, enum part part)
{
    return part == DECODED   ? (bytes16)(bytes == '%')
           : part == ENCODED ? ~are_of_host(bytes)
           : part == QUERY   ? are_odd(bytes) | (bytes16)(bytes == '\'')
                             : are_odd(bytes);
}

static inline bytes16 lower16(bytes16 bytes)
{
    return bytes | (are_between(bytes, '@', '[') & 0x20);
}

/* Rule 6: the bytes at `at` that become %HH, or stay so; `bytes` has `escaped` ones decoded. */
static inline bytes16 are_encoded(bytes16 bytes, bytes16 escaped, const char *at, enum part part)
{
    bytes16 unreserved = are_between(bytes | 0x20, '`', '{') | are_between(bytes, '/', ':') |
                         are_between(bytes, ',', '/') | (bytes16)((bytes == '_') | (bytes == '~'));
    bytes16 odd = are_odd_in(bytes, part) &
                  ~(bytes16)((bytes == '!') | (bytes == '$') | (bytes == '%'));
    if (part == ROUTE)
        odd &= ~(bytes16)((bytes == '#') | (bytes == '[') | (bytes == ']'));
    /* A %HH right behind a %, or behind a % and a hex digit: that % is a lone one. */
    bytes16 before = bytes_at(at - 1);
    bytes16 completes = are_hex(bytes) & ((bytes16)(before == '%') |
                                          ((bytes16)(bytes_at(at - 2) == '%') & are_hex(before)));
    return (~unreserved & (odd | escaped)) | (completes & escaped);
}

/* Writes the normal form of the first n bytes, at most 16, of the 18 at *text. Moves *text past
 * them and past a %HH that begins among them. Writes up to 2 bytes after the returned end. No
 * branch depends on a byte's value, and *text advances without waiting for the writes. */
static inline __attribute__((always_inline)) char *put_chunk(char *out, const char **text, size_t n,
                                                             enum part part)
{
    bytes16 bytes = bytes_at(*text), escaped = {0}, encoded = {0};
    if (part != ENCODED) {
        bytes16 second = bytes_at(*text + 1), third = bytes_at(*text + 2);
        escaped = (bytes16)(bytes == '%') & are_hex(second) & are_hex(third);
        bytes ^= (bytes ^ (hex_values(second) * 16 | hex_values(third))) & escaped;
    }
    if (part == DECODED)
        bytes = lower16(bytes);
    else if (part == ENCODED)
        encoded = ~are_of_host(bytes);
    else
        encoded = are_encoded(bytes, escaped, *text, part);
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

/* Writes the normal form of a text. Writes up to 16 bytes after the returned end.
 *
 * The obvious way tests each byte. But most bytes are kept, so 16 are tested at once, and copied.
 * Lines could be crafted so that a branch per byte is always mispredicted, so three bytes are
 * written for each byte of other chunks, and those not needed are overwritten. */
static inline __attribute__((always_inline)) char *put_text(char *out, struct span text,
                                                            enum part part)
{
    const size_t before = part <= ROUTE ? 2 : 0;
    const char *at = text.bytes, *end = span_end(text);
    while (at < end) {
        char last[2 + 18];
        const char *from = at, *first = at;
        size_t left = (size_t)(end - at), n = left < 16 ? left : 16;
        if (left < 18) {
            memset(last, '-', sizeof last);
            memcpy(last, at - before, before + left);
            from = first = last + before;
        }
        bytes16 bytes = bytes_at(from);
        if (mask16(are_odd_in(bytes, part)) == 0) {
            if (part == DECODED)
                bytes = lower16(bytes);
            memcpy(out, &bytes, sizeof bytes);
            out += n;
            from += n;
        } else {
            out = put_chunk(out, &from, n, part);
        }
        at += from - first;
    }
    return out;
}

/* One function for each part, in which what others need is left out. */
static char *put_plain(char *out, struct span text)
{
    return put_text(out, text, PLAIN);
}

static char *put_query(char *out, struct span text)
{
    return put_text(out, text, QUERY);
}

static char *put_route(char *out, struct span text)
{
    return put_text(out, text, ROUTE);
}

static char *put_decoded(char *out, struct span text)
{
    return put_text(out, text, DECODED);
}

static char *put_encoded(char *out, struct span text)
{
    return put_text(out, text, ENCODED);
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

/* Writes the normal form of a path: rules 5 to 7. */
static char *put_path(char *path, struct span text)
{
    if (text.length == 0) {
        *path = '/';
        return path + 1;
    }
    char *end = put_plain(path, text);
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

/* Writes the labels of a host that is decoded: in Punycode, then what is not allowed as %HH. */
static char *put_labels(char *out, struct span host)
{
    enum { LONGEST = 4 * PUNYCODE_MAX }; /* of those in UTF-8 whose Punycode may fit */
    const char *at = host.bytes, *end = span_end(host);
    for (;;) {
        char label[PUNYCODE_MAX];
        const char *dot = memchr(at, '.', (size_t)(end - at));
        struct span bytes = span_between(at, dot != NULL ? dot : end);
        const size_t n = bytes.length <= LONGEST ? punycode_write(bytes, label) : 0;
        if (n > 0)
            bytes = (struct span){label, n};
        out = put_encoded(out, bytes);
        if (dot == NULL)
            return out;
        *out++ = '.';
        at = dot + 1;
    }
}

/* Where a host is decoded, in the buffer in which it is written at `out`: so far behind that it is
 * read before it is overwritten. */
static struct span decode_host(char *out, struct span host)
{
    char *decoded = out + URL_WRITTEN(host.length) - host.length + 32;
    return span_between(decoded, put_decoded(decoded, host));
}

/* Rule 4, the host. */
static char *put_host(char *out, struct span host)
{
    uint16_t groups[IPV6_GROUPS];
    if (host.bytes[0] == '[') {
        ipv6_read((struct span){host.bytes + 1, host.length - 2}, groups);
        *out = '[';
        out = ipv6_write(out + 1, groups);
        *out = ']';
        return out + 1;
    }
    /* Nearly all hosts have neither %HH nor bytes beyond ASCII, nor any that they do not allow. */
    char *end = out;
    for (size_t at = 0; at < host.length; at += 16) {
        const size_t left = host.length - at;
        bytes16 bytes = bytes_left(host.bytes + at, left);
        if (mask16(~are_of_host(bytes)) != 0)
            return put_labels(out, decode_host(out, host));
        bytes = lower16(bytes);
        memcpy(end, &bytes, sizeof bytes);
        end += left < sizeof bytes ? left : sizeof bytes;
    }
    return end;
}

struct span url_write(struct url *url, char *buffer)
{
    char *user = put_lower(buffer, url->scheme);
    url->scheme = span_between(buffer, user);
    *user++ = ':';
    *user++ = '/';
    *user++ = '/';
    char *host = put_plain(user, url->user);
    url->user = span_between(user, host);
    *host = '@';
    host += url->user.length > 0;
    char *port = put_host(host, url->host);
    url->host = span_between(host, port);
    *port = ':';
    port += url->port.length > 0;
    memcpy(port, url->port.bytes, url->port.length);
    url->port.bytes = port;
    char *path = port + url->port.length;
    char *query = put_path(path, url->path);
    url->path = span_between(path, query);
    char *route = url->special ? put_query(query, url->query) : put_plain(query, url->query);
    url->query = span_between(query, route);
    char *end = put_route(route, url->route);
    url->route = span_between(route, end);
    return span_between(buffer, end);
}

/* --- the host alone --- */

static bool is_of_name(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || c == '-' || c == '_' || c == '.';
}

/* Whether a name before a colon and digits is a scheme. */
static bool is_known_scheme(struct span name)
{
    static const char *const others[] = {"mailto", "tel", "data", "javascript"};
    char lower[sizeof "javascript"] = "";
    if (name.length >= sizeof lower)
        return false;
    put_lower(lower, name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(lower, others[i]) == 0)
            return true;
    return default_port(name) != NULL;
}

/* The host of host:port, where the port has at most 5 digits. */
static bool take_bare_host(struct span text, char *buffer, struct span *host)
{
    /* 1. It ends at the port. */
    const char *first = text.bytes, *end = span_end(text);
    const char *colon = memchr(first, ':', text.length), *at;
    const bool bracket = text.length > 0 && *first == '[';
    const char *port = host_end(text, colon, bracket);
    if (port < end && (*port != ':' || end - port > 6))
        return false;
    for (at = port + 1; at < end; at++)
        if (!ascii_is_digit(*at))
            return false;
    *host = span_between(first, port);
    if (!is_host(*host, bracket) || (port < end && is_known_scheme(*host)))
        return false;
    if (bracket) {
        *host = span_between(buffer, put_host(buffer, *host));
        return true;
    }

    /* 2. It has bytes of names alone, perhaps in lower case as nearly always, or beyond ASCII. */
    bool upper = false;
    for (at = first; at < port && is_of_name(*at); at++)
        upper |= ascii_is_upper(*at);
    if (at == port) {
        if (upper)
            *host = span_between(buffer, put_lower(buffer, *host));
        return true;
    }
    const struct span decoded = decode_host(buffer, *host);
    for (size_t i = 0; i < decoded.length; i++)
        if ((unsigned char)decoded.bytes[i] < 0x80 && !is_of_name(decoded.bytes[i]))
            return false;
    *host = span_between(buffer, put_labels(buffer, decoded));
    return true;
}

bool url_take_host(struct span text, char *buffer, struct span *host)
{
    /* 1. It is a URL if :// precedes the first / ? or #. */
    text = strip_and_clean(text, buffer);
    const char *first = text.bytes, *end = span_end(text), *at = first;
    while (at < end && !means(*at, ENDS))
        at++;
    if (end - at >= 2 && at > first && at[-1] == ':' && at[0] == '/' && at[1] == '/') {
        struct url url;
        if (!split_clean(text, &url))
            return false;
        *host = span_between(buffer, put_host(buffer, url.host));
    } else {
        /* 2. Otherwise it is a bare host, up to there, without user info to the last @. */
        const char *user = memrchr(first, '@', (size_t)(at - first));
        if (!take_bare_host(span_between(user != NULL ? user + 1 : first, at), buffer, host))
            return false;
    }
    host->length -= span_end(*host)[-1] == '.';
    return host->length > 0;
}
