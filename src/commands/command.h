/*
 * command - the table of commands, for dispatch and help; and what is said of words that are no
 * command or option.
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

/* The members are in the order of command_rows.h. */
struct command {
    unsigned bit; /* FOR_..., in options.h */
    /* options->operands does not include the name. Returns the exit status. */
    int (*run)(const struct options *options);
    const char *name; /* "" for the plain form */
    enum operand_kind operands;
    const char *group; /* title over it and the next ones in the short help; NULL: as before */
    const char *synopsis, *other; /* how it is called; a second way, or NULL */
    const char *summary;
    const char *notes; /* more lines of its help; may be NULL */
    const char *also;  /* other words for it, each between blanks */
};

/* The plain form comes first; the last entry has no name (NULL). */
extern const struct command command_table[COMMANDS + 1];

/* command_create and the others. */
#define COMMAND(NAME, function, ...) int command_##function(const struct options *options);
#include "commands/command_rows.h"
#undef COMMAND

/* Whether a word has the form of a command, [a-z][a-z-]*. Such a first word is a command, known or
 * not, whatever files there are: so a script means the same in every directory. */
bool command_is_word(const char *word);

const struct command *command_find(const char *name);

/* Its usage with a FILTER. */
const char *command_usage(const struct command *command);

/* Says that there is no such command, and suggests another, or how to name a file. `others`: the
 * operands after it, or NULL if it is one of help. Returns EXIT_TROUBLE. */
int command_unknown(const char *word, const char **others);

/* What somebody who is used to another tool wants with this word: an option that these commands
 * (FOR_...) do not take, or with FOR_ALL an option or a command that does not exist. NULL: unknown.
 * To be asked before habit_typo: a habit is no typo. */
const char *habit_find(const char *word, unsigned commands);

/* How many edits make `name`, of at most NAME_LONGEST bytes, of a word that may be a typo: one, or
 * in long words two. An edit changes, adds or removes a byte, or swaps two neighbours. TOO_MANY: it
 * is another word. */
enum { TOO_MANY = 3, NAME_LONGEST = 32 };
unsigned habit_typo(const char *word, const char *name);

/* Prints the help of a command; of the plain form, the short help. Returns the exit status. */
int command_print_help(const struct command *asked);

#endif
