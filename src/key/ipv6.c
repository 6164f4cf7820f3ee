#include "key/ipv6.h"

#include <string.h>

static bool read_ipv4(struct span text, uint16_t groups[2])
{
    const char *at = text.bytes, *end = span_end(text);
    uint32_t address = 0;
    for (unsigned i = 0; i < 4; i++) {
        const char *first = at;
        unsigned number = 0;
        while (at < end && at - first < 3 && ascii_is_digit(*at))
            number = number * 10 + (unsigned)(*at++ - '0');
        if (at == first || number > 255 || (*first == '0' && at - first > 1))
            return false;
        address = address << 8 | number;
        if (i < 3 && (at == end || *at++ != '.'))
            return false;
    }
    groups[0] = (uint16_t)(address >> 16);
    groups[1] = (uint16_t)address;
    return at == end;
}

bool ipv6_read(struct span text, uint16_t groups[IPV6_GROUPS])
{
    enum { NONE = IPV6_GROUPS + 1 };
    const char *at = text.bytes, *end = span_end(text);
    size_t n = 0, gap = NONE; /* groups; those before :: */
    if (end - at >= 2 && at[0] == ':' && at[1] == ':') {
        gap = 0;
        at += 2;
    }
    while (at < end) {
        const char *first = at;
        unsigned group = 0;
        while (at < end && at - first < 4 && ascii_is_hex(*at))
            group = group << 4 | ascii_hex_value(*at++);
        if (at == first || n == IPV6_GROUPS)
            return false;
        if (at < end && *at == '.') {
            if (n > IPV6_GROUPS - 2 || !read_ipv4(span_between(first, end), groups + n))
                return false;
            n += 2;
            break;
        }
        groups[n++] = (uint16_t)group;
        if (at == end)
            break;
        if (*at++ != ':' || at == end)
            return false;
        if (*at == ':') {
            if (gap != NONE)
                return false;
            gap = n;
            at++;
        }
    }
    if (gap == NONE || n == IPV6_GROUPS)
        return gap == NONE && n == IPV6_GROUPS;
    const size_t zeros = IPV6_GROUPS - n;
    memmove(groups + gap + zeros, groups + gap, (n - gap) * sizeof *groups);
    memset(groups + gap, 0, zeros * sizeof *groups);
    return true;
}

char *ipv6_write(char *out, const uint16_t groups[IPV6_GROUPS])
{
    size_t longest = 1, gap = IPV6_GROUPS;
    for (size_t i = 0, run = 0; i < IPV6_GROUPS; i++) {
        run = groups[i] == 0 ? run + 1 : 0;
        if (run > longest) {
            longest = run;
            gap = i + 1 - run;
        }
    }
    for (size_t i = 0; i < IPV6_GROUPS; i++) {
        if (i == gap) {
            *out++ = ':';
            *out++ = ':';
            i += longest - 1;
            continue;
        }
        if (i > 0 && out[-1] != ':')
            *out++ = ':';
        for (int shift = 12; shift >= 0; shift -= 4)
            if (shift == 0 || groups[i] >> shift != 0)
                *out++ = "0123456789abcdef"[groups[i] >> shift & 15];
    }
    return out;
}
