#include "core/quote.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_plain(const char *word)
{
    static const char plain[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "%+,-./:=@_";
    return word[0] != '\0' && word[strspn(word, plain)] == '\0';
}

/* Between single quotes all bytes stand for themselves, except a single quote. */
static const char *quote_after(const char *prefix, const char *text, char quoted[QUOTE_MAX])
{
    enum { LONGEST = 4 }; /* what a byte can become */
    bool plain = is_plain(text);
    size_t length = (size_t)snprintf(quoted, QUOTE_MAX, "%s%s", plain ? "" : "'", prefix);
    for (; *text != '\0' && length + LONGEST + 2 <= QUOTE_MAX; text++)
        if (*text == '\'')
            length += (size_t)snprintf(quoted + length, QUOTE_MAX - length, "'\\''");
        else
            quoted[length++] = *text;
    snprintf(quoted + length, QUOTE_MAX - length, "%s", plain ? "" : "'");
    return quoted;
}

const char *quote_word(const char *text, char quoted[QUOTE_MAX])
{
    return quote_after("", text, quoted);
}

const char *quote_file(const char *name, char quoted[QUOTE_MAX])
{
    return quote_after(name[0] == '-' ? "./" : "", name, quoted);
}

/* Of a C1 character, both bytes are. */
static bool is_control(const unsigned char *c, bool first)
{
    bool c1 = (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) ||
              (!first && c[-1] == 0xc2 && c[0] >= 0x80 && c[0] < 0xa0);
    return c[0] < 0x20 || c[0] == 0x7f || c1;
}

const char *quote_controls(const char *text, char *shown, size_t size)
{
    static const char letters[] = "abtnvfr"; /* from 7 on */
    size_t length = 0;
    shown[0] = '\0';
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0' && length + 5 <= size;
         c++)
        if (!is_control(c, c == (const unsigned char *)text))
            length += (size_t)snprintf(shown + length, size - length, "%c", *c);
        else if (*c >= 7 && *c < 14)
            length += (size_t)snprintf(shown + length, size - length, "\\%c", letters[*c - 7]);
        else
            length += (size_t)snprintf(shown + length, size - length, "\\x%02x", *c);
    return shown;
}
