/* options - see options.h. */
#include "commands/options.h"

#include "commands/command.h"
#include "commands/message.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const struct option_entry option_table[OPTIONS] = {
    {OPTION_CAPACITY, 'n', 0, "capacity", "N", FOR_MAKERS | FOR_PLAN,
     "make it for N distinct lines: 1000000, 1e9, 10M"},
    {OPTION_RATE, 'p', 0, "error-rate", "P", FOR_MAKERS | FOR_PLAN,
     "false-positive rate, 0.5..1e-12 (default 1e-6)"},
    {OPTION_SIZE, 0, 0, "size", "SIZE", FOR_MAKERS | FOR_PLAN,
     "size of the file, 64M, 2G, instead of -n or -p"},
    {OPTION_BITS_PER_KEY, 0, 0, "bits-per-key", "B", FOR_MAKERS | FOR_PLAN,
     "size in bits for each of -n lines"},
    {OPTION_HASHES, 0, 0, "hashes", "K", FOR_MAKERS | FOR_PLAN,
     "bits set for each line, as lines x fields"},
    {OPTION_SEED, 0, 0, "seed", "S", FOR_MAKERS,
     "seed of the hash, 64 bits (default 0)"},
    {OPTION_FIXED, 0, 0, "fixed", NULL, FOR_MAKERS | FOR_PLAN,
     "never grow; past N the rate rises, with a warning"},
    {OPTION_WINDOW, 0, 0, "window", "N", FOR_MAKERS | FOR_PLAN,
     "remember the last N lines, and forget older ones"},
    {OPTION_FORGET_AFTER, 0, 0, "forget-after", "TIME", FOR_MAKERS | FOR_PLAN,
     "forget lines after a time: 90s, 15m, 6h, 7d, 2w"},
    {OPTION_SLACK, 0, 0, "slack", "X", FOR_MAKERS | FOR_PLAN,
     "at most 1 + X times as many, as long (default 0.25)"},
    {OPTION_COUNTING, 0, 0, "counting", NULL, FOR_MAKERS | FOR_PLAN,
     "so that lines can be removed; four times the size"},
    {OPTION_STAGE, 0, 0, "stage", "SIZE", FOR_MAKERS | FOR_PLAN,
     "space where new lines gather before a large layer"},
    {OPTION_QUEUE, 0, 0, "queue", NULL, FOR_FILTER | FOR_CREATE | FOR_ADD,
     "with a queue beside it, for push and pop"},
    {OPTION_CREATE, 0, 0, "create", NULL, FOR_FILTER | FOR_ADD | FOR_PUSH,
     "make FILTER if there is none (implied by -n, -p)"},
    {OPTION_LIKE, 0, 0, "like", "FILTER", FOR_MAKERS,
     "make it as FILTER was made, to merge them later"},
    {OPTION_FORCE, 0, 0, "force", NULL, FOR_CREATE | FOR_MERGE,
     "replace a FILTER that exists"},
    {OPTION_ACCEPT_RATE, 0, 0, "accept-rate", NULL, FOR_MERGE,
     "merge though the rate comes out above P"},
    {OPTION_NULL, 'z', '0', "null", NULL, FOR_READERS | FOR_POP,
     "lines end with NUL, not newline, in and out"},
    {OPTION_OUTPUT, 'o', 0, "output", "FILE", FOR_FILTER | FOR_MERGE,
     "append to FILE, not standard output; merge: make it"},
    {OPTION_MAX_COUNT, 'm', 0, "max-count", "N", FOR_FILTER | FOR_QUERY | FOR_POP,
     "stop behind the Nth line printed or selected"},
    {OPTION_EXIT_STATUS, 'e', 0, "exit-status", NULL, FOR_FILTER,
     "exit with 1 if no line was new"},
    {OPTION_REPEATED, 'd', 0, "repeated", NULL, FOR_FILTER,
     "print lines that come again, once each"},
    {OPTION_EXEC, 'x', 0, "exec", "CMD ARG...", FOR_FILTER | FOR_POP,
     "hand lines to CMD; they are done if it exits 0"},
    {OPTION_PENDING, 0, 0, "pending", "FILE", FOR_FILTER,
     "write the keys to FILE, for a later commit"},
    {OPTION_DURABLE, 0, 0, "durable", NULL, FOR_FILTER | FOR_PUSH,
     "remember lines once the output is on disk"},
    {OPTION_WAIT, 0, 0, "wait", NULL, FOR_POP,
     "wait for a line while one is out with a worker"},
    {OPTION_INVERT, 'v', 0, "invert-match", NULL, FOR_QUERY,
     "select the lines that are not in"},
    {OPTION_COUNT, 'c', 0, "count", NULL, FOR_QUERY,
     "print only how many lines were selected"},
    {OPTION_QUIET, 'q', 0, "quiet", NULL, FOR_QUERY,
     "print nothing; stop at the first line selected"},
    {OPTION_TAG, 0, 0, "tag", NULL, FOR_QUERY,
     "print each line behind \"in\" or \"new\" and a TAB"},
    {OPTION_JSON, 0, 0, "json", NULL, FOR_STATS | FOR_PLAN,
     "one JSON object a line"},
    {OPTION_TABLE, 0, 0, "table", NULL, FOR_PLAN,
     "the classic table of rates"},
    {OPTION_ALLOW_NETWORK, 0, 0, "allow-network", NULL,
     FOR_FILTER | FOR_ADD | FOR_COMMIT | FOR_PUSH | FOR_REMOVE | FOR_MERGE,
     "write to a filter on NFS, SMB and their like"},
    {OPTION_MAX_LINE, 0, 0, "max-line", "SIZE", FOR_READERS | FOR_POP,
     "longest line allowed (default 1G)"},
    {OPTION_BUFFER_SIZE, 0, 0, "buffer-size", "SIZE", FOR_READERS,
     "bytes to read at a time (default 256K)"},
    {OPTION_JOBS, 'j', 0, "jobs", "N", FOR_READERS,
     "threads that may work (default 2, or 1)"},
    {OPTION_VERBOSE, 0, 0, "verbose", NULL,
     FOR_MAKERS | FOR_COMMIT | FOR_VERIFY | FOR_POP | FOR_REMOVE | FOR_MERGE,
     "say on standard error what was done"},
    {OPTION_HELP, 'h', 0, "help", NULL, FOR_ALL, "this help"},
    {OPTION_VERSION, 'V', 0, "version", NULL, FOR_ALL, "version and build"},
};
/* clang-format on */

