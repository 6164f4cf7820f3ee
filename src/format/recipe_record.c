/* recipe_record - a recipe in 2304 bytes of the header (header.c). All zeros: the key is the whole
 * line. */
#include "format/header.h"

#include <stdio.h>

enum {
    PROFILE_AT = 0,     /*   16 profile: "url", "host" or "endpoint", then zeros; zeros: the line */
    VERSION_AT = 16,    /*    2 version of the profile's rules, from 1 on; 0 for the line */
    RANGES_AT = 18,     /*    2 number of ranges of fields, 0..16; 0: the whole line */
    FLAGS_AT = 20,      /*    4 flags, as below */
    SEPARATOR_AT = 24,  /*    1 the separator */
    TRIM_AT = 25,       /*    1 version of the rules of FLAG_TRIM; 0 without it */
    SYNTAX_AT = 26,     /*    1 version of the rules of fields, CSV or JSON; 0 for the whole line */
    WITHOUT_AT = 27,    /*    1 version of the rules of patterns; 0: there are none */
    RANGE_AT = 32,      /* 16*4 ranges: the first field, from 1 on, and the last, 2 bytes each, the
                        *      last 0 for the rest of the line; ascending, no two touching; then
                        *      zeros */
    NAMES_AT = 128,     /* 1024 names of columns or members, in canonical form (recipe.h), at most
                        *      16; then zeros */
    PATTERNS_AT = 1152, /* 1024 room for at most 16 patterns, a zero after each; zeros: none */
    PROFILE_BYTES = 16,
    RANGE_BYTES = 4,
    PATTERNS_BYTES = 1024
};

enum {
    FLAG_TRIM = 1,      /* without blanks at both ends */
    FLAG_FOLD = 2,      /* A-Z in lower case */
    FLAG_SEPARATED = 4, /* fields end at the separator; otherwise they are runs of non-blanks */
    FLAG_CSV = 8,
    FLAG_JSONL = 16,
    FLAG_EXCEPT = 32, /* all columns but those with these names */
    FLAGS = 63
};

/* The versions of rules that this program has. */
enum { TRIM_VERSION = 3, WITHOUT_VERSION = 1 };
static const uint8_t syntax_versions[SYNTAXES] = {2, 2, 2};

/* That of the recipe's fields, columns or members; 0 for the whole line. */
static unsigned syntax_version(const struct recipe *recipe)
{
    bool whole = recipe->syntax == SYNTAX_FIELDS && !recipe_has_list(recipe);
    return whole ? 0 : syntax_versions[recipe->syntax];
}

void recipe_encode(const struct recipe *recipe, uint8_t bytes[RECIPE_BYTES])
{
    memset(bytes, 0, RECIPE_BYTES);
    if (recipe->profile != PROFILE_LINE)
        memcpy(bytes + PROFILE_AT, profile_names[recipe->profile],
               strlen(profile_names[recipe->profile]));
    store16(bytes + VERSION_AT, (uint16_t)recipe->version);
    store16(bytes + RANGES_AT, (uint16_t)recipe->ranges);
    store32(bytes + FLAGS_AT, (recipe->trim ? FLAG_TRIM : 0U) | (recipe->fold ? FLAG_FOLD : 0U) |
                                  (recipe->separated ? FLAG_SEPARATED : 0U) |
                                  (recipe->syntax == SYNTAX_CSV ? FLAG_CSV : 0U) |
                                  (recipe->syntax == SYNTAX_JSONL ? FLAG_JSONL : 0U) |
                                  (recipe->except ? FLAG_EXCEPT : 0U));
    bytes[SEPARATOR_AT] = (uint8_t)recipe->separator;
    bytes[TRIM_AT] = recipe->trim ? TRIM_VERSION : 0;
    bytes[SYNTAX_AT] = (uint8_t)syntax_version(recipe);
    bytes[WITHOUT_AT] = recipe->patterns[0] != '\0' ? WITHOUT_VERSION : 0;
    memcpy(bytes + NAMES_AT, recipe->names, RECIPE_NAMES_BYTES);
    memcpy(bytes + PATTERNS_AT, recipe->patterns, PATTERNS_BYTES);
    for (unsigned i = 0; i < recipe->ranges; i++) {
        uint8_t *range = bytes + RANGE_AT + (size_t)i * RANGE_BYTES;
        store16(range, recipe->range[i].first);
        store16(range + 2, recipe->range[i].last);
    }
}

/* Rules of another version. */
static enum recipe_found check_version(const char *rules, unsigned version, unsigned wanted,
                                       char name[RECIPE_NAME])
{
    if (version == wanted)
        return RECIPE_GOOD;
    snprintf(name, RECIPE_NAME, "%s/%u", rules, version);
    if (version == 0 || wanted == 0)
        return RECIPE_DAMAGED;
    return version < wanted ? RECIPE_EARLIER : RECIPE_UNKNOWN;
}

