/*
 * Lines of JSON: what is found over the tokens of each kernel, against what is found byte by byte,
 * in texts of all kinds, and in what is nearly one.
 */
#include "key/json.h"

#include "chance.h"
#include "core/bytes.h"
#include "core/rows.h"
#include "guards.h"
#include "tap.h"

#include <string.h>
#include <sys/mman.h>

enum { SIDE = 1 << 16, LINES = 24, LINE_MAX_BYTES = 2000, LEVELS = 70 };
enum { LINE_BYTES = LINE_MAX_BYTES + LEVELS + 16 }; /* with the brackets at the end, and a change */

static const struct kernel *kernels[KERNELS_MAX];
static size_t kernel_count;
static char *page; /* of memory, between guards */

/* --- lines by chance --- */

struct line {
    char bytes[LINE_BYTES];
    size_t length;
};

static void add(struct line *line, const char *bytes)
{
    for (; *bytes != '\0' && line->length < LINE_MAX_BYTES; bytes++)
        line->bytes[line->length++] = *bytes;
}

static void add_one(struct line *line, struct chance *chance, const char *const *words, size_t n)
{
    add(line, words[chance_below(chance, n)]);
}
#define ADD_ONE(line, chance, ...)                                                                 \
    add_one(line, chance, (const char *const[]){__VA_ARGS__},                                      \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void add_blanks(struct line *line, struct chance *chance)
{
    if (chance_below(chance, 4) == 0)
        ADD_ONE(line, chance, " ", "  ", "\t", "\r", "   \t ");
    if (chance_below(chance, 300) == 0)
        ADD_ONE(line, chance, "\\n", "\\\"", "\\u0041", "x"); /* in no string */
}

static void add_string(struct line *line, struct chance *chance)
{
    add(line, "\"");
    for (size_t n = chance_below(chance, 6) * chance_below(chance, 12); n > 0; n--)
        ADD_ONE(line, chance, "a", "xyz", "{", "}", "[", "]", ":", ",", " ", "\\\\", "\\\"", "\\n",
                "\\u00e9", "\\ud83d", "\\ude00", "\xc3\xa9", "\xff", "http://a/b", "\\/");
    add(line, "\"");
}

static void add_value(struct line *line, struct chance *chance, unsigned depth)
{
    const unsigned kind = (unsigned)chance_below(chance, depth > 0 ? 7 : 5);
    if (kind < 3)
        add_string(line, chance);
    else if (kind < 5)
        ADD_ONE(line, chance, "7", "0", "-1.5e+3", "12345678901234567890", "true", "false", "null",
                "NaN", "-Infinity", "Infinity");
    for (size_t n = kind >= 5 ? chance_below(chance, 5) + 1 : 0, left = n; left > 0; left--) {
        add(line, left < n ? "," : kind == 5 ? "[" : "{");
        add_blanks(line, chance);
        if (left == 1 && chance_below(chance, 3) == 0 && n == 1) {
            add(line, kind == 5 ? "]" : "}");
            return;
        }
        if (kind == 6) {
            const size_t name = chance_below(chance, 80);
            if (name == 0)
                ADD_ONE(line, chance, "id", "7"); /* no string */
            else if (name < 40)
                add_string(line, chance);
            else
                ADD_ONE(line, chance, "\"id\"", "\"i\\u0064\"", "\"a name of 16 b.\"", "\"id2\"",
                        "\"a name\"", "\"8 bytes.\"", "\"8 bytes..\"", "\"\"");
            add_blanks(line, chance);
            add(line, ":");
            add_blanks(line, chance);
        }
        add_value(line, chance, depth - 1);
        add_blanks(line, chance);
        if (left == 1)
            add(line, kind == 5 ? "]" : "}");
    }
}

/* An object of plain members; or a text, or nearly one: a byte is changed, left out or added, or
 * bytes at the end are. */
static void make_line(struct line *line, struct chance *chance)
{
    line->length = 0;
    if (chance_below(chance, 3) == 0) {
        for (size_t n = chance_below(chance, 6), i = 0; i <= n; i++) {
            ADD_ONE(line, chance, i == 0 ? "{" : ",");
            ADD_ONE(line, chance, "\"id\":", "\"id\" : ", "\"n\":", "\"a name\":");
            ADD_ONE(line, chance, "1", "12 ", "\"id\"", "\"x,:{}\" ", "true", "01", "\"\"", "null");
        }
        add(line, "}");
        return;
    }
    if (chance_below(chance, 16) == 0)
        add(line, BYTE_ORDER_MARK);
    add_blanks(line, chance);
    for (size_t n = chance_below(chance, 40) == 0 ? LEVELS - 10 + chance_below(chance, 15) : 0;
         n > 0; n--)
        add(line, "[");
    const size_t opened = line->length;
    add_value(line, chance, (unsigned)chance_below(chance, 5));
    for (size_t i = 0; i < opened; i++)
        if (line->bytes[i] == '[')
            line->bytes[line->length++] = ']';
    add_blanks(line, chance);
    if (chance_below(chance, 8) == 0)
        add(line, ",");
    if (chance_below(chance, 3) != 0 || line->length == 0)
        return;
    static const char bytes[] = "\"\\{}[]:, \t\r\x01\x1f\x7f\xef\xbb\xbf-0.eE1tn";
    const size_t at = chance_below(chance, line->length);
    switch (chance_below(chance, 4)) {
    case 0:
        line->bytes[at] = bytes[chance_below(chance, sizeof bytes)];
        break;
    case 1:
        memmove(line->bytes + at, line->bytes + at + 1, --line->length - at);
        break;
    case 2:
        memmove(line->bytes + at + 1, line->bytes + at, line->length++ - at);
        line->bytes[at] = bytes[chance_below(chance, sizeof bytes)];
        break;
    default:
        line->length = at;
    }
    for (size_t i = 0; i < line->length; i++)
        if (line->bytes[i] == '\n')
            line->bytes[i] = ' ';
}

/* --- both ways --- */

/* Decoded as they are, and to be found more than once. */
static const char list[] =
    "id,0,a name of 16 b.,8 bytes.,/,id2,/id,/id/id,/id/0,/0/id,/0/1/id2,/id/id/id/0";
static struct json_items items;

struct found {
    bool text;
    struct json_search search;
    char buffer[LINE_BYTES];
};

static unsigned deepest(struct span line)
{
    unsigned depth = 0, most = 0;
    bool inside = false;
    for (size_t i = 0; i < line.length; i++) {
        char c = line.bytes[i];
        if (inside && c == '\\')
            i++;
        else if (c == '"')
            inside = !inside;
        else if (!inside && (c == '[' || c == '{'))
            most = ++depth > most ? depth : most;
        else if (!inside && (c == ']' || c == '}'))
            depth--;
    }
    return most;
}

/* The second way takes each text that is an object or array and not too deep, and finds the
 * same. */
static void compare(const struct kernel *kernel, struct json_lines *lines, struct span line,
                    struct found *fast, bool member, unsigned *texts, unsigned *members)
{
    static struct found plain;
    struct span rest = line;
    plain.search = fast->search;
    plain.search.buffer = plain.buffer;
    if (rest.length >= 3 && memcmp(rest.bytes, BYTE_ORDER_MARK, 3) == 0)
        rest = (struct span){rest.bytes + 3, rest.length - 3};
    plain.text = json_find(rest, &plain.search);
    /* What the third way does not take is left to the second, as if it had not been asked. */
    struct span value;
    if (member && json_find_member(lines, line, &items.step[0], &value)) {
        ++*members;
        tap_check(plain.text && value.bytes == plain.search.value[0].bytes &&
                      value.length == plain.search.value[0].length,
                  "%s: the member is %.*s: %.*s", kernel->name, (int)value.length,
                  value.bytes != NULL ? value.bytes : "", (int)line.length, line.bytes);
        return;
    }
    fast->text = json_find_next(lines, line, &fast->search);
    while (rest.length > 0 && json_is_blank(*rest.bytes))
        rest = (struct span){rest.bytes + 1, rest.length - 1};
    const bool takes = plain.text && json_is_container(rest) && deepest(rest) <= 64;
    if (!tap_check(fast->text == takes, "%s: %d, not %d: %.*s", kernel->name, fast->text, takes,
                   (int)line.length, line.bytes) ||
        !fast->text)
        return;
    ++*texts;
    for (unsigned i = 0; i < items.n; i++) {
        struct span a = fast->search.value[i], b = plain.search.value[i];
        tap_check(a.bytes == b.bytes && a.length == b.length, "%s: item %u is %.*s, not %.*s: %.*s",
                  kernel->name, i, (int)a.length, a.bytes != NULL ? a.bytes : "", (int)b.length,
                  b.bytes != NULL ? b.bytes : "", (int)line.length, line.bytes);
        if (a.bytes != NULL && a.length > 2 && memchr(a.bytes, '\\', a.length) != NULL)
            tap_check(fast->search.escapes, "%s: no escapes: %.*s", kernel->name, (int)line.length,
                      line.bytes);
    }
}

static void both_ways(void)
{
    enum { ROUNDS = 6000 };
    struct chance chance = {24};
    static struct json_lines lines;
    static struct found fast;
    static struct line line;
    unsigned texts = 0, members = 0;
    struct recipe recipe = {.syntax = SYNTAX_JSONL};
    const char *wanted;
    tap_check(recipe_parse_fields(&recipe, list, &wanted) == NULL, "list");
    json_split_items(&recipe, &items);
    for (unsigned round = 0; round < ROUNDS; round++) {
        /* Some lines that end where memory does, some of which are not asked for. */
        const char delimiter = "\n\n\n\0"[chance_below(&chance, 4)];
        size_t starts[LINES + 1] = {0}, n = chance_below(&chance, LINES) + 1, kept = 0;
        static char all[LINES * LINE_BYTES];
        for (size_t i = 0; i < n && starts[i] + sizeof line.bytes < SIDE; i++) {
            make_line(&line, &chance);
            if (delimiter == '\0')
                for (size_t k = 0; k < line.length; k++)
                    if (line.bytes[k] == '\t')
                        line.bytes[k] = '\n';
            memcpy(all + starts[i], line.bytes, line.length);
            all[starts[i] + line.length] = delimiter;
            starts[++kept] = starts[i] + line.length + 1;
        }
        char *bytes = page + SIDE - (starts[kept] - 1);
        memcpy(bytes, all, starts[kept] - 1);
        for (size_t k = 0; k < kernel_count; k++) {
            json_lines_begin(&lines, kernels[k], bytes, page + SIDE, delimiter);
            for (size_t i = 0; i < kept; i++) {
                if (chance_below(&chance, 8) == 0)
                    continue;
                fast.search = (struct json_search){.n = items.n, .item = items.item};
                fast.search.buffer = fast.buffer;
                compare(kernels[k], &lines,
                        (struct span){bytes + starts[i], starts[i + 1] - 1 - starts[i]}, &fast,
                        chance_below(&chance, 2) == 0, &texts, &members);
            }
        }
    }
    tap_check(texts > ROUNDS * kernel_count, "only %u texts", texts);
    tap_check(members > ROUNDS / 4 * kernel_count, "only %u members", members);
}

/* Keys by all items at once, in no more than json_room, which ends where memory does. */
static void keys_have_room(void)
{
    enum { ROUNDS = 20000 };
    struct chance chance = {25};
    static struct json_lines lines;
    static struct line line;
    unsigned keys = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct recipe recipe = {.syntax = SYNTAX_JSONL,
                                      .trim = chance_below(&chance, 3) == 0,
                                      .fold = chance_below(&chance, 3) == 0};
        const struct kernel *kernel = kernels[chance_below(&chance, kernel_count)];
        make_line(&line, &chance);
        struct span all = {line.bytes, line.length}, key = all;
        char *buffer = page + SIDE - json_room(&items, line.length);
        json_lines_begin(&lines, kernel, line.bytes, line.bytes + line.length, '\n');
        if (json_take(&recipe, &items, &lines, all, buffer, &key) == JSON_KEY) {
            keys++;
            tap_check(key.length <= json_key_room(&items, line.length), "%.*s", (int)line.length,
                      line.bytes);
        }
    }
    tap_check(keys > ROUNDS / 40, "only %u keys", keys);
}

