#include "commands/command_line.h"

#include "core/quote.h"

void command_line_write(FILE *to, const struct options *options, unsigned command)
{
    char quoted[QUOTE_MAX];
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option_entry *entry = &option_table[i];
        if (!options_has(options, entry->id) || (entry->commands & command) == 0)
            continue;
        fprintf(to, " %s", options->spelled[i]);
        if (options->given[i] != NULL)
            fprintf(to, " %s", quote_word(options->given[i], quoted));
    }
}
