#include "key/csv.h"

#include "key/finder.h"

#include <stdio.h>
#include <string.h>

/* --- a row, field by field --- */

struct span csv_row(struct span line)
{
    const char *first = line.bytes, *end = span_end(line);
    if (line.length >= 3 && memcmp(first, "\xef\xbb\xbf", 3) == 0)
        first += 3;
    if (end > first && end[-1] == '\r')
        end--;
    return span_between(first, end);
}

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

static struct row row_start(struct span text, char separator)
{
    return (struct row){text.bytes, span_end(text), separator, finder_start(text, separator, QUOTE),
                        NULL};
}

/* Takes the field that begins with the quote at row->at. Returns false if this is not a row. */
static bool next_quoted(struct row *row, struct value *value)
{
    const char *first = row->at + 1, *at = first;
    *value = (struct value){.quoted = true};
    /* It ends at a quote that no second one follows. */
    for (;; at++) {
        at = finder_next(&row->finder, at);
        if (at == row->end) {
            row->wrong = "quoted field is not closed";
            return false;
        }
        if (*at == row->separator)
            continue;
        if (at + 1 == row->end || at[1] != QUOTE)
            break;
        value->doubled = true;
        at++;
    }
    value->raw = span_between(first, at);
    /* After it, only a separator or the end may follow. */
    row->at = at + 1 < row->end ? at + 2 : NULL;
    if (row->at != NULL && at[1] != row->separator)
        row->wrong = "bytes follow the closing quote of a field";
    return row->wrong == NULL;
}

/* Takes the next field. Returns false if this is not a row. Precondition: row->at is not NULL.
 * Inlined without next_quoted: so fields without quotes take a twentieth less. */
static inline bool next_value(struct row *row, struct value *value)
{
    const char *first = row->at, *at = first;
    if (first < row->end && *first == QUOTE)
        return next_quoted(row, value);
    /* It ends at a separator; a quote that does not begin it is a byte like others. */
    while ((at = finder_next(&row->finder, at)) < row->end && *at != row->separator)
        at++;
    *value = (struct value){.raw = span_between(first, at)};
    row->at = at < row->end ? at + 1 : NULL;
    return true;
}

/* The value itself: in place if it has no two quotes for one, otherwise in `buffer`. */
static struct span plain_value(const struct recipe *recipe, const struct value *value, char *buffer)
{
    char *out = buffer;
    struct span raw = recipe_trim(recipe, value->raw);
    const char *at = raw.bytes, *end = span_end(raw), *quote;
    if (!value->doubled)
        return raw;
    for (; (quote = memchr(at, QUOTE, (size_t)(end - at))) != NULL; at = quote + 2)
        out = (char *)mempcpy(out, at, (size_t)(quote + 1 - at));
    out = (char *)mempcpy(out, at, (size_t)(end - at));
    return span_between(buffer, out);
}

/* Adds a value to a key of several, in quotes if it needs them, and a separator. */
static char *add_value(char *out, const struct recipe *recipe, const struct value *value)
{
    struct span raw = recipe_trim(recipe, value->raw);
    const char *end = span_end(raw), *special = raw.bytes;
    while (special < end && *special != recipe->separator && *special != QUOTE &&
           *special != '\r' && *special != '\n')
        special++;
    if (special == end) {
        out = (char *)mempcpy(out, raw.bytes, raw.length);
    } else {
        *out++ = QUOTE;
        for (const char *at = raw.bytes; at < end; at++) {
            if (*at == QUOTE && !value->quoted) /* otherwise there are two already */
                *out++ = QUOTE;
            *out++ = *at;
        }
        *out++ = QUOTE;
    }
    *out++ = recipe->separator;
    return out;
}

/* --- the key of a row --- */

