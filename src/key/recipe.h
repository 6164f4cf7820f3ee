/*
 * recipe - what part of a line counts: what a filter keeps to make the same keys for ever.
 *
 * The key of a line is made in these steps, in this order; each is left out unless asked for:
 *
 *   1. the bytes of the line, without its delimiter
 *   2. trim       blanks at both ends do not count
 *   3. fields     some fields of it, joined
 *   4. profile    url, host or endpoint, made of what step 3 gave (url.h, host.h, endpoint.h)
 *   5. fold       A-Z count as a-z
 *
 * A line that has no such field, or is no URL where one is wanted, counts as itself: the bytes of
 * step 1, in a hash domain of its own (keyer.h). unseen(5) has every rule, and
 * tests/key/vectors has examples. None may ever change: a change is a new version of a profile.
 */
#ifndef UNSEEN_KEY_RECIPE_H
#define UNSEEN_KEY_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECIPE_RANGES_MAX = 16, RECIPE_FIELD_MAX = 65535 };

enum profile { PROFILE_LINE, PROFILE_URL, PROFILE_HOST, PROFILE_ENDPOINT, PROFILES };

/* "line", "url", "host", "endpoint"; and the newest version of its rules, 0 for the line. */
extern const char *const profile_names[PROFILES];
extern const unsigned profile_versions[PROFILES];

/* Fields first..last, counted from 1; last 0: to the end of the line. */
struct field_range {
    uint16_t first, last;
};

/* All zeros: the whole line. */
struct recipe {
    enum profile profile;
    unsigned version; /* of the profile's rules; 0 for the line */
    bool trim;
    bool fold;
    bool separated; /* fields end at the separator; else they are runs of anything but blanks */
    char separator;
    unsigned ranges; /* 0: all of the line */
    /* In canonical form: in rising order, no two overlapping or touching, zeros after the last. */
    struct field_range range[RECIPE_RANGES_MAX];
};

bool recipe_is_whole_line(const struct recipe *recipe);
bool recipe_is_same(const struct recipe *recipe, const struct recipe *other);

/* Take the values of -f, -t and --by. Each returns NULL, or what is wrong with the text in words,
 * and how it should look in *wanted; the recipe is unchanged then. A profile gets the newest
 * version of its rules; which a file was made with stands there. */
const char *recipe_parse_fields(struct recipe *recipe, const char *list, const char **wanted);
const char *recipe_parse_separator(struct recipe *recipe, const char *text, const char **wanted);
const char *recipe_parse_profile(struct recipe *recipe, const char *text, const char **wanted);

/* As -f and -t take them: "1,3-", "\t"; a profile with its version, "url/1". Each returns `text`,
 * which has RECIPE_TEXT bytes. */
enum { RECIPE_TEXT = 512 };
char *recipe_fields_text(const struct recipe *recipe, char *text);
char *recipe_separator_text(const struct recipe *recipe, char *text);
char *recipe_profile_text(const struct recipe *recipe, char *text);

/* All of it, as options for a shell: "--trim -f 1,3- -t '\t' --by url -i"; empty for the whole
 * line. Returns `text`. */
char *recipe_text(const struct recipe *recipe, char *text);

/* For messages and reports: the same, or "whole lines". */
const char *recipe_shown(const struct recipe *recipe, char *text);

#endif
