#include "key/recipe.h"

#include "text/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const syntax_names[SYNTAXES] = {"fields", "csv", "jsonl"};
const char *const profile_names[PROFILES] = {"line", "url", "host", "endpoint"};
const unsigned profile_versions[PROFILES] = {0, 1, 1, 1};

bool recipe_is_whole_line(const struct recipe *recipe)
{
    return recipe->syntax == SYNTAX_FIELDS && recipe->profile == PROFILE_LINE &&
           recipe->ranges == 0 && !recipe->trim && !recipe->fold;
}

bool recipe_is_same(const struct recipe *recipe, const struct recipe *other)
{
    return recipe->syntax == other->syntax && recipe->profile == other->profile &&
           recipe->version == other->version && recipe->trim == other->trim &&
           recipe->fold == other->fold && recipe->separated == other->separated &&
           recipe->separator == other->separator && recipe->ranges == other->ranges &&
           memcmp(recipe->range, other->range, sizeof recipe->range) == 0 &&
           strcmp(recipe->names, other->names) == 0;
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

static const char *parse_numbers(struct recipe *recipe, const char *list, const char **wanted)
{
    /* 1. As written, "2", "2-4", "3-" or "-2": before they are joined, there may be more ranges
     * than a recipe holds. */
    enum { WRITTEN_MAX = 256 };
    struct field_range ranges[WRITTEN_MAX];
    unsigned written = 0, n = 0;
    *wanted = "numbers from 1 to 65535, as in 2, 1,3, 2-4, 3- or -2; names need --csv or --jsonl";
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
    if (written == WRITTEN_MAX || n > RECIPE_RANGES_MAX) {
        *wanted = "at most 16";
        return "too many field ranges";
    }
    memset(recipe->range, 0, sizeof recipe->range);
    memset(recipe->names, 0, sizeof recipe->names);
    memcpy(recipe->range, ranges, n * sizeof *ranges);
    recipe->ranges = n;
    return NULL;
}

/* --- names of columns and members --- */

static const char *parse_names(struct recipe *recipe, const char *list, const char **wanted)
{
    char names[sizeof recipe->names] = "";
    unsigned count = 0;
    size_t at = 0;
    for (;; list++) {
        size_t length = strcspn(list, ",");
        *wanted = recipe->syntax == SYNTAX_CSV ? "columns, as in 2, 1,3- or id,name"
                                               : "members, as in id, id,name or /author/name";
        if (length == 0)
            return "not a list of names";
        /* In a JSON Pointer, ~ is written ~0, and / is written ~1. */
        *wanted = "~0 for ~, ~1 for /";
        bool pointer = recipe->syntax == SYNTAX_JSONL && *list == '/';
        for (const char *c = list; pointer && c < list + length; c++)
            if (c[0] == '~' && c[1] != '0' && c[1] != '1')
                return "not a JSON Pointer";
        /* Each name once. */
        bool again = false;
        for (size_t n, other = 0; other < at && !again; other += n + 1) {
            n = strcspn(names + other, ",");
            again = n == length && memcmp(names + other, list, n) == 0;
        }
        if (!again) {
            *wanted = "at most 16, with at most 1024 bytes";
            if (count++ == RECIPE_NAMES_MAX || at + (at > 0) + length > RECIPE_NAMES_BYTES)
                return "too many names";
            if (at > 0)
                names[at++] = ',';
            memcpy(names + at, list, length);
            at += length;
        }
        list += length;
        if (*list == '\0')
            break;
    }
    memset(recipe->range, 0, sizeof recipe->range);
    recipe->ranges = 0;
    memcpy(recipe->names, names, sizeof names);
    return NULL;
}

bool recipe_names_are_valid(const struct recipe *recipe)
{
    struct recipe copy = *recipe;
    const char *wanted;
    return parse_names(&copy, recipe->names, &wanted) == NULL &&
           memcmp(copy.names, recipe->names, sizeof copy.names) == 0;
}

const char *recipe_parse_fields(struct recipe *recipe, const char *list, const char **wanted)
{
    bool numbers = false, names = false;
    if (recipe->syntax == SYNTAX_FIELDS)
        return parse_numbers(recipe, list, wanted);
    if (recipe->syntax == SYNTAX_JSONL)
        return parse_names(recipe, list, wanted);
    /* An item of digits and hyphens cannot be the name of a column. */
    for (const char *item = list; *item != '\0'; item += *item == ',') {
        size_t length = strcspn(item, ",");
        *(length > 0 && strspn(item, "0123456789-") == length ? &numbers : &names) = true;
        item += length;
    }
    *wanted = "only numbers, or only names";
    if (numbers && names)
        return "numbers and names of columns";
    return numbers ? parse_numbers(recipe, list, wanted) : parse_names(recipe, list, wanted);
}

char *recipe_fields_text(const struct recipe *recipe, char *text)
{
    size_t at = 0;
    snprintf(text, RECIPE_TEXT, "%s", recipe->names);
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
        snprintf(text, RECIPE_TEXT, "\\%c", byte == '\t' ? 't' : byte == '\0' ? '0' : '\\');
    else
        snprintf(text, RECIPE_TEXT, byte < 0x20 || byte > 0x7e ? "\\x%02x" : "%c", byte);
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
        snprintf(text, RECIPE_TEXT, "%s", name);
    else
        snprintf(text, RECIPE_TEXT, "%s/%u", name, recipe->version);
    return text;
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
    if (recipe->ranges > 0 || recipe->names[0] != '\0')
        add_words(text, "-f ", quote_word(recipe_fields_text(recipe, value), quoted));
    if (recipe->separated && !(recipe->syntax == SYNTAX_CSV && recipe->separator == ','))
        add_words(text, "-t ", quote_word(recipe_separator_text(recipe, value), quoted));
    if (recipe->profile != PROFILE_LINE)
        add_words(text, "--by ", profile_names[recipe->profile]);
    if (recipe->fold)
        add_words(text, "-i", "");
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