/* Takes the only column of a usual row, 64 bytes at a time. Returns false if the row is not usual:
 * whether it is right or wrong, take_any must tell. If it lacks the column, key->bytes is NULL.
 *
 * In a usual row each quote opens or closes a field, or is one of two for one: of these the first
 * closes, and the second opens again. So a byte is within quotes if an odd number of quotes was
 * there, up to this byte, which a few operations tell for 64 bytes:
 *
 *     row      x , " a , " " b " , y
 *     quotes   . . 1 . . 1 1 . 1 . .
 *     within   . . 1 1 1 . 1 1 . . .
 *     opens    . . 1 . . . 1 . . . .   quotes within
 *     closes   . . . . . 1 . . 1 . .   the other quotes
 *     after    . . . . . . 1 . . 1 .   bytes after these
 *     ends     . 1 . . . . . . . 1 .   separators that are not within
 *
 * The row is usual if the neighbors of its quotes fit: the beginning of the row, a separator or a
 * closing quote stands before one that opens, and a separator, one that opens or the end of the row
 * after one that closes.
 *
 * Flattened: what it looks for stays in registers. */
__attribute__((flatten)) static bool take_usual(const struct recipe *recipe, struct span row,
                                                size_t column, char *buffer, struct span *key)
{
    const char separator = recipe->separator;
    struct finder quotes = {.line = row, .a = QUOTE, .b = QUOTE};
    struct finder separators = {.line = row, .a = separator, .b = separator};
    const char *first = column == 1 ? row.bytes : NULL, *end = NULL; /* of the field, if found */
    size_t left = column; /* separators before the end of the field */
    uint64_t inside = 0;  /* all bits, if the last chunk ended within quotes; else 0 */
    uint64_t closed = 0;  /* 1, if its last byte closed a field; else 0 */
    uint64_t doubled = 0; /* not 0: two quotes for one were found */
    for (size_t at = 0; at < row.length; at += 64) {
        const char *chunk = row.bytes + at;
        size_t n = row.length - at;
        /* 1. Most chunks have no quotes. After the field these need not be searched further. */
        finder_ask(&quotes, chunk);
        bool plain = (quotes.found | inside | closed) == 0;
        if (plain && end != NULL)
            continue;
        finder_ask(&separators, chunk);
        uint64_t ends = separators.found;
        if (!plain) {
            /* 2. Bit i: an odd number of quotes is in the row up to byte i of the chunk. */
            uint64_t within = quotes.found;
            for (unsigned shift = 1; shift < 64; shift *= 2)
                within ^= within << shift;
            within ^= inside;
            uint64_t opens = quotes.found & within, closes = quotes.found & ~within;
            uint64_t after = closes << 1 | closed;
            ends &= ~within;
            /* 3. The neighbors, of the bytes that there are. */
            uint64_t may_open = ends << 1 | after | (at == 0 || chunk[-1] == separator);
            uint64_t bytes = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
            if ((opens & ~may_open) != 0 || (after & ~(ends | opens) & bytes) != 0)
                return false;
            /* 4. What the next chunk must know of this one. */
            doubled |= opens & after;
            inside = (uint64_t)0 - (within >> 63);
            closed = closes >> 63;
        }
        /* 5. The field lies between two of the ends. */
        for (; ends != 0 && end == NULL; ends &= ends - 1) {
            const char *found = chunk + __builtin_ctzll(ends);
            if (--left == 0)
                end = found;
            else if (left == 1)
                first = found + 1;
        }
    }
    if (inside != 0)
        return false;
    /* 6. Its value, without its quotes. The last field of the row has no separator at its end. */
    if (first == NULL) {
        *key = (struct span){NULL, 0};
        return true;
    }
    if (end == NULL)
        end = span_end(row);
    struct value value = {.raw = span_between(first, end), .doubled = doubled != 0};
    if (value.raw.length > 0 && *first == QUOTE)
        value.raw = span_between(first + 1, end - 1);
    *key = plain_value(recipe, &value, buffer);
    return true;
}

/* Takes the columns of any row; `single` is the only one, or 0. Not inlined: it would slow down
 * usual rows. */
