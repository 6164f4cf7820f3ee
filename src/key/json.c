#include "key/json.h"

#include "core/bytes.h"
#include "core/little.h"
#include "key/span.h"

#include <stdlib.h>
#include <string.h>

struct text {
    const char *at, *end;
    bool escaped; /* the last string has a backslash */
};

static inline char peek(const struct text *text)
{
    return text->at < text->end ? *text->at : '\0';
}

static inline void pass_blanks(struct text *text)
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

/* --- strings --- */

/* Passes bytes that need no look: neither quote nor backslash nor control nor above ASCII. */
static inline void pass_plain(struct text *text)
{
    for (; text->end - text->at >= 8; text->at += 8) {
        uint64_t word = load64((const uint8_t *)text->at);
        /* A byte below 0x20 has none of the bits 0x60. */
        uint64_t others = (word & eight_bytes(0x80)) | zero_bytes(word & eight_bytes(0x60)) |
                          zero_bytes(word ^ eight_bytes('"')) |
                          zero_bytes(word ^ eight_bytes('\\'));
        if (others != 0) {
            text->at += __builtin_ctzll(others) >> 3;
            return;
        }
    }
    while (text->at < text->end && (*text->at & 0x80) == 0 && (*text->at & 0x60) != 0 &&
           *text->at != '"' && *text->at != '\\')
        text->at++;
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
        pass_plain(text);
        if (text->at == text->end)
            return false;
        char c = *text->at;
        if (c == '"') {
            text->at++;
            return true;
        }
        if (c == '\\') {
            text->at++;
            text->escaped = true;
            if (pass_escape(text) < 0)
                return false;
        } else if ((unsigned char)c < 0x20 || !pass_utf8(text)) {
            return false;
        }
    }
}

static char *write_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
        return out;
    }
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *out++ = (char)(lead[more] | c >> (6 * more));
    while (more-- > 0)
        *out++ = (char)(0x80 | (c >> (6 * more) & 0x3f));
    return out;
}

/* The contents of a valid string, decoded: in place if it has no escapes, otherwise in `buffer`. */
static struct span contents(struct span string, char *buffer)
{
    char *out = buffer;
    if (memchr(string.bytes, '\\', string.length) == NULL)
        return string;
    for (struct text text = {string.bytes, span_end(string), true}; text.at < text.end;) {
        if (*text.at != '\\') {
            *out++ = *text.at++;
            continue;
        }
        text.at++;
        out = write_utf8(out, (uint32_t)pass_escape(&text));
    }
    return span_between(buffer, out);
}

/* --- other values, and whole texts --- */

static bool pass_digits(struct text *text)
{
    const char *first = text->at;
    while (text->at < text->end && ascii_is_digit(*text->at))
        text->at++;
    return text->at > first;
}

static bool pass_number(struct text *text)
{
    pass_byte(text, '-');
    if (!pass_byte(text, '0') && !pass_digits(text))
        return false;
    if (pass_byte(text, '.') && !pass_digits(text))
        return false;
    if ((peek(text) | 0x20) != 'e')
        return true;
    text->at++;
    if (!pass_byte(text, '+'))
        pass_byte(text, '-');
    return pass_digits(text);
}

static bool pass_word(struct text *text, const char *word)
{
    size_t length = strlen(word);
    bool there = (size_t)(text->end - text->at) >= length && memcmp(text->at, word, length) == 0;
    text->at += there ? length : 0;
    return there;
}

static bool pass_scalar(struct text *text)
{
    switch (peek(text)) {
    case '"':
        text->at++;
        return pass_string(text);
    case 't':
        return pass_word(text, "true");
    case 'f':
        return pass_word(text, "false");
    case 'n':
        return pass_word(text, "null");
    default:
        return pass_number(text);
    }
}

/* --- members --- */

/* What one step of each item leads to. */
struct steps {
    unsigned n;
    struct span name[RECIPE_NAMES_MAX];  /* of a member; NUL follows */
    uint64_t index[RECIPE_NAMES_MAX];    /* of an array's element; UINT64_MAX: none */
    struct span value[RECIPE_NAMES_MAX]; /* NULL: nothing */
    char *buffer;
};

