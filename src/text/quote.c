#include "text/quote.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The Unicode Standard, table 3-7: the length follows from the first byte, all further bytes are
 * 80 to bf, and after some first bytes the second byte has a smaller range. */
size_t quote_character(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    static const struct {
        unsigned char first, least, most; /* the second byte is least to most */
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

/* How many bytes at `text` must not reach a terminal: those of a control character (C0, DEL, C1),
 * or one byte that is not UTF-8, which many terminals take for a C1 character. 0: none. */
static size_t count_control(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t length = quote_character(text);
    if (length == 0 || *c < 0x20 || *c == 0x7f)
        return 1;
    return *c == 0xc2 && c[1] < 0xa0 ? 2 : 0;
}

static const char *quote_after(const char *prefix, const char *text, char quoted[QUOTE_MAX])
{
    static const char plain[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "%+,-./:=@_";
    enum { LONGEST = 4 * 4 + 2 }; /* one quoted character, and the end */
    /* As it is, in '...', or in $'...', where most shells take \ooo for any byte. */
    bool bare = text[0] != '\0' && text[strspn(text, plain)] == '\0', octal = false;
    for (const char *at = text; *at != '\0' && !octal; at += quote_character(at))
        octal = count_control(at) > 0;
    const char *open = octal ? "$'" : bare ? "" : "'";
    size_t length = (size_t)snprintf(quoted, QUOTE_MAX, "%s%s", open, prefix);
    while (*text != '\0' && length + LONGEST <= QUOTE_MAX) {
        size_t control = count_control(text);
        for (size_t bytes = control > 0 ? control : quote_character(text); bytes > 0; bytes--) {
            char byte = *text++, *to = quoted + length;
            if (control > 0 || (octal && (byte == '\'' || byte == '\\')))
                length += (size_t)sprintf(to, "\\%03o", (unsigned char)byte);
            else if (byte == '\'')
                length += (size_t)sprintf(to, "'\\''");
            else
                quoted[length++] = byte;
        }
    }
    snprintf(quoted + length, QUOTE_MAX - length, "%s", bare ? "" : "'");
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

const char *quote_controls(const char *text, char *shown, size_t size)
{
    static const char letters[] = "abtnvfr"; /* from 7 on */
    size_t length = 0;
    while (*text != '\0') {
        size_t control = count_control(text);
        size_t bytes = control > 0 ? control : quote_character(text);
        if (length + (control > 0 ? 4 : 1) * bytes >= size)
            break;
        for (; bytes > 0; bytes--) {
            unsigned char byte = (unsigned char)*text++;
            char *to = shown + length;
            if (control == 0)
                shown[length++] = (char)byte;
            else if (byte >= 7 && byte < 14)
                length += (size_t)snprintf(to, size - length, "\\%c", letters[byte - 7]);
            else
                length += (size_t)snprintf(to, size - length, "\\x%02x", byte);
        }
    }
    shown[length] = '\0';
    return shown;
}

void quote_json(FILE *to, const char *text)
{
    putc('"', to);
    while (*text != '\0') {
        size_t length = quote_character(text);
        unsigned char byte = (unsigned char)text[0], second = (unsigned char)text[1];
        if (length == 0) /* not UTF-8: \xHH, whose backslash JSON doubles */
            fprintf(to, "\\\\x%02x", byte);
        else if (byte < 0x20 || byte == 0x7f)
            fprintf(to, "\\u%04x", byte);
        else if (byte == 0xc2 && second < 0xa0)
            fprintf(to, "\\u%04x", second);
        else
            fprintf(to, "%s%.*s", byte == '"' || byte == '\\' ? "\\" : "", (int)length, text);
        text += length > 0 ? length : 1;
    }
    putc('"', to);
}
