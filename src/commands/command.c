#include "commands/command.h"

#include "commands/message.h"

#include <string.h>

/* clang-format off */
const struct command command_table[] = {
    {"", FOR_FILTER, OPERANDS_FILTER_FILES,
     "unseen [FILTER [FILE...]]", "print the lines that are new",
     NULL, command_filter},
    {"create", FOR_CREATE, OPERANDS_FILTER, "unseen create FILTER", "make an empty filter",
     "new init make touch", command_create},
    {"add", FOR_ADD, OPERANDS_FILTER_FILES, "unseen add FILTER [FILE...]", "remember lines, print nothing",
     "insert put learn import load", command_add},
    {"query", FOR_QUERY, OPERANDS_FILTER_FILES, "unseen query FILTER [FILE...]", "print the lines that are in",
     "check test contains has lookup find get grep", command_query},
    {"stats", FOR_STATS, OPERANDS_FILTERS, "unseen stats FILTER...", "keys, fill, rate, size, geometry",
     "show info stat status inspect", command_stats},
    {"plan", FOR_PLAN, OPERANDS_FILES, "unseen plan -n N -p P | FILE...", "size and rate of a filter not yet made",
     "size estimate calc", command_plan},
    {"verify", FOR_VERIFY, OPERANDS_FILTERS, "unseen verify FILTER...", "check a filter file",
     "fsck validate", command_verify},
    {"commit", FOR_COMMIT, OPERANDS_FILTER_FILES, "unseen commit FILTER FILE...", "remember what --pending runs delivered",
     "settle", command_commit},
    {"push", FOR_PUSH, OPERANDS_FILTER_FILES, "unseen push FILTER [FILE...]", "append lines that are new to the queue",
     "enqueue append offer", command_push},
    {"pop", FOR_POP, OPERANDS_FILTER, "unseen pop FILTER", "take the oldest lines off the queue",
     "dequeue shift take next", command_pop},
    {"remove", FOR_REMOVE, OPERANDS_FILTER_FILES, "unseen remove FILTER [FILE...]", "take lines out (--counting)",
     "delete del rm forget drop erase", command_remove},
    {"merge", FOR_MERGE, OPERANDS_FILTERS, "unseen merge -o OUT FILTER...", "make one filter of several",
     "join union combine", command_merge},
    {"key", FOR_KEY, OPERANDS_FILES, "unseen key [FILE...]", "print what counts of each line",
     "keys normalize normalise canonicalize", command_key},
    {"help", FOR_HELP, OPERANDS_COMMAND, "unseen help [COMMAND]", "this help", "usage man", command_help},
    {NULL, 0, 0, NULL, NULL, NULL, NULL},
};
/* clang-format on */

const struct command *command_find(const char *name)
{
    for (const struct command *command = command_table + 1; command->name != NULL; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

/* Whether `word` is among words separated by blanks. */
static bool is_among(const char *word, const char *words)
{
    size_t length = strlen(word);
    while (words != NULL && *words != '\0') {
        size_t next = strcspn(words, " ");
        if (next == length && strncmp(words, word, length) == 0)
            return true;
        words += next + strspn(words + next, " ");
    }
    return false;
}

/* The command that was perhaps meant, or NULL. */
static const struct command *nearest(const char *name)
{
    const struct command *best = NULL;
    unsigned changes = 3; /* too many for a slip */
    for (const struct command *command = command_table + 1; command->name != NULL; command++) {
        if (is_among(name, command->also))
            return command;
        if (options_is_nearer(name, command->name, &changes))
            best = command;
    }
    return best;
}

int command_unknown(const char *word)
{
    const struct command *meant = nearest(word);
    if (meant != NULL)
        return message("%s: unknown command (did you mean '%s'? a filter of that name: ./%s)", word,
                       meant->name, word);
    return message("%s: unknown command (see unseen help; a filter of that name: ./%s)", word,
                   word);
}
