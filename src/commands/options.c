#include "commands/options.h"

#include "commands/command.h"
#include "commands/key_options.h"
#include "commands/message.h"
#include "core/sizing.h"
#include "format/header.h"
#include "text/number.h"
#include "text/quote.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small enough to keep all sums far from overflow. */
#define MAX_LINE_MAX (sizeof(size_t) > 4 ? 0x1p40 : 0x1p30)
/* In whole days, so that messages can show it. */
#define TIME_MAX (FORGET_MAX - FORGET_MAX % 86400000)

#define B(member) OPTION_BIT(OPTION_##member)

const struct option_entry option_table[OPTIONS] = {
#define OPTION(member, its, ...)                                                                   \
    [OPTION_##member] = {.kind = TAKES_##its, offsetof(struct options, member), __VA_ARGS__},
#include "commands/option_rows.h"
#undef OPTION
};
_Static_assert(OPTIONS < 64, "options do not fit into a word");

/* The types of members, by kind: a row must not point to a member of another type. */
typedef bool value_NOTHING;
typedef const char *value_FILE, *value_FILTER, *value_FIELDS, *value_SEPARATOR, *value_PROFILE;
typedef uint64_t value_COUNT, value_SIZE, value_TIME, value_SEED;
typedef double value_RATE, value_NUMBER;
typedef const char *const *value_COMMAND;
typedef struct shard value_SHARD;
typedef struct patterns value_PATTERNS;

/* clang-format off */
#define OPTION(member, its, ...) \
    _Static_assert(_Generic(((struct options *)NULL)->member, value_##its: true), #member);
#include "commands/option_rows.h"
#undef OPTION
/* clang-format on */

/* --- parsing --- */

enum {
    OPERAND = 1, /* getopt_long returns this for an operand, */
    NAMES = 256  /* and numbers from here on for long options */
};

/* `tried`: without its value. */
static int unknown_option(const char *tried)
{
    const char *hint = habit_find(tried, FOR_ALL), *best = NULL;
    if (hint != NULL)
        return message("%s: unknown option (%s)", tried, hint);
    /* The shortest option whose name begins with what was written, or the most similar one. */
    const char *written = tried[1] == '-' ? tried + 2 : "";
    unsigned least = TOO_MANY;
    for (size_t i = 0; i < OPTIONS * SPELLINGS && strlen(written) >= 2; i++) {
        const char *spelling = option_table[i / SPELLINGS].spellings[i % SPELLINGS];
        if (spelling == NULL || !option_is_long(spelling))
            continue;
        const char *name = spelling + 2;
        bool begins = strncmp(name, written, strlen(written)) == 0;
        unsigned changes = begins ? 0 : habit_typo(written, name);
        if (changes < least || (begins && strlen(name) < strlen(best))) {
            least = changes;
            best = name;
        }
    }
    if (best != NULL)
        return message("%s: unknown option (did you mean --%s?)", tried, best);
    return message("%s: unknown option (see unseen --help)", tried);
}

/* Records the option that getopt_long found in `word` and returned as `got`. Returns 0, or
 * EXIT_TROUBLE after a message. */
static int record_option(struct options *options, char **argv, const char *word, int got)
{
    const char *spelled = NULL;
    char tried[64], quoted[QUOTE_MAX];
    enum option_id id = OPTIONS; /* unknown */
    int number = got == '?' || got == ':' ? optopt : got;
    for (int i = 0; i < OPTIONS * SPELLINGS && spelled == NULL; i++) {
        const char *spelling = option_table[i / SPELLINGS].spellings[i % SPELLINGS];
        if (spelling == NULL || (option_is_long(spelling) ? NAMES + i : spelling[1]) != number)
            continue;
        spelled = spelling;
        id = (enum option_id)(i / SPELLINGS);
    }
    /* What was tried, without a value. getopt_long accepts abbreviations; they are refused. */
    bool is_long = option_is_long(word);
    if (is_long)
        snprintf(tried, sizeof tried, "%.*s", (int)strcspn(word, "="), word);
    else
        snprintf(tried, sizeof tried, "-%c", optopt);
    /* cut -d, */
    if (id == OPTIONS && !is_long && word[1] == 'd' && word[2] == tried[1])
        return message("%s: -d takes no value (%s %s)", word, habit_find("-d", FOR_ALL),
                       quote_word(word + 2, quoted));
    if (id == OPTIONS || (is_long && strcmp(tried, spelled) != 0))
        return unknown_option(tried);
    /* Where there is no operand yet, this is the option. */
    if (strcmp(options->operands[0], "help") == 0 && (option_table[id].commands & FOR_HELP) == 0)
        return message("%s: not an option here (all options: unseen help all)", spelled);
    if (got == '?')
        return message("%s: takes no value (leave out %s)", spelled, strchr(word, '='));
    if (got == ':')
        return message("%s: needs a value (%s %s)", spelled, spelled, option_table[id].argument);
    /* CMD must be a word of its own. */
    if (id == OPTION_exec && optarg != argv[optind - 1])
        return message("%s: takes the rest of the line (unseen FILTER %s CMD [ARG]...)", spelled,
                       spelled);
    if (id == OPTION_exec)
        options->exec = (const char *const *)argv + optind - 1;
    if (id == OPTION_without && options->without.count <= RECIPE_PATTERNS_MAX)
        options->without.text[options->without.count++] = optarg;
    options->set |= OPTION_BIT(id);
    options->given[id] = optarg;
    options->spelled[id] = spelled;
    return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
    char letters[2 + 2 * SPELLINGS * OPTIONS + 1];
    struct option names[SPELLINGS * OPTIONS + 1];
    char *letter = letters;
    struct option *name = names;
    size_t n = 0;
    *options = (struct options){.operands = (const char **)argv + 1};
    /* 1. The options for getopt. A leading '-' makes it return operands in order, ':' makes it
     * print no errors. */
    *letter++ = '-';
    *letter++ = ':';
    for (int i = 0; i < OPTIONS * SPELLINGS; i++) {
        const char *spelling = option_table[i / SPELLINGS].spellings[i % SPELLINGS];
        bool takes = option_table[i / SPELLINGS].kind != TAKES_NOTHING;
        if (spelling == NULL)
            continue;
        if (option_is_long(spelling)) {
            *name++ = (struct option){spelling + 2, takes ? required_argument : no_argument, NULL,
                                      NAMES + i};
            continue;
        }
        *letter++ = spelling[1];
        if (takes)
            *letter++ = ':';
    }
    *letter = '\0';
    *name = (struct option){0};
    /* 2. The command line, to its end, -x or "--"; and what comes after "--". */
    while (options->exec == NULL) {
        int at = optind;
        int got = getopt_long(argc, argv, letters, names, NULL);
        if (got == -1 && (optind > at || at >= argc))
            break;
        if (got == -1) /* getopt_long of musl stops at "-", which is an operand */
            optarg = argv[optind++];
        if (got == -1 || got == OPERAND)
            options->operands[n++] = optarg;
        else if (record_option(options, argv, argv[at], got) != 0)
            return EXIT_TROUBLE;
    }
    options->first_is_literal = n == 0;
    while (options->exec == NULL && optind < argc)
        options->operands[n++] = argv[optind++];
    options->operands[n] = NULL;
    options->operand_count = n;
    return 0;
}

/* --- values --- */

int options_bad_value(const struct options *options, enum option_id id, const char *reason,
                      const char *expected)
{
    char quoted[QUOTE_MAX];
    return message("%s %s: %s (expected %s)", options->spelled[id],
                   quote_word(options->given[id], quoted), reason, expected);
}

static const struct {
    const char *none; /* the reason if parsing fails */
    enum number_kind kind;
} numbers[] = {
    [TAKES_COUNT] = {"not a count", NUMBER_COUNT},   [TAKES_SIZE] = {"not a size", NUMBER_SIZE},
    [TAKES_TIME] = {"not a time", NUMBER_TIME},      [TAKES_RATE] = {"not a rate", NUMBER_RATE},
    [TAKES_NUMBER] = {"not a number", NUMBER_PLAIN},
};

static int read_number(const struct options *options, enum option_id id, double *number)
{
    const struct option_entry *entry = &option_table[id];
    const char *given = options->given[id], *spelled = options->spelled[id];
    enum number_kind kind = numbers[entry->kind].kind;
    char from[NUMBER_TEXT], to[NUMBER_TEXT], expected[2 * NUMBER_TEXT + 40];
    *number = number_parse(given, kind);
    if (*number >= entry->least && *number <= entry->most)
        return 0;
    if (kind == NUMBER_TIME && !isnan(number_parse(given, NUMBER_PLAIN)))
        return message("%s %s: needs a unit (s, m, h, d or w: %sd for days)", spelled, given,
                       given);
    if (id == OPTION_window && !isnan(number_parse(given, NUMBER_TIME)))
        return message("%s %s: not a count (for a time: --forget-after %s)", spelled, given, given);
    if (*given == '=')
        return message("%s %s: %s (leave out the =: %s %s)", spelled, given,
                       numbers[entry->kind].none, spelled, given + 1);
    /* 0.1s, not 100ms. */
    const char *forms = kind == NUMBER_TIME                           ? ", as in 0.1s, 15m or 1d12h"
                        : kind == NUMBER_COUNT && entry->most >= 1e12 ? ", as in 1000000, 1e6 or 1M"
                                                                      : "";
    snprintf(expected, sizeof expected, "%s to %s%s", number_exact(entry->least, kind, from),
             number_exact(entry->most, kind, to), isnan(*number) ? forms : "");
    return options_bad_value(options, id, numbers[entry->kind].none, expected);
}

int options_read_shard(const char *taker, const char *text, struct shard *shard)
{
    const char *program = taker[0] == '-' ? "" : "unseen ";
    bool all = taker[0] != '-' && strchr(text, '/') == NULL;
    /* Numbers may begin with zeros (seq -w). */
    const char *at = text;
    *shard = (struct shard){0};
    if (!all && (at = number_digits(at, &shard->number)) != NULL)
        at = *at == '/' ? at + 1 : NULL;
    if (at != NULL)
        at = number_digits(at, &shard->count);
    if (at == NULL || *at != '\0')
        return message(
            "%s '%s': not a shard (expected I/N, such as %s%s 1/4; is a variable empty?)", taker,
            text, program, taker);
    if (shard->count == 0 || shard->count > SHARDS_MAX)
        return message("%s %s: not a count of shards (expected 1 to %d)", taker, text, SHARDS_MAX);
    if (shard->number == 0 && !all)
        return message("%s %s: shards are numbered from 1 (if ranks start at 0: %s%s "
                       "$((RANK+1))/%u)",
                       taker, text, program, taker, shard->count);
    if (shard->number > shard->count)
        return message("%s %s: no such shard (the last one is %u/%u)", taker, text, shard->count,
                       shard->count);
    return 0;
}

/* Parses the value of a given option into its member. Returns 0, or EXIT_TROUBLE after a
 * message. */
static int read_value(struct options *options, enum option_id id)
{
    void *member = (char *)options + option_table[id].target;
    const char *given = options->given[id], *spelled = options->spelled[id];
    bool lines = id == OPTION_append || id == OPTION_dropped;
    double number;
    switch (option_table[id].kind) {
    case TAKES_NOTHING:
        *(bool *)member = true;
        return 0;
    case TAKES_COMMAND:
        if (options->exec[0][0] == '\0')
            return message("%s '': empty command name (is a variable empty?)", spelled);
        return 0;
    case TAKES_FILE:
    case TAKES_FILTER:
        if (given[0] == '\0')
            return message("%s '': empty file name (is a variable empty?)", spelled);
        /* It does not mean standard output here, and is hardly the name of a file. */
        if (strcmp(given, "-") == 0)
            return message("%s -: not a file name (for a file of that name: ./-%s)", spelled,
                           lines ? "; for standard output: /dev/stdout" : "");
        *(const char **)member = given;
        return 0;
    case TAKES_COUNT:
    case TAKES_SIZE:
    case TAKES_TIME:
        if (read_number(options, id, &number) != 0)
            return EXIT_TROUBLE;
        *(uint64_t *)member = (uint64_t)number;
        return 0;
    case TAKES_RATE:
    case TAKES_NUMBER:
        return read_number(options, id, member);
    case TAKES_SEED:
        if (!number_parse_whole(given, member))
            return options_bad_value(options, id, "not a seed", "0 to 18446744073709551615");
        return 0;
    case TAKES_FIELDS:
    case TAKES_SEPARATOR:
    case TAKES_PROFILE:
        *(const char **)member = given;
        return key_options_check(options, id);
    case TAKES_PATTERNS: /* the member has them */
        return key_options_check(options, id);
    case TAKES_SHARD:
        return options_read_shard(spelled, given, member);
    }
    return 0;
}

/* --- what a command takes, and what options exclude and need --- */

const char *option_form(const struct option_entry *entry, char text[OPTION_FORM])
{
    const char *argument = entry->argument != NULL ? entry->argument : "";
    snprintf(text, OPTION_FORM, "%s%s%s", entry->spellings[0], *argument != '\0' ? " " : "",
             argument);
    return text;
}

/* Checks what an option excludes and needs. */
static int check_others(const struct options *options, enum option_id id)
{
    char form[OPTION_FORM];
    enum option_id other = 0;
    unsigned bit = options->asked->bit;
    const char *spelled = options->spelled[id];
    uint64_t given = options->set | (options->operand_count > 0 ? OPERAND_FILTER : 0);
    uint64_t excluded = option_table[id].excludes, needs = option_table[id].needs;
    for (other = 0; id == OPTION_like && other < OPTIONS; other++)
        if (option_table[other].describes && !option_table[other].beside_like)
            excluded |= OPTION_BIT(other);
    if ((excluded & given) != 0) {
        for (other = 0; (excluded & given & OPTION_BIT(other)) == 0; other++)
            ;
        return message("%s and %s: cannot be given together (%s)", spelled,
                       other < OPTIONS ? options->spelled[other] : "FILTER", option_table[id].why);
    }
    if (needs == 0 || (needs & given) != 0)
        return 0;
    if (needs == OPERAND_FILTER && bit == FOR_FILTER)
        return message("%s: needs a FILTER (%s %s)", spelled, command_usage(options->asked),
                       option_form(&option_table[id], form));
    /* An option that the command does not take is not needed; a missing FILTER is reported by
     * commands. */
    for (other = 0; other < OPTIONS; other++)
        if ((needs & OPTION_BIT(other)) != 0 && (option_table[other].commands & bit) != 0)
            break;
    if (other == OPTIONS)
        return 0;
    if (id == OPTION_json && options->fields != NULL)
        return message("--json: needs --summary (%s)", habit_find("--json", FOR_KEY));
    return message("%s: needs %s (add %s)", spelled, option_table[other].spellings[0],
                   option_form(&option_table[other], form));
}

int options_check(struct options *options)
{
    char list[256] = "";
    size_t length = 0;
    for (enum option_id id = 0; id < OPTIONS; id++) {
        const struct option_entry *entry = &option_table[id];
        if (!options_has(options, id) || (entry->commands & options->asked->bit) != 0)
            continue;
        const char *hint = habit_find(entry->spellings[0], options->asked->bit);
        if (hint != NULL)
            return message("%s: not an option here (%s)", options->spelled[id], hint);
        for (const struct command *command = command_table; command->name != NULL; command++)
            if ((command->bit & entry->commands) != 0 && length < sizeof list)
                length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                           length != 0 ? ", " : "",
                                           command->name[0] != '\0' ? command->name
                                                                    : "unseen FILTER");
        return message("%s: not an option here (it belongs to: %s)", options->spelled[id], list);
    }
    for (enum option_id id = 0; id < OPTIONS; id++)
        if (options_has(options, id) && read_value(options, id) != 0)
            return EXIT_TROUBLE;
    for (enum option_id id = 0; id < OPTIONS; id++)
        if (options_has(options, id) && check_others(options, id) != 0)
            return EXIT_TROUBLE;
    return 0;
}

/* --- options that describe a new filter --- */

enum option_id options_describing(const struct options *options)
{
    enum option_id id = 0;
    while (id < OPTIONS && !(options_has(options, id) && option_table[id].describes))
        id++;
    return id;
}

char *options_words(const struct options *options, unsigned commands)
{
    char *words = NULL, quoted[QUOTE_MAX];
    size_t length;
    FILE *to = open_memstream(&words, &length);
    if (to == NULL)
        return NULL;
    for (enum option_id id = 0; id < OPTIONS; id++) {
        if (!options_has(options, id) || (option_table[id].commands & commands) == 0 ||
            id == OPTION_exec)
            continue;
        unsigned times = id == OPTION_without ? options->without.count : 1;
        for (unsigned i = 0; i < times; i++) {
            const char *given = id == OPTION_without ? options->without.text[i]
                                                     : options->given[id];
            fprintf(to, " %s", options->spelled[id]);
            if (given != NULL)
                fprintf(to, " %s", quote_word(given, quoted));
        }
    }
    if (fclose(to) == 0)
        return words;
    free(words);
    return NULL;
}

char *options_command(const struct options *options, size_t operands)
{
    const char *name = options->asked->name;
    const char *const *exec = operands > 0 ? options->exec : NULL;
    char *text = NULL, *words = options_words(options, options->asked->bit), quoted[QUOTE_MAX];
    size_t length;
    FILE *to = words != NULL ? open_memstream(&text, &length) : NULL;
    if (to == NULL)
        goto done;
    fprintf(to, "unseen%s%s%s", name[0] != '\0' ? " " : "", name, words);
    for (size_t i = 0; i < operands; i++)
        fprintf(to, " %s%s", name[0] == '\0' && command_is_word(options->operands[i]) ? "./" : "",
                quote_file(options->operands[i], quoted));
    for (size_t i = 0; exec != NULL && exec[i] != NULL; i++)
        fprintf(to, "%s %s", i == 0 ? " -x" : "", quote_word(exec[i], quoted));
    if (fclose(to) != 0) {
        free(text);
        text = NULL;
    }
done:
    free(words);
    return text;
}
