/*
 * figures - prints the results of a command as rows: one per line in text, one object per line in
 * JSON, or the sentence of --summary. A new figure is one row, {words, name, KIND(value)}.
 */
#ifndef UNSEEN_COMMANDS_FIGURES_H
#define UNSEEN_COMMANDS_FIGURES_H

#include "commands/options.h"
#include "core/growth.h"

#include <stdio.h>

/* clang-format off */
enum figure_kind {
    FIGURES_END, FIGURE_COUNT, FIGURE_LINES, FIGURE_SIZE, FIGURE_RATE, FIGURE_ASKED,
    FIGURE_SHARE, FIGURE_BITS, FIGURE_TIME, FIGURE_FLAG, FIGURE_TEXT, FIGURE_DIGITS,
    FIGURE_OBJECT, FIGURE_LIST,
};

/* Numbers, and their form in text. */
#define NUMBER(its, number)    .kind = (its), .value = (double)(number)
#define COUNT(count)           NUMBER(FIGURE_COUNT, count) /* 12: rounded, in JSON too */
/* The same, or only a lower bound: then `words` in text, and null in JSON. */
#define AT_LEAST(told, count, words)                                                              \
    .kind = (told) ? FIGURE_COUNT : FIGURE_OBJECT, .value = (count), .text = (told) ? NULL : (words)
#define LINES(lines)           NUMBER(FIGURE_LINES, lines) /* 12 lines: likewise */
#define SIZE(bytes)            NUMBER(FIGURE_SIZE, bytes)  /* 3600000 bytes (3.6 MB) */
#define RATE(rate)             NUMBER(FIGURE_RATE, rate)   /* 1.23e-6 */
#define ASKED(rate)            NUMBER(FIGURE_ASKED, rate)  /* 1.23456e-6: as it was given */
#define SHARE(share)           NUMBER(FIGURE_SHARE, share) /* 12.3%, of 0.123 */
#define BITS(bits)             NUMBER(FIGURE_BITS, bits)   /* 12.34 */
#define TIME(milliseconds)     NUMBER(FIGURE_TIME, (double)(milliseconds) / 1000) /* has a text */
#define FLAG(flag)             NUMBER(FIGURE_FLAG, flag)   /* has a text */
/* Printed as it is: a string, and a number that does not fit a double. NULL is null in JSON. */
#define TEXT(string)           .kind = FIGURE_TEXT, .text = (string)
#define DIGITS(string)         .kind = FIGURE_DIGITS, .text = (string)
/* ROWS, which make an object in JSON; or NULL, which is null. */
#define OBJECT(its)            .kind = FIGURE_OBJECT, .rows = (its)
/* Strings, each with a NUL after it, then an empty one: an array in JSON. */
#define LIST(strings)          .kind = FIGURE_LIST, .text = (strings)

#define ROWS(...)              (const struct figure[]){__VA_ARGS__, {.kind = FIGURES_END}}
/* clang-format on */

struct figure {
    const char *words; /* its name in text; NULL: not shown there */
    const char *name;  /* its name in JSON; the same */
    enum figure_kind kind;
    double value;
    const char *text; /* in text, instead of the value */
    const char *note; /* in text, after the value */
    bool absent;      /* not shown */
    const struct figure *rows;
};

/* Output of figures, and strings for the rows that are shown next. */
struct figures {
    FILE *to;
    bool json;
    bool sentence;  /* in text: "f.bf: 6 lines read, 2 printed; rate now: 1e-9" */
    unsigned shown; /* rows of the sentence so far; or 0: the object or array is still empty */
    size_t used;    /* of `texts` */
    char texts[8192];
};

/* Begin and end the output; in JSON it is one object. */
void figures_begin(struct figures *figures, FILE *to, bool json);
void figures_end(struct figures *figures);

/* Print rows after earlier ones. */
#define figures_show(figures, ...) figures_show_rows(figures, ROWS(__VA_ARGS__))
void figures_show_rows(struct figures *figures, const struct figure *rows);

/* In JSON, begin and end an object, '{' and '}', or an array, '[' and ']'; what is shown meanwhile
 * is in it. `name` is NULL for an element of an array. In text, begin and end a sentence; else
 * nothing is printed. */
void figures_open(struct figures *figures, const char *name, char bracket);
void figures_close(struct figures *figures, char bracket);

/* As printf: a string for the next rows, valid until these are shown. Cut off if it does not
 * fit. */
__attribute__((format(printf, 2, 3))) const char *figures_text(struct figures *figures,
                                                               const char *format, ...);

/* Such a string: how much a window of that plan remembers; `most`: at most, in lines. */
const char *figures_window(struct figures *figures, const struct filter_plan *plan, double most);

/* Prints the summary on standard error, with one write as messages, if --summary was given. The
 * first row is the subject. */
#define figures_summary(options, ...) figures_summary_rows(options, ROWS(__VA_ARGS__))
void figures_summary_rows(const struct options *options, const struct figure *rows);

#endif
