#include "key/csv.h"

#include <string.h>

static const struct field_range all_columns = {1, 0};

/* The value of a field, of which all bytes are given. `doubled`: it may have two quotes for one.
 * Returns false if it is empty. */
__attribute__((always_inline)) static inline bool take_value(const struct recipe *recipe,
                                                             struct span raw, bool quoting,
                                                             bool doubled, char *buffer,
                                                             struct span *key)
{
    raw = recipe_trim(recipe, raw);
    if (quoting && raw.length > 1 && *raw.bytes == QUOTE) {
        raw = recipe_trim(recipe, span_between(raw.bytes + 1, span_end(raw) - 1));
        if (doubled)
            raw = csv_field_value(&(struct csv_field){raw, true, true}, buffer);
    }
    *key = raw;
    return raw.length > 0;
}

/* Takes the columns first..last of a row without quotes, or to its end if `last` is 0, in one
 * piece; 64 bytes at a time, up to the end of the last. Returns false if the first is missing, or
 * all is empty. */
static inline bool take_plain(const struct recipe *recipe, struct span row, size_t first,
                              size_t last, struct span *key)
{
    const char *start = row.bytes;
    size_t number = 1; /* of the field that ends next */
    for (size_t at = 0; at < row.length && (last != 0 || number < first); at += 64) {
        const char *chunk = row.bytes + at;
        uint64_t ends = finder_masks_of(row, chunk, recipe->separator, recipe->separator).a;
        for (; ends != 0; ends &= ends - 1) {
            const char *end = chunk + __builtin_ctzll(ends);
            if (number == last)
                return take_value(recipe, span_between(start, end), false, false, NULL, key);
            if (++number <= first)
                start = end + 1;
        }
    }
    return number >= first &&
           take_value(recipe, span_between(start, span_end(row)), false, false, NULL, key);
}

/* Takes a column of a row in which each quote opens or closes a field, or is one of two for one.
 *
 * Of two quotes for one, the first closes the field and the second opens it again. So a byte is
 * within quotes if an odd number of quotes was there, up to this byte, which a few operations tell
 * for 64 bytes:
 *
 *     row      x , " a , " " b " , y
 *     quotes   . . 1 . . 1 1 . 1 . .
 *     within   . . 1 1 1 . 1 1 . . .
 *     doubled  . . . . . . 1 . . . .   quotes within that follow another
 *     ends     . 1 . . . . . . . 1 .   separators that are not within
 */
static bool take_quoted(const struct recipe *recipe, struct span row, size_t column, char *buffer,
                        struct span *key)
{
    const char *first = row.bytes; /* of the field at hand */
    uint64_t inside = 0;           /* all bits, if the last chunk ended within quotes; else 0 */
    uint64_t before = 0;           /* 1, if its last byte was a quote; else 0 */
    uint64_t doubled = 0;          /* not 0: two quotes for one were found */
    for (size_t at = 0; at < row.length; at += 64) {
        const char *chunk = row.bytes + at;
        const struct finder_masks found = finder_masks_of(row, chunk, recipe->separator, QUOTE);
        uint64_t ends = found.a, quotes = found.b, within = quotes ^ quotes << 1;
        within ^= within << 2;
        within ^= within << 4;
        within ^= within << 8;
        within ^= within << 16;
        within ^= within << 32 ^ inside;
        doubled |= quotes & within & (quotes << 1 | before);
        inside = (uint64_t)0 - (within >> 63);
        before = quotes >> 63;
        for (ends &= ~within; ends != 0; ends &= ends - 1) {
            const char *end = chunk + __builtin_ctzll(ends);
            if (--column == 0)
                return take_value(recipe, span_between(first, end), true, doubled != 0, buffer,
                                  key);
            first = end + 1;
        }
    }
    return column == 1 &&
           take_value(recipe, span_between(first, span_end(row)), true, doubled != 0, buffer, key);
}

bool csv_take_column(const struct recipe *recipe, size_t column, struct span line, uint8_t kind,
                     char *buffer, struct span *key)
{
    struct span row = csv_row(line);
    return kind == 0 ? take_plain(recipe, row, column, column, key)
                     : take_quoted(recipe, row, column, buffer, key);
}

/* --- any columns of any row, field by field --- */

static bool needs_quotes(struct span value, char separator)
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
    const bool quotes = needs_quotes(raw, recipe->separator);
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
__attribute__((noinline)) static bool take_any(const struct recipe *recipe,
                                               const struct columns *columns, struct span row,
                                               uint8_t kind, size_t single, char *buffer,
                                               struct span *key)
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
        /* In the order of the names, wherever the columns are. */
        for (size_t i = 0; i < columns->n && single == 0; i++)
            out = add_value(out, recipe, &columns->fields[i]);
        while (recipe->except && fields.at != NULL) {
            if (!csv_next_field(&fields, &field))
                return false;
            out = add_value(out, recipe, &field);
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
            if (single == 0)
                out = add_value(out, recipe, &field);
            range += number == range->last;
        }
    }
    if (first.raw.length == 0)
        return false;
    if (single != 0)
        *key = csv_field_value(&first, buffer);
    else
        *key = span_between(buffer, out - 1); /* without the last separator */
    return true;
}

size_t csv_single_column(const struct recipe *recipe, const struct columns *columns)
{
    if (recipe->ranges == 1 && recipe->range[0].first == recipe->range[0].last)
        return recipe->range[0].first;
    bool named = recipe_has_column_names(recipe) && !recipe->except && columns->n == 1;
    return named ? columns->column[0].number : 0;
}

bool csv_take(const struct recipe *recipe, const struct columns *columns, struct span line,
              uint8_t kind, char *buffer, struct span *key)
{
    size_t single = csv_single_column(recipe, columns);
    if (single != 0 && (kind & ROW_ODD) == 0)
        return csv_take_column(recipe, single, line, kind, buffer, key);
    struct span row = csv_row(line);
    if (kind == 0 && recipe->ranges <= 1 && !recipe->trim && !recipe_has_column_names(recipe)) {
        const struct field_range range = recipe->ranges > 0 ? recipe->range[0] : all_columns;
        if (!take_plain(recipe, row, range.first, range.last, key) ||
            *key->bytes == recipe->separator)
            return false;
        /* No value needs quotes. */
        if (memchr(key->bytes, '\r', key->length) == NULL &&
            memchr(key->bytes, '\n', key->length) == NULL)
            return true;
    }
    return take_any(recipe, columns, row, kind, single, buffer, key);
}
