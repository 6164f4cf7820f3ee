#include "commands/options.h"

#include "commands/command.h"
#include "commands/message.h"
#include "commands/wish_recipe.h"
#include "core/quote.h"
#include "core/sizing.h"
#include "format/header.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A terabyte of line is no line, and this keeps all sums far from overflowing. */
#define MAX_LINE_MAX (sizeof(size_t) > 4 ? 0x1p40 : 0x1p30)

/* Only what is a number has bounds. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* clang-format off */
const struct option_entry option_table[OPTIONS] = {
    [OPTION_FIELDS] = {GROUP_KEY, FOR_RECIPES, {"--fields", "-f"}, TAKES_FIELDS, "LIST", "1,3",
     "only these fields count", "only these fields count: 2, 1,3, 2-4, 3-"},
    [OPTION_SEPARATOR] = {GROUP_KEY, FOR_RECIPES, {"--separator", "-t"},
     TAKES_SEPARATOR, "SEP", ",",
     "what separates fields", "one byte between fields: , or \\t (default: blanks)"},
    [OPTION_BY] = {GROUP_KEY, FOR_RECIPES, {"--by"}, TAKES_PROFILE, "PROFILE", "url",
     "url, host or endpoint", "what counts: line, url, host or endpoint"},
    [OPTION_IGNORE_CASE] = {GROUP_KEY, FOR_RECIPES, {"--ignore-case", "-i"},
     TAKES_NOTHING, NULL, NULL,
     "ignore case, A to Z", "ignore case: A to Z count as a to z"},
    [OPTION_TRIM] = {GROUP_KEY, FOR_RECIPES, {"--trim"}, TAKES_NOTHING, NULL, NULL,
     "ignore blanks at ends", "ignore blanks at both ends of a line, and a CR"},
    [OPTION_HEADER] = {GROUP_KEY, FOR_READERS, {"--header"}, TAKES_NOTHING, NULL, NULL,
     NULL, "the first line of each FILE is a header line"},

    [OPTION_ZERO_TERMINATED] = {GROUP_LINES, FOR_READERS | FOR_POP,
     {"--zero-terminated", "-z", "-0"}, TAKES_NOTHING, NULL, NULL,
     "lines end with NUL", "lines end with NUL, not newline, in and out"},
    [OPTION_APPEND] = {GROUP_LINES, FOR_FILTER, {"--append", "-a"}, TAKES_FILE, "FILE", "new.txt",
     "append new lines to it", "append new lines to FILE, not to standard output"},
    [OPTION_DROPPED] = {GROUP_LINES, FOR_FILTER | FOR_ADD | FOR_PUSH, {"--dropped"}, TAKES_FILE,
     "FILE", "seen.txt",
     "append the others to it", "append the lines that are not printed to FILE"},
    [OPTION_MAX_COUNT] = {GROUP_LINES, FOR_FILTER | FOR_QUERY | FOR_POP, {"--max-count", "-m"},
     TAKES_COUNT, "N", "10",
     "stop after N new lines", "stop after N lines were printed or selected", 0, 1e15},
    [OPTION_EXIT_STATUS] = {GROUP_LINES, FOR_FILTER, {"--exit-status", "-e"},
     TAKES_NOTHING, NULL, NULL,
     "exit 1 if none is new", "exit with 1 if no line was new"},
    [OPTION_REPEATED] = {GROUP_LINES, FOR_FILTER, {"--repeated", "-d"}, TAKES_NOTHING, NULL, NULL,
     NULL, "print only lines that come again, once each"},

    [OPTION_EXEC] = {GROUP_DELIVERY, FOR_FILTER | FOR_POP, {"--exec", "-x"}, TAKES_COMMAND,
     "CMD ARG...", "wc -l",
     "hand new lines to CMD", "hand lines to CMD; if it fails, they come again"},
    [OPTION_PENDING] = {GROUP_DELIVERY, FOR_FILTER, {"--pending"}, TAKES_FILE, "FILE", "keys",
     NULL, "remember nothing yet: commit with this FILE will"},
    [OPTION_DURABLE] = {GROUP_DELIVERY, FOR_FILTER | FOR_PUSH, {"--durable"},
     TAKES_NOTHING, NULL, NULL,
     NULL, "remember lines once the output is on disk"},

    [OPTION_CREATE] = {GROUP_MAKING, FOR_FILTER | FOR_ADD | FOR_PUSH, {"--create"}, TAKES_NOTHING,
     NULL, NULL,
     "make FILTER if missing", "make FILTER if there is none"},
    [OPTION_CAPACITY] = {GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--capacity", "-n"},
     TAKES_COUNT, "N", "1M",
     "make it for N lines", "make it for N distinct lines: 1000000, 1e9, 10M", 1, SIZING_KEYS_MAX},
    [OPTION_RATE] = {GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--fpr", "-p"}, TAKES_RATE, "P",
     "1e-4",
     "false-positive rate", "false-positive rate: 1e-4, 1% (default 1e-6)",
     SIZING_RATE_MIN, SIZING_RATE_MAX},
    [OPTION_WINDOW] = {GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--window"}, TAKES_COUNT, "N", "1M",
     "remember the last N", "remember the last N lines, and forget older ones", 1, SIZING_KEYS_MAX},
    [OPTION_FORGET_AFTER] = {GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--forget-after"}, TAKES_TIME,
     "TIME", "7d",
     NULL, "forget each line after TIME: 90s, 15m, 7d, 1d12h", 1, FORGET_MAX},
    [OPTION_SIZE] = {GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--size"}, TAKES_SIZE, "SIZE", "64M",
     NULL, "size of the file, which stays: 64M, 2G", 64 * 1024, 0x1p50},
    [OPTION_FIXED] = {GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--fixed"}, TAKES_NOTHING, NULL, NULL,
     NULL, "never grow; past N the rate rises, with a warning"},
    [OPTION_COUNTING] = {GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--counting"},
     TAKES_NOTHING, NULL, NULL,
     NULL, "let remove take lines out; 4 times as large"},
    [OPTION_LIKE] = {GROUP_MAKING, FOR_MAKERS | FOR_SHARD, {"--like"}, TAKES_FILTER, "FILTER",
     "seen.bf",
     NULL, "make it like FILTER; shard: split by its recipe"},
    [OPTION_SECRET] = {GROUP_MAKING, FOR_MAKERS, {"--secret"}, TAKES_NOTHING, NULL, NULL,
     NULL, "hash with a secret, if strangers choose lines"},
    [OPTION_SHARD] = {GROUP_MAKING, FOR_MAKERS, {"--shard"}, TAKES_PART, "I/N", "1/4",
     NULL, "for part I of N; lines of other parts are refused"},
    [OPTION_FORCE] = {GROUP_MAKING, FOR_CREATE | FOR_MERGE, {"--force"}, TAKES_NOTHING, NULL, NULL,
     NULL, "replace a FILTER that exists"},

    [OPTION_OUTPUT] = {GROUP_SINGLE, FOR_MERGE, {"--output", "-o"}, TAKES_FILTER, "OUT", "all.bf",
     NULL, "the filter to make"},
    [OPTION_UNTIL_DONE] = {GROUP_SINGLE, FOR_POP, {"--until-done"}, TAKES_NOTHING, NULL, NULL,
     NULL, "if it is empty, wait while workers hold lines"},
    [OPTION_WAIT] = {GROUP_SINGLE, FOR_POP, {"--wait"}, TAKES_TIME, "TIME", "5m",
     NULL, "if it is empty, wait at most this long for a line", 0, 0x1p53},
    [OPTION_TRIES] = {GROUP_SINGLE, FOR_POP, {"--tries"}, TAKES_COUNT, "N", "3",
     NULL, "give up a line once CMD has failed on it N times", 1, 9},
    [OPTION_INVERT] = {GROUP_SINGLE, FOR_QUERY, {"--invert-match", "-v"}, TAKES_NOTHING, NULL, NULL,
     NULL, "select the lines that are not in"},
    [OPTION_COUNT] = {GROUP_SINGLE, FOR_QUERY, {"--count", "-c"}, TAKES_NOTHING, NULL, NULL,
     NULL, "print only how many lines were selected"},
    [OPTION_QUIET] = {GROUP_SINGLE, FOR_QUERY, {"--quiet", "-q"}, TAKES_NOTHING, NULL, NULL,
     NULL, "print nothing; stop at the first line selected"},
    [OPTION_TAG] = {GROUP_SINGLE, FOR_QUERY | FOR_KEY, {"--tag"}, TAKES_NOTHING, NULL, NULL,
     NULL, "label each line: seen, new (query); key, none (key)"},
    [OPTION_JSON] = {GROUP_SINGLE, FOR_STATS | FOR_PLAN, {"--json"}, TAKES_NOTHING, NULL, NULL,
     NULL, "one JSON object a line"},
    [OPTION_FILES] = {GROUP_SINGLE, FOR_SHARD, {"--files"}, TAKES_FILE, "PATTERN", "part.%d",
     NULL, "with N: a file for each part, such as 'part.%d'"},

    [OPTION_BITS_PER_KEY] = {GROUP_EXPERT, FOR_MAKERS | FOR_PLAN, {"--bits-per-key"}, TAKES_NUMBER,
     "B", "20",
     NULL, "size in bits for each of -n lines", 1, 1000},
    [OPTION_HASHES] = {GROUP_EXPERT, FOR_MAKERS | FOR_PLAN, {"--hashes"}, TAKES_COUNT, "K", "8",
     NULL, "bits set by each line (default: what suits -p)", 1, LINES_MAX * FIELDS_MAX},
    [OPTION_SEED] = {GROUP_EXPERT, FOR_MAKERS, {"--seed"}, TAKES_SEED, "S", "42",
     NULL, "seed of the hash, 64 bits (default 0)"},
    [OPTION_THREADS] = {GROUP_EXPERT, FOR_READERS, {"--threads", "-j"}, TAKES_COUNT, "N", "4",
     NULL, "threads that share the work (default 2, or 1)", 1, 1024},
    [OPTION_MAX_LINE] = {GROUP_EXPERT, FOR_READERS | FOR_POP, {"--max-line"},
     TAKES_SIZE, "SIZE", "1M",
     NULL, "longest line allowed (default 1G)", 1, MAX_LINE_MAX},
    [OPTION_ALLOW_NETWORK] = {GROUP_EXPERT,
     FOR_MAKERS | FOR_COMMIT | FOR_REMOVE | FOR_MERGE | FOR_POP, {"--allow-network"},
     TAKES_NOTHING, NULL, NULL,
     NULL, "write to a filter on NFS, SMB, sshfs and the like"},

    [OPTION_PROGRESS] = {GROUP_SAID, FOR_READERS, {"--progress"}, TAKES_NOTHING, NULL, NULL,
     NULL, "show on a terminal how far it is, and how fast"},
    [OPTION_SUMMARY] = {GROUP_SAID,
     FOR_FILTER | FOR_ADD | FOR_PUSH | FOR_POP | FOR_COMMIT | FOR_REMOVE | FOR_MERGE | FOR_VERIFY |
         FOR_SHARD,
     {"--summary"}, TAKES_FORM, "[=json]", "json",
     "say how many at the end", "at the end, say on standard error what was done"},
    [OPTION_HELP] = {GROUP_SAID, FOR_ALL, {"--help", "-h"}, TAKES_NOTHING, NULL, NULL,
     NULL, "print help; with a command, help on that"},
    [OPTION_VERSION] = {GROUP_SAID, FOR_ALL, {"--version", "-V"}, TAKES_NOTHING, NULL, NULL,
     NULL, "print the version, and what it uses here"},
};
/* clang-format on */

