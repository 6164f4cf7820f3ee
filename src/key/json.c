#include "key/json.h"

#include "core/bytes.h"
#include "key/json_text.h"

#include <string.h>

/* --- items --- */

/* Whether the steps of one item are the first of another, or all. */
static bool leads_to(const struct json_item *item, const struct json_item *other)
{
    unsigned i = 0;
    while (i < item->steps && i < other->steps &&
           strcmp(item->step[i].name.bytes, other->step[i].name.bytes) == 0)
        i++;
    return i == item->steps;
}

/* Whether the contents of strings that are values stay as they are. */
static bool strings_stay(const struct recipe *recipe)
{
    return !recipe->trim && !recipe->fold && recipe->patterns[0] == '\0';
}

void json_split_items(const struct recipe *recipe, struct json_items *items)
{
    struct json_step *step = items->step;
    char *out = items->text, name[RECIPE_NAMES_BYTES + 1];
    items->n = 0;
    for (const char *next = recipe->names; *next != '\0' && items->n < RECIPE_NAMES_MAX;) {
        recipe_next_name(&next, name);
        const bool pointer = name[0] == '/';
        struct json_item *item = &items->item[items->n++];
        *item = (struct json_item){step, 0};
        /* In a pointer a slash begins a step, ~0 is ~, and ~1 is a slash. */
        for (const char *at = name + pointer;; at++) {
            char *first = out;
            for (; *at != '\0' && !(pointer && *at == '/'); at++) {
                const bool escape = pointer && *at == '~';
                at += escape;
                *out++ = (char)(!escape ? *at : *at == '0' ? '~' : '/');
            }
            *out++ = '\0';
            *step++ = json_step_of((struct span){first, (size_t)(out - 1 - first)}, pointer);
            item->steps++;
            if (*at == '\0')
                break;
        }
    }
    items->one_member = items->n == 1 && items->item[0].steps == 1;
    items->without = NULL;
    items->as_written = items->one_member && recipe->profile == PROFILE_LINE &&
                        strings_stay(recipe);
    items->nested = 0;
    for (unsigned i = 0; i < items->n; i++) {
        unsigned parts_of = 0;
        for (unsigned k = 0; k < items->n; k++)
            parts_of += leads_to(&items->item[k], &items->item[i]);
        items->nested = parts_of > items->nested ? parts_of : items->nested;
    }
}

/* --- values --- */

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
           (strings_stay(recipe) && (!escapes || memchr(value.bytes, '\\', value.length) == NULL));
}

/* Writes a string in its shortest form, in lower case if the recipe says so. */
static char *write_string(const struct recipe *recipe, struct span text, char *out)
{
    *out++ = QUOTE;
    for (const char *at = text.bytes, *end = span_end(text); at < end;) {
        /* Up to a byte that is not written as it is; there is room for eight that are. */
        if (!recipe->fold && end - at >= 8) {
            uint64_t word = load64((const uint8_t *)at);
            uint64_t hits = zero_bytes(word & eight_bytes(0xe0)) |
                            zero_bytes(word ^ eight_bytes(QUOTE)) |
                            zero_bytes(word ^ eight_bytes('\\'));
            const unsigned n = hits != 0 ? (unsigned)__builtin_ctzll(hits) >> 3 : 8;
            store64((uint8_t *)out, word);
            out += n;
            at += n;
            if (hits == 0)
                continue;
        }
        const char c = *at++;
        const bool control = (unsigned char)c < 0x20;
        if (control || c == QUOTE || c == '\\')
            *out++ = '\\';
        if (!control) {
            *out++ = recipe->fold ? ascii_lower(c) : c;
        } else if (c >= '\b' && c <= '\r' && c != '\v') {
            *out++ = "btn?fr"[c - '\b'];
        } else {
            out = (char *)mempcpy(out, "u00", 3);
            *out++ = (char)('0' + (c >> 4));
            *out++ = "0123456789abcdef"[c & 15];
        }
    }
    *out++ = QUOTE;
    return out;
}

/* Writes what patterns leave of a string. Not inlined: it would slow down what has none. */
__attribute__((noinline)) static char *
write_left(const struct recipe *recipe, struct without *without, struct span text, char *out)
{
    return without_apply(without, &text) ? write_string(recipe, text, out) : NULL;
}

/* Writes what a value adds to the key. Returns NULL if it is too long for `without`. */
static char *write_value(const struct recipe *recipe, struct without *without, struct span value,
                         char *scratch, char *out)
{
    if (is_shortest(recipe, value, true))
        return (char *)mempcpy(out, value.bytes, value.length);
    if (json_is_container(value))
        return out + json_compact(value, out).length;
    const struct span text = string_of(recipe, value, scratch);
    return without != NULL ? write_left(recipe, without, text, out)
                           : write_string(recipe, text, out);
}

/* Looks for the items in a line. Returns whether it is a text; if not, writers of arrays with a
 * value on each line may have put the bracket at its beginning or its end. */
static bool find_values(struct json_lines *lines, struct span line, struct json_search *search)
{
    const char *first = line.bytes + mark_length(line.bytes, line.length), *end = span_end(line);
    if (json_find_next(lines, line, search) || json_find(span_between(first, end), search))
        return true;
    while (first < end && json_is_blank(*first))
        first++;
    while (first < end && json_is_blank(end[-1]))
        end--;
    return first < end && ((*first == '[' && json_find(span_between(first + 1, end), search)) ||
                           (end[-1] == ']' && json_find(span_between(first, end - 1), search)));
}

enum json_line json_take_any(const struct recipe *recipe, const struct json_items *items,
                             struct json_lines *lines, struct span line, char *buffer,
                             struct span *key)
{
    char *scratch = buffer + json_key_room(items, line.length);
    struct json_search search;
    struct span *values = search.value;
    search.n = items->n;
    search.item = items->item;
    search.buffer = scratch;

    /* 1. The values. The first of them must be there. */
    if (items->one_member && !items->as_written &&
        json_find_member(lines, line, items->step, values))
        search.escapes = false;
    else if (!find_values(lines, line, &search))
        return JSON_NO_TEXT;
    if (json_is_missing(values[0]))
        return JSON_NO_MEMBER;

    /* 2. --by takes a string without its quotes. */
    *key = values[0];
    if (recipe->profile != PROFILE_LINE) {
        if (!json_is_string(values[0]))
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
        if (json_is_null(values[i]))
            continue;
        lines->members |= 1U << i;
        out = write_value(recipe, items->without, values[i], scratch, out);
        if (out == NULL)
            return JSON_NO_MEMBER;
    }
    const struct span made = span_between(buffer, out);
    if (made.length >= 2 && made.bytes[0] == QUOTE && made.bytes[1] == QUOTE)
        return JSON_NO_MEMBER; /* the first has become empty */
    /* One that no pattern matches stays in the line, where it is hashed with others. */
    if (items->n > 1 || items->without == NULL || made.length != key->length ||
        memcmp(made.bytes, key->bytes, made.length) != 0)
        *key = made;
    return JSON_KEY;
}
