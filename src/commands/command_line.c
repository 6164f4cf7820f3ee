#include "commands/command_line.h"

#include <string.h>

static bool is_plain(const char *word)
{
    static const char plain[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "%+,-./:=@_";
    return word[0] != '\0' && word[strspn(word, plain)] == '\0';
}

/* Between single quotes all bytes stand for themselves, except a single quote. */
static void write_word(FILE *to, const char *word)
{
    if (is_plain(word)) {
        fputs(word, to);
        return;
    }
    putc('\'', to);
    for (; *word != '\0'; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            putc(*word, to);
    putc('\'', to);
}

void command_line_write(FILE *to, const struct options *options, unsigned command)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option_entry *entry = &option_table[i];
        if (!options_has(options, entry->id) || (entry->commands & command) == 0)
            continue;
        fprintf(to, " %s", options->spelled[i]);
        if (options->given[i] != NULL) {
            putc(' ', to);
            write_word(to, options->given[i]);
        }
    }
}
