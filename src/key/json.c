#include "key/json.h"

#include "core/bytes.h"
#include "key/span.h"

#include <stdlib.h>
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
        *item = (struct json_item){{first, 0}, 1, pointer};
        /* In a pointer, a slash ends a step, ~0 is ~, and ~1 is a slash. */
        for (const char *at = name + pointer; *at != '\0'; at++) {
            bool step = pointer && *at == '/', escape = pointer && *at == '~';
            if (step && item->steps++ == 1)
                item->first.length = (size_t)(out - first);
            at += escape;
            *out++ = (char)(step ? '\0' : !escape ? *at : *at == '0' ? '~' : '/');
        }
        if (item->steps == 1)
            item->first.length = (size_t)(out - first);
        *out++ = '\0';
    }
}

/* --- strings --- */

struct text {
    const char *at, *end;
    bool escaped; /* the last string has a backslash */
};

static inline char peek(const struct text *text)
{
    return text->at < text->end ? *text->at : '\0';
}

static inline void pass_space(struct text *text)
{
    while (text->at < text->end &&
           (*text->at == ' ' || *text->at == '\t' || *text->at == '\r' || *text->at == '\n'))
        text->at++;
}

/* `byte` is not NUL. */
static bool pass_byte(struct text *text, char byte)
{
    bool there = peek(text) == byte;
    text->at += there;
    return there;
}

/* Passes one character above ASCII. */
static bool pass_utf8(struct text *text)
{
    const unsigned char *at = (const unsigned char *)text->at;
    unsigned first = at[0];
    ptrdiff_t length = first < 0xc2   ? 0
                       : first < 0xe0 ? 2
                       : first < 0xf0 ? 3
                       : first < 0xf5 ? 4
                                      : 0;
    if (length == 0 || text->end - text->at < length)
        return false;
    /* The second byte of overlong forms, surrogates, and numbers above U+10FFFF. */
    unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < least || at[1] > most)
        return false;
    for (ptrdiff_t i = 2; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return false;
    text->at += length;
    return true;
}

/* Reads the four digits after \u. Returns -1 if they are not there. */
static int pass_hex(struct text *text)
{
    unsigned value = 0;
    if (text->end - text->at < 4)
        return -1;
    for (int i = 0; i < 4; i++, text->at++) {
        if (!ascii_is_hex(*text->at))
            return -1;
        value = value << 4 | ascii_hex_value(*text->at);
    }
    return (int)value;
}

/* Reads what follows a backslash. Returns the character, or -1. */
static int32_t pass_escape(struct text *text)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char letter = peek(text);
    const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
    text->at += text->at < text->end;
    if (found != NULL)
        return meant[found - letters];
    if (letter != 'u')
        return -1;
    int32_t high = pass_hex(text);
    if (high < 0xd800 || high > 0xdfff)
        return high;
    if (high > 0xdbff || !pass_byte(text, '\\') || !pass_byte(text, 'u'))
        return -1;
    int32_t low = pass_hex(text);
    return low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00) : -1;
}

/* Passes a string whose opening quote was passed, and its closing quote. */
static bool pass_string(struct text *text)
{
    text->escaped = false;
    for (;;) {
        /* Most bytes need no look: neither quote nor backslash nor control nor above ASCII. */
        for (; text->end - text->at >= 8; text->at += 8) {
            uint64_t word = load64((const uint8_t *)text->at);
            /* A byte below 0x20 has none of the bits 0x60. */
            uint64_t others = (word & eight_bytes(0x80)) | zero_bytes(word & eight_bytes(0x60)) |
                              zero_bytes(word ^ eight_bytes(QUOTE)) |
                              zero_bytes(word ^ eight_bytes('\\'));
            if (others != 0) {
                text->at += __builtin_ctzll(others) >> 3;
                break;
            }
        }
        if (text->at == text->end)
            return false;
        char c = *text->at;
        if (c == QUOTE) {
            text->at++;
            return true;
        }
        if (c == '\\') {
            text->at++;
            text->escaped = true;
            if (pass_escape(text) < 0)
                return false;
        } else if ((c & 0x80) != 0) {
            if (!pass_utf8(text))
                return false;
        } else if (c < 0x20) {
            return false;
        } else {
            text->at++;
        }
    }
}

