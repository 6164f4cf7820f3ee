#include "commands/combinations.h"

#include "commands/message.h"

#define B(option) OPTION_BIT(OPTION_##option)
/* The operand, as if it were one more option. */
#define FILTER OPTION_BIT(OPTIONS)
#define DATA FILTER /* of plan, whose operands are what it reads */
_Static_assert(OPTIONS < 64, "options do not fit into a word");

#define MAKING (FOR_NEW_FILTER | FOR_PLANNED_FILTER)

/* What plan is told of data. */
#define FOR_DATA                                                                                   \
    (B(TRIM) | B(FIELDS) | B(SEPARATOR) | B(BY) | B(IGNORE_CASE) | B(ZERO_TERMINATED) |            \
     B(HEADER) | B(MAX_LINE) | B(THREADS))

#define ONE_WAY_TO_REMEMBER                                                                        \
    "-x, --pending and --durable: each says when lines are remembered (choose one)"
#define NEITHER(option)                                                                            \
    "-d and " option ": one works in memory only, the other needs a FILTER (leave one out)"
#define HOW_MANY_LINES "--bits-per-key: for how many lines? (add -n N)"

/* An error if all of `all` are given, at least one of `any` unless that is empty, and none of
 * `none`. The first that applies is said. */
/* clang-format off */
static const struct combination {
    unsigned where;
    uint64_t all, any, none;
    const char *error;
} combinations[] = {
    {FOR_FILTER, B(CREATE), 0, FILTER, "--create: needs a FILTER (unseen --create FILTER)"},
    {FOR_FILTER, B(COUNTING), 0, FILTER,
     "--counting: needs a FILTER (unseen create --counting FILTER)"},
    {FOR_FILTER, B(SHARD), 0, FILTER,
     "--shard: needs a FILTER (unseen create --shard I/N FILTER; to pick the lines of a part: "
     "unseen shard I/N)"},
    {FOR_MAKERS, B(SEED) | B(SECRET), 0, 0,
     "--seed and --secret: a secret takes the seed's place (leave one out)"},
    {FOR_FILTER, B(REPEATED) | B(EXEC), 0, 0, NEITHER("-x")},
    {FOR_FILTER, B(REPEATED) | B(PENDING), 0, 0, NEITHER("--pending")},
    {FOR_FILTER, B(REPEATED) | B(DURABLE), 0, 0, NEITHER("--durable")},
    {FOR_FILTER, B(REPEATED) | FILTER, 0, 0, "-d: works in memory only (unseen -d < FILE)"},
    {FOR_FILTER, B(REPEATED), B(WINDOW) | B(FORGET_AFTER), 0,
     "-d: remembers all lines (leave --window and --forget-after out)"},
    {FOR_FILTER, B(REPEATED) | B(DROPPED), 0, 0,
     "-d and --dropped: both are for repeats (leave one out)"},
    {FOR_FILTER, B(REPEATED) | B(SUMMARY), 0, 0,
     "-d and --summary: one prints the repeats that the other counts (leave one out)"},
    {FOR_FILTER, B(EXEC), 0, FILTER, "-x: needs a FILTER (unseen FILTER -x CMD ARG...)"},
    {FOR_FILTER, B(PENDING), 0, FILTER, "--pending: needs a FILTER (unseen --pending KEYS FILTER)"},
    {FOR_FILTER, B(DURABLE), 0, FILTER,
     "--durable: needs a FILTER (unseen --durable FILTER > OUT)"},
    {FOR_FILTER, B(EXEC), B(PENDING) | B(DURABLE), 0, ONE_WAY_TO_REMEMBER},
    {FOR_FILTER, B(PENDING) | B(DURABLE), 0, 0, ONE_WAY_TO_REMEMBER},
    {FOR_FILTER, B(EXEC) | B(APPEND), 0, 0,
     "-a and -x: lines go to CMD (to keep what CMD prints: >> FILE)"},

    {FOR_QUERY, B(TAG) | B(COUNT), 0, 0,
     "--tag and -c: one prints every line, the other none (leave one out)"},
    {FOR_QUERY, B(TAG) | B(QUIET), 0, 0,
     "--tag and -q: one prints every line, the other none (leave one out)"},
    {FOR_QUERY, B(TAG) | B(INVERT), 0, 0,
     "--tag and -v: --tag prints all lines, in or not (leave -v out)"},

    {FOR_POP, B(TRIES), 0, B(EXEC), "--tries: needs a command to try (add -x CMD)"},

    {FOR_MERGE, 0, 0, B(OUTPUT), "-o is missing (unseen merge -o OUT FILTER...)"},

    {FOR_SHARD, B(LIKE), RECIPE_OPTIONS, 0,
     "--like: the filter says what counts in a line (leave the other options for that out)"},

    {FOR_PLAN, B(CAPACITY) | DATA, 0, 0, "-n and FILE: both say how many lines (leave one out)"},
    {FOR_PLAN, B(WINDOW) | DATA, 0, 0,
     "--window and FILE: both say how many lines (leave one out)"},
    {FOR_PLAN, B(RATE) | B(SIZE) | DATA, 0, 0,
     "FILE, -p and --size: any two of them give the third (leave one out)"},
    {FOR_PLAN, B(RATE) | B(BITS_PER_KEY) | DATA, 0, 0,
     "FILE, -p and --bits-per-key: any two of them give the third (leave one out)"},
    {FOR_PLAN, 0, FOR_DATA, DATA,
     "plan: which FILE? (- is standard input; with -n leave out options about lines, as --by)"},
    {FOR_PLAN, 0, 0, B(CAPACITY) | B(SIZE) | B(BITS_PER_KEY) | B(WINDOW) | DATA,
     "plan: for how many lines? (unseen plan -n 1e9 -p 1e-4; or of a file: unseen plan FILE)"},

    {MAKING, B(SIZE) | B(BITS_PER_KEY), 0, 0,
     "--size and --bits-per-key: both give the size (leave one out)"},
    {FOR_NEW_FILTER, B(BITS_PER_KEY), 0, B(CAPACITY) | B(WINDOW), HOW_MANY_LINES},
    {FOR_PLANNED_FILTER, B(BITS_PER_KEY) | B(FORGET_AFTER), 0, B(CAPACITY) | B(WINDOW),
     HOW_MANY_LINES},
    {MAKING, B(WINDOW) | B(RATE) | B(SIZE), 0, 0,
     "--window, -p and --size: any two of them give the third (leave one out)"},
    {MAKING, B(CAPACITY) | B(RATE) | B(SIZE), 0, 0,
     "-n, -p and --size: any two of them give the third (leave one out)"},
    {MAKING, B(WINDOW) | B(RATE) | B(BITS_PER_KEY), 0, 0,
     "--window, -p and --bits-per-key: any two of them give the third (leave one out)"},
    {MAKING, B(RATE) | B(BITS_PER_KEY), 0, 0,
     "-n, -p and --bits-per-key: any two of them give the third (leave one out)"},
    {MAKING, B(WINDOW) | B(FORGET_AFTER), 0, 0,
     "--window and --forget-after: two ways to forget (leave one out)"},
    {MAKING, B(WINDOW) | B(COUNTING), 0, 0,
     "--window and --counting: lines cannot be removed from a window (leave one out)"},
    {MAKING, B(FORGET_AFTER) | B(COUNTING), 0, 0,
     "--forget-after and --counting: lines cannot be removed from a window (leave one out)"},
    {MAKING, B(FORGET_AFTER) | B(SIZE), 0, 0,
     "--forget-after and --size: how many lines come in a time is not known, so the file must grow "
     "(for a size that stays: --window N)"},
    {MAKING, B(WINDOW) | B(FIXED), 0, 0,
     "--window and --fixed: a window forgets instead of growing (leave one out)"},
    {MAKING, B(FORGET_AFTER) | B(FIXED), 0, 0,
     "--forget-after and --fixed: a window forgets instead of growing (leave one out)"},
    {MAKING, B(WINDOW) | B(CAPACITY), 0, 0,
     "--window and -n: both say how many lines (leave -n out)"},
    {MAKING, B(FIXED), 0, B(CAPACITY) | B(SIZE) | B(BITS_PER_KEY),
     "--fixed: how large? (add -n N or --size SIZE)"},
};
/* clang-format on */

int combinations_check(const struct options *options, unsigned where)
{
    uint64_t set = options->set | (options->operand_count > 0 ? FILTER : 0);
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++) {
        const struct combination *c = &combinations[i];
        if ((c->where & where) != 0 && (c->all & ~set) == 0 &&
            (c->any == 0 || (c->any & set) != 0) && (c->none & set) == 0)
            return message("%s", c->error);
    }
    return 0;
}