#pragma GCC diagnostic pop

bool options_is_nearer(const char *word, const char *name, unsigned *changes)
{
    enum { LONGEST = 32 };
    unsigned row[LONGEST + 1];
    size_t columns = strlen(name);
    if (columns > LONGEST)
        return false;
    for (size_t j = 0; j <= columns; j++)
        row[j] = (unsigned)j;
    for (size_t i = 0; word[i] != '\0'; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < columns; j++) {
            unsigned best = diagonal + (word[i] != name[j]);
            diagonal = row[j + 1];
            if (row[j + 1] + 1 < best)
                best = row[j + 1] + 1;
            if (row[j] + 1 < best)
                best = row[j] + 1;
            row[j + 1] = best;
        }
    }
    if (row[columns] >= *changes)
        return false;
    *changes = row[columns];
    return true;
}

/* The option whose name begins with what was written, or is nearest to it. */
static const char *nearest_name(const char *written)
{
    const char *best = NULL;
    unsigned changes = 3; /* too many for a slip */
    for (size_t i = 0; i < OPTIONS; i++) {
        const char *name = option_table[i].spellings[0];
        if (strlen(written) >= 2 && strncmp(name + 2, written, strlen(written)) == 0)
            return name;
        if (options_is_nearer(written, name + 2, &changes))
            best = name;
    }
    return best;
}