/* The contents of a valid string, decoded: in place if it has no escapes, otherwise in `buffer`. */
static struct span decode_string(struct span string, char *buffer)
{
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    char *out = buffer;
    if (memchr(string.bytes, '\\', string.length) == NULL)
        return string;
    for (struct text text = {string.bytes, span_end(string), true}; text.at < text.end;) {
        if (*text.at != '\\') {
            *out++ = *text.at++;
            continue;
        }
        text.at++;
        /* The character in UTF-8. */
        unsigned c = (unsigned)pass_escape(&text);
        unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        *out++ = (char)(lead[more] | c >> (6 * more));
        while (more-- > 0)
            *out++ = (char)(0x80 | (c >> (6 * more) & 0x3f));
    }
    return span_between(buffer, out);
}

/* --- other values --- */

static bool pass_digits(struct text *text)
{
    const char *first = text->at;
    while (text->at < text->end && ascii_is_digit(*text->at))
        text->at++;
    return text->at > first;
}

static bool pass_word(struct text *text, const char *word)
{
    size_t length = strlen(word);
    bool there = (size_t)(text->end - text->at) >= length && memcmp(text->at, word, length) == 0;
    text->at += there ? length : 0;
    return there;
}

/* Passes a string, a number, true, false or null. */
static bool pass_scalar(struct text *text)
{
    switch (peek(text)) {
    case QUOTE:
        text->at++;
        return pass_string(text);
    case 't':
        return pass_word(text, "true");
    case 'f':
        return pass_word(text, "false");
    case 'n':
        return pass_word(text, "null");
    default:
        pass_byte(text, '-');
        if (!pass_byte(text, '0') && !pass_digits(text))
            return false;
        if (pass_byte(text, '.') && !pass_digits(text))
            return false;
        if (!pass_byte(text, 'e') && !pass_byte(text, 'E'))
            return true;
        if (!pass_byte(text, '+'))
            pass_byte(text, '-');
        return pass_digits(text);
    }
}

/* --- members --- */

/* What is looked for in an object or array: what one step of each item leads to. */
struct search {
    unsigned n;
    struct span name[RECIPE_NAMES_MAX];  /* of a member; NUL follows */
    uint64_t index[RECIPE_NAMES_MAX];    /* of an array's element; UINT64_MAX: none */
    struct span value[RECIPE_NAMES_MAX]; /* NULL: not found */
    char *buffer;                        /* for a member's name, decoded */
};

/* Looks for this member as number i; with `pointer`, a number is also an array's element. */
static void look_for(struct search *search, unsigned i, struct span name, bool pointer)
{
    enum { DIGITS = 18 };
    bool is_index = pointer && name.length > 0 && name.length <= DIGITS &&
                    strspn(name.bytes, "0123456789") == name.length &&
                    (name.bytes[0] != '0' || name.length == 1);
    search->name[i] = name;
    search->index[i] = is_index ? strtoull(name.bytes, NULL, 10) : UINT64_MAX;
    search->value[i] = (struct span){NULL, 0};
}

/* Keeps the value of a member, or of element `index` of an array, whose `member` is NULL, if it is
 * looked for. */
static void keep_value(struct search *search, struct span member, uint64_t index, struct span value)
{
    for (unsigned i = 0; i < search->n; i++) {
        struct span name = search->name[i];
        if (member.bytes == NULL ? search->index[i] == index
                                 : name.length == member.length &&
                                       memcmp(name.bytes, member.bytes, name.length) == 0)
            search->value[i] = value;
    }
}

/* Passes an object or array, and finds its members. Of those with the same name the last one
 * counts. Not recursive: a line must not use up the stack. */
