#include "commands/options.h"

#include "commands/command.h"
#include "commands/message.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const struct option_entry option_table[OPTIONS] = {
    {OPTION_CAPACITY, FOR_MAKERS | FOR_PLAN, {"--capacity", "-n"}, "N",
     "make it for N distinct lines: 1000000, 1e9, 10M"},
    {OPTION_RATE, FOR_MAKERS | FOR_PLAN, {"--error-rate", "-p"}, "P",
     "false-positive rate, 0.5..1e-12 (default 1e-6)"},
    {OPTION_SIZE, FOR_MAKERS | FOR_PLAN, {"--size"}, "SIZE",
     "size of the file, 64M, 2G, instead of -n or -p"},
    {OPTION_BITS_PER_KEY, FOR_MAKERS | FOR_PLAN, {"--bits-per-key"}, "B",
     "size in bits for each of -n lines"},
    {OPTION_HASHES, FOR_MAKERS | FOR_PLAN, {"--hashes"}, "K",
     "bits set for each line, as lines x fields"},
    {OPTION_SEED, FOR_MAKERS, {"--seed"}, "S",
     "seed of the hash, 64 bits (default 0)"},
    {OPTION_FIXED, FOR_MAKERS | FOR_PLAN, {"--fixed"}, NULL,
     "never grow; past N the rate rises, with a warning"},
    {OPTION_WINDOW, FOR_MAKERS | FOR_PLAN, {"--window"}, "N",
     "remember the last N lines, and forget older ones"},
    {OPTION_FORGET_AFTER, FOR_MAKERS | FOR_PLAN, {"--forget-after"}, "TIME",
     "forget lines after a time: 90s, 15m, 6h, 7d, 2w"},
    {OPTION_SLACK, FOR_MAKERS | FOR_PLAN, {"--slack"}, "X",
     "at most 1 + X times as many, as long (default 0.25)"},
    {OPTION_COUNTING, FOR_MAKERS | FOR_PLAN, {"--counting"}, NULL,
     "so that lines can be removed; four times the size"},
    {OPTION_STAGE, FOR_MAKERS | FOR_PLAN, {"--stage"}, "SIZE",
     "space where new lines gather before a large layer"},
    {OPTION_QUEUE, FOR_FILTER | FOR_CREATE | FOR_ADD, {"--queue"}, NULL,
     "with a queue beside it, for push and pop"},
    {OPTION_TRIM, FOR_RECIPES, {"--trim"}, NULL,
     "blanks at the ends of a line do not count, nor CR"},
    {OPTION_FIELDS, FOR_RECIPES, {"--fields", "-f"}, "LIST",
     "only these fields count: 2, 1,3, 2-4, 3-"},
    {OPTION_SEPARATOR, FOR_RECIPES, {"--separator", "-t"}, "SEP",
     "a byte that ends fields: , or \\t (default: blanks)"},
    {OPTION_BY, FOR_RECIPES, {"--by"}, "PROFILE",
     "what counts: line, url, host or endpoint"},
    {OPTION_IGNORE_CASE, FOR_RECIPES, {"--ignore-case", "-i"}, NULL,
     "A to Z count as a to z"},
    {OPTION_CREATE, FOR_FILTER | FOR_ADD | FOR_PUSH, {"--create"}, NULL,
     "make FILTER if there is none (implied by -n, -p)"},
    {OPTION_LIKE, FOR_MAKERS, {"--like"}, "FILTER",
     "make it as FILTER was made, to merge them later"},
    {OPTION_FORCE, FOR_CREATE | FOR_MERGE, {"--force"}, NULL,
     "replace a FILTER that exists"},
    {OPTION_ACCEPT_RATE, FOR_MERGE, {"--accept-rate"}, NULL,
     "merge though the rate comes out above P"},
    {OPTION_NULL, FOR_READERS | FOR_POP, {"--null", "-z", "-0"}, NULL,
     "lines end with NUL, not newline, in and out"},
    {OPTION_HEADER, FOR_READERS, {"--header"}, NULL,
     "the first line of each FILE is a heading"},
    {OPTION_OUTPUT, FOR_FILTER | FOR_MERGE, {"--output", "-o"}, "FILE",
     "append to FILE, not standard output; merge: make it"},
    {OPTION_DROPPED, FOR_FILTER | FOR_ADD | FOR_PUSH, {"--dropped"}, "FILE",
     "append the lines that are held back to FILE"},
    {OPTION_MAX_COUNT, FOR_FILTER | FOR_QUERY | FOR_POP, {"--max-count", "-m"}, "N",
     "stop after the Nth line printed or selected"},
    {OPTION_EXIT_STATUS, FOR_FILTER, {"--exit-status", "-e"}, NULL,
     "exit with 1 if no line was new"},
    {OPTION_REPEATED, FOR_FILTER, {"--repeated", "-d"}, NULL,
     "print lines that come again, once each"},
    {OPTION_EXEC, FOR_FILTER | FOR_POP, {"--exec", "-x"}, "CMD ARG...",
     "hand lines to CMD; they are done if it exits 0"},
    {OPTION_PENDING, FOR_FILTER, {"--pending"}, "FILE",
     "write the keys to FILE, for a later commit"},
    {OPTION_DURABLE, FOR_FILTER | FOR_PUSH, {"--durable"}, NULL,
     "remember lines once the output is on disk"},
    {OPTION_WAIT, FOR_POP, {"--wait"}, NULL,
     "wait for a line while one is out with a worker"},
    {OPTION_INVERT, FOR_QUERY, {"--invert-match", "-v"}, NULL,
     "select the lines that are not in"},
    {OPTION_COUNT, FOR_QUERY, {"--count", "-c"}, NULL,
     "print only how many lines were selected"},
    {OPTION_QUIET, FOR_QUERY, {"--quiet", "-q"}, NULL,
     "print nothing; stop at the first line selected"},
    {OPTION_TAG, FOR_QUERY | FOR_KEY, {"--tag"}, NULL,
     "print what a line is, and a TAB, before it"},
    {OPTION_JSON, FOR_STATS | FOR_PLAN, {"--json"}, NULL,
     "one JSON object a line"},
    {OPTION_TABLE, FOR_PLAN, {"--table"}, NULL,
     "the classic table of rates"},
    {OPTION_ALLOW_NETWORK, FOR_FILTER | FOR_ADD | FOR_COMMIT | FOR_PUSH | FOR_REMOVE | FOR_MERGE,
     {"--allow-network"}, NULL,
     "write to a filter on NFS, SMB and their like"},
    {OPTION_MAX_LINE, FOR_READERS | FOR_POP, {"--max-line"}, "SIZE",
     "longest line allowed (default 1G)"},
    {OPTION_BUFFER_SIZE, FOR_READERS, {"--buffer-size"}, "SIZE",
     "bytes to read at a time (default 256K)"},
    {OPTION_JOBS, FOR_READERS, {"--jobs", "-j"}, "N",
     "threads that may work (default 2, or 1)"},
    {OPTION_SUMMARY, FOR_FILTER | FOR_ADD | FOR_PUSH, {"--summary"}, "[=json]",
     "say at the end how many lines were held back"},
    {OPTION_VERBOSE, FOR_MAKERS | FOR_COMMIT | FOR_VERIFY | FOR_POP | FOR_REMOVE | FOR_MERGE,
     {"--verbose"}, NULL,
     "say on standard error what was done"},
    {OPTION_HELP, FOR_ALL, {"--help", "-h"}, NULL, "this help"},
    {OPTION_VERSION, FOR_ALL, {"--version", "-V"}, NULL, "version and build"},
};
/* clang-format on */

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

