#include "key/columns.h"

#include "key/csv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fields of a header line; without --csv none is quoted. */
static struct csv_fields header_fields(const struct recipe *recipe, struct span line)
{
    return csv_fields_start(recipe, csv_row(line), recipe->syntax == SYNTAX_CSV);
}

static bool next_header_field(struct csv_fields *fields, struct csv_field *field)
{
    return fields->at != NULL && csv_next_field(fields, field);
}

/* --- names --- */

/* A column, while they are sorted. */
struct named_column {
    struct span name;
    struct column column;
};

static int compare_spans(struct span a, struct span b)
{
    int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_names(const void *left, const void *right)
{
    const struct named_column *a = left, *b = right;
    int order = compare_spans(a->name, b->name);
    return order != 0
               ? order
               : (a->column.number > b->column.number) - (a->column.number < b->column.number);
}

static int compare_numbers(const void *left, const void *right)
{
    const struct named_column *a = left, *b = right;
    return (a->column.number > b->column.number) - (a->column.number < b->column.number);
}

/* Adds a name as LIST would have it: in quotes if it may be read as another one. One that has
 * blanks is easier to see between single quotes. */
static char *add_name(char *out, struct span name)
{
    bool digits = true, special = name.length > 0 && *name.bytes == '!', blank = name.length == 0;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.bytes[i];
        special |= c == ',' || c == QUOTE || c == '\r' || c == '\n';
        blank |= c == ' ' || c == '\t' || c == '\'';
        digits &= ascii_is_digit(c) || c == '-';
    }
    const bool quoted = special || (digits && !blank);
    if (quoted || blank)
        *out++ = quoted ? QUOTE : '\'';
    for (size_t i = 0; i < name.length; i++) {
        if (name.bytes[i] == QUOTE)
            *out++ = QUOTE;
        *out++ = name.bytes[i];
    }
    if (quoted || blank)
        *out++ = quoted ? QUOTE : '\'';
    return out;
}

/* Tells which columns there are; of many the first ones, of a long name its beginning. */
static int tell_columns(struct csv_fields fields, char *buffer, struct fault *fault)
{
    enum { SHOWN = 200, SHOWN_NAME = 40 };
    char list[SHOWN + 2 * SHOWN_NAME + 8], *out = list;
    struct csv_field field;
    while (out < list + SHOWN && next_header_field(&fields, &field)) {
        struct span name = csv_field_value(&field, buffer);
        if (out > list)
            out = (char *)mempcpy(out, ", ", 2);
        name.length = name.length < SHOWN_NAME ? name.length : SHOWN_NAME;
        out = add_name(out, name);
    }
    return fault_way_out(fault, "columns: %.*s%s", (int)(out - list), list,
                         fields.at != NULL ? ", ..." : "");
}

/* Names of the recipe: as LIST has them, their bytes, and whether a column has them. */
struct wanted_names {
    size_t n;
    struct span written[RECIPE_NAMES_MAX], name[RECIPE_NAMES_MAX];
    bool found[RECIPE_NAMES_MAX];
    char text[2 * RECIPE_NAMES_BYTES + RECIPE_NAMES_MAX];
};

static void split_names(const struct recipe *recipe, struct wanted_names *wanted)
{
    const char *at = recipe->names;
    char *out = wanted->text;
    for (wanted->n = 0; *at != '\0' && wanted->n < RECIPE_NAMES_MAX; wanted->n++) {
        const char *first = at;
        size_t length = recipe_next_name(&at, out), written = (size_t)(at - first);
        wanted->written[wanted->n] = (struct span){first, written - (*at != '\0')};
        wanted->name[wanted->n] = (struct span){out, length};
        wanted->found[wanted->n] = false;
        out += length + 1;
    }
}

/* Finds the columns of these names, or all but these, in a line of `count` fields. Returns how many
 * there are; or -1 with a fault. */
static ptrdiff_t find_names(struct csv_fields fields, struct wanted_names *wanted, bool except,
                            char *buffer, const char *input, struct named_column *columns,
                            struct fault *fault)
{
    struct csv_field field;
    ptrdiff_t n = 0;
    for (size_t number = 1; next_header_field(&fields, &field); number++) {
        struct span name = csv_field_value(&field, buffer);
        size_t i = 0;
        while (i < wanted->n && (name.length != wanted->name[i].length ||
                                 memcmp(name.bytes, wanted->name[i].bytes, name.length) != 0))
            i++;
        if (i < wanted->n && wanted->found[i]) {
            fault_set(fault, input, "two columns are named '%.*s'", (int)wanted->written[i].length,
                      wanted->written[i].bytes);
            return fault_way_out(fault, "rename one, or make a filter with -f and its number");
        }
        if (i < wanted->n)
            wanted->found[i] = true;
        if ((i < wanted->n) != except)
            columns[n++] = (struct named_column){name, {number, i}};
        if (name.bytes == buffer)
            buffer += name.length;
    }
    return n;
}

