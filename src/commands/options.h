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

/* Commands as bits: which of them take an option. */
enum {
    FOR_FILTER = 1,
    FOR_CREATE = 2,
    FOR_ADD = 4,
    FOR_QUERY = 8,
    FOR_STATS = 16,
    FOR_PLAN = 32,
    FOR_VERIFY = 64,
    FOR_HELP = 128,
    FOR_COMMIT = 256,
    FOR_PUSH = 512,
    FOR_POP = 1024,
    FOR_REMOVE = 2048,
    FOR_MERGE = 4096,
    FOR_KEY = 8192,
    FOR_SHARD = 16384,
    FOR_ALL = 32767,
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
    size_t target; /* offset of its value in struct options */
    enum option_group group;
    unsigned commands;
    /* "-c", "--count": letters first; NULL after the last */
    const char *spellings[SPELLINGS + 1];
    const char *argument; /* its name in help; NULL: no value */
    const char *brief;    /* for the short help, up to 23 characters; NULL: not listed */
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

/* The types of members of struct options, by kind. Key options are in `recipe`, save -f, which
 * depends on the syntax of the filter. */
typedef bool value_NOTHING, value_SEPARATOR, value_PROFILE;
typedef const char *value_FILE, *value_FILTER, *value_FIELDS;
typedef uint64_t value_COUNT, value_SIZE, value_TIME, value_SEED;
typedef double value_RATE, value_NUMBER;
typedef const char *const *value_COMMAND; /* CMD ARG..., NULL at the end */
typedef struct shard value_SHARD;

struct command;

struct options {
    /* The values, checked against their bounds; 0, NULL or false: not given. */
#define OPTION(member, kind, ...) value_##kind member;
#include "commands/option_rows.h"
#undef OPTION
    struct recipe recipe;         /* how a line becomes its key */
    uint64_t set;                 /* OPTION_BIT of each given option */
    const char *given[OPTIONS];   /* its value as given, for messages */
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

/* The command as it was given, up to so many operands: "unseen add -f 1 FILTER"; and with them, -x
 * CMD. Returns as above. */
char *options_command(const struct options *options, size_t operands);

/* --- option_value.c --- */

/* Parses the value of a given option into its member. Returns 0, or EXIT_TROUBLE after a
 * message. */
int option_value_read(struct options *options, enum option_id id);

/* Parses the value of -f, if given, for the recipe's syntax. Returns as above. */
int option_value_fields(const struct options *options, struct recipe *recipe);

/* Reads I/N (core/shard.h). `taker` is what was given the text: "--shard"; or "shard", which
 * takes N as well, and then the part is 0. Returns as above. */
int option_value_shard(const char *taker, const char *text, struct shard *shard);

#endif
