/*
 * names - the files of a command line: that none is two things at once.
 *
 * What a run reads, remembers in and writes to must be different files, by whatever names, links or
 * descriptors they are given; and lines are neither read from a filter nor written to one.
 */
#ifndef UNSEEN_COMMANDS_NAMES_H
#define UNSEEN_COMMANDS_NAMES_H

#include <stdbool.h>

/* A file that is written to besides the filter. */
struct target {
    const char *role; /* "-a", as messages call it */
    const char *name; /* NULL: there is none */
    bool pending;     /* it holds keys, not lines */
};

enum { NAMES_TARGETS = 3 };

struct names {
    const char *filter;                   /* NULL: none, or in memory */
    const char **inputs;                  /* "-" for standard input, NULL at the end; or NULL */
    bool prints;                          /* lines, or by CMD, to standard output */
    struct target targets[NAMES_TARGETS]; /* the first takes the lines that are printed */
};

/* Before anything is made or changed. Returns 0, or EXIT_TROUBLE after a message. */
int names_check(const struct names *names);

/* Whether any two are the same: once more when all is open, as a link that led nowhere may lead to
 * one of the others by then. Returns as above. */
int names_compare(const struct names *names);

#endif
