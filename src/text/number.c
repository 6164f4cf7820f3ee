#include "text/number.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t number_capacity(double lines)
{
    double number = lines * 1.01, unit = 1;
    while (number / unit >= 1000)
        unit *= 10;
    return (uint64_t)(ceil(number / unit) * unit);
}

const char *number_text(double number, unsigned digits, char text[NUMBER_TEXT])
{
    char form[NUMBER_TEXT];
    if (number != 0 && fabs(number) < 1e-3)
        snprintf(form, sizeof form, "%.*e", (int)digits - 1, number);
    else
        snprintf(form, sizeof form, "%.*g", (int)digits, number);
    char *exponent = strchr(form, 'e'), *end = exponent;
    if (exponent == NULL) {
        snprintf(text, NUMBER_TEXT, "%s", form);
        return text;
    }
    /* "1.50e-07" becomes "1.5e-7": as with %g, zeros at the end of a fraction are dropped. */
    if (memchr(form, '.', (size_t)(end - form)) != NULL) {
        while (end[-1] == '0')
            end--;
        if (end[-1] == '.')
            end--;
    }
    snprintf(text, NUMBER_TEXT, "%.*se%d", (int)(end - form), form,
             (int)strtol(exponent + 1, NULL, 10));
    return text;
}

/* --- units --- */

/* What a unit is for: parsing, exact output, approximate output. */
enum { READ = 1, EXACT = 2, ABOUT = 4, ALL = READ | EXACT | ABOUT };

struct unit {
    const char *text; /* NULL at the end */
    double factor;
    unsigned uses;
};

/* Units that are used for output are in ascending order. */
/* clang-format off */
static const struct unit counts[] = {
    {"", 1, ALL}, {"k", 1e3, READ}, {"K", 1e3, ALL}, {"M", 1e6, ALL}, {"G", 1e9, ALL},
    {"T", 1e12, ALL}, {"P", 1e15, ABOUT}, {NULL, 0, 0},
};
static const struct unit sizes[] = {
    {"", 1, READ | EXACT}, {"K", 0x1p10, READ | EXACT}, {"M", 0x1p20, READ | EXACT},
    {"G", 0x1p30, READ | EXACT}, {"T", 0x1p40, READ | EXACT}, {"P", 0x1p50, READ | EXACT},
    {"k", 0x1p10, READ}, {"KiB", 0x1p10, READ}, {"MiB", 0x1p20, READ}, {"GiB", 0x1p30, READ},
    {"TiB", 0x1p40, READ}, {"PiB", 0x1p50, READ}, {"KB", 1e3, READ},
    {"B", 1, ABOUT}, {"kB", 1e3, READ | ABOUT}, {"MB", 1e6, READ | ABOUT},
    {"GB", 1e9, READ | ABOUT}, {"TB", 1e12, READ | ABOUT}, {"PB", 1e15, READ | ABOUT}, {NULL, 0, 0},
};
static const struct unit times[] = { /* milliseconds */
    {"s", 1e3, READ | EXACT}, {"m", 60e3, READ | EXACT}, {"h", 3600e3, READ | EXACT},
    {"d", 86400e3, READ | EXACT}, {"w", 604800e3, READ}, {NULL, 0, 0},
};
static const struct unit rates[] = {{"", 1, READ | EXACT}, {"%", 0.01, READ}, {NULL, 0, 0}};
static const struct unit none[] = {{"", 1, READ | EXACT}, {NULL, 0, 0}};
/* clang-format on */

static const struct unit *const units_of[] = {
    [NUMBER_COUNT] = counts, [NUMBER_SIZE] = sizes, [NUMBER_TIME] = times,
    [NUMBER_RATE] = rates,   [NUMBER_PLAIN] = none,
};

/* --- output with units --- */

/* The largest unit in which a number, rounded to three digits, is at least 1. */
static const struct unit *unit_about(const struct unit *unit, double number)
{
    while ((unit->uses & ABOUT) == 0)
        unit++;
    const struct unit *best = unit;
    for (; unit->text != NULL; unit++)
        if ((unit->uses & ABOUT) != 0 && number >= 0.9995 * unit->factor)
            best = unit;
    return best;
}

