/*
 * command_help - `unseen help [COMMAND | all]` and --help: printed from the tables.
 *
 * The short help fits a terminal of 40 lines and 80 columns. It has the options with a `brief`,
 * two per line; all options are in `help all`.
 */
#include "commands/command.h"
#include "commands/message.h"

#include <stdio.h>
#include <string.h>

static const char *const groups[GROUPS] = {
    [GROUP_KEY] = "How lines are compared",
    [GROUP_LINES] = "Input and output",
    [GROUP_DELIVERY] = "When lines are remembered",
    [GROUP_MAKING] = "Making a filter",
    [GROUP_SINGLE] = "For single commands",
    [GROUP_EXPERT] = "For experts",
    [GROUP_SAID] = "Reports and help",
};

enum { HELP_COLUMN = 29, HELP_WIDTH = 80 };

/* "-n, --capacity N" on the left, and the help on the right, or if that does not fit below. */
static void print_entry(const struct option_entry *entry)
{
    char left[96];
    size_t length = (size_t)snprintf(left, sizeof left, "%s%s",
                                     option_is_long(entry->spellings[0]) ? "    " : "",
                                     entry->spellings[0]);
    for (size_t i = 1; i < SPELLINGS && entry->spellings[i] != NULL; i++)
        length += (size_t)snprintf(left + length, sizeof left - length, ", %s",
                                   entry->spellings[i]);
    if (entry->argument != NULL)
        snprintf(left + length, sizeof left - length, " %s", entry->argument);
    printf("  %-*s", HELP_COLUMN - 3, left);
    if (strlen(left) > HELP_COLUMN - 3)
        printf("\n%*s", HELP_COLUMN - 1, "");
    printf(" %s\n", entry->help);
}

/* The commands that take an option, in parentheses under its help. */
static void print_takers(unsigned commands)
{
    int column = printf("%*s(", HELP_COLUMN, "");
    const char *before = "";
    for (const struct command *command = command_table; command->name != NULL; command++) {
        const char *name = command->name[0] != '\0' ? command->name : "plain";
        if ((command->bit & commands) == 0)
            continue;
        if (column + strlen(before) + strlen(name) >= HELP_WIDTH) {
            column = printf("\n%*s", HELP_COLUMN + 1, "") - 1;
            before = "";
        }
        column += printf("%s%s", before, name);
        before = " ";
    }
    puts(")");
}

static void print_command(const struct command *command)
{
    const char *const forms[] = {command->synopsis, command->other};
    size_t name = strlen("unseen") + (command->name[0] != '\0') + strlen(command->name);
    for (int i = 0; i < 2 && forms[i] != NULL; i++)
        printf("%s %.*s [OPTION]...%s\n", i == 0 ? "Usage:" : "      ", (int)name, forms[i],
               forms[i] + name);
    printf("\n%.*s: %s.\n%s\nOptions:\n", (int)name, command->synopsis, command->summary,
           command->notes != NULL ? command->notes : "");
    for (size_t i = 0; i < OPTIONS; i++)
        if ((option_table[i].commands & command->bit) != 0 && option_table[i].group != GROUP_EXPERT)
            print_entry(&option_table[i]);
    printf("\nMore options: unseen help all. Manual: man unseen\n");
}

int command_print_help(const struct command *asked)
{
    unsigned count = 0;
    if (asked->bit != FOR_FILTER) {
        print_command(asked);
        return message_finish_output();
    }
    fputs("Usage: unseen [OPTION]... [FILTER [FILE...]] [-x CMD [ARG]...]\n"
          "       unseen COMMAND [OPTION]... [OPERAND]...\n"
          "\n"
          "Remove duplicate lines without sorting, in one run or, with FILTER, across runs.\n"
          "At most one new line in a million is dropped by mistake (see -p).\n"
          "\n"
          "  cat urls | unseen                        in memory: nothing is kept\n"
          "  unseen create seen.bf                    make a filter once; from then on:\n"
          "  unseen seen.bf today >new                print only new lines\n"
          "  unseen seen.bf feed -x mail -s News me   mail new lines, if there are any\n"
          "\n",
          stdout);
    for (const struct command *command = command_table + 1; command->name != NULL; command++) {
        if (command->group != NULL)
            printf("%s:\n", command->group);
        printf("  %-33s %s\n", command->synopsis + strlen("unseen "), command->summary);
    }
    printf("Options (all of them: unseen help all):\n");
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option_entry *entry = &option_table[i];
        char left[OPTION_FORM];
        if (entry->brief == NULL)
            continue;
        bool second = count++ % 2 != 0;
        printf("  %-17s %-*s%s", option_form(entry, left), second ? 0 : 20, entry->brief,
               second ? "\n" : "");
    }
    if (count % 2 != 0)
        putchar('\n');
    printf("Exit status: 0 success, 1 nothing selected, 3 CMD failed, 75 retry, else error\n"
           "More: unseen help COMMAND, unseen help all, man unseen\n");
    return message_finish_output();
}

int command_help(const struct options *options)
{
    const char *word = options->operands[0];
    if (options->operand_count > 1)
        return message("%s: extra operand (unseen help COMMAND)", options->operands[1]);
    if (word == NULL)
        return command_print_help(&command_table[0]);
    if (strcmp(word, "all") != 0) {
        bool plain = strcmp(word, "unseen") == 0;
        const struct command *command = plain ? &command_table[0] : command_find(word);
        if (command == NULL)
            return command_unknown(word, NULL);
        print_command(command);
        return message_finish_output();
    }
    printf("All options, and the commands that take them (plain: unseen without a command)\n");
    for (enum option_group group = 0; group < GROUPS; group++) {
        printf("\n%s:\n", groups[group]);
        for (size_t i = 0; i < OPTIONS; i++) {
            if (option_table[i].group != group)
                continue;
            print_entry(&option_table[i]);
            if (option_table[i].commands != FOR_ALL)
                print_takers(option_table[i].commands);
        }
    }
    return message_finish_output();
}
