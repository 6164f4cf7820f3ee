#include "commands/command.h"

#include "commands/message.h"
#include "core/edit_distance.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
const struct command command_table[] = {
    {"", FOR_FILTER, OPERANDS_FILTER_FILES, "unseen [FILTER [FILE...]]",
     "print the lines that are new",
     NULL,
     NULL, command_filter},
    {"create", FOR_CREATE, OPERANDS_FILTER, "unseen create FILTER",
     "make an empty filter",
     "Run it once, and `unseen FILTER` every day: then a mistyped name is an error.\n"
     "Without options FILTER grows as needed, and at most one new line in a million\n"
     "is dropped by mistake.\n"
     "Any two of -n, -p and --size give the third; with --size it never grows.\n",
     " new init make touch ", command_create},
    {"add", FOR_ADD, OPERANDS_FILTER_FILES, "unseen add FILTER [FILE...]",
     "remember lines, print nothing",
     "For lines that you do not want to see printed, such as those of last year.\n",
     " insert put learn import load ", command_add},
    {"query", FOR_QUERY, OPERANDS_FILTER_FILES, "unseen query FILTER [FILE...]",
     "print lines that are in it, remember nothing",
     "Exit status: 0 if a line was selected, 1 if none was, 2 or more is trouble.\n"
     "  unseen query -v FILTER list      the lines that are new\n"
     "  unseen query -c FILTER list      how many lines are in it\n"
     "  unseen query -q FILTER list      the exit status alone\n"
     "  unseen query --tag FILTER list   every line, after \"seen\" or \"new\" and a TAB\n",
     " check test contains has lookup find get grep ", command_query},
    {"stats", FOR_STATS, OPERANDS_FILTERS, "unseen stats FILTER...",
     "report lines, fill, rate and size",
     "Of several filters one report after the other, or with --json an object a line.\n"
     "The rate is computed from the bits, not from counters.\n",
     " show info stat status inspect ", command_stats},
    {"plan", FOR_PLAN, OPERANDS_FILES, "unseen plan -n N -p P | FILE...",
     "say how large a filter would be",
     "Any two of -n, -p and --size give the third. Nothing is made.\n"
     "With FILE the distinct lines in it are counted, and take the place of -n; then\n"
     "the report ends with the command that makes the filter.\n",
     " size estimate calc ", command_plan},
    {"verify", FOR_VERIFY, OPERANDS_FILTERS, "unseen verify FILTER...",
     "check filter files",
     "Exit status: 0 if all are sound; 1 if something is worth noting (each a line on\n"
     "standard output; the filter can be used); 2 if one is damaged or unreadable.\n",
     " fsck validate ", command_verify},
    {"commit", FOR_COMMIT, OPERANDS_FILTER_FILES, "unseen commit FILTER FILE...",
     "remember the lines of --pending runs",
     "  unseen --pending keys FILTER list >new    print new lines, remember none yet\n"
     "  unseen commit FILTER keys                 remember them, once `new` is safe\n"
     "The files may be committed in any order, at any time, and more than once.\n",
     " settle ", command_commit},
    {"push", FOR_PUSH, OPERANDS_FILTER_FILES, "unseen push FILTER [FILE...]",
     "append new lines to the queue",
     "The first push makes the queue: FILTER.queue, a directory of plain lines.\n",
     " enqueue append offer ", command_push},
    {"pop", FOR_POP, OPERANDS_FILTER, "unseen pop FILTER",
     "print the oldest line, take it off the queue",
     "-m N takes the oldest N lines. The exit status is 1 if the queue is empty.\n"
     "With -x, which takes the rest of the line, CMD gets them on its standard input.\n"
     "If it exits with 0, those that it read are off. If it fails, all go to the back,\n"
     "and the exit status is 3. With --tries lines that are given up go to\n"
     "FILTER.failed, and the exit status is 0, so that a loop goes on:\n"
     "  while unseen pop FILTER --until-done --tries 3 -x ./visit\n"
     "  do :; done\n",
     " dequeue shift take next ", command_pop},
    {"remove", FOR_REMOVE, OPERANDS_FILTER_FILES, "unseen remove FILTER [FILE...]",
     "take lines out of a counting filter",
     "FILTER must be a counting one: unseen create --counting FILTER.\n"
     "Lines that are not in it are no error; at the end you are told how many.\n"
     "Remove only lines that FILTER has printed: removing others can make it forget\n"
     "some of its own.\n",
     " delete del rm forget drop erase ", command_remove},
    {"merge", FOR_MERGE, OPERANDS_FILTERS, "unseen merge -o OUT FILTER...",
     "make one filter of several",
     "OUT gets the lines of all, and may be one of them. All must be made alike:\n"
     "  unseen create --like first.bf second.bf\n"
     "Filters made with --shard I/N must all be named.\n",
     " join union combine ", command_merge},
    {"key", FOR_KEY, OPERANDS_FILES, "unseen key [FILE...]",
     "print what counts in each line",
     "Its operands are files to read, not filters.\n"
     "  unseen key --by url links       what counts in each link\n",
     " keys normalize normalise canonicalize ", command_key},
    {"shard", FOR_SHARD, OPERANDS_FILES, "unseen shard I/N [FILE...]",
     "print the lines of shard I of N",
     "Shards count from 1. A line is always in the same shard, by what counts in it.\n"
     "  unseen shard 1/4 list            the lines of the first of 4 shards\n"
     "  unseen shard 4 list              every line, after its shard and a TAB\n"
     "  unseen shard 4 --files p%d list  each shard in a file, p1 to p4\n"
     "  unseen shard --by host 1/4 list  all pages of a host are in one shard\n",
     " split part partition distribute ", command_shard},
    {"help", FOR_HELP, OPERANDS_COMMAND, "unseen help [COMMAND | all]",
     "help on a command, or all options",
     NULL,
     " usage man ", command_help},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL},
};
/* clang-format on */

bool command_is_word(const char *word)
{
    return word[0] >= 'a' && word[0] <= 'z' &&
           word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")] == '\0';
}

const struct command *command_find(const char *name)
{
    for (const struct command *command = command_table + 1; command->name != NULL; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

const char *command_usage(const struct command *command)
{
    return command->bit == FOR_FILTER ? "unseen FILTER FILE..." : command->synopsis;
}

/* The command that was perhaps meant, or NULL. */
static const struct command *nearest(const char *name)
{
    char word[32];
    snprintf(word, sizeof word, " %s ", name);
    const struct command *best = NULL;
    unsigned least = strlen(name) < 4 ? 2 : 3; /* changes: too many for a slip */
    for (const struct command *command = command_table + 1; command->name != NULL; command++) {
        if (strstr(command->also, word) != NULL)
            return command;
        unsigned changes = edit_distance(name, command->name);
        if (changes < least) {
            least = changes;
            best = command;
        }
    }
    return best;
}

int command_unknown(const char *word)
{
    const struct command *meant = nearest(word);
    if (meant != NULL)
        return message("%s: unknown command (did you mean '%s'? a filter of that name: ./%s)", word,
                       meant->name, word);
    return message("%s: unknown command (see unseen help; to read a file of that name: "
                   "unseen < %s; a filter of that name: ./%s)",
                   word, word, word);
}
