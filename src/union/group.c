#include "union/group.h"

#include "union/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So far from what was estimated the truth is not by chance. */
enum { SIGMAS = 6 };

static int compare_bits(const struct bits *a, const struct bits *b)
{
    if (a == NULL || b == NULL)
        return (a != NULL) - (b != NULL);
    if (a->pages != b->pages)
        return a->pages < b->pages ? -1 : 1;
    return memcmp(a->bytes, b->bytes, (size_t)(a->pages * PAGE_BYTES));
}

/* Small layers first, as in a filter that grew; of one shape the fullest first, and so on, so that
 * the order of the inputs does not matter. */
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
    order = compare_bits(a->bits, b->bits);
    return order != 0 ? order : compare_bits(a->stage, b->stage);
}

/* The fullest first. */
static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    return (a->keys < b->keys) - (a->keys > b->keys);
}

/* Would the source fit, too? It does if there is room for all its keys; or if nothing is gained by
 * keeping it apart, since the other layer, which may be too full, has them already. It may share
 * many with what is there: then the joint bits tell. Most often a few runs of pages do, since keys
 * fall on pages evenly, and all are read only if it is close. Returns 1 or 0, *keys then being
 * about what is inside; or -1 for a signal. */
static int fits(const struct group *group, const struct source *source, double *keys)
{
    enum { SAMPLE = 4 };
    double most = fmax(group->full, fmax(group->keys, source->keys));
    double staged = group->staged + source->staged;
    struct estimate estimate;
    *keys = group->keys + source->keys;
    if (*keys <= most)
        return 1;
    uint64_t step = group->plan.pages / (SAMPLE * JOINT_RUN) + 1;
    if (joint_estimate(group->members, group->count + 1, step, &estimate) != 0)
        return -1;
    double scale = (double)group->plan.pages / (double)estimate.pages;
    *keys = scale * estimate_keys(&estimate) + staged;
    double deviation = scale * sqrt(estimate_keys(&estimate) + 1);
    if (*keys - SIGMAS * deviation > most)
        return 0;
    if (*keys + SIGMAS * deviation <= most)
        return 1;
    if (joint_estimate(group->members, group->count + 1, 1, &estimate) != 0)
        return -1;
    *keys = estimate_keys(&estimate) + staged;
    return *keys <= most + SIGMAS * estimate_deviation(&estimate);
}

/* What so many keys more than there are add to the rate. */
static double rate_of_more(const struct layer_plan *plan, double keys, double more)
{
    return more == 0 ? 0
                     : sizing_rate(plan->geometry, plan->pages, keys + more) -
                           sizing_rate(plan->geometry, plan->pages, keys);
}

static int measure(struct group *group)
{
    struct estimate estimate;
    if (joint_estimate(group->members, group->count, 1, &estimate) != 0)
        return -1;
    double set = estimate_keys(&estimate);
    group->keys = set + group->staged;
    group->rate = estimate_rate(&estimate) + rate_of_more(&group->plan, set, group->staged);
    group->noise = rate_of_more(&group->plan, group->keys, SIGMAS * estimate_deviation(&estimate));
    return 0;
}

/* Puts the first source that has no group into this one, and each other that then fits. Returns 0,
 * or -1: a signal. */
static int fill(struct group *group, struct source *sources, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double keys;
        if (sources[i].placed)
            continue;
        group->members[group->count] = sources[i].bits;
        int fit = fits(group, &sources[i], &keys);
        if (fit < 0)
            return -1;
        if (fit == 0)
            continue;
        sources[i].placed = true;
        sources[i].next = group->sources;
        group->sources = &sources[i];
        group->count++;
        group->keys = keys;
        group->staged += sources[i].staged;
    }
    return measure(group);
}

static bool is_better(const struct layer_plan *a, const struct layer_plan *b)
{
    if (a->capacity != b->capacity)
        return a->capacity > b->capacity;
    return a->stage.capacity > b->stage.capacity;
}

/* What a layer of that class was made for at its best: an earlier merge may have left some with
 * less. */
static struct layer_plan class_plan(const struct source *sources, size_t n)
{
    const struct layer_plan *best = &sources[0].plan;
    for (size_t i = 1; i < n; i++)
        if (is_better(&sources[i].plan, best))
            best = &sources[i].plan;
    return *best;
}

/* Those of the sources that are of the first one's class. */
static size_t class_size(const struct source *sources, size_t n)
{
    size_t size = 1;
    while (size < n && join_is_possible(sources[size].bits, sources[0].bits))
        size++;
    return size;
}

/* group_all for sources of one class; adds to *keys. */
static ptrdiff_t group_class(struct source *sources, size_t n, bool fixed,
                             const struct bits **members, struct group *groups, double *keys)
{
    struct estimate estimate;
    struct layer_plan plan = class_plan(sources, n);
    double full = fixed ? (double)plan.capacity : growth_full(&plan);
    double sum = 0, staged = 0;
    size_t count = 0;
    for (size_t placed = 0; placed < n; placed += groups[count++].count) {
        groups[count] = (struct group){.members = members + placed, .plan = plan, .full = full};
        if (fill(&groups[count], sources, n) != 0)
            return -1;
        sum += groups[count].keys;
        staged += groups[count].staged;
    }
    /* Groups may share keys. Full pages tell no number. */
    if (count > 1 && joint_estimate(members, n, 1, &estimate) != 0)
        return -1;
    *keys += count > 1 && estimate.full == 0 ? fmin(sum, estimate_keys(&estimate) + staged) : sum;
    qsort(groups, count, sizeof *groups, compare_groups);
    return (ptrdiff_t)count;
}

ptrdiff_t group_all(struct source *sources, size_t n, bool fixed, const struct bits **members,
                    struct group *groups, double *keys)
{
    ptrdiff_t count = 0;
    *keys = 0;
    qsort(sources, n, sizeof *sources, compare_sources);
    for (size_t i = 0, size; i < n; i += size) {
        size = class_size(sources + i, n - i);
        ptrdiff_t more = group_class(sources + i, size, fixed, members + i, groups + count, keys);
        if (more < 0)
            return -1;
        count += more;
    }
    return count;
}

void group_share_rate(struct group *groups, size_t count, const struct filter_plan *plan)
{
    double left = plan->rate - growth_rest(plan, (unsigned)count);
    for (size_t i = 0; i < count; i++)
        left -= groups[i].rate;
    for (size_t i = count; i-- > 0;) {
        struct group *group = &groups[i];
        struct layer_plan *layer = &group->plan;
        if (plan->stage == 0)
            layer->stage = (struct stage_plan){0};
        double wanted = layer->rate + layer->stage.rate - group->rate;
        if (wanted <= left + plan->rate * 1e-9 || count == 1) {
            left -= wanted;
            continue;
        }
        layer->stage = (struct stage_plan){0};
        layer->rate = group->rate + (left > 0 ? left : 0);
        left = 0;
        uint64_t capacity = growth_capacity(layer->geometry, layer->pages, layer->rate);
        double counted = sizing_remembered(layer->geometry, layer->pages, group->keys);
        uint64_t keys = counted > 1 ? (uint64_t)counted : 1;
        layer->capacity = capacity > keys ? capacity : keys;
    }
}
