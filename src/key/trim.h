/* trim - step 2 of making a key (recipe.h): blanks at both ends. */
#ifndef UNSEEN_KEY_TRIM_H
#define UNSEEN_KEY_TRIM_H

#include "key/recipe.h"
#include "key/span.h"

/* The separator may bound an empty field, so it stays. */
static inline bool is_trimmed(const struct recipe *recipe, char c)
{
    bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
    return blank && !(recipe->separated && c == recipe->separator);
}

static inline struct span trim(const struct recipe *recipe, struct span text)
{
    const char *first = text.bytes, *end = span_end(text);
    while (first < end && is_trimmed(recipe, *first))
        first++;
    while (first < end && is_trimmed(recipe, end[-1]))
        end--;
    return span_between(first, end);
}

#endif
