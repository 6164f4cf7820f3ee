#include "format/recipe_record.h"

#include "core/little.h"

#include <stdio.h>

enum {
    PROFILE_AT = 0,
    PROFILE_BYTES = 16,
    VERSION_AT = 16,
    RANGES_AT = 18,
    FLAGS_AT = 20,
    SEPARATOR_AT = 24,
    RANGE_AT = 32,
    RANGE_BYTES = 4,
};

enum { FLAG_TRIM = 1, FLAG_FOLD = 2, FLAG_SEPARATED = 4, FLAGS = 7 };

void recipe_encode(const struct recipe *recipe, uint8_t bytes[RECIPE_BYTES])
{
    memset(bytes, 0, RECIPE_BYTES);
    if (recipe->profile != PROFILE_LINE)
        memcpy(bytes + PROFILE_AT, profile_names[recipe->profile],
               strlen(profile_names[recipe->profile]));
    store16(bytes + VERSION_AT, (uint16_t)recipe->version);
    store16(bytes + RANGES_AT, (uint16_t)recipe->ranges);
    store32(bytes + FLAGS_AT, (recipe->trim ? FLAG_TRIM : 0U) | (recipe->fold ? FLAG_FOLD : 0U) |
                                  (recipe->separated ? FLAG_SEPARATED : 0U));
    bytes[SEPARATOR_AT] = (uint8_t)recipe->separator;
    for (unsigned i = 0; i < recipe->ranges; i++) {
        uint8_t *range = bytes + RANGE_AT + (size_t)i * RANGE_BYTES;
        store16(range, recipe->range[i].first);
        store16(range + 2, recipe->range[i].last);
    }
}

/* A name has letters and digits, so that it can be shown, and is followed by zeros. */
static bool is_name(const uint8_t bytes[PROFILE_BYTES])
{
    unsigned length = 0;
    while (length < PROFILE_BYTES && ((bytes[length] >= 'a' && bytes[length] <= 'z') ||
                                      (bytes[length] >= '0' && bytes[length] <= '9')))
        length++;
    for (unsigned i = length; i < PROFILE_BYTES; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static enum recipe_found decode_profile(const uint8_t *bytes, struct recipe *recipe,
                                        char name[RECIPE_NAME])
{
    char profile[PROFILE_BYTES + 1] = "";
    recipe->version = load16(bytes + VERSION_AT);
    if (!is_name(bytes + PROFILE_AT))
        return RECIPE_DAMAGED;
    memcpy(profile, bytes + PROFILE_AT, PROFILE_BYTES);
    snprintf(name, RECIPE_NAME, "%s/%u", profile, recipe->version);
    if (profile[0] == '\0') {
        recipe->profile = PROFILE_LINE;
        return recipe->version == 0 ? RECIPE_GOOD : RECIPE_DAMAGED;
    }
    for (unsigned i = PROFILE_LINE + 1; i < PROFILES; i++)
        if (strcmp(profile, profile_names[i]) == 0 && recipe->version >= 1 &&
            recipe->version <= profile_versions[i]) {
            recipe->profile = (enum profile)i;
            return RECIPE_GOOD;
        }
    return recipe->version >= 1 ? RECIPE_UNKNOWN : RECIPE_DAMAGED;
}

static bool decode_fields(const uint8_t *bytes, struct recipe *recipe)
{
    unsigned after = 0; /* the next range begins after this field */
    recipe->ranges = load16(bytes + RANGES_AT);
    if (recipe->ranges > RECIPE_RANGES_MAX)
        return false;
    for (unsigned i = 0; i < recipe->ranges; i++) {
        const uint8_t *at = bytes + RANGE_AT + (size_t)i * RANGE_BYTES;
        struct field_range range = {load16(at), load16(at + 2)};
        bool rest = range.last == 0;
        if (range.first <= after || (!rest && range.last < range.first) ||
            (rest && i + 1 < recipe->ranges))
            return false;
        recipe->range[i] = range;
        after = range.last + 1U;
    }
    return !recipe->separated || recipe->ranges > 0;
}

enum recipe_found recipe_decode(const uint8_t bytes[RECIPE_BYTES], struct recipe *recipe,
                                char name[RECIPE_NAME])
{
    uint32_t flags = load32(bytes + FLAGS_AT);
    struct recipe found = {
        .trim = (flags & FLAG_TRIM) != 0,
        .fold = (flags & FLAG_FOLD) != 0,
        .separated = (flags & FLAG_SEPARATED) != 0,
        .separator = (char)bytes[SEPARATOR_AT],
    };
    enum recipe_found profile = decode_profile(bytes, &found, name);
    if (profile != RECIPE_GOOD)
        return profile;
    if ((flags & ~(uint32_t)FLAGS) != 0 || !decode_fields(bytes, &found) ||
        (!found.separated && found.separator != 0))
        return RECIPE_DAMAGED;
    *recipe = found;
    return RECIPE_GOOD;
}