int columns_find(const struct recipe *recipe, struct span header_line, char *buffer,
                 const char *input, struct columns *columns, struct fault *fault)
{
    struct wanted_names wanted = {.n = 0};
    struct csv_field field;
    size_t count = 0, missing = 0;
    const struct csv_fields fields = header_fields(recipe, header_line);
    columns_free(columns);
    split_names(recipe, &wanted);
    for (struct csv_fields all = fields; next_header_field(&all, &field);)
        count++;
    struct named_column *found = calloc(count + 1, sizeof *found);
    if (found == NULL)
        return fault_errno(fault, input, NULL, ENOMEM);
    ptrdiff_t n = find_names(fields, &wanted, recipe->except, buffer, input, found, fault);
    if (n < 0)
        goto failed;
    while (missing < wanted.n && wanted.found[missing])
        missing++;
    if (missing < wanted.n) {
        fault_set(fault, input, "no column '%.*s'", (int)wanted.written[missing].length,
                  wanted.written[missing].bytes);
        tell_columns(fields, buffer, fault);
        goto failed;
    }
    if (recipe->except) {
        qsort(found, (size_t)n, sizeof *found, compare_names);
        for (ptrdiff_t i = 0; i < n; i++)
            found[i].column.place = (size_t)i;
        qsort(found, (size_t)n, sizeof *found, compare_numbers);
    }
    columns->column = calloc((size_t)n + 1, sizeof *columns->column);
    columns->fields = calloc((size_t)n + 1, sizeof *columns->fields);
    if (columns->column == NULL || columns->fields == NULL) {
        columns_free(columns);
        fault_errno(fault, input, NULL, ENOMEM);
        goto failed;
    }
    columns->n = (size_t)n;
    columns->most = count;
    for (ptrdiff_t i = 0; i < n; i++)
        columns->column[i] = found[i].column;
    free(found);
    return 0;
failed:
    free(found);
    return -1;
}

int columns_copy(struct columns *copy, const struct columns *columns)
{
    *copy = (struct columns){.most = columns->most};
    if (columns->n == 0)
        return 0;
    copy->column = malloc(columns->n * sizeof *copy->column);
    copy->fields = calloc(columns->n, sizeof *copy->fields);
    if (copy->column == NULL || copy->fields == NULL) {
        columns_free(copy);
        return -1;
    }
    copy->n = columns->n;
    memcpy(copy->column, columns->column, columns->n * sizeof *copy->column);
    return 0;
}

void columns_free(struct columns *columns)
{
    free(columns->column);
    free(columns->fields);
    *columns = (struct columns){.n = 0};
}

/* --- two header lines --- */

/* Whether two fields have the same value. Of two quotes for one the first is passed over. */
static bool is_same_value(const struct csv_field *a, const struct csv_field *b)
{
    if (a->doubled == b->doubled)
        return a->raw.length == b->raw.length &&
               memcmp(a->raw.bytes, b->raw.bytes, a->raw.length) == 0;
    const struct csv_field *doubled = a->doubled ? a : b, *plain = a->doubled ? b : a;
    const char *at = doubled->raw.bytes, *end = span_end(doubled->raw);
    for (size_t i = 0; i < plain->raw.length; i++, at++) {
        if (at == end || *at != plain->raw.bytes[i])
            return false;
        at += *at == QUOTE;
    }
    return at == end;
}

bool columns_same(const struct recipe *recipe, struct span line, struct span other)
{
    struct csv_fields a = header_fields(recipe, line), b = header_fields(recipe, other);
    struct csv_field field, same;
    while (a.at != NULL && b.at != NULL)
        if (!csv_next_field(&a, &field) || !csv_next_field(&b, &same) ||
            !is_same_value(&field, &same))
            return false;
    return a.at == b.at; /* NULL */
}

static int compare_values(const void *left, const void *right)
{
    return compare_spans(*(const struct span *)left, *(const struct span *)right);
}

/* The values of a header line, sorted; *memory is what they point into, if not into the line. Both
 * are the caller's to free. Returns NULL if memory is short. */
static struct span *sorted_values(const struct recipe *recipe, struct span line, size_t *n,
                                  char **memory)
{
    const struct csv_fields fields = header_fields(recipe, line);
    struct csv_field field;
    *n = 0;
    for (struct csv_fields all = fields; next_header_field(&all, &field);)
        *n += 1;
    struct span *values = calloc(*n + 1, sizeof *values);
    char *out = *memory = malloc(line.length + 1);
    if (values == NULL || out == NULL) {
        free(values);
        return NULL;
    }
    struct csv_fields rest = fields;
    for (size_t i = 0; i < *n && next_header_field(&rest, &field); i++) {
        values[i] = csv_field_value(&field, out);
        if (values[i].bytes == out)
            out += values[i].length;
    }
    qsort(values, *n, sizeof *values, compare_values);
    return values;
}

enum header_likeness columns_compare(const struct recipe *recipe, struct span line,
                                     struct span other)
{
    if (columns_same(recipe, line, other))
        return HEADER_SAME;
    size_t n, count, i = 0;
    char *memory, *others;
    struct span *a = sorted_values(recipe, line, &n, &memory);
    struct span *b = sorted_values(recipe, other, &count, &others);
    while (a != NULL && b != NULL && n == count && i < n && compare_spans(a[i], b[i]) == 0)
        i++;
    bool moved = a != NULL && b != NULL && n == count && i == n;
    free(a);
    free(b);
    free(memory);
    free(others);
    return moved ? HEADER_MOVED : HEADER_DIFFERS;
}
