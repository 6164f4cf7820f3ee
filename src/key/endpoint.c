#include "key/endpoint.h"

#include "key/span.h"

#include <stdlib.h>
#include <string.h>

static unsigned two_digits(const char *at)
{
    return (unsigned)(at[0] - '0') * 10 + (unsigned)(at[1] - '0');
}

/* The marker that replaces a segment without its extension, or NULL if it is kept. */
static const char *marker_of(struct span stem)
{
    const char *at = stem.bytes;
    size_t digits = 0, hex = 0, n = stem.length, dash = n == 10;
    if (n == 0 || !ascii_is_hex(at[0]))
        return NULL;
    for (size_t i = 0; i < n; i++)
        digits += ascii_is_digit(at[i]);
    /* YYYY-MM-DD or YYYYMMDD */
    if (digits == 8 && n == 8 + 2 * dash && (!dash || (at[4] == '-' && at[7] == '-'))) {
        unsigned month = two_digits(at + 4 + dash), day = two_digits(at + 6 + 2 * dash);
        if (month >= 1 && month <= 12 && day >= 1 && day <= 31)
            return "{d}";
    }
    if (digits == n)
        return "{0}";
    if (n < 16)
        return NULL;
    for (size_t i = 0; i < n; i++)
        hex += ascii_is_hex(at[i]);
    /* 8-4-4-4-12 */
    if (n == 36 && hex == 32 && at[8] == '-' && at[13] == '-' && at[18] == '-' && at[23] == '-')
        return "{u}";
    return hex == n && digits > 0 ? "{h}" : NULL;
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

struct span endpoint_write(const struct url *url, char *buffer, struct span *names)
{
    /* Rule 1. Host and port. */
    char *out = (char *)mempcpy(buffer, url->host.bytes, url->host.length);
    if (url->port.length > 0) {
        *out++ = ':';
        out = (char *)mempcpy(out, url->port.bytes, url->port.length);
    }

    /* Rule 2. The path: each segment, after its slash, or its marker and extension. */
    const char *at = url->path.bytes, *end = span_end(url->path);
    while (at < end) {
        *out++ = *at++;
        const char *first = at;
        while (at < end && *at != '/')
            at++;
        const char *dot = at;
        while (dot > first && (ascii_is_letter(dot[-1]) || ascii_is_digit(dot[-1])))
            dot--;
        bool extended = dot < at && dot - first > 1 && dot[-1] == '.';
        const char *stem_end = extended ? dot - 1 : at;
        const char *marker = marker_of(span_between(first, stem_end));
        if (marker != NULL) {
            out = (char *)mempcpy(out, marker, 3);
            first = stem_end;
        }
        out = (char *)mempcpy(out, first, (size_t)(at - first));
    }

    /* Rule 3. The query: names that are not empty, sorted, each once. */
    size_t n = 0;
    at = url->query.bytes;
    end = span_end(url->query);
    while (at < end) {
        const char *first = ++at; /* after ? or & */
        while (at < end && *at != '&' && *at != '=')
            at++;
        if (at > first)
            names[n++] = span_between(first, at);
        while (at < end && *at != '&')
            at++;
    }
    sort_names(names, n);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && compare_names(&names[i - 1], &names[i]) == 0)
            continue;
        *out++ = i == 0 ? '?' : '&';
        out = (char *)mempcpy(out, names[i].bytes, names[i].length);
    }
    return span_between(buffer, out);
}
