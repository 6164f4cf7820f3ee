/* What is shown of names that somebody else chose. */
#include "tap.h"
#include "text/quote.h"

#include <string.h>

static void words(void)
{
    static const char *const words[][2] = {
        {"seen.bf", "seen.bf"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"$x", "'$x'"},
        {"~/a", "'~/a'"},
        {"a;b", "'a;b'"},
        {"-x", "-x"},
        {"k=v,w", "k=v,w"},
        {"a\nb'", "$'a\\012b\\047'"},
        {"#a", "'#a'"},
        {"\xc3\xa4", "'\xc3\xa4'"},
        {"\x9b\xc2\x9b\\", "$'\\233\\302\\233\\134'"},
    };
    char quoted[QUOTE_MAX];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        tap_check(strcmp(quote_word(words[i][0], quoted), words[i][1]) == 0, "%s: %s", words[i][0],
                  quoted);
    /* A file whose name looks like an option. */
    tap_check(strcmp(quote_file("- x", quoted), "'./- x'") == 0, "%s", quoted);
    tap_check(strcmp(quote_file("x", quoted), "x") == 0, "%s", quoted);
    /* The longest path has room; what is longer is left out. */
    static char text[2 * QUOTE_MAX];
    memset(text, '\'', sizeof text - 1);
    tap_check(strcmp(quote_word(text, quoted), "...") == 0, "%zu bytes", strlen(quoted));
    memset(text, ' ', 4095);
    memset(text, '\'', 80);
    text[4095] = '\0';
    tap_check(strlen(quote_word(text, quoted)) == 4095 + 3 * 80 + 2, "%zu bytes", strlen(quoted));
}

static void controls(void)
{
    static const char *const texts[][2] = {
        {"a\nb\t\x1b[0m\x7f", "a\\nb\\t\\x1b[0m\\x7f"},
        {"\xc2\x85\xc2\xa9\xc3\xa4\xff", "\\xc2\\x85\xc2\xa9\xc3\xa4\\xff"},
        {"\x9b[31m\xe2\x82", "\\x9b[31m\\xe2\\x82"},
    };
    char shown[32], tiny[6];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        tap_check(strcmp(quote_controls(texts[i][0], shown, sizeof shown), texts[i][1]) == 0, "%s",
                  shown);
    quote_controls("ab\nc", tiny, sizeof tiny);
    tap_check(strlen(tiny) < sizeof tiny && strncmp(tiny, "ab", 2) == 0, "%s", tiny);
}

static size_t encode(unsigned long code, char text[5])
{
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    memset(text, 0, 5);
    for (size_t i = length; i-- > 1; code >>= 6)
        text[i] = (char)(0x80 | (code & 0x3f));
    text[0] = (char)(first[length] | code);
    return length;
}

/* All characters are; and of three bytes there are no more than these. */
static void characters(void)
{
    char text[5];
    unsigned long counts[5] = {0};
    for (unsigned long code = 0; code < 0x200000; code++) {
        size_t length = encode(code, text);
        bool surrogate = code >= 0xd800 && code < 0xe000;
        size_t wanted = surrogate || code > 0x10ffff ? 0 : length;
        tap_check(quote_character(text) == wanted, "U+%04lx: %zu", code, quote_character(text));
    }
    for (unsigned long bytes = 0; bytes < 0x1000000; bytes++) {
        memcpy(text, (char[]){(char)(bytes >> 16), (char)(bytes >> 8), (char)bytes, 0}, 4);
        counts[quote_character(text)]++;
    }
    tap_check(counts[1] == 128UL << 16 && counts[2] == 1920UL << 8 && counts[3] == 61440 &&
                  counts[4] == 0,
              "%lu %lu %lu %lu", counts[1], counts[2], counts[3], counts[4]);
}

int main(void)
{
    tap_run("words as a shell reads them back", words);
    tap_run("control characters, those of UTF-8 too, and nothing else", controls);
    tap_run("characters of UTF-8", characters);
    return tap_end();
}
