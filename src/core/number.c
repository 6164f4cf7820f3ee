#include "core/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of "1.50e-07": where the digits that matter end, as %g would have it. */
static char *end_of_mantissa(char *text, char *exponent)
{
    char *end = exponent;
    if (memchr(text, '.', (size_t)(end - text)) == NULL)
        return end;
    while (end[-1] == '0')
        end--;
    return end[-1] == '.' ? end - 1 : end;
}

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
    bool small = number != 0 && fabs(number) < 1e-3;
    if (small)
        snprintf(form, sizeof form, "%.*e", (int)digits - 1, number);
    else
        snprintf(form, sizeof form, "%.*g", (int)digits, number);
    char *exponent = strchr(form, 'e');
    if (exponent == NULL)
        snprintf(text, NUMBER_TEXT, "%s", form);
    else
        snprintf(text, NUMBER_TEXT, "%.*se%d", (int)(end_of_mantissa(form, exponent) - form), form,
                 (int)strtol(exponent + 1, NULL, 10));
    return text;
}