static bool pass_members(struct text *text, struct search *search)
{
    char closing[JSON_DEPTH_MAX];   /* the bracket that closes each open object or array */
    unsigned depth = 0;             /* how many are open */
    struct span member = {NULL, 0}; /* its name, decoded; NULL in an array */
    const char *value = NULL;       /* where its value begins */
    uint64_t index = 0;             /* its number in an array */
    for (;;) {
        /* 1. A value: a scalar as a whole, or the bracket that opens an object or array, which ends
         * at once if it is empty. */
        char bracket = peek(text);
        bool ended = true;
        if (bracket != '{' && bracket != '[') {
            if (!pass_scalar(text))
                return false;
        } else {
            if (depth == JSON_DEPTH_MAX)
                return false;
            closing[depth] = bracket == '{' ? '}' : ']';
            text->at++;
            pass_space(text);
            ended = pass_byte(text, closing[depth]);
            depth += !ended;
        }
        /* 2. After a value: a comma, or the bracket after which what it is in has ended as a value,
         * too. Those of depth 1 are the members. */
        while (ended) {
            if (depth == 0)
                return true;
            if (depth == 1)
                keep_value(search, member, index++, span_between(value, text->at));
            pass_space(text);
            ended = !pass_byte(text, ',');
            if (ended && !pass_byte(text, closing[depth - 1]))
                return false;
            depth -= ended;
        }
        /* 3. Before the next value: in an object, its name and a colon. */
        pass_space(text);
        if (closing[depth - 1] == '}') {
            const char *name = text->at + 1;
            if (!pass_byte(text, QUOTE) || !pass_string(text))
                return false;
            if (depth == 1) {
                member = span_between(name, text->at - 1);
                if (text->escaped)
                    member = decode_string(member, search->buffer);
            }
            pass_space(text);
            if (!pass_byte(text, ':'))
                return false;
            pass_space(text);
        }
        if (depth == 1)
            value = text->at;
    }
}

static bool is_container(struct span value)
{
    return value.length > 0 && (value.bytes[0] == '{' || value.bytes[0] == '[');
}

/* Takes the further steps of an item, from the value of the first. */
static struct span take_steps(const struct json_item *item, struct span value, char *buffer)
{
    struct search search;
    struct span step = item->first;
    search.n = 1;
    search.buffer = buffer;
    for (unsigned i = 1; i < item->steps; i++) {
        const char *next = span_end(step) + 1;
        step = (struct span){next, strlen(next)};
        look_for(&search, 0, step, true);
        if (is_container(value))
            (void)pass_members(&(struct text){value.bytes, span_end(value), false}, &search);
        value = search.value[0];
    }
    return value;
}

/* --- the key of a line --- */

static bool is_string(struct span value)
{
    return value.bytes[0] == QUOTE;
}

/* The contents of a string that is a value, trimmed if the recipe says so. */
static struct span string_of(const struct recipe *recipe, struct span value, char *buffer)
{
    return recipe_trim(recipe,
                       decode_string((struct span){value.bytes + 1, value.length - 2}, buffer));
}

/* Whether the value is its own key. */
static bool is_shortest(const struct recipe *recipe, struct span value)
{
    return !is_string(value) ||
           (!recipe->trim && !recipe->fold && memchr(value.bytes, '\\', value.length) == NULL);
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

enum json_line json_take(const struct recipe *recipe, const struct json_items *items,
                         struct span line, char *buffer, struct span *key)
{
    char *out = buffer, *scratch = buffer + 2 * line.length + 32;
    struct text text = {line.bytes, span_end(line), false};
    struct search search;
    struct span *values = search.value;

    /* 1. The line is an object or array, and nothing else; the first step of each item. */
    search.n = items->n;
    search.buffer = scratch;
    for (unsigned i = 0; i < items->n; i++)
        look_for(&search, i, items->item[i].first, items->item[i].pointer);
    pass_space(&text);
    if (items->n == 0 || !is_container(span_between(text.at, text.end)) ||
        !pass_members(&text, &search))
        return JSON_NO_TEXT;
    pass_space(&text);
    if (text.at != text.end)
        return JSON_NO_TEXT;

    /* 2. Each item must lead to a string, a number, true or false. */
    for (unsigned i = 0; i < items->n; i++) {
        values[i] = take_steps(&items->item[i], values[i], scratch);
        if (values[i].length == 0 || is_container(values[i]) || values[i].bytes[0] == 'n')
            return JSON_NO_MEMBER;
    }

    /* 3. --by takes a string without its quotes. */
    *key = values[0];
    if (recipe->profile != PROFILE_LINE) {
        if (!is_string(values[0]))
            return JSON_NO_MEMBER;
        *key = string_of(recipe, values[0], buffer);
        return JSON_KEY;
    }

    /* 4. The values, each in its shortest form, joined by commas. */
    if (items->n == 1 && is_shortest(recipe, values[0]))
        return JSON_KEY;
    for (unsigned i = 0; i < items->n; i++) {
        if (i > 0)
            *out++ = ',';
        if (is_shortest(recipe, values[i]))
            out = (char *)mempcpy(out, values[i].bytes, values[i].length);
        else
            out = write_string(recipe, string_of(recipe, values[i], scratch), out);
    }
    *key = span_between(buffer, out);
    return JSON_KEY;
}
