/*
 * options - the command line as a table: which options there are, and which command takes them.
 *
 * One set of options for all commands, so that they may stand before or after the command's name.
 * getopt_long(3) reads them, told to return operands in order: so POSIXLY_CORRECT changes nothing.
 * The abbreviations it accepts are refused here.
 */
#ifndef UNSEEN_COMMANDS_OPTIONS_H
#define UNSEEN_COMMANDS_OPTIONS_H

#include "core/shard.h"

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
    FOR_RECIPES = FOR_READERS | FOR_CREATE,
};

enum option_id {
    OPTION_FIELDS,
    OPTION_SEPARATOR,
    OPTION_BY,
    OPTION_IGNORE_CASE,
    OPTION_TRIM,
    OPTION_HEADER,
    OPTION_ZERO_TERMINATED,
    OPTION_APPEND,
    OPTION_DROPPED,
    OPTION_MAX_COUNT,
    OPTION_EXIT_STATUS,
    OPTION_REPEATED,
    OPTION_EXEC,
    OPTION_PENDING,
    OPTION_DURABLE,
    OPTION_CREATE,
    OPTION_CAPACITY,
    OPTION_RATE,
    OPTION_WINDOW,
    OPTION_FORGET_AFTER,
    OPTION_SIZE,
    OPTION_FIXED,
    OPTION_COUNTING,
    OPTION_LIKE,
    OPTION_SECRET,
    OPTION_SHARD,
    OPTION_FORCE,
    OPTION_OUTPUT,
    OPTION_UNTIL_DONE,
    OPTION_WAIT,
    OPTION_TRIES,
    OPTION_INVERT,
    OPTION_COUNT,
    OPTION_QUIET,
    OPTION_TAG,
    OPTION_JSON,
    OPTION_FILES,
    OPTION_BITS_PER_KEY,
    OPTION_HASHES,
    OPTION_SEED,
    OPTION_THREADS,
    OPTION_MAX_LINE,
    OPTION_ALLOW_NETWORK,
    OPTION_PROGRESS,
    OPTION_SUMMARY,
    OPTION_HELP,
    OPTION_VERSION,
    OPTIONS
};

#define OPTION_BIT(id) (UINT64_C(1) << (id))

/* What says which lines count as one. */
#define RECIPE_OPTIONS                                                                             \
    (OPTION_BIT(OPTION_FIELDS) | OPTION_BIT(OPTION_SEPARATOR) | OPTION_BIT(OPTION_BY) |            \
     OPTION_BIT(OPTION_IGNORE_CASE) | OPTION_BIT(OPTION_TRIM))

/* What says what a new filter is to be: for `create` and --create. */
#define DESCRIBING_OPTIONS                                                                         \
    (OPTION_BIT(OPTION_CAPACITY) | OPTION_BIT(OPTION_RATE) | OPTION_BIT(OPTION_SIZE) |             \
     OPTION_BIT(OPTION_BITS_PER_KEY) | OPTION_BIT(OPTION_HASHES) | OPTION_BIT(OPTION_SEED) |       \
     OPTION_BIT(OPTION_FIXED) | OPTION_BIT(OPTION_WINDOW) | OPTION_BIT(OPTION_FORGET_AFTER) |      \
     OPTION_BIT(OPTION_COUNTING) | OPTION_BIT(OPTION_LIKE) | OPTION_BIT(OPTION_SECRET) |           \
     OPTION_BIT(OPTION_SHARD) | RECIPE_OPTIONS)

/* What an option takes: how it is read, and what a shell may complete it to. */
enum argument_kind {
    TAKES_NOTHING,
    TAKES_FILE,
    TAKES_FILTER,
    TAKES_COUNT,     /* 1000000, 1e9, 10M */
    TAKES_SIZE,      /* 64K, 2G */
    TAKES_TIME,      /* 15m, 7d, 1d12h */
    TAKES_RATE,      /* 1e-6, 1% */
    TAKES_NUMBER,    /* 0.25 */
    TAKES_SEED,      /* 42, 0x2a: 64 bits */
    TAKES_FIELDS,    /* 1,3-4 */
    TAKES_SEPARATOR, /* a byte */
    TAKES_PROFILE,   /* of --by */
    TAKES_FORM,      /* "json", after a "=", or nothing */
    TAKES_COMMAND,   /* the rest of the line */
    TAKES_PART,      /* 1/4 */
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

enum { OPTION_SPELLINGS = 3 };

struct option_entry {
    enum option_group group;
    unsigned commands;
    /* "--count", "-c": a long one first; NULL after the last */
    const char *spellings[OPTION_SPELLINGS];
    enum argument_kind kind;
    const char *argument; /* what help calls it; NULL: takes none */
    const char *example;  /* a value that it accepts */
    const char *brief;    /* in the short help, up to 23 characters; NULL: not there */
    const char *help;
    double least, most; /* of a number */
};

extern const struct option_entry option_table[OPTIONS];

static inline bool option_is_long(const char *spelling)
{
    return spelling[1] == '-';
}

struct command;

struct options {
    uint64_t set;                 /* OPTION_BIT of each that was given */
    const char *given[OPTIONS];   /* its argument; NULL: not given, or takes none */
    const char *spelled[OPTIONS]; /* as it was written */
    const char *const *command;   /* CMD ARG... of -x, NULL at the end */
    const struct command *asked;  /* what is to be done */
    const char **operands;        /* NULL at the end */
    size_t operand_count;
    bool first_is_literal; /* "--" stood before the first operand: it is no command */
};

/* Parses argv[1..argc), and moves the operands to its front, where `operands` points. Once in a
 * process, as getopt has a state. Returns 0, or EXIT_TROUBLE after a message. */
int options_parse(struct options *options, int argc, char **argv);

/* Whether all options given belong to the command with this bit, and can take the values given;
 * else EXIT_TROUBLE after a message that says where they belong, or what is expected. */
int options_check(const struct options *options, unsigned command);

static inline bool options_has(const struct options *options, enum option_id id)
{
    return (options->set & OPTION_BIT(id)) != 0;
}

/* The value of an option, which options_check has passed; `otherwise`, or 0: not given. Whole
 * numbers: 1000000, 1e9, 10M, 2G (powers of 1000). A SIZE: 64K, 2M, 1G, 1GiB (powers of 1024), 1GB
 * (of 1000). A TIME, in milliseconds: 90s, 15m, 6h, 7d, 2w, 1d12h. Rates: 1e-6, 1%. */
uint64_t options_whole(const struct options *options, enum option_id id, uint64_t otherwise);
double options_real(const struct options *options, enum option_id id);
uint64_t options_seed(const struct options *options, uint64_t otherwise);

/* Reads I/N: decimal digits alone, also after zeros (seq -w). `taker` is what was given the text:
 * "--shard"; or "shard", which takes N as well, and then the part is 0. Returns 0, or EXIT_TROUBLE
 * after a message. */
int options_read_part(const char *taker, const char *text, struct shard *shard);

/* For "did you mean": whether fewer than *changes single-letter changes make `word` into `name`,
 * and then *changes is their number. */
bool options_is_nearer(const char *word, const char *name, unsigned *changes);

#endif
