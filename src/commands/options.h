/*
 * options - the command line: its options, the commands that take them, and their values.
 *
 * All commands share one set of options, so options may precede or follow the command.
 * getopt_long(3) reads them and returns operands in order, so that POSIXLY_CORRECT has no effect.
 * Abbreviations are refused. The rows of the table are in option_rows.h.
 */
#ifndef UNSEEN_COMMANDS_OPTIONS_H
#define UNSEEN_COMMANDS_OPTIONS_H

#include "core/shard.h"
#include "key/recipe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
#define COMMAND(NAME, ...) NUMBER_OF_##NAME,
#include "commands/command_rows.h"
#undef COMMAND
    COMMANDS
};

/* Commands as bits: which of them take an option. */
enum {
#define COMMAND(NAME, ...) FOR_##NAME = 1 << NUMBER_OF_##NAME,
#include "commands/command_rows.h"
#undef COMMAND
    FOR_ALL = (1 << COMMANDS) - 1,
    FOR_WRITERS = FOR_FILTER | FOR_ADD | FOR_PUSH,
    FOR_READERS = FOR_FILTER | FOR_ADD | FOR_QUERY | FOR_PUSH | FOR_REMOVE | FOR_PLAN | FOR_KEY |
                  FOR_SHARD,
    FOR_MAKERS = FOR_FILTER | FOR_CREATE | FOR_ADD | FOR_PUSH,
    FOR_KEY_OPTIONS = FOR_READERS | FOR_CREATE,
    FOR_SUMMARIES = FOR_FILTER | FOR_ADD | FOR_PUSH | FOR_POP | FOR_COMMIT | FOR_REMOVE |
                    FOR_MERGE | FOR_VERIFY | FOR_SHARD,
};

enum option_id {
#define OPTION(member, ...) OPTION_##member,
#include "commands/option_rows.h"
#undef OPTION
    OPTIONS
};

#define OPTION_BIT(id) (UINT64_C(1) << (id))
/* The operand FILTER, as one more option. */
#define OPERAND_FILTER OPTION_BIT(OPTIONS)

/* The value of an option: how it is parsed, and how shells complete it. */
enum option_kind {
    TAKES_NOTHING,
    TAKES_FILE,
    TAKES_FILTER,
    TAKES_COUNT,     /* 1000000, 1e9, 10M, 2G: powers of 1000 */
    TAKES_SIZE,      /* 64K, 2G, 1GiB: powers of 1024; 1GB: of 1000 */
    TAKES_TIME,      /* 15m, 7d, 1d12h: milliseconds */
    TAKES_RATE,      /* 1e-6, 1% */
    TAKES_NUMBER,    /* 0.25 */
    TAKES_SEED,      /* 42, 0x2a: 64 bits */
    TAKES_FIELDS,    /* 1,3-4 */
    TAKES_SEPARATOR, /* a byte */
    TAKES_PROFILE,   /* for --by */
    TAKES_PATTERNS,  /* as --without; the option may be repeated */
    TAKES_COMMAND,   /* the rest of the line */
    TAKES_SHARD,     /* 1/4 */
};

/* Under which heading help lists an option. */
enum option_group {
    GROUP_KEY,
    GROUP_LINES,
    GROUP_DELIVERY,
    GROUP_MAKING,
    GROUP_SINGLE,
    GROUP_EXPERT,
    GROUP_SAID,
    GROUPS
};

enum { SPELLINGS = 3 };

struct option_entry {
    enum option_kind kind;
    size_t target; /* offset of its member of struct options */
    enum option_group group;
    unsigned commands;
    /* "-c", "--count": letters first; NULL after the last */
    const char *spellings[SPELLINGS + 1];
    const char *argument; /* its name in help; NULL: no value */
    const char *brief;    /* for the short help, up to 20 characters; NULL: not listed */
    const char *help;
    double least, most; /* of a number */
    bool describes;     /* it describes a new filter */
    bool beside_like;   /* and may differ from the filter that --like names */
    uint64_t excludes;  /* options that cannot be given with it */
    const char *why;    /* the reason */
    uint64_t needs;     /* one of these must be given, too */
};

