/* command_help - `unseen help [COMMAND]` and --help: printed from the tables. */
#include "commands/command.h"
#include "commands/message.h"

#include <stdio.h>

static void print_options(unsigned commands)
{
    printf("\nOptions:\n");
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option_entry *entry = &option_table[i];
        if ((entry->commands & commands) == 0)
            continue;
        char left[64];
        const char *letter = entry->spellings[1], *argument = entry->argument;
        if (letter != NULL && letter[1] == '-')
            letter = entry->spellings[2];
        snprintf(left, sizeof left, "%2s%c %s%s%s", letter != NULL ? letter : "",
                 letter != NULL ? ',' : ' ', entry->spellings[0],
                 argument != NULL && argument[0] != '[' ? " " : "",
                 argument != NULL ? argument : "");
        printf("  %-26s %s\n", left, entry->help);
    }
}

static void print_overview(void)
{
    printf("unseen prints the lines it has not seen before, in this run or in any earlier\n"
           "one with the same FILTER. A new line is taken for a seen one, and dropped, with\n"
           "a probability of at most -p.\n\nUsage:\n");
    for (const struct command *command = command_table; command->name != NULL; command++)
        printf("  %-36s %s\n", command->synopsis, command->summary);
}

int command_print_help(const struct command *command)
{
    if (command->bit == FOR_FILTER)
        print_overview();
    else
        printf("Usage: %s [OPTION]...\n\n%s.\n", command->synopsis, command->summary);
    print_options(command->bit);
    if (command->bit == FOR_FILTER)
        printf(
            "\nExit status: 0 success, 1 nothing selected (query, -e), 2 trouble, 3 CMD failed.\n"
            "More: unseen COMMAND --help, man unseen\n");
    return message_finish_output();
}

int command_help(const struct options *options)
{
    if (options->operand_count > 1)
        return message("%s: one operand too many (unseen help COMMAND)", options->operands[1]);
    if (options->operand_count == 0)
        return command_print_help(&command_table[0]);
    const struct command *command = command_find(options->operands[0]);
    if (command == NULL)
        return command_unknown(options->operands[0]);
    return command_print_help(command);
}
