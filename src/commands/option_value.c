/* option_value - parses the values of options. */
#include "commands/message.h"
#include "commands/options.h"
#include "text/number.h"
#include "text/quote.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- messages --- */

static int bad_value(const struct options *options, enum option_id id, const char *reason,
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

static int bad_number(const struct options *options, enum option_id id)
{
    const struct option_entry *entry = &option_table[id];
    enum number_kind kind = numbers[entry->kind].kind;
    char from[NUMBER_TEXT], to[NUMBER_TEXT], expected[2 * NUMBER_TEXT + 40];
    /* 0.1s, not 100ms. */
    bool odd = kind == NUMBER_TIME && isnan(number_parse(options->given[id], kind));
    if (kind == NUMBER_TIME && !isnan(number_parse(options->given[id], NUMBER_PLAIN)))
        return message("%s %s: needs a unit (s, m, h, d or w: %sd for days)", options->spelled[id],
                       options->given[id], options->given[id]);
    if (id == OPTION_window && !isnan(number_parse(options->given[id], NUMBER_TIME)))
        return message("%s %s: not a count (for a time: --forget-after %s)", options->spelled[id],
                       options->given[id], options->given[id]);
    snprintf(expected, sizeof expected, "%s to %s%s", number_exact(entry->least, kind, from),
             number_exact(entry->most, kind, to), odd ? ", as in 0.1s, 15m or 1d12h" : "");
    return bad_value(options, id, numbers[entry->kind].none, expected);
}

/* --- kinds of values --- */

static int read_number(struct options *options, enum option_id id, double *number)
{
    const struct option_entry *entry = &option_table[id];
    *number = number_parse(options->given[id], numbers[entry->kind].kind);
    return *number >= entry->least && *number <= entry->most ? 0 : bad_number(options, id);
}

/* "-" is refused: it does not mean standard output here, and is hardly the name of a file. */
static int read_name(struct options *options, enum option_id id, const char **name)
{
    const char *spelled = options->spelled[id];
    bool lines = id == OPTION_append || id == OPTION_dropped;
    *name = options->given[id];
    if (**name == '\0')
        return message("%s '': empty file name (is a variable empty?)", spelled);
    if (strcmp(*name, "-") == 0)
        return message("%s -: not a file name (for a file of that name: ./-%s)", spelled,
                       lines ? "; for standard output: /dev/stdout" : "");
    return 0;
}

typedef const char *recipe_parser(struct recipe *recipe, const char *text, const char **wanted);

static int read_key(struct options *options, enum option_id id, bool *given, recipe_parser *parse)
{
    const char *expected;
    *given = true;
    const char *reason = parse(&options->recipe, options->given[id], &expected);
    return reason == NULL ? 0 : bad_value(options, id, reason, expected);
}

int option_value_fields(const struct options *options, struct recipe *recipe)
{
    const char *expected;
    const char *reason = options->fields != NULL
                             ? recipe_parse_fields(recipe, options->fields, &expected)
                             : NULL;
    return reason == NULL ? 0 : bad_value(options, OPTION_fields, reason, expected);
}

int option_value_shard(const char *taker, const char *text, struct shard *shard)
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

int option_value_read(struct options *options, enum option_id id)
{
    void *target = (char *)options + option_table[id].target;
    double number;
    switch (option_table[id].kind) {
    case TAKES_NOTHING:
        *(bool *)target = true;
        return 0;
    case TAKES_COMMAND:
        if (options->exec[0][0] == '\0')
            return message("%s '': empty command name (is a variable empty?)",
                           options->spelled[id]);
        return 0;
    case TAKES_FILE:
    case TAKES_FILTER:
        return read_name(options, id, target);
    case TAKES_COUNT:
    case TAKES_SIZE:
    case TAKES_TIME:
        if (read_number(options, id, &number) != 0)
            return EXIT_TROUBLE;
        *(uint64_t *)target = (uint64_t)number;
        return 0;
    case TAKES_RATE:
    case TAKES_NUMBER:
        return read_number(options, id, target);
    case TAKES_SEED:
        if (!number_parse_whole(options->given[id], target))
            return bad_value(options, id, "not a seed", "0 to 18446744073709551615");
        return 0;
    case TAKES_FIELDS:
        *(const char **)target = options->given[id];
        return 0;
    case TAKES_SEPARATOR:
        return read_key(options, id, target, recipe_parse_separator);
    case TAKES_PROFILE:
        return read_key(options, id, target, recipe_parse_profile);
    case TAKES_SHARD:
        return option_value_shard(options->spelled[id], options->given[id], target);
    }
    return 0;
}