extern const struct option_entry option_table[OPTIONS];

static inline bool option_is_long(const char *spelling)
{
    return spelling[1] == '-';
}

/* "-x CMD ARG...": the option as help shows it. */
enum { OPTION_FORM = 32 };
const char *option_form(const struct option_entry *entry, char text[OPTION_FORM]);

struct command;

/* In the order given; of more than a recipe takes, the first that is too many is the last. */
struct patterns {
    const char *text[RECIPE_PATTERNS_MAX + 1];
    unsigned count;
};

struct options {
    /* The values, in the order of option_rows.h, checked against their bounds; 0, NULL or false:
     * not given. The key options are as they were given; key_options.c makes a recipe of them. */
    const char *fields;
    const char *separator;
    bool csv;
    bool jsonl;
    const char *by;
    bool ignore_case;
    bool trim;
    struct patterns without;
    bool header;
    bool zero_terminated;
    const char *append;
    const char *tee;
    const char *dropped;
    uint64_t max_count;
    bool tag;
    bool exit_status;
    bool repeated;
    const char *const *exec; /* CMD ARG..., NULL at the end */
    const char *pending;
    bool durable;
    bool create;
    uint64_t capacity;
    double rate;
    uint64_t window;
    uint64_t forget_after; /* milliseconds */
    uint64_t size;         /* bytes */
    bool fixed;
    bool counting;
    const char *like;
    bool secret;
    struct shard shard;
    bool force;
    const char *output;
    bool until_done;
    uint64_t wait; /* milliseconds */
    uint64_t tries;
    bool failed;
    bool invert_match;
    bool count;
    bool quiet;
    const char *files;
    double bits_per_key;
    uint64_t hashes;
    uint64_t seed;
    uint64_t threads;
    uint64_t max_line;
    bool allow_network;
    bool progress;
    bool summary;
    bool json;
    bool help;
    bool version;

    uint64_t set;                 /* OPTION_BIT of each given option */
    const char *given[OPTIONS];   /* its value as given, or the last one, for messages */
    const char *spelled[OPTIONS]; /* its name as given */
    const struct command *asked;  /* the command */
    const char **operands;        /* NULL at the end */
    size_t operand_count;
    bool first_is_literal; /* "--" precedes the first operand: that is no command */
};

/* Parses argv[1..argc) except the values, and moves the operands to its front, where `operands`
 * points. To be called once per process, because getopt keeps state. Returns 0, or EXIT_TROUBLE
 * after a message. */
int options_parse(struct options *options, int argc, char **argv);

/* Parses the values, and checks that the command takes the options, and what they exclude and need.
 * Returns 0, or EXIT_TROUBLE after a message. */
int options_check(struct options *options);

static inline bool options_has(const struct options *options, enum option_id id)
{
    return (options->set & OPTION_BIT(id)) != 0;
}

/* The first given option that describes a new filter; OPTIONS if none is given. */
enum option_id options_describing(const struct options *options);

/* The given options that one of these commands (FOR_...) takes, except -x, quoted for a shell, each
 * after a blank. The caller frees the string. NULL if there is no memory. */
char *options_words(const struct options *options, unsigned commands);

/* The command as it was given, up to this many operands: "unseen add -f 1 FILTER"; and with them,
 * -x CMD. Returns as above. */
char *options_command(const struct options *options, size_t operands);

/* Says that the value of a given option is wrong. Returns EXIT_TROUBLE. */
int options_bad_value(const struct options *options, enum option_id id, const char *reason,
                      const char *expected);

/* Reads I/N (core/shard.h). `taker` is what was given the text: "--shard"; or "shard", which takes
 * N as well, and then the part is 0. Returns 0, or EXIT_TROUBLE after a message. */
int options_read_shard(const char *taker, const char *text, struct shard *shard);

#endif
