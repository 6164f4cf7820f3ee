#include "key/endpoint.h"

#include "key/span.h"

#include <stdlib.h>
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

/* The marker that replaces a stem, or NULL if the stem is kept. */
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

static int compare_names(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* Nearly all URLs have few names: these are sorted by insertion. For crafted URLs with many, the
 * qsort of each C library in use takes n log n at most. */
static void sort_names(struct span *names, size_t n)
{
    enum { FEW = 16 };
    if (n > FEW) {
        qsort(names, n, sizeof *names, compare_names);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct span name = names[i];
        size_t at = i;
        for (; at > 0 && compare_names(&names[at - 1], &name) > 0; at--)
            names[at] = names[at - 1];
        names[at] = name;
    }
}

static char *put_names(char *out, const struct span *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && compare_names(&names[i - 1], &names[i]) == 0)
            continue;
        *out++ = i == 0 ? '?' : '&';
        out = put(out, names[i]);
    }
    return out;
}

struct span endpoint_write(const struct url *url, char *buffer, struct span *names)
{
    char *out = put(buffer, url->host);
    if (url->port.length > 0) {
        *out++ = ':';
        out = put(out, url->port);
    }
    out = put_path(out, url->path);
    size_t n = find_names(url->query, names);
    sort_names(names, n);
    return span_between(buffer, put_names(out, names, n));
}
