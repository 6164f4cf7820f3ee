#include "commands/command_line.h"

#include "core/quote.h"

void command_line_write(FILE *to, const struct options *options, unsigned command)
{
    char quoted[QUOTE_MAX];
    for (enum option_id id = 0; id < OPTIONS; id++) {
        if (!options_has(options, id) || (option_table[id].commands & command) == 0)
            continue;
        fprintf(to, " %s", options->spelled[id]);
        if (options->given[id] != NULL)
            fprintf(to, " %s", quote_word(options->given[id], quoted));
    }
}
