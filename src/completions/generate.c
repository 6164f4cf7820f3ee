/*
 * generate - prints the program's tables of commands and options as calls, which bash, zsh and fish
 * read alike:
 *
 *     _unseen_command NAME OPERANDS SUMMARY
 *     _unseen_option "COMMAND..." KIND ARGUMENT HELP SPELLING...
 *
 * KIND is that of the option's value: '' (it takes none), file, filter, command, value, values (the
 * option may be repeated), or a list of words. The command "filter" is the form without a command.
 * The Makefile puts the calls into the scripts of this directory, which define the two functions.
 */
#include "commands/command.h"

#include <stdio.h>

static const char *const operand_names[] = {
    [OPERANDS_FILTER] = "filter",
    [OPERANDS_FILTERS] = "filters",
    [OPERANDS_FILTER_FILES] = "filter-files",
    [OPERANDS_FILES] = "files",
    [OPERANDS_COMMAND] = "command",
};

/* What shells offer for a value; NULL: just any value. */
static const char *const kind_words[] = {
    [TAKES_NOTHING] = "",        [TAKES_FILE] = "file",
    [TAKES_FILTER] = "filter",   [TAKES_PROFILE] = "line url host endpoint",
    [TAKES_COMMAND] = "command", [TAKES_PATTERNS] = "values",
    [TAKES_SHARD] = NULL,
};

static const char *name_of(const struct command *command)
{
    return command->name[0] != '\0' ? command->name : "filter";
}

/* After a blank, in single quotes. */
static void print_word(const char *text)
{
    fputs(" '", stdout);
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    putchar('\'');
}

int main(void)
{
    for (const struct command *command = command_table; command->name != NULL; command++) {
        printf("_unseen_command %s %s", name_of(command), operand_names[command->operands]);
        print_word(command->summary);
        putchar('\n');
    }
    for (const struct option_entry *entry = option_table; entry < option_table + OPTIONS; entry++) {
        fputs("_unseen_option '", stdout);
        for (const struct command *command = command_table; command->name != NULL; command++)
            if ((entry->commands & command->bit) != 0)
                printf("%s ", name_of(command));
        putchar('\'');
        print_word(kind_words[entry->kind] != NULL ? kind_words[entry->kind] : "value");
        print_word(entry->argument != NULL ? entry->argument : "");
        print_word(entry->help);
        for (int i = 0; i < SPELLINGS && entry->spellings[i] != NULL; i++)
            printf(" %s", entry->spellings[i]);
        putchar('\n');
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
