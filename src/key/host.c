#include "key/host.h"

#include "key/url.h"

bool host_take(struct span text, char *buffer, struct span *host)
{
    /* A URL, if :// precedes the first / ? or #. */
    text = url_strip(text);
    const char *first = text.bytes, *end = span_end(text), *at = first;
    while (at < end && *at != '/' && *at != '?' && *at != '#')
        at++;
    if (end - at >= 2 && at > first && at[-1] == ':' && at[0] == '/' && at[1] == '/') {
        struct url url;
        if (!url_split(text, &url))
            return false;
        url_write_host(&url, buffer);
        *host = url.host;
        return true;
    }

    /* Otherwise a bare host: without port, and without user info to the last @. */
    end = at;
    while (at > first && ascii_is_digit(at[-1]))
        at--;
    if (at > first && at[-1] == ':')
        end = at - 1;
    for (at = end; at > first && at[-1] != '@';)
        at--;
    *host = span_between(at, end);

    /* It has bytes of names alone, and becomes lower case. */
    bool upper = false;
    for (; at < end; at++) {
        if (!ascii_is_letter(*at) && !ascii_is_digit(*at) && *at != '-' && *at != '_' && *at != '.')
            return false;
        upper |= ascii_is_upper(*at);
    }
    if (!upper)
        return host->length > 0;
    for (size_t i = 0; i < host->length; i++)
        buffer[i] = ascii_lower(host->bytes[i]);
    host->bytes = buffer;
    return true;
}
