#include "key/host.h"

#include "key/span.h"
#include "key/url.h"

static struct span before_path(struct span text)
{
    size_t n = 0;
    while (n < text.length && text.bytes[n] != '/' && text.bytes[n] != '?' && text.bytes[n] != '#')
        n++;
    return (struct span){text.bytes, n};
}

static bool has_scheme(struct span text, struct span front)
{
    const char *slash = span_end(front);
    return span_end(text) - slash >= 2 && slash[0] == '/' && slash[1] == '/' && front.length > 0 &&
           slash[-1] == ':';
}

static struct span without_user_and_port(struct span front)
{
    const char *first = front.bytes, *end = span_end(front), *at = end;
    while (at > first && ascii_is_digit(at[-1]))
        at--;
    if (at > first && at[-1] == ':')
        end = at - 1;
    for (at = end; at > first && at[-1] != '@';)
        at--;
    return span_between(at, end);
}

static bool is_name_byte(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || c == '-' || c == '_' || c == '.';
}

static bool bare_host(struct span front, char *buffer, struct span *host)
{
    *host = without_user_and_port(front);
    bool upper = false;
    for (size_t i = 0; i < host->length; i++) {
        if (!is_name_byte(host->bytes[i]))
            return false;
        upper |= ascii_is_upper(host->bytes[i]);
    }
    if (!upper)
        return host->length > 0;
    for (size_t i = 0; i < host->length; i++)
        buffer[i] = ascii_lower(host->bytes[i]);
    host->bytes = buffer;
    return true;
}

bool host_take(struct span text, char *buffer, struct span *host)
{
    text = url_strip(text);
    struct span front = before_path(text);
    if (!has_scheme(text, front))
        return bare_host(front, buffer, host);
    struct url url;
    if (!url_split(text, &url))
        return false;
    url_write_host(&url, buffer);
    *host = url.host;
    return true;
}
