/*
 * figures - what a command has found out, as rows: below each other in text, an object a line in
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

/* Numbers, and how they look in text. */
#define NUMBER(its, number)    .kind = (its), .value = (double)(number)
#define COUNT(count)           NUMBER(FIGURE_COUNT, count) /* 12: rounded, in JSON too */
#define LINES(lines)           NUMBER(FIGURE_LINES, lines) /* 12 lines: likewise */
#define SIZE(bytes)            NUMBER(FIGURE_SIZE, bytes)  /* 3600000 bytes (3.6 MB) */
#define RATE(rate)             NUMBER(FIGURE_RATE, rate)   /* 1.23e-6 */
#define ASKED(rate)            NUMBER(FIGURE_ASKED, rate)  /* 1.23456e-6: as it was given */
#define SHARE(share)           NUMBER(FIGURE_SHARE, share) /* 12.3%, of 0.123 */
#define BITS(bits)             NUMBER(FIGURE_BITS, bits)   /* 12.34 */
#define TIME(milliseconds)     NUMBER(FIGURE_TIME, (double)(milliseconds) / 1000) /* has a text */
#define FLAG(flag)             NUMBER(FIGURE_FLAG, flag)   /* has a text */
/* What stands in JSON as it is: a string, and a number that no double holds. NULL is null. */
#define TEXT(string)           .kind = FIGURE_TEXT, .text = (string)
#define DIGITS(string)         .kind = FIGURE_DIGITS, .text = (string)
/* ROWS, or NULL, which is null; and so many objects, of which the function shows number i. */
#define OBJECT(its)            .kind = FIGURE_OBJECT, .rows = (its)
#define LIST(count, show, of)  NUMBER(FIGURE_LIST, count), .element = (show), .context = (of)

#define ROWS(...)              (const struct figure[]){__VA_ARGS__, {.kind = FIGURES_END}}
/* clang-format on */

struct figures;

struct figure {
    const char *words; /* what it is called in text; NULL: it is not there */
    const char *name;  /* and in JSON */
    enum figure_kind kind;
    double value;
    const char *text; /* in place of the value in text */
    const char *note; /* after it in text */
    bool absent;      /* there is no such row */
    const struct figure *rows;
    void (*element)(struct figures *figures, const void *context, size_t i); /* in JSON alone */
    const void *context;
};

/* What is being shown: begun as {.to = stdout}. */
struct figures {
    FILE *to;
    bool json;
    bool sentence;  /* in text: "f.bf: 6 lines read, 2 printed; rate now: 1e-9" */
    unsigned shown; /* rows of the object, or of the sentence, so far */
    size_t used;    /* of `room`, where texts are */
    char room[8192];
};

/* Shows rows after those that were shown before; and ends the object. */
#define figures_show(figures, ...) figures_show_rows(figures, ROWS(__VA_ARGS__))
void figures_show_rows(struct figures *figures, const struct figure *rows);
void figures_end(struct figures *figures);

/* As printf: a text for rows of these figures, or of one element. If there is no room, it is cut
 * off. */
__attribute__((format(printf, 2, 3))) const char *figures_text(struct figures *figures,
                                                               const char *format, ...);

/* How much a window of that plan remembers, and at most, in lines: a text likewise. */
const char *figures_window(struct figures *figures, const struct filter_plan *plan, double most);

/* What --summary says, if it was given: on standard error, in one piece, as messages are. The first
 * row is what it is about. */
#define figures_summary(options, ...) figures_summary_rows(options, ROWS(__VA_ARGS__))
void figures_summary_rows(const struct options *options, const struct figure *rows);

#endif
