/*
 * options - the command line: which options there are, which command takes them, and their values.
 *
 * One set of options for all commands, so that they may stand before or after the command's name.
 * getopt_long(3) reads them, told to return operands in order: so POSIXLY_CORRECT changes nothing.
 * The abbreviations it accepts are refused here. The rows themselves are in option_rows.h.
 */
#ifndef UNSEEN_COMMANDS_OPTIONS_H
#define UNSEEN_COMMANDS_OPTIONS_H

#include "core/shard.h"
#include "key/recipe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Commands as bits: who takes an option. */
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
/* FILTER, as if it were one more option. */
#define OPERAND_FILTER OPTION_BIT(OPTIONS)

/* What an option takes: how it is read, and what a shell may complete it to. */
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
    TAKES_PROFILE,   /* of --by */
    TAKES_COMMAND,   /* the rest of the line */
    TAKES_SHARD,     /* 1/4 */
};

/* Where help lists an option. */
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
    size_t target; /* where its value is in struct options */
    enum option_group group;
    unsigned commands;
    /* "--count", "-c": a long one first; NULL after the last */
    const char *spellings[SPELLINGS + 1];
    const char *argument; /* what help calls it; NULL: takes none */
    const char *example;  /* a value that it accepts */
    const char *brief;    /* in the short help, up to 23 characters; NULL: not there */
    const char *help;
    double least, most; /* of a number */
    bool describes;     /* it says what a new filter is to be, */
    bool beside_like;   /* and may be other than with the filter that --like names */
    uint64_t excludes;  /* options that it cannot be given with, */
    const char *why;    /* and why */
    uint64_t needs;     /* one of these must be given as well */
};

extern const struct option_entry option_table[OPTIONS];

static inline bool option_is_long(const char *spelling)
{
    return spelling[1] == '-';
}

/* Its letter, or its name if it has none. */
const char *option_letter(const struct option_entry *entry);

/* Members of struct options, by their kinds. What makes a key is in `recipe`. */
typedef bool value_NOTHING, value_FIELDS, value_SEPARATOR, value_PROFILE;
typedef const char *value_FILE, *value_FILTER;
typedef uint64_t value_COUNT, value_SIZE, value_TIME, value_SEED;
typedef double value_RATE, value_NUMBER;
typedef const char *const *value_COMMAND; /* CMD ARG..., NULL at the end */
typedef struct shard value_SHARD;

struct command;

struct options {
    /* The values, within their bounds; 0, NULL or false: not given. */
#define OPTION(member, kind, ...) value_##kind member;
#include "commands/option_rows.h"
#undef OPTION
    struct recipe recipe;         /* which part of a line is its key */
    uint64_t set;                 /* OPTION_BIT of each that was given */
    const char *given[OPTIONS];   /* as it was written, for messages: its value, */
    const char *spelled[OPTIONS]; /* and its name */
    const struct command *asked;  /* what is to be done */
    const char **operands;        /* NULL at the end */
    size_t operand_count;
    bool first_is_literal; /* "--" stood before the first operand: it is no command */
};

/* Parses argv[1..argc), and moves the operands to its front, where `operands` points. Once in a
 * process, as getopt has a state. No value is looked at yet. Returns 0, or EXIT_TROUBLE after a
 * message. */
int options_parse(struct options *options, int argc, char **argv);

/* For the command that is asked for: fills in the values. Returns 0; or EXIT_TROUBLE after a
 * message that says what is wrong with an option: that it belongs to another command, which values
 * it takes, what it excludes or needs. */
int options_check(struct options *options);

static inline bool options_has(const struct options *options, enum option_id id)
{
    return (options->set & OPTION_BIT(id)) != 0;
}

/* An option given that says what a new filter is to be; OPTIONS if there is none. */
enum option_id options_describing(const struct options *options);

/* The options that describe a new filter as words for a shell, each after a blank. To be freed;
 * NULL if memory is short. */
char *options_words(const struct options *options);

/* --- option_value.c: a text as a value of the right type --- */

/* Reads the value of an option that was given into its member. Returns 0, or EXIT_TROUBLE after a
 * message that says what is expected. */
int option_value_read(struct options *options, enum option_id id);

/* Reads I/N (core/shard.h). `taker` is what was given the text: "--shard"; or "shard", which
 * takes N as well, and then the part is 0. Returns as above. */
int option_value_shard(const char *taker, const char *text, struct shard *shard);

#endif