const char *number_size(double bytes, char text[NUMBER_TEXT])
{
    const struct unit *unit = unit_about(sizes, bytes);
    double number = bytes / unit->factor;
    bool tenths = unit->factor > 1 && number < 9.95;
    snprintf(text, NUMBER_TEXT, tenths ? "%.1f %s" : "%.0f %s", number, unit->text);
    return text;
}

const char *number_count(double count, char text[NUMBER_TEXT])
{
    const struct unit *unit = unit_about(counts, count);
    snprintf(text, NUMBER_TEXT, "%.3g%s", count / unit->factor, unit->text);
    return text;
}

const char *number_exact(double number, enum number_kind kind, char text[NUMBER_TEXT])
{
    const struct unit *best = units_of[kind];
    const double day = 86400e3;
    double rest = kind == NUMBER_TIME && number > 2 * day ? fmod(number, day) : 0;
    if (rest > 0) {
        char hours[NUMBER_TEXT];
        snprintf(text, NUMBER_TEXT, "%.0fd%.16s", (number - rest) / day,
                 number_exact(rest, kind, hours));
        return text;
    }
    for (const struct unit *unit = best; unit->text != NULL; unit++)
        if ((unit->uses & EXACT) != 0 && number >= unit->factor && fmod(number, unit->factor) == 0)
            best = unit;
    snprintf(text, NUMBER_TEXT, "%.15g%s", number / best->factor, best->text);
    return text;
}

/* --- parsing --- */

static bool is_hexadecimal(const char *text)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

/* Parses decimal digits with point and exponent, as strtod(3) does, and 10^9, but nothing else that
 * strtod accepts (hexadecimal, "inf", blanks). *end is after the number, or NULL if there is
 * none. */
static double parse_decimal(const char *text, const char **end)
{
    static const char digits[] = "0123456789";
    *end = NULL;
    if (strspn(text + (text[0] == '.'), digits) == 0 || is_hexadecimal(text))
        return 0;
    if (strncmp(text, "10^", 3) == 0) {
        char as_exponent[16];
        size_t sign = text[3] == '-', length = sign + strspn(text + 3 + sign, digits);
        snprintf(as_exponent, sizeof as_exponent, "1e%.*s", (int)length, text + 3);
        *end = length > sign && length < 8 ? text + 3 + length : NULL;
        return strtod(as_exponent, NULL);
    }
    char *stop;
    double value = strtod(text, &stop);
    *end = stop;
    return value;
}

double number_parse(const char *text, enum number_kind kind)
{
    double last = HUGE_VAL, sum = 0;
    do {
        const char *end;
        double part = parse_decimal(text, &end);
        if (end == NULL)
            return NAN;
        text = end + strcspn(end, "0123456789.");
        size_t length = (size_t)(text - end);
        const struct unit *unit = units_of[kind];
        while (unit->text != NULL && ((unit->uses & READ) == 0 || strlen(unit->text) != length ||
                                      strncmp(unit->text, end, length) != 0))
            unit++;
        if (unit->text == NULL || unit->factor >= last)
            return NAN;
        last = unit->factor;
        if (last == 0.01) {
            /* Rounded so that 0.3% is the same double as 0.003. */
            char hundredth[NUMBER_TEXT];
            snprintf(hundredth, sizeof hundredth, "%.15g", part / 100);
            sum += strtod(hundredth, NULL);
        } else {
            sum += part * last;
        }
    } while (*text != '\0' && kind == NUMBER_TIME);
    bool whole = kind == NUMBER_COUNT || kind == NUMBER_SIZE || kind == NUMBER_TIME;
    return *text == '\0' && (!whole || sum == floor(sum)) ? sum : NAN;
}

const char *number_digits(const char *text, uint32_t *number)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return NULL;
    unsigned long long value = strtoull(text, &end, 10);
    *number = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    return end;
}

bool number_parse_whole(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, is_hexadecimal(text) ? 16 : 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}
