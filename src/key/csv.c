#include "key/csv.h"

#include <string.h>

static const struct field_range all_columns = {1, 0};

/* Takes the columns first..last of a row without quotes, or to its end if `last` is 0, in one
 * piece. Returns false if the first is missing. */
static bool take_plain(const struct recipe *recipe, struct span row, size_t first, size_t last,
                       struct span *key)
{
    struct finder separators = finder_start(row, recipe->separator, recipe->separator);
    const char *start = row.bytes, *end = span_end(row), *at = start;
    size_t number = 1; /* of the field that begins at `at` */
    while (last != 0 || number < first) {
        const char *found = finder_next(&separators, at);
        if (number == last || found == end) {
            end = found;
            break;
        }
        at = found + 1;
        if (++number == first)
            start = at;
    }
    *key = span_between(start, end);
    return number >= first;
}

bool csv_take_field(const struct recipe *recipe, const char *bytes, const struct row_field *field,
                    char *buffer, struct span *key)
{
    struct span raw = span_between(bytes + field->first, bytes + field->end);
    raw = recipe_trim(recipe, raw);
    if (raw.length > 1 && *raw.bytes == QUOTE) {
        raw = recipe_trim(recipe, span_between(raw.bytes + 1, span_end(raw) - 1));
        if (field->doubled)
            raw = csv_field_value(&(struct csv_field){raw, true, true}, buffer);
    }
    *key = raw;
    return field->found && raw.length > 0;
}

/* --- any columns of any row, field by field --- */

static bool value_needs_quotes(struct span value, char separator)
{
    const char *at = value.bytes, *end = span_end(value);
    for (; end - at >= 8; at += 8) {
        uint64_t word = load64((const uint8_t *)at);
        if ((zero_bytes(word ^ eight_bytes((uint8_t)separator)) |
             zero_bytes(word ^ eight_bytes(QUOTE)) | zero_bytes(word ^ eight_bytes('\r')) |
             zero_bytes(word ^ eight_bytes('\n'))) != 0)
            return true;
    }
    for (; at < end; at++)
        if (*at == separator || *at == QUOTE || *at == '\r' || *at == '\n')
            return true;
    return false;
}

/* Adds a value to a key of several, in quotes if it needs them, and a separator. */
static char *add_value(char *out, const struct recipe *recipe, const struct csv_field *field)
{
    const struct span raw = field->raw;
    const bool quotes = value_needs_quotes(raw, recipe->separator);
    if (quotes)
        *out++ = QUOTE;
    if (!quotes || field->quoted) { /* then there are two quotes for one already */
        out = (char *)mempcpy(out, raw.bytes, raw.length);
    } else {
        for (const char *at = raw.bytes; at < span_end(raw); at++) {
            if (*at == QUOTE)
                *out++ = QUOTE;
            *out++ = *at;
        }
    }
    if (quotes)
        *out++ = QUOTE;
    *out++ = recipe->separator;
    return out;
}

/* The same with what patterns leave of a value; NULL if it is too long for `without`. Not inlined:
 * it would slow down what has none. */
__attribute__((noinline)) static char *add_left(char *out, const struct recipe *recipe,
                                                struct without *without,
                                                const struct csv_field *field)
{
    /* Decoded behind all that will be written: no more than there is, in quotes. */
    struct csv_field left = {.raw = csv_field_value(field, out + field->raw.length + 2)};
    return without_apply(without, &left.raw) ? add_value(out, recipe, &left) : NULL;
}

/* Adds a value in either way. */
static inline char *add_either(char *out, const struct recipe *recipe, struct without *without,
                               const struct csv_field *field)
{
    return without != NULL ? add_left(out, recipe, without, field) : add_value(out, recipe, field);
}

/* Puts the columns that have names into columns->fields, and passes the fields of the header line,
 * if all are wanted; else those up to the last column, or with ROW_ODD all. Returns false if there
 * the bytes are no row. */
