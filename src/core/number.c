#include "core/number.h"

#include <stdio.h>
#include <string.h>

const char *number_text(double number, unsigned digits, char text[NUMBER_TEXT])
{
    snprintf(text, NUMBER_TEXT, "%.*g", (int)digits, number);
    char *exponent = strchr(text, 'e');
    if (exponent != NULL) { /* "e-06": a sign, and two digits or more */
        char *first = exponent + 2 + (exponent[2] == '0');
        char *to = exponent[1] == '-' ? exponent + 2 : exponent + 1;
        memmove(to, first, strlen(first) + 1);
    }
    return text;
}