/* A line with more tokens than are found at a time, whatever is before it. */
static void many_tokens(void)
{
    enum { ELEMENTS = 3 * JSON_TOKENS };
    static char bytes[80 + 2 * ELEMENTS + 40];
    static struct json_lines lines;
    char buffer[sizeof bytes];
    const struct json_step step = json_step_of((struct span){"id", 2}, false);
    const struct json_item item = {&step, 1};
    for (size_t before = 0; before < 70; before++)
        for (size_t k = 0; k < kernel_count; k++) {
            char *at = bytes;
            memset(at, ' ', before);
            at = stpcpy(at + before, "{\"x\":[");
            for (unsigned i = 0; i < ELEMENTS; i++)
                at = stpcpy(at, i > 0 ? ",1" : "1");
            at = stpcpy(at, "],\"id\":\"found\"}");
            struct json_search search = {.n = 1, .item = &item, .buffer = buffer};
            json_lines_begin(&lines, kernels[k], bytes, at, '\n');
            tap_check(json_find_next(&lines, span_between(bytes, at), &search) &&
                          search.value[0].bytes == at - 8 && search.value[0].length == 7,
                      "%s: %zu blanks", kernels[k]->name, before);
        }
}

/* Offsets have 32 bits: lines of more bytes are left to the other way. */
static void very_many_bytes(void)
{
    static const char text[] = "{\"id\":1}\n";
    static struct json_lines lines;
    char buffer[sizeof text];
    const struct json_step step = json_step_of((struct span){"id", 2}, false);
    const struct json_item item = {&step, 1};
    struct json_search search = {.n = 1, .item = &item, .buffer = buffer};
    char *bytes = mmap(NULL, (size_t)UINT32_MAX + 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!tap_check(bytes != MAP_FAILED && mprotect(bytes, SIDE, PROT_READ | PROT_WRITE) == 0,
                   "mmap"))
        return;
    memset(bytes, '[', SIDE); /* as many tokens */
    memcpy(bytes, text, sizeof text);
    for (size_t more = 0; more < 2; more++) {
        json_lines_begin(&lines, kernels[0], bytes, bytes + UINT32_MAX + more, '\n');
        tap_check(json_find_next(&lines, (struct span){bytes, sizeof text - 2}, &search) ==
                      (more == 0),
                  "%zu more", more);
    }
    munmap(bytes, (size_t)UINT32_MAX + 1);
}

/* Keys of lines of 100 MB are to have room, but not for each of 16 items that share no byte. */
static void room(void)
{
    static const struct {
        const char *list;
        unsigned nested;
    } rows[] = {{"id", 1},       {"id,name,/a/b,/a/c", 1}, {"/a,/ab,/a~1b", 1}, {"id,/id", 2},
                {"/,//,///", 3}, {"/a/0/b,x,/a,/a/0", 3},  {"/a/b,/a/c,/a", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe recipe = {.syntax = SYNTAX_JSONL};
        const char *wanted;
        tap_check(recipe_parse_fields(&recipe, rows[i].list, &wanted) == NULL, "list");
        json_split_items(&recipe, &items);
        tap_check(items.nested == rows[i].nested, "%s: %u are parts of one another", rows[i].list,
                  items.nested);
    }
}

int main(void)
{
    kernel_count = kernel_all(kernels);
    page = guarded(SIDE);
    tap_run("members are the same, over tokens and byte by byte", both_ways);
    tap_run("keys of many items have room", keys_have_room);
    tap_run("a line of very many tokens", many_tokens);
    tap_run("lines of more than 4 GB", very_many_bytes);
    tap_run("room for keys", room);
    return tap_end();
}
