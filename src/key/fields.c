#include "key/fields.h"

#include "key/finder.h"
#include "key/trim.h"

#include <limits.h>
#include <string.h>

struct walk {
    const char *at;       /* the start of field number `field`, or NULL: there is no such field */
    const char *end;      /* of the line */
    unsigned field;       /* counted from 1 */
    bool separated;       /* fields end at a separator, not at blanks */
    struct finder finder; /* finds separators, or blanks */
};

/* --- fields with a separator: there is always one field more than separators --- */

/* Moves past `count` separators. Returns a pointer to the last of them, or to the end of the line
 * if there are fewer. */
static const char *pass_separators(struct walk *walk, unsigned count)
{
    const char *at = walk->at, *found = at;
    for (; count > 0; count--, at = found + 1) {
        found = finder_next(&walk->finder, at);
        if (found == walk->end) {
            walk->at = NULL;
            return found;
        }
    }
    walk->at = at;
    return found;
}

/* --- fields without a separator: runs of bytes that are not blanks --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *pass_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Moves `count` fields on. Returns the end of the last field passed. */
static const char *pass_runs(struct walk *walk, unsigned count)
{
    const char *passed = walk->at;
    for (; count > 0 && walk->at != NULL; count--) {
        passed = finder_next(&walk->finder, walk->at);
        walk->at = pass_blanks(passed, walk->end);
        if (walk->at == walk->end)
            walk->at = NULL;
    }
    return passed;
}

/* Whether exactly one space is between any two of these fields. */
static bool is_joined_by_spaces(struct walk *walk, struct span fields)
{
    const char *at = fields.bytes, *end = span_end(fields);
    while ((at = finder_next(&walk->finder, at)) < end) {
        if (at[0] == '\t' || is_blank(at[1]))
            return false;
        at++;
    }
    return true;
}

/* Most fields are short. For these a fixed number of bytes is copied, which takes no branch on the
 * length, unless that would read past the line. */
static inline char *copy(char *out, const struct walk *walk, struct span text)
{
    if (text.length <= FIELDS_SPARE && walk->end - text.bytes >= FIELDS_SPARE)
        memcpy(out, text.bytes, FIELDS_SPARE);
    else
        memcpy(out, text.bytes, text.length);
    return out + text.length;
}

/* Copies fields with one space between them. Returns the end of the copy. */
static char *copy_runs(char *out, struct walk *walk, struct span fields)
{
    const char *at = fields.bytes, *end = span_end(fields);
    for (;;) {
        const char *blank = finder_next(&walk->finder, at);
        if (blank >= end)
            return copy(out, walk, span_between(at, end));
        out = copy(out, walk, span_between(at, blank));
        *out++ = ' ';
        at = pass_blanks(blank, end);
    }
}

/* --- either --- */

static const char *pass_fields(struct walk *walk, unsigned count)
{
    walk->field += count;
    return walk->separated ? pass_separators(walk, count) : pass_runs(walk, count);
}

static const char *last_field_end(const struct walk *walk)
{
    const char *end = walk->end;
    if (!walk->separated)
        while (end > walk->at && is_blank(end[-1]))
            end--;
    return end;
}

/* Finds the fields first..last, or to the end of the line if `last` is 0, with all bytes between
 * them. Returns false if the line has no field `first`. */
static bool take_range(struct walk *walk, unsigned first, unsigned last, struct span *fields)
{
    if (walk->at != NULL && first > walk->field)
        pass_fields(walk, first - walk->field);
    const char *at = walk->at;
    if (at == NULL)
        return false;
    *fields = span_between(at,
                           last == 0 ? last_field_end(walk) : pass_fields(walk, last + 1 - first));
    return true;
}

static char *copy_fields(char *out, struct walk *walk, struct span fields)
{
    return walk->separated ? copy(out, walk, fields) : copy_runs(out, walk, fields);
}

/* Whether the fields of a recipe's only range can be used where they are, without a copy. */
static bool is_one_piece(struct walk *walk, struct field_range range, struct span fields)
{
    return walk->separated || range.first == range.last || is_joined_by_spaces(walk, fields);
}

static struct walk start(const struct recipe *recipe, struct span line)
{
    const char separator = recipe->separator, *end = span_end(line);
    if (recipe->separated)
        return (struct walk){line.bytes, end, 1, true, finder_start(line, separator, separator)};
    const char *first = pass_blanks(line.bytes, end);
    return (struct walk){first < end ? first : NULL, end, 1, false, finder_start(line, ' ', '\t')};
}

/* Copies the fields of a range one by one, each trimmed. Returns the end of the copy, or NULL if
 * the line has no field range.first. */
static char *copy_trimmed(char *out, const struct recipe *recipe, struct walk *walk,
                          struct field_range range)
{
    struct span field;
    unsigned last = range.last != 0 ? range.last : UINT_MAX;
    for (unsigned number = range.first; number <= last; number++) {
        if (!take_range(walk, number, number, &field))
            return number > range.first ? out : NULL;
        field = trim(recipe, field);
        if (number > range.first)
            *out++ = recipe->separated ? recipe->separator : ' ';
        out = (char *)mempcpy(out, field.bytes, field.length);
    }
    return out;
}

static bool take_trimmed(const struct recipe *recipe, struct span line, char *buffer,
                         struct span *fields)
{
    struct walk walk = start(recipe, line);
    char *out = buffer;
    for (unsigned i = 0; i < recipe->ranges; i++) {
        if (i > 0)
            *out++ = recipe->separated ? recipe->separator : ' ';
        out = copy_trimmed(out, recipe, &walk, recipe->range[i]);
        if (out == NULL)
            return false;
    }
    *fields = span_between(buffer, out);
    return true;
}

/* Flattened: the walk stays in registers, which saves a quarter of the time. */
__attribute__((flatten)) bool fields_take(const struct recipe *recipe, struct span line,
                                          char *buffer, struct span *fields)
{
    if (recipe->trim)
        return take_trimmed(recipe, line, buffer, fields);
    struct walk walk = start(recipe, line);
    char *out = buffer;
    for (unsigned i = 0; i < recipe->ranges; i++) {
        if (!take_range(&walk, recipe->range[i].first, recipe->range[i].last, fields))
            return false;
        if (recipe->ranges == 1 && is_one_piece(&walk, recipe->range[0], *fields))
            return true;
        if (i > 0)
            *out++ = recipe->separated ? recipe->separator : ' ';
        out = copy_fields(out, &walk, *fields);
    }
    *fields = span_between(buffer, out);
    return true;
}
