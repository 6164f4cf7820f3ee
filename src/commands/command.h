/*
 * command - the table of commands, for dispatch, help and suggestions.
 */
#ifndef UNSEEN_COMMANDS_COMMAND_H
#define UNSEEN_COMMANDS_COMMAND_H

#include "commands/options.h"

/* The operands of a command, for completion in shells. */
enum operand_kind {
    OPERANDS_FILTER,
    OPERANDS_FILTERS,
    OPERANDS_FILTER_FILES, /* FILTER [FILE...] */
    OPERANDS_FILES,
    OPERANDS_COMMAND, /* a command's name */
};

struct command {
    const char *name; /* "" for the plain form */
    unsigned bit;     /* FOR_..., in options.h */
    enum operand_kind operands;
    const char *group; /* title over it and the next ones in the short help; NULL: as before */
    const char *synopsis, *other; /* how it is called; a second way, or NULL */
    const char *summary;
    const char *notes; /* more lines of its help; may be NULL */
    const char *also;  /* other words for it, each between blanks */
    /* options->operands does not include the name. Returns the exit status. */
    int (*run)(const struct options *options);
};

/* The plain form comes first; the last entry has no name (NULL). */
extern const struct command command_table[];

int command_filter(const struct options *options);
int command_create(const struct options *options);
int command_add(const struct options *options);
int command_query(const struct options *options);
int command_stats(const struct options *options);
int command_plan(const struct options *options);
int command_commit(const struct options *options);
int command_merge(const struct options *options);
int command_verify(const struct options *options);
int command_push(const struct options *options);
int command_pop(const struct options *options);
int command_remove(const struct options *options);
int command_key(const struct options *options);
int command_shard(const struct options *options);
int command_help(const struct options *options);

/* Whether a word has the form of a command, [a-z][a-z-]*. Such a first word is a command, known or
 * not, whatever files there are: so a script means the same in every directory. */
bool command_is_word(const char *word);

const struct command *command_find(const char *name);

/* Its usage with a FILTER. */
const char *command_usage(const struct command *command);

/* Says that there is no such command, and suggests another, or unless the word is an operand of
 * help, how to name a file. Returns EXIT_TROUBLE. */
int command_unknown(const char *word, bool is_operand);

/* Prints the help of a command; of the plain form, the short help. Returns the exit status. */
int command_print_help(const struct command *command);

#endif
