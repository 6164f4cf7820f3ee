/*
 * command_help - `unseen help [COMMAND | all]` and --help: printed from the tables.
 *
 * The short help fits a terminal of 40 lines and 80 columns: of the options it has those with a
 * `brief`, two a line. What only some need is in `help all`.
 */
#include "commands/command.h"
#include "commands/message.h"

#include <stdio.h>
#include <string.h>

static const char *const groups[GROUPS] = {
    [GROUP_KEY] = "What counts in a line",
    [GROUP_LINES] = "Input and output",
    [GROUP_DELIVERY] = "When lines count as seen",
    [GROUP_MAKING] = "Making a filter",
    [GROUP_SINGLE] = "For single commands",
    [GROUP_EXPERT] = "For experts",
    [GROUP_SAID] = "Reports and help",
};

enum { HELP_COLUMN = 29, HELP_WIDTH = 80, LEFT_MAX = 96 };

/* "-n, --capacity N": letters first. */
static void write_left(const struct option_entry *entry, char left[LEFT_MAX])
{
    size_t length = 0;
    for (int is_long = 0; is_long <= 1; is_long++) {
        if (is_long && length == 0)
            length = (size_t)snprintf(left, LEFT_MAX, "    ");
        for (size_t i = 0; i < SPELLINGS && entry->spellings[i] != NULL; i++)
            if (option_is_long(entry->spellings[i]) == is_long)
                length += (size_t)snprintf(left + length, LEFT_MAX - length, "%s%s",
                                           length > 0 && left[0] == '-' ? ", " : "",
                                           entry->spellings[i]);
    }
    if (entry->argument != NULL)
        snprintf(left + length, LEFT_MAX - length, " %s", entry->argument);
}

static void print_option(const struct option_entry *entry)
{
    char left[LEFT_MAX];
    write_left(entry, left);
    printf("  %-*s", HELP_COLUMN - 3, left);
    if (strlen(left) > HELP_COLUMN - 3)
        printf("\n%*s", HELP_COLUMN - 1, "");
    printf(" %s\n", entry->help);
}

/* --- the short help --- */

static void print_brief_options(void)
{
    unsigned count = 0;
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option_entry *entry = &option_table[i];
        if (entry->brief == NULL)
            continue;
        char left[LEFT_MAX];
        bool shown = entry->argument != NULL;
        snprintf(left, sizeof left, "%s%s%s", option_letter(entry), shown ? " " : "",
                 shown ? entry->argument : "");
        bool second = count++ % 2 != 0;
        printf("  %-14s %-*s%s", left, second ? 0 : 23, entry->brief, second ? "\n" : "");
    }
    if (count % 2 != 0)
        putchar('\n');
}

static void print_short_help(void)
{
    fputs("Usage: unseen [OPTION]... [FILTER [FILE...]]\n"
          "       unseen COMMAND [OPTION]... [OPERAND]...\n"
          "\n"
          "Prints the lines it has not seen before: in this run, or in any run with FILTER.\n"
          "At most one new line in a million is dropped as if it had been seen (see -p).\n"
          "\n"
          "  cat urls | unseen                        each line once; nothing is kept\n"
          "  unseen create seen.bf                    make a filter once; then, every day:\n"
          "  unseen seen.bf today >new                print only what is new\n"
          "  unseen seen.bf feed -x mail -s News me   mail what is new, if anything is\n"
          "\n"
          "Commands:\n",
          stdout);
    for (const struct command *command = command_table + 1; command->name != NULL; command++)
        printf("  %-30s %s\n", command->synopsis + strlen("unseen "), command->summary);
    printf("\nOptions:\n");
    print_brief_options();
    printf("\nExit status: 0 success, 1 nothing selected (query, pop, -e), 3 CMD failed; 2 or\n"
           "more is trouble. More: unseen help COMMAND, unseen help all, man unseen\n");
}

/* --- all options --- */

static void print_takers(unsigned commands)
{
    int column = printf("%*s(", HELP_COLUMN, "");
    for (const struct command *command = command_table; command->name != NULL; command++) {
        const char *name = command->name[0] != '\0' ? command->name : "plain";
        if ((command->bit & commands) == 0)
            continue;
        commands &= ~command->bit;
        if (column + strlen(name) >= HELP_WIDTH)
            column = printf("\n%*s", HELP_COLUMN + 1, "") - 1;
        column += printf("%s%s", name, commands != 0 ? " " : ")\n");
    }
}

static void print_all(void)
{
    printf("All options, and the commands that take them (plain: unseen without a command).\n");
    for (enum option_group group = 0; group < GROUPS; group++) {
        printf("\n%s:\n", groups[group]);
        for (size_t i = 0; i < OPTIONS; i++) {
            if (option_table[i].group != group)
                continue;
            print_option(&option_table[i]);
            if (option_table[i].commands != FOR_ALL)
                print_takers(option_table[i].commands);
        }
    }
}

/* --- one command --- */

static void print_command(const struct command *command)
{
    printf("Usage: %s [OPTION]...\n\nunseen %s: %s.\n%s\nOptions:\n", command->synopsis,
           command->name, command->summary, command->notes != NULL ? command->notes : "");
    for (size_t i = 0; i < OPTIONS; i++)
        if ((option_table[i].commands & command->bit) != 0 && option_table[i].group != GROUP_EXPERT)
            print_option(&option_table[i]);
    printf("\nMore options: unseen help all. The manual: man unseen\n");
}

int command_print_help(const struct command *command)
{
    if (command->bit == FOR_FILTER)
        print_short_help();
    else
        print_command(command);
    return message_finish_output();
}

int command_help(const struct options *options)
{
    const char *word = options->operands[0];
    if (options->operand_count > 1)
        return message("%s: one operand too many (unseen help COMMAND)", options->operands[1]);
    if (word == NULL)
        return command_print_help(&command_table[0]);
    if (strcmp(word, "all") == 0) {
        print_all();
        return message_finish_output();
    }
    const struct command *command = command_find(word);
    return command != NULL ? command_print_help(command) : command_unknown(word);
}