/* --- parsing --- */

enum {
    OPERAND = 1, /* what getopt_long returns for one; */
    NAMES = 256  /* and, counted from here on, for the long spelling of an option */
};

/* A leading '-' asks for operands in order, ':' for silence about errors. */
static void describe(char *letters, struct option *names)
{
    *letters++ = '-';
    *letters++ = ':';
    for (int i = 0; i < OPTIONS; i++) {
        const struct option_entry *entry = &option_table[i];
        int takes = entry->kind == TAKES_NOTHING ? no_argument
                    : entry->kind == TAKES_FORM  ? optional_argument
                                                 : required_argument;
        for (int j = 0; j < OPTION_SPELLINGS && entry->spellings[j] != NULL; j++) {
            const char *spelling = entry->spellings[j];
            if (option_is_long(spelling)) {
                *names++ = (struct option){spelling + 2, takes, NULL,
                                           NAMES + i * OPTION_SPELLINGS + j};
                continue;
            }
            *letters++ = spelling[1];
            if (takes == required_argument)
                *letters++ = ':';
        }
    }
    *letters = '\0';
    *names = (struct option){0};
}

/* The option that getopt_long means by a number, and which of its spellings; OPTIONS: none. */
static enum option_id find(int number, const char **spelled)
{
    for (int i = 0; i < OPTIONS * OPTION_SPELLINGS; i++) {
        const char *spelling = option_table[i / OPTION_SPELLINGS].spellings[i % OPTION_SPELLINGS];
        if (spelling == NULL || (option_is_long(spelling) ? NAMES + i : spelling[1]) != number)
            continue;
        *spelled = spelling;
        return (enum option_id)(i / OPTION_SPELLINGS);
    }
    return OPTIONS;
}