static void set_step(struct steps *steps, unsigned i, struct span name, bool pointer)
{
    enum { DIGITS = 18 };
    bool is_index = pointer && name.length > 0 && name.length <= DIGITS &&
                    strspn(name.bytes, "0123456789") == name.length &&
                    (name.bytes[0] != '0' || name.length == 1);
    steps->name[i] = name;
    steps->index[i] = is_index ? strtoull(name.bytes, NULL, 10) : UINT64_MAX;
    steps->value[i] = (struct span){NULL, 0};
}

/* Notes the value if it is what a step leads to. `name`: NULL in an array. */
static void note(struct steps *steps, struct span name, uint64_t index, struct span value)
{
    for (unsigned i = 0; i < steps->n; i++)
        if (name.bytes == NULL ? steps->index[i] == index
                               : steps->name[i].length == name.length &&
                                     memcmp(steps->name[i].bytes, name.bytes, name.length) == 0)
            steps->value[i] = value;
}

/* Passes the name of a member and its colon, and blanks after each. */
static bool pass_name(struct text *text, struct span *name)
{
    const char *first = text->at + 1;
    if (!pass_byte(text, '"') || !pass_string(text))
        return false;
    *name = span_between(first, text->at - 1);
    pass_blanks(text);
    if (!pass_byte(text, ':'))
        return false;
    pass_blanks(text);
    return true;
}

/* Which of the open objects and arrays are objects, a bit each, from the outermost on. */
struct nesting {
    uint64_t objects[JSON_DEPTH_MAX / 64 + 1];
    unsigned depth;
};

static inline void enter(struct nesting *nesting, bool object)
{
    uint64_t *word = &nesting->objects[nesting->depth / 64], bit = nesting->depth++ % 64;
    *word = (*word & ~(UINT64_C(1) << bit)) | (uint64_t)object << bit;
}

static inline bool in_object(const struct nesting *nesting)
{
    unsigned innermost = nesting->depth - 1;
    return (nesting->objects[innermost / 64] >> innermost % 64 & 1) != 0;
}

/* Passes an object or array, and notes the members that the steps lead to. Not recursive: a line
 * must not use up the stack. */
