#include "key/fields.h"

#include "key/finder.h"

#include <limits.h>
#include <string.h>

/*
 * Where we are in a line. With a separator there is always one field more than separators, and
 * fields may be empty. Without, fields are runs of bytes other than space and TAB, and blanks
 * before the first and after the last do not count.
 */
struct splitter {
    const char *at;     /* where field `number` begins, or NULL: there is no such field */
    const char *end;    /* of the line */
    unsigned number;    /* from 1 on */
    bool separated;     /* fields end at a separator, not at blanks */
    struct finder ends; /* finds separators, or blanks */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Moves `count` fields on. Returns the end of the last field passed. */
static const char *pass_fields(struct splitter *split, unsigned count)
{
    const char *found = split->at;
    split->number += count;
    if (split->separated) {
        for (; count > 0 && split->at != NULL; count--) {
            found = finder_next(&split->ends, split->at);
            split->at = found < split->end ? found + 1 : NULL;
        }
    } else {
        for (; count > 0 && split->at != NULL; count--) {
            found = finder_next(&split->ends, split->at);
            split->at = skip_blanks(found, split->end);
            if (split->at == split->end)
                split->at = NULL;
        }
    }
    return found;
}

/* Finds the fields first..last, or to the end of the line if `last` is 0, with all bytes between
 * them. Returns false if the line has no field `first`. */
static bool find_range(struct splitter *split, unsigned first, unsigned last, struct span *range)
{
    if (split->at != NULL && first > split->number)
        pass_fields(split, first - split->number);
    const char *at = split->at, *end = split->end;
    if (at == NULL)
        return false;
    if (last != 0)
        end = pass_fields(split, last + 1 - first);
    else if (!split->separated)
        while (end > at && is_blank(end[-1]))
            end--;
    *range = span_between(at, end);
    return true;
}

/* Whether fields are joined where they are, without a copy: exactly one space is between any two
 * of them. */
static bool is_one_piece(struct splitter *split, struct span fields)
{
    const char *at = fields.bytes, *end = span_end(fields);
    if (split->separated)
        return true;
    while ((at = finder_next(&split->ends, at)) < end) {
        if (at[0] == '\t' || is_blank(at[1]))
            return false;
        at++;
    }
    return true;
}

/* Most fields are short. For these a fixed number of bytes is copied, which takes no branch on the
 * length, unless that would read past the line. */
static inline char *copy(char *out, const struct splitter *split, struct span text)
{
    if (text.length <= FIELDS_SPARE && split->end - text.bytes >= FIELDS_SPARE)
        memcpy(out, text.bytes, FIELDS_SPARE);
    else
        memcpy(out, text.bytes, text.length);
    return out + text.length;
}

/* Copies fields, with one space for the blanks between two. Returns the end of the copy. */
static char *copy_range(char *out, struct splitter *split, struct span fields)
{
    const char *at = fields.bytes, *end = span_end(fields);
    while (!split->separated) {
        const char *blank = finder_next(&split->ends, at);
        if (blank >= end)
            break;
        out = copy(out, split, span_between(at, blank));
        *out++ = ' ';
        at = skip_blanks(blank, end);
    }
    return copy(out, split, span_between(at, end));
}

/* Begins at the first field. */
static struct splitter split_line(const struct recipe *recipe, struct span line)
{
    const char separator = recipe->separator, *end = span_end(line);
    if (recipe->separated)
        return (struct splitter){line.bytes, end, 1, true,
                                 finder_start(line, separator, separator)};
    const char *first = skip_blanks(line.bytes, end);
    return (struct splitter){first < end ? first : NULL, end, 1, false,
                             finder_start(line, ' ', '\t')};
}

/* Copies a field by itself. Returns the end of the copy; or NULL if it is too long. */
static char *copy_field(const struct recipe *recipe, struct without *without, struct span field,
                        char *out)
{
    field = recipe_trim(recipe, field);
    if (without != NULL && !without_apply(without, &field))
        return NULL;
    return (char *)mempcpy(out, field.bytes, field.length);
}

/* One by one: fields that are not taken as they are. */
bool fields_select_each(const struct recipe *recipe, struct without *without, struct span line,
                        char *buffer, struct span *fields)
{
    const char joint = recipe->separated ? recipe->separator : ' ';
    struct splitter split = split_line(recipe, line);
    struct span field;
    char *out = buffer;
    for (unsigned i = 0; i < recipe->ranges; i++) {
        const unsigned first = recipe->range[i].first, last = recipe->range[i].last;
        for (unsigned number = first; last == 0 || number <= last; number++) {
            bool is_first = i == 0 && number == first;
            if (!find_range(&split, number, number, &field)) {
                if (is_first)
                    return false;
                break;
            }
            if (!is_first)
                *out++ = joint;
            out = copy_field(recipe, without, field, out);
            if (out == NULL || out == buffer)
                return false;
        }
    }
    *fields = span_between(buffer, out);
    return true;
}

/* Whether the first of some fields is empty. Without a separator none is. */
static bool begins_empty(const struct recipe *recipe, struct span fields)
{
    return recipe->separated && (fields.length == 0 || *fields.bytes == recipe->separator);
}

/* Flattened: the splitter stays in registers, which saves a quarter of the time. */
__attribute__((flatten)) bool fields_select(const struct recipe *recipe, struct span line,
                                            char *buffer, struct span *fields)
{
    if (recipe->trim)
        return fields_select_each(recipe, NULL, line, buffer, fields);
    struct splitter split = split_line(recipe, line);
    struct field_range range = recipe->range[0];
    if (!find_range(&split, range.first, range.last, fields) || begins_empty(recipe, *fields))
        return false;
    if (recipe->ranges == 1 && (range.first == range.last || is_one_piece(&split, *fields)))
        return true;
    char *out = copy_range(buffer, &split, *fields);
    for (unsigned i = 1; i < recipe->ranges; i++) {
        if (!find_range(&split, recipe->range[i].first, recipe->range[i].last, fields))
            break;
        *out++ = split.separated ? recipe->separator : ' ';
        out = copy_range(out, &split, *fields);
    }
    *fields = span_between(buffer, out);
    return true;
}

bool fields_take_columns(const struct recipe *recipe, const struct columns *columns,
                         struct without *without, struct span line, char *buffer,
                         struct span *fields)
{
    struct splitter split = split_line(recipe, line);
    char *out = buffer;
    for (size_t i = 0; i < columns->n; i++) {
        const struct column *column = &columns->column[i];
        struct span *raw = &columns->fields[column->place].raw;
        if (column->number > UINT_MAX - 1 ||
            !find_range(&split, (unsigned)column->number, (unsigned)column->number, raw))
            *raw = (struct span){"", 0};
        *raw = recipe_trim(recipe, *raw);
    }
    if (columns->n == 0 || columns->fields[0].raw.length == 0)
        return false;
    *fields = columns->fields[0].raw;
    if (columns->n == 1 && !recipe->except)
        return true;
    for (size_t i = 0; i < columns->n; i++) {
        out = copy_field(recipe, without, columns->fields[i].raw, out);
        if (out == NULL || out == buffer)
            return false;
        *out++ = recipe->separator;
    }
    /* With all columns but some, those beyond the header line's. */
    struct span field;
    for (size_t number = columns->most + 1; recipe->except && number < UINT_MAX; number++) {
        if (!find_range(&split, (unsigned)number, (unsigned)number, &field))
            break;
        out = copy_field(recipe, without, field, out);
        if (out == NULL)
            return false;
        *out++ = recipe->separator;
    }
    *fields = span_between(buffer, out - 1); /* without the last separator */
    return true;
}