/* Names of no option that people may try, and what they most likely want. */
static const struct {
    const char *name, *wanted;
} unknown[] = {
    {"accept-rate", "merge tells a rate above -p, and goes on"},
    {"buffer-size", "unseen reads 256K at a time, or what is there"},
    {"error-rate", "for the false-positive rate: --fpr"},
    {"failed", "with --tries, lines that are given up go to FILTER.failed"},
    {"false-positive-rate", "for the false-positive rate: --fpr"},
    {"fp-rate", "for the false-positive rate: --fpr"},
    {"if-missing", "to make FILTER if there is none: unseen add --create FILTER </dev/null"},
    {"new-secret", "to have another secret than FILTER: --like FILTER --secret"},
    {"null", "for lines that end with NUL: -z"},
    {"parts", "to split a list into 4: unseen shard 4 FILE"},
    {"queue", "the first push makes it: unseen push FILTER"},
    {"secret-file", "a secret is in FILTER: --secret; for the same one: --like FILTER"},
    {"shard-by", "to split by host: unseen shard --by host I/N, and filters made without --shard"},
    {"shards", "the -n of one of N parts: lines/N + 6 * sqrt(lines/N)"},
    {"slack", "a window holds at least N lines, at most 1.25 N"},
    {"stage", "a filter of that size has a stage by itself"},
    {"table", "it is in unseen-filters(7): man unseen-filters"},
};

