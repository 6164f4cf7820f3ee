#include "key/without.h"

#include "key/fold.h"
#include "key/matcher.h"

#include <stdlib.h>
#include <string.h>

struct without {
    bool fold;
    unsigned n;
    struct matcher *matchers[RECIPE_PATTERNS_MAX];
    char text[WITHOUT_MAX];
};

struct without *without_new(const struct recipe *recipe)
{
    struct without *without = calloc(1, sizeof *without);
    struct pattern *pattern = malloc(sizeof *pattern);
    struct pattern_fault fault;
    if (without == NULL || pattern == NULL)
        goto failed;
    without->fold = recipe->fold;
    for (const char *at = recipe->patterns; *at != '\0'; at = recipe_next_pattern(at)) {
        /* The recipe has checked them. */
        if (pattern_parse(at, recipe->fold, pattern, &fault) != 0)
            continue;
        if ((without->matchers[without->n] = matcher_new(pattern)) == NULL)
            goto failed;
        without->n++;
    }
    free(pattern);
    return without;
failed:
    free(pattern);
    without_free(without);
    return NULL;
}

void without_free(struct without *without)
{
    for (unsigned i = 0; without != NULL && i < without->n; i++)
        matcher_free(without->matchers[i]);
    free(without);
}

bool without_apply(struct without *without, struct span *value)
{
    if (value->length > WITHOUT_MAX)
        return false;
    if (without->fold)
        *value = ascii_fold(*value, without->text);
    for (unsigned i = 0; i < without->n; i++)
        *value = matcher_leave_out(without->matchers[i], *value, without->text);
    return true;
}