/* What getopt_long returns for an operand; and, counted from here on, for the name of an option. */
enum { OPERAND = 1, NAMES = 256 };

/* A leading '-' asks for operands in order, ':' for silence about errors. */
static void describe(char *letters, struct option *names)
{
    *letters++ = '-';
    *letters++ = ':';
    for (int i = 0; i < OPTIONS; i++) {
        const struct option_entry *entry = &option_table[i];
        int takes = entry->argument == NULL     ? no_argument
                    : entry->argument[0] == '[' ? optional_argument
                                                : required_argument;
        names[i] = (struct option){entry->spellings[0] + 2, takes, NULL, NAMES + i};
        for (size_t j = 1; j < 3 && entry->spellings[j] != NULL; j++) {
            *letters++ = entry->spellings[j][1];
            if (takes == required_argument)
                *letters++ = ':';
        }
    }
    *letters = '\0';
    names[OPTIONS] = (struct option){0};
}

/* The option that getopt_long means by a number, and which of its spellings; NULL: none. */
static const struct option_entry *find(int number, const char **spelled)
{
    for (int i = 0; i < OPTIONS; i++) {
        const char *const *spellings = option_table[i].spellings;
        size_t j = number == NAMES + i ? 0 : 1;
        while (j > 0 && j < 3 && spellings[j] != NULL && spellings[j][1] != number)
            j++;
        *spelled = j < 3 ? spellings[j] : NULL;
        if (*spelled != NULL)
            return &option_table[i];
    }
    return NULL;
}