static const struct option_entry *find_letter(char letter)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (option_table[i].letter == letter || option_table[i].second_letter == letter)
            return &option_table[i];
    return NULL;
}

static const struct option_entry *find_name(const char *name, size_t length)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (strlen(option_table[i].name) == length &&
            strncmp(option_table[i].name, name, length) == 0)
            return &option_table[i];
    return NULL;
}

unsigned options_distance(const char *a, const char *b, unsigned most)
{
    enum { LONGEST = 32 };
    unsigned row[LONGEST + 1];
    size_t columns = strlen(b);
    if (columns > LONGEST || strlen(a) > LONGEST)
        return most + 1;
    for (size_t j = 0; j <= columns; j++)
        row[j] = (unsigned)j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < columns; j++) {
            unsigned best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            if (row[j + 1] + 1 < best)
                best = row[j + 1] + 1;
            if (row[j] + 1 < best)
                best = row[j] + 1;
            row[j + 1] = best;
        }
    }
    return row[columns] <= most ? row[columns] : most + 1;
}

/* The option whose name begins with what was written, or is nearest to it. */
static const char *nearest_name(const char *written)
{
    const char *best = NULL;
    unsigned best_distance = 3;
    for (size_t i = 0; i < OPTIONS; i++) {
        const char *name = option_table[i].name;
        if (strlen(written) >= 2 && strncmp(name, written, strlen(written)) == 0)
            return name;
        unsigned distance = options_distance(written, name, 2);
        if (distance < best_distance) {
            best_distance = distance;
            best = name;
        }
    }
    return best;
}

static int unknown_name(const char *argument, size_t length)
{
    char written[64];
    snprintf(written, sizeof written, "%.*s", (int)(length < 60 ? length : 60), argument + 2);
    const char *nearest = nearest_name(written);
    if (nearest != NULL)
        return message("--%s: unknown option (did you mean --%s?)", written, nearest);
    return message("--%s: unknown option (see unseen --help)", written);
}

struct scan {
    int argc;
    char **argv;
    int at;
};

static void note(struct options *options, const struct option_entry *entry, const char *spelled,
                 const char *value)
{
    options->given[entry->id] = value;
    options->spelled[entry->id] = spelled;
}

/* -x takes all the rest. */
static int parse_exec(struct options *options, struct scan *scan, const char *spelled)
{
    options->given[OPTION_EXEC] = "";
    options->spelled[OPTION_EXEC] = spelled;
    if (scan->at + 1 == scan->argc)
        return message("%s%s: needs a command (unseen FILTER -x CMD ARG...)",
                       spelled[0] == '-' ? "" : "--", spelled);
    options->command = (const char *const *)scan->argv + scan->at + 1;
    scan->at = scan->argc;
    return 0;
}