static bool collect_named(const struct columns *columns, struct csv_fields *fields, uint8_t kind,
                          bool all)
{
    struct csv_field field;
    size_t found = 0;
    for (size_t number = 1; fields->at != NULL && (!all || number <= columns->most); number++) {
        if (!csv_next_field(fields, &field))
            return false;
        if (found < columns->n && columns->column[found].number == number)
            columns->fields[columns->column[found++].place] = field;
        if (found == columns->n && !all && (kind & ROW_ODD) == 0)
            break;
    }
    for (; found < columns->n; found++)
        columns->fields[columns->column[found].place] = (struct csv_field){{"", 0}, false, false};
    return true;
}

/* Not inlined: it would slow down a single column. `single` is the number of the only one, or 0. */
__attribute__((noinline)) static bool
take_any(const struct recipe *recipe, const struct columns *columns, struct without *without,
         struct span row, uint8_t kind, size_t single, char *buffer, struct span *key)
{
    const struct field_range *range = recipe->ranges > 0 ? recipe->range : &all_columns;
    const struct field_range *end = range + (recipe->ranges > 0 ? recipe->ranges : 1);
    struct csv_fields fields = csv_fields_start(recipe, row, kind != 0);
    struct csv_field field, first = {{NULL, 0}, false, false};
    char *out = buffer;
    if (recipe_has_column_names(recipe)) {
        if (!collect_named(columns, &fields, kind, recipe->except) || columns->n == 0)
            return false;
        first = columns->fields[0];
        if (first.raw.length == 0)
            return false;
        /* In the order of the names, wherever the columns are. */
        for (size_t i = 0; i < columns->n && single == 0; i++)
            if ((out = add_either(out, recipe, without, &columns->fields[i])) == NULL)
                return false;
        while (recipe->except && fields.at != NULL) {
            if (!csv_next_field(&fields, &field) ||
                (out = add_either(out, recipe, without, &field)) == NULL)
                return false;
        }
    } else {
        for (size_t number = 1; fields.at != NULL && (range < end || (kind & ROW_ODD) != 0);
             number++) {
            if (!csv_next_field(&fields, &field))
                return false;
            if (range == end || number < range->first)
                continue;
            if (first.raw.bytes == NULL)
                first = field;
            if (single == 0 && (out = add_either(out, recipe, without, &field)) == NULL)
                return false;
            range += number == range->last;
        }
    }
    if (first.raw.length == 0)
        return false;
    if (single != 0) {
        *key = csv_field_value(&first, buffer);
        return true;
    }
    *key = span_between(buffer, out - 1); /* without the last separator */
    return *buffer != recipe->separator;  /* or the first has become empty */
}

size_t csv_single_column(const struct recipe *recipe, const struct columns *columns)
{
    if (recipe->ranges == 1 && recipe->range[0].first == recipe->range[0].last)
        return recipe->range[0].first;
    bool named = recipe_has_column_names(recipe) && !recipe->except && columns->n == 1;
    return named ? columns->column[0].number : 0;
}

bool csv_take(const struct recipe *recipe, const struct columns *columns, struct without *without,
              struct span line, uint8_t kind, char *buffer, struct span *key)
{
    size_t single = csv_single_column(recipe, columns);
    if (single != 0 && (kind & ROW_ODD) == 0) {
        const size_t starts[] = {0, line.length + 1};
        struct row_field field = {0, 0, false, false};
        kernel_best()->column(line.bytes, starts, &kind, 1, recipe->separator, single, &field);
        return csv_take_field(recipe, line.bytes, &field, buffer, key);
    }
    struct span row = csv_row(line);
    if (kind == 0 && recipe->ranges <= 1 && !recipe->trim && !recipe_has_column_names(recipe) &&
        without == NULL) {
        const struct field_range range = recipe->ranges > 0 ? recipe->range[0] : all_columns;
        if (!take_plain(recipe, row, range.first, range.last, key) || key->length == 0 ||
            *key->bytes == recipe->separator)
            return false;
        /* No value needs quotes. */
        if (memchr(key->bytes, '\r', key->length) == NULL &&
            memchr(key->bytes, '\n', key->length) == NULL)
            return true;
    }
    return take_any(recipe, columns, without, row, kind, single, buffer, key);
}
