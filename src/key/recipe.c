#include "key/recipe.h"

#include "key/pattern.h"
#include "text/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const syntax_names[SYNTAXES] = {"fields", "csv", "jsonl"};
const char *const profile_names[PROFILES] = {"line", "url", "host", "endpoint"};
const unsigned profile_versions[PROFILES] = {0, 2, 2, 2};

bool recipe_is_whole_line(const struct recipe *recipe)
{
    return recipe->syntax == SYNTAX_FIELDS && recipe->profile == PROFILE_LINE &&
           !recipe_has_list(recipe) && !recipe->trim && !recipe->fold &&
           recipe->patterns[0] == '\0';
}

bool recipe_is_same(const struct recipe *recipe, const struct recipe *other)
{
    return recipe->syntax == other->syntax && recipe->profile == other->profile &&
           recipe->version == other->version && recipe->trim == other->trim &&
           recipe->fold == other->fold && recipe->separated == other->separated &&
           recipe->separator == other->separator && recipe->ranges == other->ranges &&
           memcmp(recipe->range, other->range, sizeof recipe->range) == 0 &&
           recipe->except == other->except && strcmp(recipe->names, other->names) == 0 &&
           memcmp(recipe->patterns, other->patterns, sizeof recipe->patterns) == 0;
}

/* --- fields --- */

