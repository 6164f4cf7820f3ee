#include "commands/command.h"

#include "commands/message.h"
#include "filter/create.h"
#include "io/output.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct command command_table[COMMANDS + 1] = {
#define COMMAND(NAME, function, ...) {FOR_##NAME, command_##function, __VA_ARGS__},
#include "commands/command_rows.h"
#undef COMMAND
    {.name = NULL}};

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

/* --- words that are no command or option --- */

/* clang-format off */
static const struct {
    const char *words; /* between blanks */
    unsigned commands;
    const char *wanted;
} habits[] = {
    /* uniq, sort, cut, awk, grep, tee */
    {" -c ", FOR_WRITERS,
     "how often each line occurs: sort | uniq -c; how many are new: --summary"},
    {" -d ", FOR_ALL, "for the field separator: -t"},
    {" -F --delimiter ", FOR_ALL, "for the field separator: -t ,"},
    {" -k --key --column --columns ", FOR_ALL, "to select fields: -f 2"},
    {" -o ", FOR_FILTER, "to append to a file: -a FILE; to replace it: > FILE"},
    {" -q ", FOR_FILTER, "to remember lines without printing them: unseen add FILTER"},
    {" -w --check-chars ", FOR_ALL, "characters cannot be selected, fields can: -f 2"},
    {" -s --skip-chars ", FOR_ALL,
     "for fields: -f 2; to leave out the first 20 bytes: --without '^.{20}'"},
    {" --exclude --ignore --strip --remove --regex --regexp --pattern --without-match ", FOR_ALL,
     "to compare lines without a part of them: --without '[0-9]+'"},
    {" --skip-fields ", FOR_ALL, "to skip the first field: -f 2-"},
    {" -u --unique ", FOR_ALL,
     "each line is printed once anyway; lines that occur only once: sort | uniq -u"},
    {" -D --all --all-repeated ", FOR_ALL,
     "repeated lines, once each: -d; every line, after new or seen: --tag"},
    {" -v ", FOR_FILTER, "not needed: only new lines are printed"},
    {" --null ", FOR_ALL, "for lines that end with NUL: -z"},
    {" --keep --last --reverse ", FOR_ALL,
     "the last of equal lines: tac FILE | unseen | tac; to remember the last N: --window N"},
    {" --url --host --hostname --domain ", FOR_ALL, "to compare URLs: --by url; hosts: --by host"},
    /* caches and databases */
    {" --ttl --expire --expires --since --max-age ", FOR_ALL,
     "to forget lines after a time: --forget-after 7d"},
    /* Bloom filters */
    {" --rate --error-rate --false-positive-rate --fp-rate ", FOR_ALL,
     "for the false-positive rate: -p, --fpr"},
    /* JSON is read with --jsonl, and written with --json. */
    {" --json ", FOR_CREATE | FOR_QUERY | FOR_KEY, "to read lines of JSON: --jsonl"},
    /* other commands of unseen */
    {" --pending ", FOR_COMMIT, "FILE comes after FILTER: unseen commit FILTER FILE"},
    {" --shard ", FOR_PLAN, "for one of N shards, give -n as lines/N + 6 * sqrt(lines/N)"},
    {" --shard ", FOR_SHARD, "the shard comes first: unseen shard 1/4 FILE"},
    {" -n ", FOR_SHARD, "the number of shards comes first: unseen shard 4 FILE"},
    {" -o ", FOR_SHARD, "for one shard: > FILE; for all: --files 'shard.%d'"},
    /* for the first word, as `also` in command_rows.h */
    {" copy cp backup ", FOR_ALL, "to copy a filter: cp seen.bf copy.bf"},
    {" dump export list ", FOR_ALL, "filters cannot list their lines; to keep them: --tee FILE"},
    {" clear reset truncate ", FOR_ALL,
     "to empty a filter: unseen create --force --like FILTER FILTER"},
    {" count ", FOR_ALL, "distinct lines: unseen < FILE | wc -l; lines in a filter: unseen stats"},
    {" version ", FOR_ALL, "unseen --version"},
};
/* clang-format on */

/* `words` are between blanks. */
static bool is_among(const char *word, const char *words)
{
    char between[64];
    snprintf(between, sizeof between, " %s ", word);
    return strstr(words, between) != NULL;
}

const char *habit_find(const char *word, unsigned commands)
{
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if ((habits[i].commands & commands) == commands && is_among(word, habits[i].words))
            return habits[i].wanted;
    return NULL;
}

/* Levenshtein's distance, with Damerau's swap. */
unsigned habit_typo(const char *word, const char *name)
{
    enum { LONG = 7 };
    /* rows[i % 3][j]: from the first i bytes of the word to the first j of the name. */
    unsigned rows[3][NAME_LONGEST + 1] = {{0}};
    size_t letters = strlen(word), columns = strlen(name);
    for (size_t i = 0; i <= letters; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= columns; j++) {
            unsigned least = row[j - 1] + 1;
            if (i > 0 && above[j] + 1 < least)
                least = above[j] + 1;
            if (i > 0 && above[j - 1] + (word[i - 1] != name[j - 1]) < least)
                least = above[j - 1] + (word[i - 1] != name[j - 1]);
            if (i > 1 && j > 1 && word[i - 1] == name[j - 2] && word[i - 2] == name[j - 1] &&
                second[j - 2] + 1 < least)
                least = second[j - 2] + 1;
            row[j] = least;
        }
    }
    unsigned edits = rows[letters % 3][columns];
    return edits <= (letters < LONG ? 1 : 2) ? edits : TOO_MANY;
}

int command_unknown(const char *word, const char **others)
{
    char meaning[64], reading[NAME_MAX + 64] = ""; /* a longer name is none of a file */
    const struct command *meant = NULL;
    unsigned least = TOO_MANY;
    /* A habit first, then another word for a command, then a typo. */
    const char *wanted = habit_find(word, FOR_ALL);
    for (const struct command *command = command_table + 1; wanted == NULL && command->name != NULL;
         command++) {
        unsigned edits = is_among(word, command->also) ? 0 : habit_typo(word, command->name);
        if (edits < least) {
            least = edits;
            meant = command;
        }
    }
    if (meant != NULL) {
        snprintf(meaning, sizeof meaning, "did you mean '%s'?", meant->name);
        wanted = meaning;
    }
    if (wanted == NULL)
        wanted = "see unseen help";
    if (others == NULL)
        return message("%s: unknown command (%s)", word, wanted);
    /* A file of lines may be meant. */
    if (access(word, R_OK) == 0 && output_is_file(word) && !create_is_filter(word))
        snprintf(reading, sizeof reading,
                 *others == NULL ? " to read that file: unseen < %s;"
                                 : " to read files: awk 1 %s FILE... | unseen;",
                 word);
    return message("%s: unknown command (%s%s%s for a filter of that name: ./%s)", word, wanted,
                   meant != NULL ? "" : ";", reading, word);
}
