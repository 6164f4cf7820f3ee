#include "format/likeness.h"

#include "text/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* In the order in which differences are reported: a trait comes after those it follows from. */
enum trait {
    TRAIT_WINDOW,
    TRAIT_FORGET,
    TRAIT_COUNTING,
    TRAIT_FIXED,
    TRAIT_SECRET,
    TRAIT_SEED,
    TRAIT_HASHES,
    TRAIT_RATE,
    TRAIT_SHARD,
    TRAIT_CAPACITY,
    TRAIT_SIZE,
    TRAITS
};
enum { FOR_UNION = TRAIT_SHARD + 1 }; /* how many must agree for LIKE_FOR_UNION */

static const char *const option_of[TRAITS] = {
    "--window", "--forget-after", "--counting", "--fixed", "--secret", "--seed", "--hashes",
    "-p",       "--shard",        "-n",         "--size",
};

static const char *whole(uint64_t number, char text[NUMBER_TEXT])
{
    snprintf(text, NUMBER_TEXT, "%" PRIu64, number);
    return number != 0 ? text : NULL;
}

/* The value of the trait's option, "" if the option takes none; NULL: the option was not given. */
static const char *option_value(const struct header *header, enum trait trait, bool for_union,
                                char text[NUMBER_TEXT])
{
    const struct filter_plan *plan = &header->plan;
    const struct shard *shard = &header->shard;
    bool by_count = plan->window && plan->forget == 0;
    switch (trait) {
    case TRAIT_CAPACITY:
        return by_count ? NULL : whole(plan->capacity, text);
    case TRAIT_RATE:
        return number_text(plan->rate, 15, text);
    case TRAIT_SIZE:
        return plan->pages == 0 ? NULL
                                : whole(header_bytes_without_stages(plan->pages, plan,
                                                                    growth_first_layers(plan)),
                                        text);
    case TRAIT_WINDOW:
        return by_count ? whole(plan->capacity, text) : NULL;
    case TRAIT_FORGET:
        return plan->forget == 0 ? NULL : number_exact((double)plan->forget, NUMBER_TIME, text);
    case TRAIT_HASHES:
        return plan->geometry.blocks == 0 ? NULL : whole(geometry_hashes(plan->geometry), text);
    case TRAIT_FIXED:
        return plan->fixed ? "" : NULL;
    case TRAIT_COUNTING:
        return plan->geometry.counting ? "" : NULL;
    case TRAIT_SECRET:
        return header_has_secret(header) ? "" : NULL;
    case TRAIT_SEED:
        return header_has_secret(header) ? NULL : whole(header->hasher.k0, text);
    default:
        if (for_union)
            snprintf(text, NUMBER_TEXT, "I/%" PRIu32, shard->count);
        else
            snprintf(text, NUMBER_TEXT, "%" PRIu32 "/%" PRIu32, shard->number, shard->count);
        return shard->count == 0 ? NULL : text;
    }
}

const char *likeness_difference(const struct header *one, const struct header *other,
                                enum likeness likeness, const char **option,
                                char text[LIKENESS_TEXT])
{
    /* 1. How keys are made, which has options of its own. */
    *option = NULL;
    if (!recipe_is_same(&one->recipe, &other->recipe)) {
        char ones[RECIPE_TEXT], others[RECIPE_TEXT];
        snprintf(text, LIKENESS_TEXT, "for %s, not %s", recipe_shown(&one->recipe, ones),
                 recipe_shown(&other->recipe, others));
        return text;
    }
    /* 2. The first trait that differs. */
    bool for_union = likeness == LIKE_FOR_UNION;
    for (enum trait trait = 0; trait < (for_union ? FOR_UNION : TRAITS); trait++) {
        char ones[NUMBER_TEXT], others[NUMBER_TEXT];
        const char *name = option_of[trait];
        const char *has = option_value(one, trait, for_union, ones);
        const char *wants = option_value(other, trait, for_union, others);
        if (has == NULL ? wants == NULL : wants != NULL && strcmp(has, wants) == 0)
            continue;
        *option = name;
        if (has == NULL)
            snprintf(text, LIKENESS_TEXT, "without %s", name);
        else if (wants == NULL)
            snprintf(text, LIKENESS_TEXT, "with %s%s%s", name, *has != '\0' ? " " : "", has);
        else
            snprintf(text, LIKENESS_TEXT, "with %s %s, not %s", name, has, wants);
        return text;
    }
    /* 3. A secret is compared and not shown, so it is no value of a trait. */
    const struct hasher *has = &one->hasher, *wants = &other->hasher;
    if (!header_has_secret(one) || (has->k0 == wants->k0 && has->k1 == wants->k1))
        return NULL;
    *option = option_of[TRAIT_SECRET];
    snprintf(text, LIKENESS_TEXT, "with a different secret");
    return text;
}