/* Reads a number from 1 on at *text, and moves *text past it. Returns 0 if there is none. */
static unsigned take_number(const char **text)
{
    unsigned number = 0;
    while (ascii_is_digit(**text) && number <= RECIPE_FIELD_MAX)
        number = number * 10 + (unsigned)(*(*text)++ - '0');
    return number <= RECIPE_FIELD_MAX ? number : 0;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct field_range *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

/* Sets others[] to what the canonical ranges leave out, one more at most. Returns how many. */
static unsigned complement(const struct field_range *ranges, unsigned n, struct field_range *others)
{
    unsigned from = 1, left = 0; /* `from` 0: all has been taken */
    for (unsigned i = 0; i < n; i++) {
        if (ranges[i].first > from)
            others[left++] = (struct field_range){(uint16_t)from, (uint16_t)(ranges[i].first - 1)};
        from = ranges[i].last == 0 ? 0 : ranges[i].last + 1U;
    }
    if (from != 0)
        others[left++] = (struct field_range){(uint16_t)from, 0};
    return left;
}

static const char *parse_numbers(struct recipe *recipe, const char *list, bool except,
                                 const char **wanted)
{
    /* 1. As written, "2", "2-4", "3-" or "-2": before they are joined, there may be more ranges
     * than a recipe holds. */
    enum { WRITTEN_MAX = 256 };
    struct field_range ranges[WRITTEN_MAX], others[WRITTEN_MAX + 1];
    const struct field_range *kept = ranges;
    unsigned written = 0, n = 0;
    *wanted = recipe->syntax == SYNTAX_FIELDS && !recipe->separated
                  ? "numbers from 1 to 65535, as in 2, 1,3, 2-4, 3-, -2 or '!2'; names need --csv, "
                    "--jsonl or -t SEP"
                  : "numbers from 1 to 65535, as in 2, 1,3, 2-4, 3-, -2 or '!2'; a name of digits "
                    "in quotes: '\"2\"'";
    for (const char *text = list; written < WRITTEN_MAX; text++) {
        bool from_one = *text == '-', endless = false;
        unsigned first = from_one ? 1 : take_number(&text), last = first;
        if (*text == '-') {
            text++;
            endless = !from_one && (*text == '\0' || *text == ',');
            last = take_number(&text);
        }
        if (first == 0 || (last < first && !endless) || (*text != '\0' && *text != ','))
            return "not a list of fields";
        ranges[written++] = (struct field_range){(uint16_t)first, (uint16_t)last};
        if (*text == '\0')
            break;
    }
    /* 2. Sorted, and those that overlap or touch joined. */
    qsort(ranges, written, sizeof *ranges, compare_ranges);
    for (unsigned i = 0; i < written; i++) {
        struct field_range next = ranges[i], *before = n > 0 ? &ranges[n - 1] : NULL;
        if (before == NULL || (before->last != 0 && next.first > before->last + 1))
            ranges[n++] = next;
        else if (before->last != 0 && (next.last == 0 || next.last > before->last))
            before->last = next.last;
    }
    /* 3. After "!", all but these. A range cannot begin after the last number. */
    if (except) {
        *wanted = "numbers up to 65534 after '!'";
        if (ranges[n - 1].last == RECIPE_FIELD_MAX)
            return "not a list of fields";
        *wanted = "some field that is left, as with '!2'";
        n = complement(ranges, n, others);
        if (n == 0)
            return "leaves out all fields";
        kept = others;
    }
    if (written == WRITTEN_MAX || n > RECIPE_RANGES_MAX) {
        *wanted = "at most 16";
        return "too many field ranges";
    }
    memset(recipe->range, 0, sizeof recipe->range);
    memset(recipe->names, 0, sizeof recipe->names);
    memcpy(recipe->range, kept, n * sizeof *kept);
    recipe->ranges = n;
    recipe->except = false;
    return NULL;
}

/* --- names of columns and members --- */

/* Reads an item of a list, up to a comma or the end, to `name`: as it is or, if it begins with a
 * quote, as CSV has it. Moves *at to what follows. Sets *wrong to why it is no item, or NULL.
 * Returns its length; if that is more than RECIPE_NAMES_BYTES, the name is cut. */
static size_t read_item(const char **at, char name[RECIPE_NAMES_BYTES + 1], const char **wrong)
{
    const char *from = *at;
    const bool quoted = *from == QUOTE;
    bool open = quoted;
    size_t length = 0;
    for (from += quoted; *from != '\0' && (quoted || *from != ','); from++) {
        if (quoted && *from == QUOTE && *++from != QUOTE) {
            open = false;
            break;
        }
        if (length < RECIPE_NAMES_BYTES)
            name[length] = *from;
        length++;
    }
    name[length < RECIPE_NAMES_BYTES ? length : RECIPE_NAMES_BYTES] = '\0';
    *wrong = open                            ? "a name in quotes is not closed"
             : *from != '\0' && *from != ',' ? "bytes follow the closing quote of a name"
                                             : NULL;
    *at = from;
    return length;
}

size_t recipe_next_name(const char **at, char name[RECIPE_NAMES_BYTES + 1])
{
    const char *wrong;
    size_t length = read_item(at, name, &wrong);
    *at += **at == ',';
    return length;
}

static int compare_strings(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Whether -f would read the name otherwise if it were not in quotes. */
static bool needs_quotes(const struct recipe *recipe, const char *name, bool is_first)
{
    bool column = recipe->syntax != SYNTAX_JSONL;
    return strpbrk(name, ",\"\r\n") != NULL ||
           (column && (name[strspn(name, "0123456789-")] == '\0' || (is_first && *name == '!')));
}

/* Returns the end of the name, which has no quotes if it needs none around it. */
static char *write_name(char *out, const char *name, bool quotes)
{
    if (quotes)
        *out++ = QUOTE;
    for (; *name != '\0'; name++) {
        if (*name == QUOTE)
            *out++ = QUOTE;
        *out++ = *name;
    }
    if (quotes)
        *out++ = QUOTE;
    return out;
}

static const char *parse_names(struct recipe *recipe, const char *list, bool except,
                               const char **wanted)
{
    /* 1. Decoded, and each once. */
    enum { WRITTEN_MAX = 2 * RECIPE_NAMES_BYTES + 3 * RECIPE_NAMES_MAX };
    char text[RECIPE_NAMES_BYTES + RECIPE_NAMES_MAX], name[RECIPE_NAMES_BYTES + 1];
    const char *kept[RECIPE_NAMES_MAX], *wrong;
    size_t used = 0;
    unsigned n = 0;
    const bool jsonl = recipe->syntax == SYNTAX_JSONL;
    for (bool more = true; more; list += more) {
        size_t length = read_item(&list, name, &wrong);
        *wanted = "names in quotes as CSV has them: '\"last, first\",id', and two quotes for one";
        if (wrong != NULL)
            return wrong;
        *wanted = jsonl ? "members, as in id, id,name or /author/name"
                        : "columns, as in 2, 1,3-, id,name, '\"last, first\"' or '!id'";
        if (length == 0)
            return "not a list of names";
        /* In a JSON Pointer, ~ is written ~0, and / is written ~1. */
        *wanted = "~0 for ~, ~1 for /";
        for (const char *c = name; jsonl && *name == '/' && *c != '\0'; c++)
            if (c[0] == '~' && c[1] != '0' && c[1] != '1')
                return "not a JSON Pointer";
        bool again = false;
        for (unsigned i = 0; i < n && !again; i++)
            again = strcmp(kept[i], name) == 0;
        *wanted = "at most 16, with at most 1024 bytes";
        if (!again && (n == RECIPE_NAMES_MAX || used - n + length > RECIPE_NAMES_BYTES))
            return "too many names";
        if (!again) {
            kept[n++] = memcpy(text + used, name, length + 1);
            used += length + 1;
        }
        more = *list == ',';
    }
    /* 2. In canonical form. Keys of all columns but these do not depend on the order. */
    char names[WRITTEN_MAX] = "", *out = names;
    if (except)
        qsort(kept, n, sizeof *kept, compare_strings);
    for (unsigned i = 0; i < n; i++) {
        if (i > 0)
            *out++ = ',';
        out = write_name(out, kept[i], needs_quotes(recipe, kept[i], i == 0));
    }
    if (out - names > RECIPE_NAMES_BYTES)
        return "too many names";
    memset(recipe->range, 0, sizeof recipe->range);
    recipe->ranges = 0;
    memcpy(recipe->names, names, sizeof recipe->names);
    recipe->except = except;
    return NULL;
}

bool recipe_names_are_valid(const struct recipe *recipe)
{
    struct recipe copy = *recipe;
    const char *wanted;
    return parse_names(&copy, recipe->names, recipe->except, &wanted) == NULL &&
           memcmp(copy.names, recipe->names, sizeof copy.names) == 0;
}

const char *recipe_parse_fields(struct recipe *recipe, const char *list, const char **wanted)
{
    char name[RECIPE_NAMES_BYTES + 1];
    const char *wrong = NULL;
    bool numbers = false, names = false;
    if (recipe->syntax == SYNTAX_JSONL)
        return parse_names(recipe, list, false, wanted);
    bool except = *list == '!';
    list += except;
    if (recipe->syntax == SYNTAX_FIELDS && !recipe->separated)
        return parse_numbers(recipe, list, except, wanted);
    /* An item of digits and hyphens, but for one in quotes, is no name of a column. */
    for (const char *item = list; *item != '\0' && wrong == NULL; item += *item == ',') {
        size_t length = strspn(item, "0123456789-");
        bool number = length > 0 && (item[length] == ',' || item[length] == '\0');
        numbers |= number;
        names |= !number;
        read_item(&item, name, &wrong);
    }
    *wanted = "only numbers, or only names; a name of digits in quotes: '\"2\"'";
    if (numbers && names && wrong == NULL)
        return "numbers and names of columns";
    return numbers && !names ? parse_numbers(recipe, list, except, wanted)
                             : parse_names(recipe, list, except, wanted);
}

char *recipe_fields_text(const struct recipe *recipe, char *text)
{
    size_t at = 0;
    snprintf(text, RECIPE_TEXT, "%s%s", recipe->except ? "!" : "", recipe->names);
    for (unsigned i = 0; i < recipe->ranges; i++) {
        const struct field_range *range = &recipe->range[i];
        at += (size_t)snprintf(text + at, RECIPE_TEXT - at, "%s%u", i > 0 ? "," : "", range->first);
        if (range->last == 0)
            at += (size_t)snprintf(text + at, RECIPE_TEXT - at, "-");
        else if (range->last != range->first)
            at += (size_t)snprintf(text + at, RECIPE_TEXT - at, "-%u", range->last);
    }
    return text;
}

/* --- separator --- */

const char *recipe_parse_separator(struct recipe *recipe, const char *text, const char **wanted)
{
    static const char letters[] = "t0\\", meant[] = "\t\0\\";
    const char *letter;
    char byte = text[0];
    *wanted = "one byte, or \\t, \\0, \\\\, \\x1f";
    if (text[0] == '\0')
        return "empty separator";
    if (text[0] == '\\' && text[1] == 'x' && ascii_is_hex(text[2]) && ascii_is_hex(text[3]) &&
        text[4] == '\0')
        byte = (char)(ascii_hex_value(text[2]) * 16 + ascii_hex_value(text[3]));
    else if (text[0] == '\\' && text[1] != '\0' && text[2] == '\0' &&
             (letter = strchr(letters, text[1])) != NULL)
        byte = meant[letter - letters];
    else if (text[0] == '\\' || text[1] != '\0')
        return "not a single byte";
    recipe->separated = true;
    recipe->separator = byte;
    return NULL;
}

bool recipe_separator_fits(const struct recipe *recipe)
{
    char byte = recipe->separator;
    return byte != QUOTE && byte != '\r' && byte != '\n';
}

char *recipe_separator_text(const struct recipe *recipe, char *text)
{
    unsigned char byte = (unsigned char)recipe->separator;
    if (byte == '\t' || byte == '\0' || byte == '\\')
        snprintf(text, RECIPE_WORD, "\\%c", byte == '\t' ? 't' : byte == '\0' ? '0' : '\\');
    else
        snprintf(text, RECIPE_WORD, byte < 0x20 || byte > 0x7e ? "\\x%02x" : "%c", byte);
    return text;
}

/* --- profile --- */

const char *recipe_parse_profile(struct recipe *recipe, const char *text, const char **wanted)
{
    *wanted = "line, url, host or endpoint";
    for (unsigned i = 0; i < PROFILES; i++)
        if (strcmp(text, profile_names[i]) == 0) {
            recipe->profile = (enum profile)i;
            recipe->version = profile_versions[i];
            return NULL;
        }
    return strchr(text, '/') == NULL ? "unknown form" : "takes no version: FILTER has it";
}

char *recipe_profile_text(const struct recipe *recipe, char *text)
{
    const char *name = profile_names[recipe->profile];
    if (recipe->version == 0)
        snprintf(text, RECIPE_WORD, "%s", name);
    else
        snprintf(text, RECIPE_WORD, "%s/%u", name, recipe->version);
    return text;
}

/* --- patterns --- */

const char *recipe_add_pattern(struct recipe *recipe, const char *pattern, size_t *place,
                               const char **wanted)
{
    const size_t length = strlen(pattern);
    size_t count = 0, bytes = 0;
    for (const char *at = recipe->patterns; *at != '\0'; at = recipe_next_pattern(at), count++)
        bytes += strlen(at);
    *place = RECIPE_NO_PLACE;
    *wanted = "at most 16; one can have several parts: 'A|B'";
    if (count == RECIPE_PATTERNS_MAX)
        return "too many patterns";
    *wanted = "at most 1000 bytes together";
    if (bytes + length > RECIPE_PATTERNS_BYTES)
        return count == 0 ? "too long a pattern" : "too long with the patterns before it";
    const char *wrong = pattern_check(pattern, place, wanted);
    if (wrong != NULL)
        return wrong;
    memcpy(recipe->patterns + bytes + count, pattern, length);
    return NULL;
}

int recipe_check_patterns(const struct recipe *recipe)
{
    const char *at = recipe->patterns, *end = at + sizeof recipe->patterns, *wanted;
    struct recipe copy = {.ranges = 0};
    size_t place;
    for (; at < end && *at != '\0'; at = recipe_next_pattern(at)) {
        const char *wrong = memchr(at, '\0', (size_t)(end - at)) == NULL
                                ? "no end"
                                : recipe_add_pattern(&copy, at, &place, &wanted);
        if (wrong != NULL)
            return wrong == pattern_no_memory ? -1 : 0;
    }
    return memcmp(copy.patterns, recipe->patterns, sizeof copy.patterns) == 0;
}

/* --- all of it --- */

static void add_words(char *text, const char *option, const char *value)
{
    size_t at = strlen(text);
    snprintf(text + at, RECIPE_TEXT - at, "%s%s%s", at > 0 ? " " : "", option, value);
}

char *recipe_text(const struct recipe *recipe, char *text)
{
    char value[RECIPE_TEXT], quoted[QUOTE_MAX];
    text[0] = '\0';
    if (recipe->syntax != SYNTAX_FIELDS)
        add_words(text, "--", syntax_names[recipe->syntax]);
    if (recipe->trim)
        add_words(text, "--trim", "");
    if (recipe_has_list(recipe))
        add_words(text, "-f ", quote_word(recipe_fields_text(recipe, value), quoted));
    if (recipe->separated && !(recipe->syntax == SYNTAX_CSV && recipe->separator == ','))
        add_words(text, "-t ", quote_word(recipe_separator_text(recipe, value), quoted));
    if (recipe->profile != PROFILE_LINE)
        add_words(text, "--by ", profile_names[recipe->profile]);
    if (recipe->fold)
        add_words(text, "-i", "");
    for (const char *at = recipe->patterns; *at != '\0'; at = recipe_next_pattern(at))
        add_words(text, "--without ", quote_word(at, quoted));
    return text;
}

const char *recipe_shown(const struct recipe *recipe, char *text)
{
    if (recipe_is_whole_line(recipe))
        snprintf(text, RECIPE_TEXT, "whole lines");
    else
        recipe_text(recipe, text);
    return text;
}
