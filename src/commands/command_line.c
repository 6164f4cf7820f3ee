#include "commands/command_line.h"

#include "core/quote.h"

#include <stdio.h>
#include <stdlib.h>

static void write_options(FILE *to, const struct options *options)
{
    char quoted[QUOTE_MAX];
    for (enum option_id id = 0; id < OPTIONS; id++) {
        if (!options_has(options, id) || (option_table[id].commands & FOR_CREATE) == 0)
            continue;
        fprintf(to, " %s", options->spelled[id]);
        if (options->given[id] != NULL)
            fprintf(to, " %s", quote_word(options->given[id], quoted));
    }
}

char *command_line_making(const char *maker, const struct options *options, const char *name)
{
    char *text = NULL, quoted[QUOTE_MAX];
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (to == NULL)
        return NULL;
    fprintf(to, "unseen %s", maker);
    write_options(to, options);
    fprintf(to, " %s", quote_file(name, quoted));
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}
