#include "key/punycode.h"

#include <stdint.h>
#include <string.h>

/* Section 5. */
enum { BASE = 36, TMIN = 1, TMAX = 26, SKEW = 38, DAMP = 700, INITIAL_BIAS = 72, INITIAL_N = 128 };

/* Each character takes a byte at least. */
enum { PREFIX = 4, CHARACTERS_MAX = PUNYCODE_MAX - PREFIX };

/* Takes the character at *at, and moves *at past it. Returns its code point, or UINT32_MAX if it is
 * no valid UTF-8: an overlong form, a surrogate, above 0x10ffff, or cut off. */
static uint32_t next_character(const char **at, const char *end)
{
    const unsigned char *bytes = (const unsigned char *)*at;
    uint32_t c = bytes[0], least = 0;
    size_t n = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 0;
    if (n == 0 || n > (size_t)(end - *at))
        return UINT32_MAX;
    if (n > 1) {
        c &= 0x7fU >> n;
        least = n == 2 ? 0x80 : n == 3 ? 0x800 : 0x10000;
    }
    for (size_t i = 1; i < n; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return UINT32_MAX;
        c = c << 6 | (bytes[i] & 0x3f);
    }
    *at += n;
    return c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? UINT32_MAX : c;
}

/* Section 6.1. */
static uint32_t adapt(uint32_t delta, size_t points, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / DAMP : delta / 2;
    delta += delta / (uint32_t)points;
    for (; delta > (BASE - TMIN) * TMAX / 2; k += BASE)
        delta /= BASE - TMIN;
    return k + (BASE - TMIN + 1) * delta / (delta + SKEW);
}

static char digit_of(uint32_t value)
{
    return (char)(value < 26 ? 'a' + value : '0' + (value - 26));
}

/* Writes delta, of at most 7 digits, at out[n]. Returns the new n, or 0 if it would be too many. */
static size_t put_delta(char *out, size_t n, uint32_t delta, uint32_t bias)
{
    for (uint32_t k = BASE;; k += BASE) {
        uint32_t t = k <= bias ? TMIN : k >= bias + TMAX ? TMAX : k - bias;
        if (n == PUNYCODE_MAX)
            return 0;
        if (delta < t) {
            out[n] = digit_of(delta);
            return n + 1;
        }
        out[n++] = digit_of(t + (delta - t) % (BASE - t));
        delta = (delta - t) / (BASE - t);
    }
}

/* Section 6.3. No delta is above 0x110000 times CHARACTERS_MAX + 1, so none overflows. */
size_t punycode_write(struct span label, char out[PUNYCODE_MAX])
{
    uint32_t points[CHARACTERS_MAX];
    size_t count = 0, n = PREFIX, done;
    memcpy(out, "xn--", PREFIX);
    for (const char *at = label.bytes, *end = span_end(label); at < end; count++) {
        if (count == CHARACTERS_MAX)
            return 0;
        points[count] = next_character(&at, end);
        if (points[count] == UINT32_MAX)
            return 0;
        if (points[count] < INITIAL_N)
            out[n++] = (char)points[count];
    }
    const size_t basic = done = n - PREFIX;
    if (basic == count)
        return 0;
    if (basic > 0)
        out[n++] = '-'; /* there is room: another character follows */
    uint32_t delta = 0, bias = INITIAL_BIAS;
    for (uint32_t at = INITIAL_N; done < count; at++, delta++) {
        uint32_t next = UINT32_MAX;
        for (size_t i = 0; i < count; i++)
            if (points[i] >= at && points[i] < next)
                next = points[i];
        delta += (next - at) * (uint32_t)(done + 1);
        at = next;
        for (size_t i = 0; i < count; i++) {
            delta += points[i] < at;
            if (points[i] != at)
                continue;
            n = put_delta(out, n, delta, bias);
            if (n == 0)
                return 0;
            bias = adapt(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
    }
    return n;
}
