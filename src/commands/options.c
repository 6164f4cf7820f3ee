#include "commands/options.h"

#include "commands/command.h"
#include "commands/habits.h"
#include "commands/message.h"
#include "core/sizing.h"
#include "format/header.h"
#include "text/quote.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small enough to keep all sums far from overflow. */
#define MAX_LINE_MAX (sizeof(size_t) > 4 ? 0x1p40 : 0x1p30)
/* In whole days, so that messages can show it. */
#define TIME_MAX (FORGET_MAX - FORGET_MAX % 86400000)

/* Only numbers have bounds, and few options exclude others. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define B(member) OPTION_BIT(OPTION_##member)

const struct option_entry option_table[OPTIONS] = {
#define OPTION(member, kind, ...)                                                                  \
    [OPTION_##member] = {TAKES_##kind, offsetof(struct options, member), __VA_ARGS__},
#include "commands/option_rows.h"
#undef OPTION
};
_Static_assert(OPTIONS < 64, "options do not fit into a word");

#pragma GCC diagnostic pop

/* The shortest option whose name begins with `written`, or the most similar one; or NULL. */
static const char *nearest_name(const char *written)
{
    const char *best = NULL;
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
    return best;
}

/* --- parsing --- */

enum {
    OPERAND = 1, /* getopt_long returns this for an operand, */
    NAMES = 256  /* and numbers from here on for long options */
};

