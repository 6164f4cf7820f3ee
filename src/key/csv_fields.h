/*
 * csv_fields - the fields of a row of CSV, or of any line with a separator, one after the other.
 *
 * In a row a quote as the first byte of a field opens it; inside, two quotes are one. After the
 * closing quote only the separator or the end of the row may follow. Elsewhere a quote is a byte
 * like others. With --trim, blanks around quotes, and at both ends of a value, are no data.
 */
#ifndef UNSEEN_KEY_CSV_FIELDS_H
#define UNSEEN_KEY_CSV_FIELDS_H

#include "key/finder.h"
#include "key/recipe.h"

#include <string.h>

/* A row, or another line with fields, without byte order mark and CRs. */
static inline struct span csv_row(struct span line)
{
    const char *first = line.bytes + mark_length(line.bytes, line.length), *end = span_end(line);
    while (end > first && end[-1] == '\r')
        end--;
    return span_between(first, end);
}

struct csv_fields {
    const struct recipe *recipe;
    const char *at, *end; /* the next field; NULL: there is none */
    struct finder finder; /* finds separators and, if there are quotes, these */
    bool separated;       /* without a separator there is one field */
    bool quoting;         /* a quote may open a field */
};

/* A field as it is written: between its quotes, or all of it; trimmed if the recipe says so. */
struct csv_field {
    struct span raw;
    bool quoted;
    bool doubled; /* and has two quotes for one */
};

/* Begins with the first field. `quoting`: fields may be quoted. */
static inline struct csv_fields csv_fields_start(const struct recipe *recipe, struct span row,
                                                 bool quoting)
{
    const char separator = recipe->separator;
    return (struct csv_fields){recipe,
                               row.bytes,
                               span_end(row),
                               finder_start(row, separator, quoting ? QUOTE : separator),
                               recipe->separated,
                               quoting};
}

static inline const char *csv_skip_blanks(const struct recipe *recipe, const char *at,
                                          const char *end)
{
    while (recipe->trim && at < end && recipe_is_blank(recipe, *at))
        at++;
    return at;
}

/* Takes the field whose opening quote is at `at`. */
static inline bool csv_next_quoted(struct csv_fields *fields, const char *at,
                                   struct csv_field *field)
{
    const char *first = ++at, *end = fields->end;
    *field = (struct csv_field){.quoted = true};
    /* It ends at a quote that no second one follows. */
    for (;; at++) {
        at = finder_next(&fields->finder, at);
        if (at == end)
            return false;
        if (*at != QUOTE)
            continue;
        if (at + 1 == end || at[1] != QUOTE)
            break;
        field->doubled = true;
        at++;
    }
    field->raw = recipe_trim(fields->recipe, span_between(first, at));
    at = csv_skip_blanks(fields->recipe, at + 1, end);
    fields->at = at < end ? at + 1 : NULL;
    return at == end || *at == fields->recipe->separator;
}

/* Takes the next field. Returns false if these bytes are no row. Precondition: fields->at is not
 * NULL. */
static inline bool csv_next_field(struct csv_fields *fields, struct csv_field *field)
{
    const char *first = fields->at, *at = first, *end = fields->end;
    if (fields->quoting) {
        const char *quote = csv_skip_blanks(fields->recipe, at, end);
        if (quote < end && *quote == QUOTE)
            return csv_next_quoted(fields, quote, field);
    }
    /* A quote that does not begin a field is a byte like others. */
    if (!fields->separated)
        at = end;
    while ((at = finder_next(&fields->finder, at)) < end && *at != fields->recipe->separator)
        at++;
    *field = (struct csv_field){.raw = recipe_trim(fields->recipe, span_between(first, at))};
    fields->at = at < end ? at + 1 : NULL;
    return true;
}

/* The value of a field: in place if it has no two quotes for one, otherwise in `buffer`. */
static inline struct span csv_field_value(const struct csv_field *field, char *buffer)
{
    char *out = buffer;
    const char *at = field->raw.bytes, *end = span_end(field->raw), *quote;
    if (!field->doubled)
        return field->raw;
    while ((quote = memchr(at, QUOTE, (size_t)(end - at))) != NULL && quote + 1 < end) {
        out = (char *)mempcpy(out, at, (size_t)(quote + 1 - at));
        at = quote + 2;
    }
    out = (char *)mempcpy(out, at, (size_t)(end - at));
    return span_between(buffer, out);
}

#endif
