#include "key/csv.h"

#include "key/csv_find.h"
#include "key/finder.h"
#include "key/trim.h"

#include <stdio.h>
#include <string.h>

/* --- a row, field by field --- */

struct row {
    const char *at, *end; /* the next field; NULL: there is none */
    char separator;
    struct finder finder; /* finds separators and quotes */
    const char *wrong;    /* why this is not a row */
};

/* A value: the bytes between the quotes, or all bytes of a field without. */
struct value {
    struct span raw;
    bool quoted;
    bool doubled; /* and has two quotes for one */
};

struct span csv_row(struct span line)
{
    const char *first = line.bytes, *end = span_end(line);
    if (line.length >= 3 && memcmp(first, "\xef\xbb\xbf", 3) == 0)
        first += 3;
    if (end > first && end[-1] == '\r')
        end--;
    return span_between(first, end);
}

static struct row row_start(struct span text, char separator)
{
    return (struct row){text.bytes, span_end(text), separator, finder_start(text, separator, '"'),
                        NULL};
}

static bool quoted_value(struct row *row, struct value *value)
{
    const char *first = row->at + 1, *at = first;
    *value = (struct value){.quoted = true};
    for (;; at++) {
        at = finder_next(&row->finder, at);
        if (at == row->end) {
            row->wrong = "quoted field is not closed";
            return false;
        }
        if (*at == row->separator)
            continue;
        if (at + 1 == row->end || at[1] != '"')
            break;
        value->doubled = true;
        at++;
    }
    value->raw = span_between(first, at);
    row->at = at + 1 < row->end ? at + 2 : NULL;
    if (row->at != NULL && at[1] != row->separator)
        row->wrong = "bytes follow the closing quote of a field";
    return row->wrong == NULL;
}

/* Returns false if this is not a row. Precondition: row->at is not NULL. */
static inline bool next_value(struct row *row, struct value *value)
{
    const char *first = row->at, *at = first;
    if (first < row->end && *first == '"')
        return quoted_value(row, value);
    while ((at = finder_next(&row->finder, at)) < row->end && *at != row->separator)
        at++;
    *value = (struct value){.raw = span_between(first, at)};
    row->at = at < row->end ? at + 1 : NULL;
    return true;
}

/* --- keys --- */

static struct span raw_of(const struct recipe *recipe, const struct value *value)
{
    return recipe->trim ? trim(recipe, value->raw) : value->raw;
}

/* The value itself. */
static struct span plain(const struct recipe *recipe, const struct value *value, char *buffer)
{
    char *out = buffer;
    struct span raw = raw_of(recipe, value);
    const char *at = raw.bytes, *end = span_end(raw), *quote;
    if (!value->doubled)
        return raw;
    for (; (quote = memchr(at, '"', (size_t)(end - at))) != NULL; at = quote + 2)
        out = (char *)mempcpy(out, at, (size_t)(quote + 1 - at));
    out = (char *)mempcpy(out, at, (size_t)(end - at));
    return span_between(buffer, out);
}

static bool needs_quotes(struct span text, char separator)
{
    for (const char *at = text.bytes; at < span_end(text); at++)
        if (*at == separator || *at == '"' || *at == '\r' || *at == '\n')
            return true;
    return false;
}

/* Adds a value to a key of several, and a separator. */
static char *add(char *out, const struct recipe *recipe, const struct value *value)
{
    struct span raw = raw_of(recipe, value);
    if (needs_quotes(raw, recipe->separator)) {
        *out++ = '"';
        for (const char *at = raw.bytes; at < span_end(raw); at++) {
            if (*at == '"' && !value->quoted)
                *out++ = '"';
            *out++ = *at;
        }
        *out++ = '"';
    } else {
        out = (char *)mempcpy(out, raw.bytes, raw.length);
    }
    *out++ = recipe->separator;
    return out;
}

/* --- which columns --- */

/* Whether a column is selected by number; all are if there are no ranges. */
static bool is_selected(const struct recipe *recipe, unsigned *range, size_t number)
{
    if (recipe->ranges == 0)
        return true;
    while (*range < recipe->ranges && recipe->range[*range].last != 0 &&
           recipe->range[*range].last < number)
        ++*range;
    return *range < recipe->ranges && recipe->range[*range].first <= number;
}

/* The number of the only column selected; 0: several are. */
static size_t single_column(const struct recipe *recipe, const struct csv_columns *columns)
{
    if (recipe_has_column_names(recipe))
        return columns->n == 1 ? columns->column[0].number : 0;
    return recipe->ranges == 1 && recipe->range[0].first == recipe->range[0].last
               ? recipe->range[0].first
               : 0;
}

/* Takes the only column of a usual row. Returns false if the row is not usual. Flattened: what it
 * looks for stays in registers. */
__attribute__((flatten)) static bool take_usual(const struct recipe *recipe, struct span row,
                                                size_t column, char *buffer, struct span *key)
{
    struct value value = {.raw = {NULL, 0}};
    if (!csv_find(row, recipe->separator, column, &value.raw, &value.doubled))
        return false;
    *key = value.raw;
    if (value.raw.bytes == NULL)
        return true;
    if (value.raw.length > 0 && value.raw.bytes[0] == '"') {
        value.raw = span_between(value.raw.bytes + 1, span_end(value.raw) - 1);
    }
    *key = plain(recipe, &value, buffer);
    return true;
}