static int parse_long(struct options *options, struct scan *scan)
{
    char *argument = scan->argv[scan->at];
    char *equals = strchr(argument, '=');
    size_t length = (equals != NULL ? (size_t)(equals - argument) : strlen(argument)) - 2;
    const struct option_entry *entry = find_name(argument + 2, length);
    if (entry == NULL)
        return unknown_name(argument, length);
    const char *spelled = entry->name;
    if (entry->id == OPTION_EXEC && equals == NULL)
        return parse_exec(options, scan, spelled);
    if (entry->id == OPTION_EXEC)
        return message("--exec: takes the rest of the line (unseen FILTER --exec CMD ARG...)");
    if (entry->argument == NULL) {
        if (equals != NULL)
            return message("--%s: takes no value (leave out %s)", entry->name, equals);
        note(options, entry, spelled, "");
    } else if (equals != NULL) {
        note(options, entry, spelled, equals + 1);
    } else {
        if (scan->at + 1 == scan->argc)
            return message("--%s: needs a value (--%s %s)", entry->name, entry->name,
                           entry->argument);
        note(options, entry, spelled, scan->argv[++scan->at]);
    }
    return 0;
}

static int parse_letters(struct options *options, struct scan *scan)
{
    const char *argument = scan->argv[scan->at];
    for (const char *letter = argument + 1; *letter != '\0'; letter++) {
        const struct option_entry *entry = find_letter(*letter);
        if (entry == NULL)
            return message("-%c: unknown option (see unseen --help)", *letter);
        char *spelled = options->letters[entry->id];
        spelled[0] = '-';
        spelled[1] = *letter;
        if (entry->argument == NULL) {
            note(options, entry, spelled, "");
            continue;
        }
        if (entry->id == OPTION_EXEC) {
            if (letter[1] != '\0')
                return message("-x: takes the rest of the line (unseen FILTER -x CMD ARG...)");
            return parse_exec(options, scan, spelled);
        }
        if (letter[1] != '\0') {
            note(options, entry, spelled, letter + 1);
        } else {
            if (scan->at + 1 == scan->argc)
                return message("-%c: needs a value (-%c %s)", *letter, *letter, entry->argument);
            note(options, entry, spelled, scan->argv[++scan->at]);
        }
        return 0;
    }
    return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
    struct scan scan = {argc, argv, 1};
    bool literal = false;
    memset(options, 0, sizeof *options);
    options->operands = calloc((size_t)argc + 1, sizeof *options->operands);
    if (options->operands == NULL)
        return message("%s", strerror(ENOMEM));
    for (; scan.at < argc; scan.at++) {
        const char *argument = argv[scan.at];
        int status = 0;
        if (literal || argument[0] != '-' || argument[1] == '\0') {
            if (options->operand_count == 0)
                options->first_is_literal = literal;
            options->operands[options->operand_count++] = argument;
        } else if (strcmp(argument, "--") == 0) {
            literal = true;
        } else if (argument[1] == '-') {
            status = parse_long(options, &scan);
        } else {
            status = parse_letters(options, &scan);
        }
        if (status != 0)
            return status;
    }
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

int options_check(const struct options *options, unsigned command)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option_entry *entry = &option_table[i];
        if (options->given[i] == NULL || (entry->commands & command) != 0)
            continue;
        const char *spelled = options->spelled[i];
        const char *dashes = spelled[0] == '-' ? "" : "--";
        if (command == FOR_FILTER && entry->commands == FOR_QUERY)
            return message("%s%s: belongs to query (unseen query %s%s FILTER)", dashes, spelled,
                           dashes, spelled);
        char list[256];
        list_commands(entry->commands, list, sizeof list);
        return message("%s%s: not an option here (it belongs to: %s)", dashes, spelled, list);
    }
    return 0;
}

/* --- values --- */

static int bad_value(const struct options *options, enum option_id id, const char *wanted)
{
    const char *spelled = options->spelled[id];
    return message("%s%s %s: not a value it can take (%s)", spelled[0] == '-' ? "" : "--", spelled,
                   options->given[id], wanted);
}

/* Decimal digits with point and exponent, as strtod(3) reads them, and nothing else that it would
 * accept (hexadecimal, "inf", blanks). *end is behind it; NULL if there is no number. */
