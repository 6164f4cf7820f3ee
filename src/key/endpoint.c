#include "key/endpoint.h"

#include "key/ascii.h"
#include "key/names.h"

#include <string.h>

/* --- segments of the path --- */

static size_t count_digits(struct span text)
{
    size_t digits = 0;
    for (size_t i = 0; i < text.length; i++)
        digits += ascii_is_digit(text.bytes[i]);
    return digits;
}

static bool is_hex(struct span text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!ascii_is_hex(text.bytes[i]))
            return false;
    return true;
}

static unsigned two_digits(const char *at)
{
    return (unsigned)(at[0] - '0') * 10 + (unsigned)(at[1] - '0');
}

static bool is_date(struct span text)
{
    size_t dash = text.length == 10;
    if (text.length != 8 + 2 * dash || count_digits(text) != 8 ||
        (dash && (text.bytes[4] != '-' || text.bytes[7] != '-')))
        return false;
    unsigned month = two_digits(text.bytes + 4 + dash);
    unsigned day = two_digits(text.bytes + 6 + 2 * dash);
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static bool is_uuid(struct span text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (text.length != sizeof form - 1)
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (form[i] == '-' ? text.bytes[i] != '-' : !ascii_is_hex(text.bytes[i]))
            return false;
    return true;
}

/* What replaces it, or NULL if it stays. */
static const char *marker_of(struct span stem)
{
    if (stem.length == 0 || !ascii_is_hex(stem.bytes[0]))
        return NULL;
    if (is_date(stem))
        return "{d}";
    size_t digits = count_digits(stem);
    if (digits == stem.length)
        return "{0}";
    if (is_uuid(stem))
        return "{u}";
    return stem.length >= 16 && digits > 0 && is_hex(stem) ? "{h}" : NULL;
}

/* A segment without its extension. */
static struct span stem_of(struct span segment)
{
    size_t dot = segment.length;
    while (dot > 0 &&
           (ascii_is_letter(segment.bytes[dot - 1]) || ascii_is_digit(segment.bytes[dot - 1])))
        dot--;
    bool extended = dot > 1 && dot < segment.length && segment.bytes[dot - 1] == '.';
    return (struct span){segment.bytes, extended ? dot - 1 : segment.length};
}

static char *put(char *out, struct span text)
{
    memcpy(out, text.bytes, text.length);
    return out + text.length;
}

static char *put_segment(char *out, struct span segment)
{
    struct span stem = stem_of(segment);
    const char *marker = marker_of(stem);
    if (marker == NULL)
        return put(out, segment);
    memcpy(out, marker, 3);
    return put(out + 3, span_between(span_end(stem), span_end(segment)));
}

static char *put_path(char *out, struct span path)
{
    const char *at = path.bytes, *end = span_end(path);
    while (at < end) {
        *out++ = *at++;
        const char *first = at;
        while (at < end && *at != '/')
            at++;
        out = put_segment(out, span_between(first, at));
    }
    return out;
}

/* --- names of the query --- */

static size_t find_names(struct span query, struct span *names)
{
    size_t n = 0;
    const char *at = query.bytes, *end = span_end(query);
    while (at < end) {
        const char *first = ++at; /* after ? or & */
        while (at < end && *at != '&' && *at != '=')
            at++;
        if (at > first)
            names[n++] = span_between(first, at);
        while (at < end && *at != '&')
            at++;
    }
    return n;
}

static char *put_names(char *out, const struct span *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && names_equal(names[i - 1], names[i]))
            continue;
        *out++ = i == 0 ? '?' : '&';
        out = put(out, names[i]);
    }
    return out;
}

struct span endpoint_write(const struct url *url, char *room, struct span *names)
{
    char *out = put(room, url->host);
    if (url->port.length > 0) {
        *out++ = ':';
        out = put(out, url->port);
    }
    out = put_path(out, url->path);
    size_t n = find_names(url->query, names);
    names_sort(names, n, names + n);
    return span_between(room, put_names(out, names, n));
}