static bool pass_members(struct text *text, struct steps *steps)
{
    struct nesting open = {.depth = 0};
    struct span name, member = {NULL, 0};
    const char *value = NULL;
    uint64_t index = 0;
    for (;;) {
        char bracket = peek(text);
        bool scalar = bracket != '{' && bracket != '[', empty = false;
        if (scalar && !pass_scalar(text))
            return false;
        if (!scalar) {
            if (open.depth == JSON_DEPTH_MAX)
                return false;
            enter(&open, bracket == '{');
            text->at++;
            pass_blanks(text);
            empty = pass_byte(text, bracket == '{' ? '}' : ']');
            open.depth -= empty;
        }
        /* After a value: the brackets that it closes, and a comma. */
        bool next = !scalar && !empty;
        while (!next) {
            if (open.depth == 1)
                note(steps, member, index++, span_between(value, text->at));
            if (open.depth == 0)
                return true;
            pass_blanks(text);
            next = pass_byte(text, ',');
            if (!next && !pass_byte(text, in_object(&open) ? '}' : ']'))
                return false;
            open.depth -= !next;
        }
        pass_blanks(text);
        bool object = in_object(&open);
        if (object && !pass_name(text, &name))
            return false;
        if (open.depth == 1 && object)
            member = text->escaped ? contents(name, steps->buffer) : name;
        if (open.depth == 1)
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
    struct steps steps;
    struct span step = item->first;
    steps.n = 1;
    steps.buffer = buffer;
    for (unsigned i = 1; i < item->steps; i++) {
        const char *next = span_end(step) + 1;
        step = (struct span){next, strlen(next)};
        set_step(&steps, 0, step, true);
        if (is_container(value))
            (void)pass_members(&(struct text){value.bytes, span_end(value), false}, &steps);
        value = steps.value[0];
    }
    return value;
}

/* Finds the values of all items. Returns false if the line is not valid, or has no members. */
static bool find_values(const struct json_items *items, struct span line, struct steps *found)
{
    struct text text = {line.bytes, span_end(line), false};
    found->n = items->n;
    for (unsigned i = 0; i < items->n; i++)
        set_step(found, i, items->item[i].first, items->item[i].pointer);
    pass_blanks(&text);
    if (!is_container(span_between(text.at, text.end)) || !pass_members(&text, found))
        return false;
    pass_blanks(&text);
    if (text.at != text.end)
        return false;
    for (unsigned i = 0; i < items->n; i++)
        found->value[i] = take_steps(&items->item[i], found->value[i], found->buffer);
    return true;
}

/* --- keys --- */

static char *write_control(char *out, unsigned byte)
{
    static const char digits[] = "0123456789abcdef";
    out = (char *)mempcpy(out, "\\u00", 4);
    *out++ = digits[byte >> 4];
    *out++ = digits[byte & 15];
    return out;
}

static char *write_string(const struct recipe *recipe, struct span text, char *out)
{
    static const char controls[] = "\b\t\n\f\r", letters[] = "btnfr";
    *out++ = '"';
    for (const char *at = text.bytes; at < span_end(text); at++) {
        const char *control = *at != '\0' ? strchr(controls, *at) : NULL;
        if (*at == '"' || *at == '\\' || control != NULL)
            *out++ = '\\';
        if (control != NULL)
            *out++ = letters[control - controls];
        else if ((unsigned char)*at < 0x20)
            out = write_control(out, (unsigned)*at);
        else
            *out++ = recipe->fold ? ascii_lower(*at) : *at;
    }
    *out++ = '"';
    return out;
}

static bool is_string(struct span value)
{
    return value.bytes[0] == '"';
}

/* The contents of a string, without blanks at its ends if the recipe says so. */
static struct span string_of(const struct recipe *recipe, struct span value, char *buffer)
{
    struct span text = contents((struct span){value.bytes + 1, value.length - 2}, buffer);
    return recipe_trim(recipe, text);
}

/* Whether the value is its own key. */
static bool is_shortest(const struct recipe *recipe, struct span value)
{
    return !is_string(value) ||
           (!recipe->trim && !recipe->fold && memchr(value.bytes, '\\', value.length) == NULL);
}

bool json_take(const struct recipe *recipe, const struct json_items *items, struct span line,
               char *buffer, struct span *key)
{
    char *out = buffer, *scratch = buffer + 2 * line.length + 32;
    struct steps found;
    found.buffer = scratch;
    if (items->n == 0 || !find_values(items, line, &found))
        return false;
    for (unsigned i = 0; i < items->n; i++)
        if (found.value[i].length == 0 || is_container(found.value[i]) ||
            found.value[i].bytes[0] == 'n')
            return false;
    *key = found.value[0];
    if (recipe->profile != PROFILE_LINE) {
        if (is_string(*key))
            *key = string_of(recipe, *key, buffer);
        return is_string(found.value[0]);
    }
    if (items->n == 1 && is_shortest(recipe, *key))
        return true;
    for (unsigned i = 0; i < items->n; i++) {
        if (i > 0)
            *out++ = ',';
        if (is_shortest(recipe, found.value[i]))
            out = (char *)mempcpy(out, found.value[i].bytes, found.value[i].length);
        else
            out = write_string(recipe, string_of(recipe, found.value[i], scratch), out);
    }
    *key = span_between(buffer, out);
    return true;
}

void json_split_items(const struct recipe *recipe, struct json_items *items)
{
    char *out = items->text;
    items->n = 0;
    for (const char *at = recipe->names; *at != '\0' && items->n < RECIPE_NAMES_MAX;) {
        struct json_item *item = &items->item[items->n++];
        bool pointer = *at == '/';
        char *first = out;
        *item = (struct json_item){{first, 0}, 1, pointer};
        for (at += pointer; *at != '\0' && *at != ','; at++) {
            bool step = pointer && *at == '/', escape = pointer && *at == '~';
            if (step && item->steps++ == 1)
                item->first.length = (size_t)(out - first);
            at += escape;
            *out++ = (char)(step ? '\0' : !escape ? *at : *at == '0' ? '~' : '/');
        }
        if (item->steps == 1)
            item->first.length = (size_t)(out - first);
        *out++ = '\0';
        at += *at == ',';
    }
}
