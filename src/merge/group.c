#include "merge/group.h"

#include "filter/survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double group_rate(const struct estimate *estimate, const struct layer_plan *plan, double staged)
{
    double keys = estimate_keys(estimate), rate = estimate_rate(estimate);
    if (staged > 0)
        rate += sizing_rate(plan->geometry, plan->pages, keys + staged) -
                sizing_rate(plan->geometry, plan->pages, keys);
    return rate;
}

/* Small layers first, as in a filter that grew; within one shape the fullest first. Ties are broken
 * by the bits, so that the order of the inputs does not matter. */
static int compare_sources(const void *left, const void *right)
{
    const struct source *a = left, *b = right;
    if (a->plan.pages != b->plan.pages)
        return a->plan.pages < b->plan.pages ? -1 : 1;
    int order = memcmp(&a->plan.geometry, &b->plan.geometry, sizeof a->plan.geometry);
    if (order != 0)
        return order;
    if (a->keys != b->keys)
        return a->keys > b->keys ? -1 : 1;
    return memcmp(a->bits->bytes, b->bits->bytes, (size_t)(a->bits->pages * PAGE_BYTES));
}

static void put(struct group *group, struct source *source)
{
    source->placed = true;
    source->next = group->sources;
    group->sources = source;
    group->members[group->count++] = source->bits;
    group->staged += source->staged;
    /* Inputs may have been made for different numbers of keys. */
    if (source->plan.capacity > group->plan.capacity)
        group->plan = source->plan;
}

/* Puts the source into the group if the rate allows it; *all is the sum of all rates, `easily` up
 * to which sum every group is good. Returns 0, or -1 if a signal came. */
static int try_to_join(struct group *group, struct source *source, double rate, double easily,
                       double *all)
{
    struct estimate estimate;
    group->members[group->count] = source->bits;
    if (survey_joint(group->members, group->count + 1, &estimate) != 0)
        return -1;
    double joint = group_rate(&estimate, &group->plan, group->staged + source->staged);
    double apart = group->rate + source->rate;
    double after = *all - apart + joint;
    if (after <= easily || joint <= apart ||
        (joint <= group->plan.rate && (after <= rate || *all > rate))) {
        put(group, source);
        group->keys = estimate_keys(&estimate) + group->staged;
        group->rate = joint;
        group->plan.rate = fmax(group->plan.rate, joint);
        *all = after;
    }
    return 0;
}

ptrdiff_t group_all(struct source *sources, size_t n, const struct filter_plan *plan,
                    const struct bits **members, struct group *groups)
{
    struct filter_plan given = *plan;
    given.capacity = 1;
    size_t count = 0;
    double all = 0, easily = growth_rate(&given, 0);
    qsort(sources, n, sizeof *sources, compare_sources);
    for (size_t i = 0; i < n; i++)
        all += sources[i].rate;
    for (size_t i = 0; i < n; i++) {
        if (sources[i].placed)
            continue;
        struct group *group = &groups[count++];
        *group = (struct group){.members = members,
                                .keys = sources[i].keys,
                                .rate = sources[i].rate};
        put(group, &sources[i]);
        for (size_t j = i + 1; j < n && join_is_possible(sources[j].bits, sources[i].bits); j++)
            if (!sources[j].placed &&
                try_to_join(group, &sources[j], plan->rate, easily, &all) != 0)
                return -1;
        members += group->count;
    }
    return (ptrdiff_t)count;
}
