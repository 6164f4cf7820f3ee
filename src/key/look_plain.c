/* look_plain - the look in plain C, for every machine; the others must equal it. */
#include "key/look_list.h"

/* Unreserved, or one of ! $ % & ' ( ) * + , / : ; = ? @. A bit for each byte. */
static bool is_allowed(char c)
{
    const uint64_t low = UINT64_C(0xaffffff200000000), high = UINT64_C(0x47fffffe87ffffff);
    unsigned byte = (unsigned char)c;
    return byte < 128 && ((byte < 64 ? low : high) >> byte % 64 & 1) != 0;
}

static bool is_fit_for_host(char c)
{
    return !ascii_is_upper(c) && c != '%' && c != ':' && c != '@' && c != '?' && c != '_';
}

static bool is_normal_host(const char *at, const char *end)
{
    const char *first = at;
    while (at < end && *at != '/' && is_fit_for_host(*at))
        at++;
    return at > first && at < end && *at == '/';
}

static bool look_line(struct span line)
{
    size_t scheme = look_scheme(line);
    const char *at = line.bytes + scheme, *end = span_end(line);
    if (scheme == 0 || !is_normal_host(at, end))
        return false;
    for (; at < end; at++)
        if (!is_allowed(*at) || (*at == '%' && !look_escape(at, end)) ||
            (*at == '.' && at[-1] == '/'))
            return false;
    return true;
}

static void look_lines(const char *bytes, const size_t *starts, size_t n, uint8_t *normal)
{
    for (size_t i = 0; i < n; i++)
        normal[i] = look_line(look_line_of(bytes, starts, i));
}

const struct look look_plain = {.name = "plain", .line = look_line, .lines = look_lines};