__attribute__((noinline)) static bool take_any(const struct recipe *recipe,
                                               const struct csv_columns *columns, struct span text,
                                               size_t single, char *buffer, struct span *key,
                                               const char **wrong)
{
    struct row row = row_start(text, recipe->separator);
    struct value value, named[RECIPE_NAMES_MAX];
    bool has_names = recipe_has_column_names(recipe);
    unsigned found = 0, range = 0;
    size_t number = 0, least = recipe->ranges > 0 ? recipe->range[recipe->ranges - 1].first : 1;
    char *out = buffer;
    while (row.at != NULL) {
        if (!next_value(&row, &value)) {
            *wrong = row.wrong;
            return false;
        }
        number++;
        if (single != 0) {
            if (number == single)
                *key = plain_value(recipe, &value, buffer);
        } else if (has_names) {
            if (found < columns->n && columns->column[found].number == number)
                named[columns->column[found++].place] = value;
        } else {
            while (range < recipe->ranges && recipe->range[range].last != 0 &&
                   recipe->range[range].last < number)
                range++;
            if (recipe->ranges == 0 ||
                (range < recipe->ranges && recipe->range[range].first <= number))
                out = add_value(out, recipe, &value);
        }
    }
    if (single != 0)
        return number >= single;
    if (has_names ? found < columns->n : number < least)
        return false;
    /* Values of names are in the order of the names, wherever the columns are. */
    for (unsigned i = 0; i < found; i++)
        out = add_value(out, recipe, &named[i]);
    *key = span_between(buffer, out - 1); /* without the last separator */
    return true;
}

bool csv_take(const struct recipe *recipe, const struct csv_columns *columns, struct span line,
              uint8_t kind, char *buffer, struct span *key)
{
    struct span row = csv_row(line);
    size_t single = 0;
    const char *wrong;
    (void)kind;
    if (recipe_has_column_names(recipe))
        single = columns->n == 1 ? columns->column[0].number : 0;
    else if (recipe->ranges == 1 && recipe->range[0].first == recipe->range[0].last)
        single = recipe->range[0].first;
    if (single != 0 && take_usual(recipe, row, single, buffer, key))
        return key->bytes != NULL;
    return take_any(recipe, columns, row, single, buffer, key, &wrong);
}

/* --- the header line --- */

int csv_find_columns(const struct recipe *recipe, struct span header_line, char *buffer,
                     const char *input, struct csv_columns *columns, struct fault *fault)
{
    /* 1. The names of the recipe. */
    struct span names[RECIPE_NAMES_MAX];
    char decoded[2 * RECIPE_NAMES_BYTES + RECIPE_NAMES_MAX], *out = decoded;
    bool found[RECIPE_NAMES_MAX] = {false};
    unsigned n = 0;
    for (const char *at = recipe->names; *at != '\0' && n < RECIPE_NAMES_MAX;) {
        names[n] = (struct span){out, recipe_next_name(&at, out)};
        out += names[n++].length + 1;
    }
    /* 2. Each column of the line against each name: a name may not be there twice. */
    struct row row = row_start(csv_row(header_line), recipe->separator);
    struct value value;
    columns->n = 0;
    for (size_t number = 1; row.at != NULL; number++) {
        if (!next_value(&row, &value)) {
            fault_set(fault, input, "line 1: %s", row.wrong);
            return fault_way_out(fault, CSV_WAY_OUT);
        }
        struct span name = plain_value(recipe, &value, buffer);
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
    /* 3. Nor may one be missing. */
    unsigned missing = 0;
    while (missing < n && found[missing])
        missing++;
    if (missing == n)
        return 0;
    fault_set(fault, input, "no column '%.*s'", (int)names[missing].length, names[missing].bytes);
    /* 4. The first of the columns that there are. A name that might be read as two, or as none, is
     * shown in quotes. */
    enum { SHOWN = 200, SHOWN_NAME = 40 };
    char list[SHOWN + SHOWN_NAME + 8] = "";
    row = row_start(csv_row(header_line), recipe->separator);
    for (size_t at = 0; at < SHOWN && row.at != NULL && next_value(&row, &value);) {
        struct span name = plain_value(recipe, &value, buffer);
        int length = name.length < SHOWN_NAME ? (int)name.length : SHOWN_NAME;
        bool odd = length == 0;
        for (int i = 0; i < length; i++)
            odd |= strchr(" \t,'\"", name.bytes[i]) != NULL;
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s%.*s%s", at > 0 ? ", " : "",
                               odd ? "'" : "", length, name.bytes, odd ? "'" : "");
    }
    return fault_way_out(fault, "columns: %s%s", list, row.at != NULL ? ", ..." : "");
}