static int unknown_name(const char *word)
{
    char written[61];
    snprintf(written, sizeof written, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *nearest = nearest_name(written);
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
    const struct option_entry *entry = find(got == '?' || got == ':' ? optopt : got, &spelled);
    bool by_name = word[1] == '-';
    if (by_name && (entry == NULL || !is_whole(word, spelled)))
        return unknown_name(word);
    if (entry == NULL)
        return message("-%c: unknown option (see unseen --help)", optopt);
    if (got == '?')
        return message("%s: takes no value (leave out %s)", spelled, strchr(word, '='));
    bool exec = entry->id == OPTION_EXEC;
    if (got == ':' && exec)
        return message("%s: needs a command (unseen FILTER -x CMD ARG...)", spelled);
    if (got == ':')
        return message("%s: needs a value (%s %s)", spelled, spelled, entry->argument);
    /* CMD is a word by itself, and then the one before the next. */
    if (exec && optarg != argv[optind - 1])
        return message("%s: takes the rest of the line (unseen FILTER %s CMD ARG...)", spelled,
                       spelled);
    if (exec)
        options->command = (const char *const *)argv + optind - 1;
    options->set |= OPTION_BIT(entry->id);
    options->given[entry->id] = optarg;
    options->spelled[entry->id] = spelled;
    return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
    char letters[2 + 4 * OPTIONS + 1];
    struct option names[OPTIONS + 1];
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

int options_check(const struct options *options, unsigned command)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option_entry *entry = &option_table[i];
        if (!options_has(options, entry->id) || (entry->commands & command) != 0)
            continue;
        const char *spelled = options->spelled[i];
        if (command == FOR_FILTER && entry->commands == FOR_QUERY)
            return message("%s: belongs to query (unseen query %s FILTER)", spelled, spelled);
        char list[256];
        list_commands(entry->commands, list, sizeof list);
        return message("%s: not an option here (it belongs to: %s)", spelled, list);
    }
    return 0;
}

/* --- values --- */

static int bad_value(const struct options *options, enum option_id id, const char *wanted)
{
    return message("%s %s: not a value it can take (%s)", options->spelled[id], options->given[id],
                   wanted);
}

static bool is_hexadecimal(const char *text)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

/* Decimal digits with point and exponent, as strtod(3) reads them, and nothing else that it would
 * accept (hexadecimal, "inf", blanks). *end is after it; NULL if there is no number. */
static double parse_decimal(const char *text, const char **end)
{
    static const char digits[] = "0123456789";
    *end = NULL;
    if (strspn(text + (text[0] == '.'), digits) == 0 || is_hexadecimal(text))
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

/* clang-format off */
static const struct suffix count_suffixes[] = {
    {"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {NULL, 0},
};
static const struct suffix time_suffixes[] = { /* milliseconds */
    {"s", 1000}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}, {"w", 604800e3}, {NULL, 0},
};
static const struct suffix size_suffixes[] = {
    {"", 1}, {"k", 0x1p10}, {"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}, {"T", 0x1p40},
    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
    {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {NULL, 0},
};
/* clang-format on */

/* What an option counts, by the word for its argument in option_table; the last is for all
 * others. */
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
    unsigned long long number = strtoull(text, &end, is_hexadecimal(text) ? 16 : 10);
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
