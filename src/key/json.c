#include "key/json.h"

#include "key/json_text.h"

#include <string.h>

/* --- items --- */

void json_split_items(const struct recipe *recipe, struct json_items *items)
{
    char *out = items->text;
    items->n = 0;
    char name[RECIPE_NAMES_BYTES + 1];
    for (const char *next = recipe->names; *next != '\0' && items->n < RECIPE_NAMES_MAX;) {
        recipe_next_name(&next, name);
        struct json_item *item = &items->item[items->n++];
        bool pointer = name[0] == '/';
        char *first = out;
        *item = (struct json_item){1, pointer};
        size_t first_length = 0;
        /* In a pointer, a slash ends a step, ~0 is ~, and ~1 is a slash. */
        for (const char *at = name + pointer; *at != '\0'; at++) {
            bool step = pointer && *at == '/', escape = pointer && *at == '~';
            if (step && item->steps++ == 1)
                first_length = (size_t)(out - first);
            at += escape;
            *out++ = (char)(step ? '\0' : !escape ? *at : *at == '0' ? '~' : '/');
        }
        if (item->steps == 1)
            first_length = (size_t)(out - first);
        *out++ = '\0';
        items->first[items->n - 1] = json_step_of((struct span){first, first_length}, pointer);
    }
}

/* --- values --- */

/* Takes the further steps of an item, from the value of the first. */
static struct span take_steps(const struct json_items *items, unsigned i,
                              const struct kernel *kernel, struct span value, char *buffer)
{
    struct json_lines lines;
    struct span name = items->first[i].name;
    for (unsigned k = 1; k < items->item[i].steps; k++) {
        name.bytes += name.length + 1;
        name.length = strlen(name.bytes);
        const struct json_step step = json_step_of(name, true);
        struct json_search search = {.n = 1, .step = &step, .buffer = buffer};
        if (!json_is_container(value))
            return (struct span){NULL, 0};
        json_lines_begin(&lines, kernel, value.bytes, span_end(value), span_end(value), '\n');
        if (!json_find_next(&lines, value, &search))
            (void)json_find(value, &search);
        value = search.value[0];
    }
    return value;
}

static bool is_null(struct span value)
{
    return value.length == 0 || value.bytes[0] == 'n';
}

/* The contents of a string that is a value, trimmed if the recipe says so. */
static struct span string_of(const struct recipe *recipe, struct span value, char *buffer)
{
    return recipe_trim(recipe,
                       json_decode((struct span){value.bytes + 1, value.length - 2}, buffer));
}

/* Whether the value is its own key. `escapes`: it may have some. */
static bool is_shortest(const struct recipe *recipe, struct span value, bool escapes)
{
    if (json_is_container(value))
        return false;
    return !json_is_string(value) ||
           (!recipe->trim && !recipe->fold &&
            (!escapes || memchr(value.bytes, '\\', value.length) == NULL));
}

/* Writes a string in its shortest form, in lower case if the recipe says so. */
static char *write_string(const struct recipe *recipe, struct span text, char *out)
{
    static const char controls[] = "\b\t\n\f\r", letters[] = "btnfr";
    *out++ = QUOTE;
    for (const char *at = text.bytes; at < span_end(text); at++) {
        const char *control = *at != '\0' ? strchr(controls, *at) : NULL;
        if (control != NULL) {
            *out++ = '\\';
            *out++ = letters[control - controls];
        } else if ((unsigned char)*at < 0x20) {
            out = (char *)mempcpy(out, "\\u00", 4);
            *out++ = (char)('0' + (*at >> 4));
            *out++ = "0123456789abcdef"[*at & 15];
        } else {
            if (*at == QUOTE || *at == '\\')
                *out++ = '\\';
            *out++ = recipe->fold ? ascii_lower(*at) : *at;
        }
    }
    *out++ = QUOTE;
    return out;
}

/* Writes what a value adds to the key. */
static char *write_value(const struct recipe *recipe, struct span value, char *scratch, char *out)
{
    if (is_shortest(recipe, value, true))
        return (char *)mempcpy(out, value.bytes, value.length);
    if (json_is_container(value))
        return out + json_compact(value, out).length;
    return write_string(recipe, string_of(recipe, value, scratch), out);
}

/* Looks for the first steps of the items in a line. Returns whether it is a text; if not, writers of
 * arrays with a value on each line may have put the bracket at its beginning or its end. */
static bool find_first(struct json_lines *lines, struct span line, struct json_search *search)
{
    const char *first = line.bytes, *end = span_end(line);
    if (json_find_next(lines, line, search))
        return true;
    if (line.length >= 3 && memcmp(first, BYTE_ORDER_MARK, 3) == 0)
        first += 3;
    if (json_find(span_between(first, end), search))
        return true;
    while (first < end && json_is_blank(*first))
        first++;
    while (first < end && json_is_blank(end[-1]))
        end--;
    return first < end && ((*first == '[' && json_find(span_between(first + 1, end), search)) ||
                           (end[-1] == ']' && json_find(span_between(first, end - 1), search)));
}

enum json_line json_take(const struct recipe *recipe, const struct json_items *items,
                         struct json_lines *lines, struct span line, char *buffer, struct span *key)
{
    char *scratch = buffer + items->n * (line.length + 1);
    struct json_search search;
    struct span *values = search.value;
    search.n = items->n;
    search.step = items->first;
    search.buffer = scratch;

    /* 1. The values. The first of them must be there. */
    if (!find_first(lines, line, &search))
        return JSON_NO_TEXT;
    for (unsigned i = 0; i < items->n; i++)
        if (items->item[i].steps > 1)
            values[i] = take_steps(items, i, lines->kernel, values[i], scratch);
    if (is_null(values[0]))
        return JSON_NO_MEMBER;
    bool string = json_is_string(values[0]);
    if (string && (values[0].length == 2 ||
                   (recipe->trim && string_of(recipe, values[0], scratch).length == 0)))
        return JSON_NO_MEMBER;

    /* 2. --by takes a string without its quotes. */
    *key = values[0];
    if (recipe->profile != PROFILE_LINE) {
        if (!string)
            return JSON_NO_MEMBER;
        *key = string_of(recipe, values[0], buffer);
        return JSON_KEY;
    }

    /* 3. The values, each in its shortest form, joined by commas. */
    if (items->n == 1 && is_shortest(recipe, values[0], search.escapes))
        return JSON_KEY;
    char *out = buffer;
    for (unsigned i = 0; i < items->n; i++) {
        if (i > 0)
            *out++ = ',';
        if (!is_null(values[i]))
            out = write_value(recipe, values[i], scratch, out);
    }
    *key = span_between(buffer, out);
    return JSON_KEY;
}