static int unknown_name(const char *word)
{
    char written[61];
    snprintf(written, sizeof written, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *nearest = nearest_name(written);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (strcmp(written, unknown[i].name) == 0)
            return message("--%s: unknown option (%s)", written, unknown[i].wanted);
    if (nearest != NULL)
        return message("--%s: unknown option (did you mean %s?)", written, nearest);
    return message("--%s: unknown option (see unseen --help)", written);
}

/* getopt_long takes the beginning of a name for the name. */
static bool is_whole(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

/* Takes the option that getopt_long found in `word`; `got` is what it returned. Returns 0, or
 * EXIT_TROUBLE after a message. */
static int take(struct options *options, char **argv, const char *word, int got)
{
    const char *spelled;
    enum option_id id = find(got == '?' || got == ':' ? optopt : got, &spelled);
    if (option_is_long(word) && (id == OPTIONS || !is_whole(word, spelled)))
        return unknown_name(word);
    if (id == OPTIONS)
        return message("-%c: unknown option (%s)", optopt,
                       optopt == 'F'   ? "for what separates fields: -t ,"
                       : optopt == 'k' ? "for fields: -f 2"
                                       : "see unseen --help");
    if (got == '?')
        return message("%s: takes no value (leave out %s)", spelled, strchr(word, '='));
    bool exec = id == OPTION_EXEC;
    if (got == ':' && exec)
        return message("%s: needs a command (unseen FILTER -x CMD ARG...)", spelled);
    if (got == ':')
        return message("%s: needs a value (%s %s)", spelled, spelled, option_table[id].argument);
    /* CMD is a word by itself, and then the one before the next. */
    if (exec && optarg != argv[optind - 1])
        return message("%s: takes the rest of the line (unseen FILTER %s CMD ARG...)", spelled,
                       spelled);
    const char *next = argv[optind], *form = option_table[id].example;
    if (option_table[id].kind == TAKES_FORM && optarg == NULL && next != NULL &&
        strcmp(next, form) == 0)
        return message("%s %s: the = is missing (%s=%s; a file of that name: ./%s)", spelled, form,
                       spelled, form, form);
    if (exec)
        options->command = (const char *const *)argv + optind - 1;
    options->set |= OPTION_BIT(id);
    options->given[id] = optarg;
    options->spelled[id] = spelled;
    return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
    char letters[2 + 2 * OPTION_SPELLINGS * OPTIONS + 1];
    struct option names[OPTION_SPELLINGS * OPTIONS + 1];
    size_t n = 0;
    *options = (struct options){.operands = (const char **)argv + 1};
    describe(letters, names);
    while (options->command == NULL) {
        int at = optind;
        int got = getopt_long(argc, argv, letters, names, NULL);
        if (got == -1 && (optind > at || at >= argc))
            break;
        if (got == -1) /* musl's stops at "-", which is an operand */
            optarg = argv[optind++];
        if (got == -1 || got == OPERAND)
            options->operands[n++] = optarg;
        else if (take(options, argv, argv[at], got) != 0)
            return EXIT_TROUBLE;
    }
    options->first_is_literal = n == 0;
    while (options->command == NULL && optind < argc)
        options->operands[n++] = argv[optind++];
    options->operands[n] = NULL;
    options->operand_count = n;
    return 0;
}

/* Which commands take an option, in words. */
static void list_commands(unsigned commands, char *list, size_t size)
{
    size_t length = 0;
    list[0] = '\0';
    for (const struct command *command = command_table; command->name != NULL; command++)
        if ((command->bit & commands) != 0 && length < size)
            length += (size_t)snprintf(list + length, size - length, "%s%s",
                                       length != 0 ? ", " : "",
                                       command->name[0] != '\0' ? command->name : "unseen FILTER");
}

/* Options that people try with the wrong command, and what they most likely want there. */
static const struct misplaced {
    unsigned command;
    enum option_id id;
    const char *wanted;
} misplaced[] = {
    {FOR_FILTER, OPTION_QUIET, "to remember lines and print none: unseen add FILTER"},
    {FOR_FILTER, OPTION_INVERT, "new lines are printed without it"},
    {FOR_FILTER, OPTION_COUNT, "to count the lines that are new: --summary, or | wc -l"},
    {FOR_COMMIT, OPTION_PENDING, "FILE comes after FILTER: unseen commit FILTER FILE"},
    {FOR_SHARD, OPTION_CAPACITY, "the number of parts comes first: unseen shard 4 FILE"},
    {FOR_SHARD, OPTION_SHARD, "the part comes first: unseen shard 1/4 FILE"},
    {FOR_SHARD, OPTION_OUTPUT, "for a file of one part: > FILE; of each part: --files 'part.%d'"},
    {FOR_SHARD, OPTION_APPEND, "to append lines to a file: unseen shard 1/4 >> FILE"},
    {FOR_PLAN, OPTION_SHARD, "the lines of a part are its -n: lines/N + 6 * sqrt(lines/N)"},
};

/* Returns EXIT_TROUBLE after a message. */
static int refuse(const struct options *options, enum option_id id, unsigned command)
{
    const char *spelled = options->spelled[id], *given = options->given[id];
    unsigned commands = option_table[id].commands;
    const char *wrong = command == FOR_FILTER && commands == FOR_QUERY ? "belongs to query"
                                                                       : "not an option here";
    char list[256], quoted[QUOTE_MAX];
    for (size_t i = 0; i < sizeof misplaced / sizeof *misplaced; i++)
        if ((misplaced[i].command & command) != 0 && misplaced[i].id == id)
            return message("%s: %s (%s)", spelled, wrong, misplaced[i].wanted);
    if (command == FOR_FILTER && id == OPTION_OUTPUT)
        return message("%s %s: not an option here (to append to it: -a %s; to replace it: > %s)",
                       spelled, given, quote_word(given, quoted), quoted);
    if (command == FOR_FILTER && commands == FOR_QUERY)
        return message("%s: %s (unseen query %s FILTER)", spelled, wrong, spelled);
    list_commands(commands, list, sizeof list);
    return message("%s: not an option here (it belongs to: %s)", spelled, list);
}

/* --- values --- */

static int bad_value(const struct options *options, enum option_id id, const char *wanted)
{
    const char *given = options->given[id];
    return message("%s %s: not a value it can take (%s)", options->spelled[id],
                   given[0] != '\0' ? given : "''", wanted);
}

static bool is_hexadecimal(const char *text)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

/* Decimal digits with point and exponent, as strtod(3) reads them, or 10^9, and nothing else that
 * it would accept (hexadecimal, "inf", blanks). *end is after it; NULL if there is no number. */
static double parse_decimal(const char *text, const char **end)
{
    static const char digits[] = "0123456789";
    *end = NULL;
    if (strspn(text + (text[0] == '.'), digits) == 0 || is_hexadecimal(text))
        return 0;
    if (strncmp(text, "10^", 3) == 0) {
        char as_exponent[16];
        size_t sign = text[3] == '-', length = sign + strspn(text + 3 + sign, digits);
        snprintf(as_exponent, sizeof as_exponent, "1e%.*s", (int)length, text + 3);
        *end = length > sign && length < 8 ? text + 3 + length : NULL;
        return strtod(as_exponent, NULL);
    }
    char *stop;
    double value = strtod(text, &stop);
    *end = stop;
    return value;
}

struct suffix {
    const char *text;
    double factor;
};

/* clang-format off */
static const struct suffix count_suffixes[] = {
    {"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {NULL, 0},
};
static const struct suffix time_suffixes[] = { /* milliseconds */
    {"s", 1000}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}, {"w", 604800e3}, {NULL, 0},
};
static const struct suffix size_suffixes[] = {
    {"", 1}, {"k", 0x1p10}, {"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}, {"T", 0x1p40},
    {"P", 0x1p50},
    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50},
    {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15}, {NULL, 0},
};
/* clang-format on */

/* What an option counts. */
static const struct unit {
    const struct suffix *suffixes;
    const char *what;
    const char *letters; /* the units that limits are shown in, the smallest first */
    double step;         /* from one to the next */
} units[] = {
    [TAKES_COUNT] = {count_suffixes, "a whole number", " kMGT", 1000},
    [TAKES_SIZE] = {size_suffixes, "a size", " KMGTP", 1024},
    [TAKES_TIME] = {time_suffixes, "a time", NULL, 0},
};

static const struct suffix *find_suffix(const struct suffix *suffix, const char *text,
                                        size_t length)
{
    for (; suffix->text != NULL; suffix++)
        if (strlen(suffix->text) == length && strncmp(suffix->text, text, length) == 0)
            return suffix;
    return NULL;
}

/* A number and its unit; of a time several, each smaller than the one before. */
static bool parse_whole(const char *text, enum argument_kind kind, double *number)
{
    double last = HUGE_VAL;
    *number = 0;
    do {
        const char *end;
        double part = parse_decimal(text, &end);
        if (end == NULL)
            return false;
        text = end + strcspn(end, "0123456789.");
        const struct suffix *suffix = find_suffix(units[kind].suffixes, end, (size_t)(text - end));
        if (suffix == NULL || suffix->factor >= last)
            return false;
        last = suffix->factor;
        *number += part * last;
    } while (*text != '\0' && kind == TAKES_TIME);
    return *text == '\0' && *number == floor(*number);
}

/* In the largest unit of which it is a whole number, but small ones as they are. */
static const char *show_limit(double value, const struct unit *unit, char text[32])
{
    const char *letter = unit->letters;
    if (value >= 1e6 || unit->step != 1000)
        while (letter[1] != '\0' && value >= unit->step && fmod(value, unit->step) == 0) {
            value /= unit->step;
            letter++;
        }
    snprintf(text, 32, "%.0f%.*s", value, *letter != ' ', letter);
    return text;
}

static int bad_whole(const struct options *options, enum option_id id)
{
    char wanted[128], from[32], to[32];
    double time, least = option_table[id].least, most = option_table[id].most;
    const char *given = options->given[id], *example = option_table[id].example;
    enum argument_kind kind = option_table[id].kind;
    if (id == OPTION_WINDOW && parse_whole(given, TAKES_TIME, &time))
        return message("%s %s: not a count (for a time: --forget-after %s)", options->spelled[id],
                       given, given);
    if (kind == TAKES_TIME && given[0] != '\0' && given[strspn(given, "0123456789.")] == '\0')
        return message("%s %s: needs a unit (%ss, %sm, %sh, %sd or %sw)", options->spelled[id],
                       given, given, given, given, given, given);
    if (kind == TAKES_TIME)
        snprintf(wanted, sizeof wanted, "a time up to %.0fw, such as 90s, %s or 1d12h",
                 floor(most / 604800e3), example);
    else
        snprintf(wanted, sizeof wanted, "%s from %s to %s, such as %s", units[kind].what,
                 show_limit(least, &units[kind], from), show_limit(most, &units[kind], to),
                 example);
    return bad_value(options, id, wanted);
}

uint64_t options_whole(const struct options *options, enum option_id id, uint64_t otherwise)
{
    double number;
    if (options_has(options, id) && parse_whole(options->given[id], option_table[id].kind, &number))
        return (uint64_t)number;
    return otherwise;
}

static int check_whole(const struct options *options, enum option_id id)
{
    double number;
    if (!parse_whole(options->given[id], option_table[id].kind, &number) ||
        number < option_table[id].least || number > option_table[id].most)
        return bad_whole(options, id);
    return 0;
}

/* As if it had been written so: 0.3% is the same number as 0.003. */
static double hundredth(double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", number / 100);
    return strtod(text, NULL);
}

/* Returns NAN for what is none. */
static double parse_real(const char *text, enum argument_kind kind)
{
    const char *end;
    double number = parse_decimal(text, &end);
    if (end != NULL && *end == '%' && kind == TAKES_RATE) {
        number = hundredth(number);
        end++;
    }
    return end != NULL && *end == '\0' ? number : NAN;
}

double options_real(const struct options *options, enum option_id id)
{
    return options_has(options, id) ? parse_real(options->given[id], option_table[id].kind) : 0;
}

static int check_real(const struct options *options, enum option_id id)
{
    char wanted[128];
    const struct option_entry *entry = &option_table[id];
    double number = parse_real(options->given[id], entry->kind);
    if (number >= entry->least && number <= entry->most)
        return 0;
    snprintf(wanted, sizeof wanted, "a %s from %g to %g, such as %s",
             entry->kind == TAKES_RATE ? "rate" : "number", entry->least, entry->most,
             entry->example);
    return bad_value(options, id, wanted);
}

/* Whether it is a whole number of 64 bits. */
static bool parse_seed(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, is_hexadecimal(text) ? 16 : 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

uint64_t options_seed(const struct options *options, uint64_t otherwise)
{
    uint64_t number;
    bool given = options_has(options, OPTION_SEED);
    return given && parse_seed(options->given[OPTION_SEED], &number) ? number : otherwise;
}

/* Digits alone; too many give a number that is too large. Returns what comes after them; NULL if
 * there are none. */
static const char *read_digits(const char *text, uint32_t *number)
{
    enum { LARGE = 1000000000 };
    const char *at = text;
    *number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t more = *number * UINT64_C(10) + (uint64_t)(*at - '0');
        *number = more < LARGE ? (uint32_t)more : LARGE;
    }
    return at > text ? at : NULL;
}

int options_read_part(const char *taker, const char *text, struct shard *shard)
{
    const char *program = taker[0] == '-' ? "" : "unseen ";
    const char *slash = strchr(text, '/');
    bool all = slash == NULL && taker[0] != '-';
    *shard = (struct shard){0};
    const char *end = all ? text : read_digits(text, &shard->part);
    if (end == slash && end != NULL)
        end++;
    end = end != NULL ? read_digits(end, &shard->parts) : NULL;
    if (end == NULL || *end != '\0')
        return message("%s '%s': not a part, which is I/N (such as %s%s 1/4; is a variable empty?)",
                       taker, text, program, taker);
    if (shard->parts == 0 || shard->parts > SHARD_PARTS_MAX)
        return message("%s %s: a list has 1 to %d parts", taker, text, SHARD_PARTS_MAX);
    if (shard->part == 0 && !all)
        return message("%s %s: parts count from 1 (where ranks count from 0: %s%s $((RANK+1))/%u)",
                       taker, text, program, taker, shard->parts);
    if (shard->part > shard->parts)
        return message("%s %s: the part is above the number of parts (part 1 of 4 is 1/4)", taker,
                       text);
    return 0;
}

/* A hyphen is neither standard output, as people may mean it, nor, most likely, the file's name. */
static int check_name(const struct options *options, enum option_id id)
{
    const char *spelled = options->spelled[id], *given = options->given[id];
    bool lines = id == OPTION_APPEND || id == OPTION_DROPPED;
    if (given[0] == '\0')
        return message("%s '': an empty name is not a file (is a variable empty?)", spelled);
    if (strcmp(given, "-") == 0)
        return message("%s -: is not the name of a file (for one of that name: ./-%s)", spelled,
                       lines ? "; for standard output: /dev/stdout" : "");
    return 0;
}

/* It may be left out, and there is but one. */
static int check_form(const struct options *options, enum option_id id)
{
    const char *form = option_table[id].example, *spelled = options->spelled[id];
    const char *given = options->given[id];
    if (given == NULL || strcmp(given, form) == 0)
        return 0;
    return message("%s=%s: unknown form (%s, or %s=%s)", spelled, given, spelled, spelled, form);
}

static int check_value(const struct options *options, enum option_id id)
{
    struct recipe recipe;
    struct shard shard;
    uint64_t seed;
    switch (option_table[id].kind) {
    case TAKES_NOTHING:
        return 0;
    case TAKES_COMMAND:
        if (options->command[0][0] == '\0')
            return message("-x '': an empty name is not a command (is a variable empty?)");
        return 0;
    case TAKES_FILE:
    case TAKES_FILTER:
        return check_name(options, id);
    case TAKES_COUNT:
    case TAKES_SIZE:
    case TAKES_TIME:
        return check_whole(options, id);
    case TAKES_RATE:
    case TAKES_NUMBER:
        return check_real(options, id);
    case TAKES_SEED:
        return parse_seed(options->given[id], &seed)
                   ? 0
                   : bad_value(options, id, "a whole number from 0 to 18446744073709551615");
    case TAKES_FIELDS:
    case TAKES_SEPARATOR:
    case TAKES_PROFILE:
        return wish_recipe_parse(options, &recipe);
    case TAKES_FORM:
        return check_form(options, id);
    case TAKES_PART:
        return options_read_part(options->spelled[id], options->given[id], &shard);
    }
    return 0;
}

int options_check(const struct options *options, unsigned command)
{
    for (enum option_id id = 0; id < OPTIONS; id++)
        if (options_has(options, id) && (option_table[id].commands & command) == 0)
            return refuse(options, id, command);
    for (enum option_id id = 0; id < OPTIONS; id++)
        if (options_has(options, id) && check_value(options, id) != 0)
            return EXIT_TROUBLE;
    return 0;
}