/* A leading '-' makes getopt return operands in order, ':' makes it print no errors. */
static void describe_to_getopt(char *letters, struct option *names)
{
    *letters++ = '-';
    *letters++ = ':';
    for (int i = 0; i < OPTIONS; i++) {
        const struct option_entry *entry = &option_table[i];
        int takes = entry->kind == TAKES_NOTHING ? no_argument : required_argument;
        for (int j = 0; j < SPELLINGS && entry->spellings[j] != NULL; j++) {
            const char *spelling = entry->spellings[j];
            if (option_is_long(spelling)) {
                *names++ = (struct option){spelling + 2, takes, NULL, NAMES + i * SPELLINGS + j};
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

/* The option for a number that getopt_long returned, and its spelling; OPTIONS: none. */
static enum option_id find(int number, const char **spelled)
{
    for (int i = 0; i < OPTIONS * SPELLINGS; i++) {
        const char *spelling = option_table[i / SPELLINGS].spellings[i % SPELLINGS];
        if (spelling == NULL || (option_is_long(spelling) ? NAMES + i : spelling[1]) != number)
            continue;
        *spelled = spelling;
        return (enum option_id)(i / SPELLINGS);
    }
    return OPTIONS;
}

/* `tried`: without its value. */
static int unknown_option(const char *tried)
{
    const char *hint = habit_find(tried, FOR_ALL);
    const char *nearest = tried[1] == '-' ? nearest_name(tried + 2) : NULL;
    if (hint != NULL)
        return message("%s: unknown option (%s)", tried, hint);
    if (nearest != NULL)
        return message("%s: unknown option (did you mean --%s?)", tried, nearest);
    return message("%s: unknown option (see unseen --help)", tried);
}

/* getopt_long accepts abbreviations. */
static bool is_whole(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

/* Records the option that getopt_long found in `word` and returned as `got`. Returns 0, or
 * EXIT_TROUBLE after a message. */
static int take(struct options *options, char **argv, const char *word, int got)
{
    const char *spelled = NULL;
    char tried[64], quoted[QUOTE_MAX];
    enum option_id id = find(got == '?' || got == ':' ? optopt : got, &spelled);
    bool is_long = option_is_long(word);
    if (is_long)
        snprintf(tried, sizeof tried, "%.*s", (int)strcspn(word, "="), word);
    else
        snprintf(tried, sizeof tried, "-%c", optopt);
    /* cut -d, */
    if (id == OPTIONS && !is_long && word[1] == 'd' && word[2] == tried[1])
        return message("%s: -d takes no value (%s %s)", word, habit_find("-d", FOR_ALL),
                       quote_word(word + 2, quoted));
    if (id == OPTIONS || (is_long && !is_whole(word, spelled)))
        return unknown_option(tried);
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
    options->set |= OPTION_BIT(id);
    options->given[id] = optarg;
    options->spelled[id] = spelled;
    return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
    char letters[2 + 2 * SPELLINGS * OPTIONS + 1];
    struct option names[SPELLINGS * OPTIONS + 1];
    size_t n = 0;
    *options = (struct options){.operands = (const char **)argv + 1};
    describe_to_getopt(letters, names);
    while (options->exec == NULL) {
        int at = optind;
        int got = getopt_long(argc, argv, letters, names, NULL);
        if (got == -1 && (optind > at || at >= argc))
            break;
        if (got == -1) /* getopt_long of musl stops at "-", which is an operand */
            optarg = argv[optind++];
        if (got == -1 || got == OPERAND)
            options->operands[n++] = optarg;
        else if (take(options, argv, argv[at], got) != 0)
            return EXIT_TROUBLE;
    }
    options->first_is_literal = n == 0;
    while (options->exec == NULL && optind < argc)
        options->operands[n++] = argv[optind++];
    options->operands[n] = NULL;
    options->operand_count = n;
    return 0;
}

/* --- options of other commands --- */

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

static int refuse(const struct options *options, enum option_id id)
{
    char list[256];
    const char *spelled = options->spelled[id];
    const char *hint = habit_find(option_table[id].spellings[0], options->asked->bit);
    list_commands(option_table[id].commands, list, sizeof list);
    if (hint != NULL)
        return message("%s: not an option here (%s)", spelled, hint);
    return message("%s: not an option here (it belongs to: %s)", spelled, list);
}

/* --- options that exclude or need others --- */

/* The given options, and FILTER. */
static uint64_t all_given(const struct options *options)
{
    return options->set | (options->operand_count > 0 ? OPERAND_FILTER : 0);
}

static uint64_t excluded_by(enum option_id id)
{
    uint64_t excluded = option_table[id].excludes;
    for (enum option_id other = 0; id == OPTION_like && other < OPTIONS; other++)
        if (option_table[other].describes && !option_table[other].beside_like)
            excluded |= OPTION_BIT(other);
    return excluded;
}

static int check_excluded(const struct options *options, enum option_id id)
{
    uint64_t both = excluded_by(id) & all_given(options);
    enum option_id other = 0;
    if (both == 0)
        return 0;
    while ((both & OPTION_BIT(other)) == 0)
        other++;
    return message("%s and %s: cannot be given together (%s)", options->spelled[id],
                   other < OPTIONS ? options->spelled[other] : "FILTER", option_table[id].why);
}

/* "-x CMD ARG...". */
static const char *form_of(enum option_id id, char text[64])
{
    const struct option_entry *entry = &option_table[id];
    const char *argument = entry->argument != NULL ? entry->argument : "";
    snprintf(text, 64, "%s%s%s", entry->spellings[0], argument[0] != '\0' ? " " : "", argument);
    return text;
}

/* An option that the command does not take is not needed; a missing FILTER is reported by
 * commands. */
static int check_needed(const struct options *options, enum option_id id)
{
    char form[64];
    unsigned bit = options->asked->bit;
    uint64_t needs = option_table[id].needs;
    if (needs == 0 || (needs & all_given(options)) != 0)
        return 0;
    if (needs == OPERAND_FILTER && bit == FOR_FILTER)
        return message("%s: needs a FILTER (%s %s)", options->spelled[id],
                       command_usage(options->asked), form_of(id, form));
    for (enum option_id other = 0; other < OPTIONS; other++) {
        if ((needs & OPTION_BIT(other)) == 0 || (option_table[other].commands & bit) == 0)
            continue;
        if (id == OPTION_json && options->fields != NULL)
            return message("--json: needs --summary (%s)", habit_find("--json", FOR_KEY));
        return message("%s: needs %s (add %s)", options->spelled[id],
                       option_table[other].spellings[0], form_of(other, form));
    }
    return 0;
}

int options_check(struct options *options)
{
    for (enum option_id id = 0; id < OPTIONS; id++)
        if (options_has(options, id) && (option_table[id].commands & options->asked->bit) == 0)
            return refuse(options, id);
    for (enum option_id id = 0; id < OPTIONS; id++)
        if (options_has(options, id) && option_value_read(options, id) != 0)
            return EXIT_TROUBLE;
    for (enum option_id id = 0; id < OPTIONS; id++)
        if (options_has(options, id) &&
            (check_excluded(options, id) != 0 || check_needed(options, id) != 0))
            return EXIT_TROUBLE;
    options->recipe.syntax = options->csv     ? SYNTAX_CSV
                             : options->jsonl ? SYNTAX_JSONL
                                              : SYNTAX_FIELDS;
    options->recipe.trim = options->trim;
    options->recipe.fold = options->ignore_case;
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
    for (enum option_id id = 0; id < OPTIONS && to != NULL; id++) {
        if (!options_has(options, id) || (option_table[id].commands & commands) == 0 ||
            id == OPTION_exec)
            continue;
        fprintf(to, " %s", options->spelled[id]);
        if (options->given[id] != NULL)
            fprintf(to, " %s", quote_word(options->given[id], quoted));
    }
    if (to != NULL && fclose(to) == 0)
        return words;
    free(words);
    return NULL;
}

char *options_command(const struct options *options, size_t operands)
{
    const char *name = options->asked->name;
    char *text = NULL, *words = options_words(options, options->asked->bit), quoted[QUOTE_MAX];
    size_t length;
    FILE *to = words != NULL ? open_memstream(&text, &length) : NULL;
    if (to != NULL)
        fprintf(to, "unseen%s%s%s", name[0] != '\0' ? " " : "", name, words);
    free(words);
    for (size_t i = 0; to != NULL && i < operands; i++)
        fprintf(to, " %s%s", name[0] == '\0' && command_is_word(options->operands[i]) ? "./" : "",
                quote_file(options->operands[i], quoted));
    for (size_t i = 0;
         to != NULL && operands > 0 && options->exec != NULL && options->exec[i] != NULL; i++)
        fprintf(to, "%s %s", i == 0 ? " -x" : "", quote_word(options->exec[i], quoted));
    if (to != NULL && fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}
