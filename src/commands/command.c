#include "commands/command.h"

#include "commands/habits.h"
#include "commands/message.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
const struct command command_table[] = {
    {"", FOR_FILTER, OPERANDS_FILTER_FILES, NULL,
     "unseen [FILTER [FILE...]] [-x CMD [ARG]...]", NULL,
     "print each line that was not seen before",
     NULL,
     NULL, command_filter},

    {"create", FOR_CREATE, OPERANDS_FILTER, "Make, fill and query filters",
     "unseen create FILTER", NULL,
     "make an empty filter",
     "Without options, FILTER grows as needed, and at most one new line in a million\n"
     "is dropped by mistake. Any two of -n, -p and --size determine the third; with\n"
     "--size or --fixed, FILTER never grows.\n"
     "  unseen create --csv -f id FILTER  compare rows of CSV by their column id\n",
     " new init make touch ", command_create},
    {"add", FOR_ADD, OPERANDS_FILTER_FILES, NULL,
     "unseen add FILTER [FILE...]", NULL,
     "remember lines without printing them",
     "For lines that you do not want to see, such as those of last year.\n",
     " insert put learn import load ", command_add},
    {"query", FOR_QUERY, OPERANDS_FILTER_FILES, NULL,
     "unseen query FILTER [FILE...]", NULL,
     "print the lines that are in FILTER",
     "FILTER is not changed. Exit status: 0 if a line was selected, 1 if none was, and\n"
     "2 or greater after an error.\n"
     "  unseen query -v FILTER list      print the lines that are new\n"
     "  unseen query -c FILTER list      print how many lines are in FILTER\n"
     "  unseen query -q FILTER list      print nothing, and set the exit status\n"
     "  unseen query --tag FILTER list   print every line, after \"seen\" or \"new\"\n",
     " check test contains has lookup find get grep ", command_query},
    {"remove", FOR_REMOVE, OPERANDS_FILTER_FILES, NULL,
     "unseen remove FILTER [FILE...]", NULL,
     "remove lines from a counting filter",
     "FILTER must have been made with --counting. Lines that are not in FILTER are no\n"
     "error; at the end, unseen reports how many there were. Remove only lines that\n"
     "FILTER has printed: removing others can make it forget lines it should remember.\n",
     " delete del rm forget drop erase ", command_remove},

    {"stats", FOR_STATS, OPERANDS_FILTERS, "Inspect filters and keys, plan, get help",
     "unseen stats FILTER...", NULL,
     "report lines, fill, false-positive rate",
     "The figures are computed from the bits of FILTER, not from counters.\n",
     " show info stat status inspect ", command_stats},
    {"verify", FOR_VERIFY, OPERANDS_FILTERS, NULL,
     "unseen verify FILTER...", NULL,
     "check filters for damage",
     "Exit status: 0 if all filters are sound, even if there are notes; 1 if something\n"
     "is wrong with a filter that can be used; 2 if one is damaged or unreadable.\n",
     " fsck validate ", command_verify},
    {"plan", FOR_PLAN, OPERANDS_FILES, NULL,
     "unseen plan FILE...", "unseen plan -n N",
     "say how large a filter would be",
     "Any two of -n, -p and --size determine the third. Nothing is made.\n"
     "With FILE, unseen counts the distinct lines in it, and uses that number as -n.\n"
     "The report then ends with the command that makes such a filter.\n",
     " size estimate calc ", command_plan},
    {"key", FOR_KEY, OPERANDS_FILES, NULL,
     "unseen key [FILE...]", NULL,
     "print the key of each line",
     "The key is what is compared. The operands are files of lines, not filters.\n"
     "  unseen key --by url links       print each link as --by url compares it\n",
     " keys normalize normalise canonicalize ", command_key},
    {"help", FOR_HELP, OPERANDS_COMMAND, NULL,
     "unseen help [COMMAND | all]", NULL,
     "print help on a command, or all options",
     "`unseen help unseen` lists the options of unseen without a command.\n",
     " usage man ", command_help},

    {"push", FOR_PUSH, OPERANDS_FILTER_FILES, "Work through a queue",
     "unseen push FILTER [FILE...]", NULL,
     "append new lines to the queue of FILTER",
     "The first push makes the queue: FILTER.queue, a directory of text files.\n"
     "To queue lines again that pop --tries has given up: unseen push --failed FILTER\n",
     " enqueue append offer ", command_push},
    {"pop", FOR_POP, OPERANDS_FILTER, NULL,
     "unseen pop FILTER [-x CMD [ARG]...]", NULL,
     "print the oldest line, or pass it to CMD",
     "The line is taken off the queue once it was printed, or once CMD, which reads it\n"
     "from standard input, has exited with 0. With -m N, pop takes the oldest N lines.\n"
     "The exit status is 1 if no line waits. If CMD fails, its lines go to the back of\n"
     "the queue, and the exit status is 3. With --tries N, lines on which CMD failed N\n"
     "times go to FILTER.failed, and the exit status is 0, so that a loop goes on:\n"
     "  while unseen pop FILTER --until-done --tries 3 -x ./visit\n"
     "  do :; done\n",
     " dequeue shift take next ", command_pop},

    {"commit", FOR_COMMIT, OPERANDS_FILTER_FILES, "Retry tasks, share work among machines",
     "unseen commit FILTER FILE...", NULL,
     "remember the lines of --pending runs",
     "  unseen --pending keys FILTER list >new    print new lines, remember none yet\n"
     "  unseen commit FILTER keys && rm keys      remember them once `new` is safe\n"
     "The files can be committed in any order, at any time, and more than once. While\n"
     "keys exists, a run that names it is a retry, and prints the same lines again.\n",
     " settle ", command_commit},
    {"shard", FOR_SHARD, OPERANDS_FILES, NULL,
     "unseen shard I/N [FILE...]", "unseen shard N [FILE...]",
     "print the lines of shard I of N",
     "Shards are counted from 1. Lines with the same key are in the same shard.\n"
     "  unseen shard 1/4 list            print the lines of the first of 4 shards\n"
     "  unseen shard 4 list              print every line after its shard and a TAB\n"
     "  unseen shard 4 --files s%d list  write the shards to the files s1 to s4\n"
     "  unseen shard --by host 1/4 list  keep all pages of a host in one shard\n",
     " split part partition distribute ", command_shard},
    {"merge", FOR_MERGE, OPERANDS_FILTERS, NULL,
     "unseen merge -o OUT FILTER...", NULL,
     "make one filter of several",
     "OUT remembers the lines of all FILTERs, and may be one of them. Make the filters\n"
     "alike, with unseen create --like. If they are shards, all of them must be given.\n",
     " join union combine ", command_merge},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
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

/* The command that was probably meant, or NULL. */
static const struct command *nearest(const char *word)
{
    char between[32];
    snprintf(between, sizeof between, " %s ", word);
    const struct command *best = NULL;
    unsigned least = TOO_MANY;
    for (const struct command *command = command_table + 1; command->name != NULL; command++) {
        if (strstr(command->also, between) != NULL)
            return command;
        unsigned edits = habit_typo(word, command->name);
        if (edits < least) {
            least = edits;
            best = command;
        }
    }
    return best;
}

int command_unknown(const char *word, bool is_operand)
{
    const char *habit = habit_find(word, FOR_ALL);
    const struct command *meant = habit == NULL ? nearest(word) : NULL;
    char meaning[64];
    if (meant != NULL)
        snprintf(meaning, sizeof meaning, "did you mean '%s'?", meant->name);
    const char *wanted = habit != NULL ? habit : meant != NULL ? meaning : NULL;
    if (is_operand)
        return message("%s: unknown command (%s)", word,
                       wanted != NULL ? wanted : "see unseen help");
    if (wanted != NULL)
        return message("%s: unknown command (%s%s for a filter of that name: ./%s)", word, wanted,
                       strchr(wanted, '?') != NULL ? "" : ";", word);
    return message("%s: unknown command (see unseen help; to read a file of that name: "
                   "unseen < %s; for a filter of that name: ./%s)",
                   word, word, word);
}
