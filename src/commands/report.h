/*
 * report - what a command has found out, row by row: as text, or as one JSON object.
 *
 * Each row has a name in the text and one in the object, and comes in the same place in both. Where
 * a name is NULL, it is not there.
 */
#ifndef UNSEEN_COMMANDS_REPORT_H
#define UNSEEN_COMMANDS_REPORT_H

#include "core/geometry.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report {
    bool json;
    bool begun; /* the object, which the caller ends */
};

/* A whole number, and a rate: three figures in the text, six in JSON. `unit` follows in the
 * text. */
void report_count(struct report *report, const char *name, const char *member, double count,
                  const char *unit);
void report_rate(struct report *report, const char *name, const char *member, double rate,
                 const char *unit);

/* As printf, in one of the two. */
__attribute__((format(printf, 3, 4))) void report_text(const struct report *report,
                                                       const char *name, const char *format, ...);
__attribute__((format(printf, 3, 4))) void report_json(struct report *report, const char *member,
                                                       const char *format, ...);

/* In JSON: a string; and the string alone. It is in UTF-8: characters stay as they are, except
 * controls (\u00XX). A byte that is not UTF-8 becomes the four characters \xHH. */
void report_quoted(struct report *report, const char *member, const char *text);
void report_quote(FILE *to, const char *text);

/* "3.6 MB": up to 16 bytes into text, which is returned. */
const char *report_size(double bytes, char text[16]);

/* "3600000 bytes (3.6 MB)" without those `stages` of the bytes that belong to stages; and if there
 * are any, ", at most " and all of them. Into text, which is returned. */
enum { REPORT_SIZES = 96 };
const char *report_sizes(uint64_t bytes, uint64_t stages, char text[REPORT_SIZES]);

/* "3 cache lines x 6 fields": up to 64 bytes into text, which is returned. */
const char *report_geometry(struct geometry geometry, char text[64]);

/* "7d", as --forget-after takes it: up to 32 bytes into text, which is returned. */
const char *report_time(uint64_t milliseconds, char text[32]);

#endif