static enum recipe_found decode_profile(const uint8_t *bytes, struct recipe *recipe,
                                        char name[RECIPE_NAME])
{
    char profile[PROFILE_BYTES + 1] = "";
    unsigned length = 0;
    recipe->version = load16(bytes + VERSION_AT);
    /* A name has letters and digits, so that it can be shown, and is followed by zeros. */
    while (length < PROFILE_BYTES &&
           (ascii_is_digit((char)bytes[length]) || (bytes[length] >= 'a' && bytes[length] <= 'z')))
        length++;
    for (unsigned i = length; i < PROFILE_BYTES; i++)
        if (bytes[i] != 0)
            return RECIPE_DAMAGED;
    memcpy(profile, bytes + PROFILE_AT, length);
    snprintf(name, RECIPE_NAME, "%s/%u", profile, recipe->version);
    if (profile[0] == '\0') {
        recipe->profile = PROFILE_LINE;
        return recipe->version == 0 ? RECIPE_GOOD : RECIPE_DAMAGED;
    }
    for (unsigned i = PROFILE_LINE + 1; i < PROFILES; i++)
        if (strcmp(profile, profile_names[i]) == 0) {
            recipe->profile = (enum profile)i;
            return check_version(profile, recipe->version, profile_versions[i], name);
        }
    return recipe->version >= 1 ? RECIPE_UNKNOWN : RECIPE_DAMAGED;
}

enum recipe_found recipe_decode(const uint8_t bytes[RECIPE_BYTES], struct recipe *recipe,
                                char name[RECIPE_NAME])
{
    /* 1. Flags, and the profile. */
    const uint32_t flags = load32(bytes + FLAGS_AT), both = FLAG_CSV | FLAG_JSONL;
    struct recipe found = {
        .syntax = (flags & FLAG_CSV) != 0     ? SYNTAX_CSV
                  : (flags & FLAG_JSONL) != 0 ? SYNTAX_JSONL
                                              : SYNTAX_FIELDS,
        .trim = (flags & FLAG_TRIM) != 0,
        .fold = (flags & FLAG_FOLD) != 0,
        .separated = (flags & FLAG_SEPARATED) != 0,
        .separator = (char)bytes[SEPARATOR_AT],
        .ranges = load16(bytes + RANGES_AT),
        .except = (flags & FLAG_EXCEPT) != 0,
    };
    enum recipe_found result = decode_profile(bytes, &found, name);
    if (result != RECIPE_GOOD)
        return result;

    /* 2. Ranges in canonical form, and names. */
    unsigned after = 0; /* the next range begins after this field */
    if (found.ranges > RECIPE_RANGES_MAX)
        return RECIPE_DAMAGED;
    for (unsigned i = 0; i < found.ranges; i++) {
        const uint8_t *at = bytes + RANGE_AT + (size_t)i * RANGE_BYTES;
        struct field_range range = {load16(at), load16(at + 2)};
        bool rest = range.last == 0;
        if (range.first <= after || (rest ? i + 1 < found.ranges : range.last < range.first))
            return RECIPE_DAMAGED;
        found.range[i] = range;
        after = range.last + 1U;
    }
    memcpy(found.names, bytes + NAMES_AT, RECIPE_NAMES_BYTES);
    memcpy(found.patterns, bytes + PATTERNS_AT, PATTERNS_BYTES);

    /* 3. The rules: what follows is known of these versions alone. */
    const unsigned without = bytes[WITHOUT_AT];
    result = check_version(syntax_names[found.syntax], bytes[SYNTAX_AT], syntax_version(&found),
                           name);
    if (result == RECIPE_GOOD)
        result = check_version("trim", bytes[TRIM_AT], found.trim ? TRIM_VERSION : 0, name);
    if (result == RECIPE_GOOD && without != 0)
        result = check_version("without", without, WITHOUT_VERSION, name);
    if (result != RECIPE_GOOD)
        return result;

    /* 4. Separator and names belong to the syntax. */
    static const uint8_t zeros[RECIPE_NAMES_BYTES];
    const bool csv = found.syntax == SYNTAX_CSV, jsonl = found.syntax == SYNTAX_JSONL;
    bool separator_fits = !csv && found.separator == 0, names_fit;
    if (found.separated)
        separator_fits = csv ? recipe_separator_fits(&found) : !jsonl && recipe_has_list(&found);
    if (found.names[0] != '\0')
        names_fit = (found.separated || jsonl) && !(found.except && jsonl) && found.ranges == 0 &&
                    recipe_names_are_valid(&found);
    else
        names_fit = !jsonl && !found.except && memcmp(found.names, zeros, RECIPE_NAMES_BYTES) == 0;
    if ((without != 0) != (found.patterns[0] != '\0') || !separator_fits || !names_fit ||
        (flags & ~(uint32_t)FLAGS) != 0 || (flags & both) == both)
        return RECIPE_DAMAGED;

    /* 5. The patterns. */
    const int valid = recipe_check_patterns(&found);
    if (valid != 1)
        return valid == 0 ? RECIPE_DAMAGED : RECIPE_NO_MEMORY;
    *recipe = found;
    return RECIPE_GOOD;
}