static double parse_decimal(const char *text, const char **end)
{
    static const char digits[] = "0123456789";
    *end = NULL;
    if (strspn(text, digits) == 0 && !(text[0] == '.' && strspn(text + 1, digits) != 0))
        return 0;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return 0;
    char *stop;
    double value = strtod(text, &stop);
    *end = stop;
    return value;
}

struct suffix {
    const char *text;
    double factor;
};

static const struct suffix count_suffixes[] = {
    {"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {NULL, 0},
};

#define SECOND 1000.0
static const struct suffix time_suffixes[] = {
    {"s", SECOND},         {"m", 60 * SECOND},     {"h", 3600 * SECOND},
    {"d", 86400 * SECOND}, {"w", 604800 * SECOND}, {NULL, 0},
};

#define KI 1024.0
static const struct suffix size_suffixes[] = {
    {"", 1},
    {"k", KI},
    {"K", KI},
    {"M", KI *KI},
    {"G", KI *KI *KI},
    {"T", KI *KI *KI *KI},
    {"KiB", KI},
    {"MiB", KI *KI},
    {"GiB", KI *KI *KI},
    {"TiB", KI *KI *KI *KI},
    {"kB", 1e3},
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
    {NULL, 0},
};

/* What an option counts, by the word for its argument in option_table; the last is for all others. */
static const struct unit {
    const char *argument;
    const struct suffix *suffixes;
    const char *what, *as_in;
} units[] = {
    {"SIZE", size_suffixes, "bytes", "65536, 64K, 2G"},
    {"TIME", time_suffixes, "a time in milliseconds", "90s, 15m, 6h, 7d, 2w"},
    {NULL, count_suffixes, "a whole number", "1000000, 1e9, 10M"},
};

static const struct unit *unit_of(enum option_id id)
{
    const struct unit *unit = units;
    while (unit->argument != NULL && strcmp(unit->argument, option_table[id].argument) != 0)
        unit++;
    return unit;
}

static bool parse_whole(const char *text, const struct suffix *suffixes, double *number)
{
    const char *end;
    *number = parse_decimal(text, &end);
    while (end != NULL && suffixes->text != NULL && strcmp(suffixes->text, end) != 0)
        suffixes++;
    *number *= suffixes->factor;
    return end != NULL && suffixes->text != NULL && *number == floor(*number);
}

int options_whole(const struct options *options, enum option_id id, uint64_t least, uint64_t most,
                  uint64_t *value)
{
    char wanted[128];
    double number;
    const struct unit *unit = unit_of(id);
    if (!options_has(options, id))
        return 0;
    snprintf(wanted, sizeof wanted, "%s from %llu to %g, as in %s", unit->what,
             (unsigned long long)least, (double)most, unit->as_in);
    if (!parse_whole(options->given[id], unit->suffixes, &number) || number < (double)least ||
        number > (double)most)
        return bad_value(options, id, wanted);
    *value = (uint64_t)number;
    return 0;
}

int options_real(const struct options *options, enum option_id id, double least, double most,
                 double *value)
{
    char wanted[128];
    const char *end;
    if (!options_has(options, id))
        return 0;
    snprintf(wanted, sizeof wanted, "a number from %g to %g", least, most);
    double number = parse_decimal(options->given[id], &end);
    if (end == NULL || *end != '\0' || !(number >= least && number <= most))
        return bad_value(options, id, wanted);
    *value = number;
    return 0;
}

int options_seed(const struct options *options, enum option_id id, uint64_t *value)
{
    if (!options_has(options, id))
        return 0;
    const char *text = options->given[id];
    char *end;
    errno = 0;
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    unsigned long long number = strtoull(text, &end, hexadecimal ? 16 : 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
        return bad_value(options, id, "a number from 0 to 18446744073709551615");
    *value = number;
    return 0;
}

/* What has a use of its own for {}. */
static bool replaces_braces(const char *word)
{
    static const char *const programs[] = {"xargs", "parallel", "find"};
    const char *slash = strrchr(word, '/');
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(slash != NULL ? slash + 1 : word, programs[i]) == 0)
            return true;
    return false;
}

int options_check_exec(const struct options *options)
{
    const char *const *word = options->command;
    if (word == NULL)
        return 0;
    if (word[0][0] == '\0')
        return message("-x '': an empty name is not a command (is a variable empty?)");
    for (; *word != NULL && !replaces_braces(*word); word++)
        if (strcmp(*word, "{}") == 0)
            return message("-x: {}: lines go to CMD's standard input (to get them as arguments: -x "
                           "xargs CMD)");
    return 0;
}