/* Takes the columns of any row. Not inlined: it would slow down usual rows. */
__attribute__((noinline)) static enum csv_found take_any(const struct recipe *recipe,
                                                         const struct csv_columns *columns,
                                                         struct row *row, size_t single,
                                                         char *buffer, struct span *key)
{
    struct value values[RECIPE_NAMES_MAX], value;
    bool named = recipe_has_column_names(recipe);
    unsigned found = 0, range = 0;
    size_t number = 0, least = recipe->ranges > 0 ? recipe->range[recipe->ranges - 1].first : 1;
    char *out = buffer;
    while (row->at != NULL) {
        if (!next_value(row, &value))
            return CSV_WRONG;
        number++;
        if (single != 0 && number == single)
            *key = plain(recipe, &value, buffer);
        else if (named && found < columns->n && columns->column[found].number == number)
            values[columns->column[found++].place] = value;
        else if (single == 0 && !named && is_selected(recipe, &range, number))
            out = add(out, recipe, &value);
    }
    if (single != 0)
        return number >= single ? CSV_KEY : CSV_NO_KEY;
    if (named ? found < columns->n : number < least)
        return CSV_NO_KEY;
    for (unsigned i = 0; i < found; i++)
        out = add(out, recipe, &values[i]);
    *key = span_between(buffer, out - 1); /* without the last separator */
    return CSV_KEY;
}

enum csv_found csv_take(const struct recipe *recipe, const struct csv_columns *columns,
                        struct span line, char *buffer, struct span *key, const char **wrong)
{
    struct span text = csv_row(line);
    size_t single = single_column(recipe, columns);
    *wrong = NULL;
    if (single != 0 && take_usual(recipe, text, single, buffer, key))
        return key->bytes != NULL ? CSV_KEY : CSV_NO_KEY;
    struct row row = row_start(text, recipe->separator);
    enum csv_found found = take_any(recipe, columns, &row, single, buffer, key);
    *wrong = row.wrong;
    return found;
}

/* --- the header line --- */

/* Splits the names. Returns how many there are. */
static unsigned split_names(const struct recipe *recipe, struct span names[RECIPE_NAMES_MAX])
{
    unsigned n = 0;
    for (const char *at = recipe->names; *at != '\0' && n < RECIPE_NAMES_MAX; at += *at == ',') {
        size_t length = strcspn(at, ",");
        names[n++] = (struct span){at, length};
        at += length;
    }
    return n;
}

/* A name that might be read as two, or as none, is shown in quotes. */
static int no_column(const struct recipe *recipe, struct span name, struct span header_line,
                     char *buffer, const char *input, struct fault *fault)
{
    enum { SHOWN = 200, SHOWN_NAME = 40 };
    char list[SHOWN + SHOWN_NAME + 8];
    struct row row = row_start(csv_row(header_line), recipe->separator);
    struct value value;
    size_t at = 0;
    list[0] = '\0';
    while (at < SHOWN && row.at != NULL && next_value(&row, &value)) {
        struct span column = plain(recipe, &value, buffer);
        int length = column.length < SHOWN_NAME ? (int)column.length : SHOWN_NAME;
        bool odd = length == 0;
        for (int i = 0; i < length; i++)
            odd |= strchr(" \t,'\"", column.bytes[i]) != NULL;
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s%.*s%s", at > 0 ? ", " : "",
                               odd ? "'" : "", length, column.bytes, odd ? "'" : "");
    }
    fault_set(fault, input, "no column '%.*s'", (int)name.length, name.bytes);
    return fault_way_out(fault, "columns: %s%s", list, row.at != NULL ? ", ..." : "");
}

int csv_find_columns(const struct recipe *recipe, struct span header_line, char *buffer,
                     const char *input, struct csv_columns *columns, struct fault *fault)
{
    struct span names[RECIPE_NAMES_MAX];
    bool found[RECIPE_NAMES_MAX] = {false};
    unsigned n = split_names(recipe, names);
    struct row row = row_start(csv_row(header_line), recipe->separator);
    struct value value;
    columns->n = 0;
    for (size_t number = 1; row.at != NULL; number++) {
        if (!next_value(&row, &value)) {
            fault_set(fault, input, "line 1: %s", row.wrong);
            return fault_way_out(fault, CSV_WAY_OUT);
        }
        struct span name = plain(recipe, &value, buffer);
        for (unsigned i = 0; i < n; i++) {
            if (name.length != names[i].length ||
                memcmp(name.bytes, names[i].bytes, name.length) != 0)
                continue;
            if (found[i]) {
                fault_set(fault, input, "two columns are named '%.*s'", (int)names[i].length,
                          names[i].bytes);
                return fault_way_out(fault, "rename one, or make a filter with -f and its number");
            }
            found[i] = true;
            columns->column[columns->n++] = (struct csv_column){number, i};
        }
    }
    for (unsigned i = 0; i < n; i++)
        if (!found[i])
            return no_column(recipe, names[i], header_line, buffer, input, fault);
    return 0;
}
