/* What is shown of names that somebody else chose. */
#include "core/quote.h"
#include "tap.h"

#include <string.h>

static void words(void)
{
    static const char *const words[][2] = {
        {"seen.bf", "seen.bf"}, {"", "''"},         {"a b", "'a b'"}, {"it's", "'it'\\''s'"},
        {"$x", "'$x'"},         {"~/a", "'~/a'"},   {"a;b", "'a;b'"}, {"-x", "-x"},
        {"k=v,w", "k=v,w"},     {"a\nb", "'a\nb'"}, {"#a", "'#a'"},   {"\xc3\xa4", "'\xc3\xa4'"},
    };
    char quoted[QUOTE_MAX];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        tap_check(strcmp(quote_word(words[i][0], quoted), words[i][1]) == 0, "%s: %s", words[i][0],
                  quoted);
}

static void options(void)
{
    static const char *const names[][2] = {{"-x", "./-x"}, {"- x", "'./- x'"}, {"x", "x"}};
    char quoted[QUOTE_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tap_check(strcmp(quote_file(names[i][0], quoted), names[i][1]) == 0, "%s: %s", names[i][0],
                  quoted);
}

static void long_names(void)
{
    char text[2 * QUOTE_MAX], quoted[QUOTE_MAX];
    memset(text, '\'', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    size_t length = strlen(quote_word(text, quoted));
    tap_check(length < QUOTE_MAX && length > QUOTE_MAX - 8, "%zu bytes", length);
    tap_check(quoted[length - 1] == '\'', "the quotes stay open");
}

static void controls(void)
{
    static const char *const texts[][2] = {
        {"a\nb\t\x1b[0m\x7f", "a\\nb\\t\\x1b[0m\\x7f"},
        {"\xc2\x85\xc2\xa9\xc3\xa4\xff", "\\xc2\\x85\xc2\xa9\xc3\xa4\xff"},
    };
    char shown[32], tiny[6];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        tap_check(strcmp(quote_controls(texts[i][0], shown, sizeof shown), texts[i][1]) == 0, "%s",
                  shown);
    quote_controls("ab\nc", tiny, sizeof tiny);
    tap_check(strlen(tiny) < sizeof tiny && strncmp(tiny, "ab", 2) == 0, "%s", tiny);
}

int main(void)
{
    tap_run("words as a shell reads them back", words);
    tap_run("a name that looks like an option", options);
    tap_run("a name that is too long is cut off within its quotes", long_names);
    tap_run("control characters, those of UTF-8 too, and nothing else", controls);
    return tap_end();
}
