#include "key/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The fields of a header line; without --csv none is quoted. */
static struct csv_fields header_fields(const struct recipe *recipe, struct span line)
{
    return csv_fields_start(recipe, csv_row(line), recipe->syntax == SYNTAX_CSV);
}

int columns_values(const struct recipe *recipe, struct span line, struct header_values *values)
{
    struct csv_fields fields = header_fields(recipe, line), counted = fields;
    struct csv_field field;
    size_t n = 0;
    while (counted.at != NULL && csv_next_field(&counted, &field))
        n++;
    *values = (struct header_values){n, calloc(n + 1, sizeof *values->value),
                                     malloc(line.length + 1)};
    if (values->value == NULL || values->text == NULL) {
        columns_values_free(values);
        return -1;
    }
    char *out = values->text;
    for (size_t i = 0; i < n && csv_next_field(&fields, &field); i++) {
        struct span value = csv_field_value(&field, out);
        values->value[i] = (struct span){memmove(out, value.bytes, value.length), value.length};
        out += value.length;
    }
    return 0;
}

void columns_values_free(struct header_values *values)
{
    free(values->value);
    free(values->text);
    *values = (struct header_values){.n = 0};
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

static int compare_columns(const void *left, const void *right)
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

/* Tells which columns there are; of many the first ones, of a long name its beginning. If there is
 * one, perhaps another separator makes several of it. */
static void tell_columns(const struct header_values *header, struct fault *fault)
{
    enum { SHOWN = 200, SHOWN_NAME = 40 };
    char list[SHOWN + 2 * SHOWN_NAME + 8], *out = list;
    const char *other = NULL;
    size_t i;
    for (i = 0; i < header->n && out < list + SHOWN; i++) {
        struct span name = header->value[i];
        if (i > 0)
            out = (char *)mempcpy(out, ", ", 2);
        name.length = name.length < SHOWN_NAME ? name.length : SHOWN_NAME;
        out = add_name(out, name);
    }
    for (const char *at = list; at < out && header->n == 1 && other == NULL; at++)
        other = *at == ';' ? ";" : *at == '|' ? "|" : *at == '\t' ? "\\t" : NULL;
    if (other != NULL)
        fault_way_out(fault, "columns: %.*s; to separate them: -t '%s'", (int)(out - list), list,
                      other);
    else
        fault_way_out(fault, "columns: %.*s%s", (int)(out - list), list,
                      i < header->n ? ", ..." : "");
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

/* Finds the columns of these names, or all but these. Returns how many there are; or -1 with a
 * fault. */
static ptrdiff_t find_names(const struct header_values *header, struct wanted_names *wanted,
                            bool except, const char *input, struct named_column *columns,
                            struct fault *fault)
{
    ptrdiff_t n = 0;
    size_t missing = 0;
    for (size_t number = 1; number <= header->n; number++) {
        const struct span name = header->value[number - 1];
        size_t i = 0;
        while (i < wanted->n && compare_spans(name, wanted->name[i]) != 0)
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
    }
    while (missing < wanted->n && wanted->found[missing])
        missing++;
    if (missing == wanted->n)
        return n;
    fault_set(fault, input, "no column '%.*s'", (int)wanted->written[missing].length,
              wanted->written[missing].bytes);
    tell_columns(header, fault);
    return -1;
}

int columns_find(const struct recipe *recipe, struct span line, const char *input,
                 struct columns *columns, struct fault *fault)
{
    struct wanted_names wanted = {.n = 0};
    struct header_values header;
    int result = -1;
    columns_free(columns);
    split_names(recipe, &wanted);
    if (columns_values(recipe, line, &header) != 0)
        return fault_errno(fault, input, NULL, ENOMEM);
    struct named_column *found = calloc(header.n + 1, sizeof *found);
    ptrdiff_t n = -1;
    if (found == NULL)
        fault_errno(fault, input, NULL, ENOMEM);
    else
        n = find_names(&header, &wanted, recipe->except, input, found, fault);
    if (found == NULL || n < 0)
        goto done;
    /* Each row, however short, takes a step for each of them. */
    if (n > RECIPE_FIELD_MAX) {
        fault_set(fault, input, "leaves %td columns, more than %d", n, RECIPE_FIELD_MAX);
        goto done;
    }
    if (recipe->except) {
        qsort(found, (size_t)n, sizeof *found, compare_columns);
        for (ptrdiff_t i = 0; i < n; i++)
            found[i].column.place = (size_t)i;
        qsort(found, (size_t)n, sizeof *found, compare_numbers);
    }
    columns->column = calloc((size_t)n + 1, sizeof *columns->column);
    columns->fields = calloc((size_t)n + 1, sizeof *columns->fields);
    if (columns->column == NULL || columns->fields == NULL) {
        columns_free(columns);
        fault_errno(fault, input, NULL, ENOMEM);
        goto done;
    }
    columns->n = (size_t)n;
    columns->most = header.n;
    for (ptrdiff_t i = 0; i < n; i++)
        columns->column[i] = found[i].column;
    result = 0;
done:
    free(found);
    columns_values_free(&header);
    return result;
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

/* Whether a field has this value. Of two quotes for one the first is passed over. */
static bool has_value(const struct csv_field *field, struct span value)
{
    const char *at = field->raw.bytes, *end = span_end(field->raw);
    if (!field->doubled)
        return compare_spans(field->raw, value) == 0;
    for (size_t i = 0; i < value.length; i++, at++) {
        if (at == end || *at != value.bytes[i])
            return false;
        at += *at == QUOTE;
    }
    return at == end;
}

bool columns_same(const struct recipe *recipe, struct span line, const struct header_values *header)
{
    struct csv_fields fields = header_fields(recipe, line);
    struct csv_field field;
    size_t i;
    for (i = 0; i < header->n && fields.at != NULL; i++)
        if (!csv_next_field(&fields, &field) || !has_value(&field, header->value[i]))
            return false;
    return i == header->n && fields.at == NULL;
}

static int compare_values(const void *left, const void *right)
{
    return compare_spans(*(const struct span *)left, *(const struct span *)right);
}

enum header_likeness columns_compare(const struct recipe *recipe, struct span line,
                                     struct span other)
{
    struct header_values a, b = {.n = 0};
    enum header_likeness likeness = HEADER_DIFFERS;
    if (columns_values(recipe, line, &a) != 0 || columns_values(recipe, other, &b) != 0) {
        likeness = HEADER_NO_MEMORY;
    } else if (columns_same(recipe, other, &a)) {
        likeness = HEADER_SAME;
    } else if (a.n == b.n) {
        size_t i = 0;
        qsort(a.value, a.n, sizeof *a.value, compare_values);
        qsort(b.value, b.n, sizeof *b.value, compare_values);
        while (i < a.n && compare_spans(a.value[i], b.value[i]) == 0)
            i++;
        likeness = i == a.n ? HEADER_MOVED : HEADER_DIFFERS;
    }
    columns_values_free(&a);
    columns_values_free(&b);
    return likeness;
}
