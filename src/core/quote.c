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
    return *text == '\0' ? quoted : strcpy(quoted, "...");
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

/* The Unicode Standard, table 3-7: the length follows from the first byte, all others are 80 to bf,
 * and after some first bytes the second one has less room. */
size_t quote_character(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    static const struct {
        unsigned char first, least, most; /* the second byte is one of these */
    } narrow[] = {{0xe0, 0xa0, 0xbf}, {0xed, 0x80, 0x9f}, {0xf0, 0x90, 0xbf}, {0xf4, 0x80, 0x8f}};
    size_t length = c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    if (c[0] < 0x80)
        return 1;
    if (c[0] < 0xc2 || c[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if (c[i] < 0x80 || c[i] > 0xbf)
            return 0;
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        if (c[0] == narrow[i].first && (c[1] < narrow[i].least || c[1] > narrow[i].most))
            return 0;
    return length;
}
