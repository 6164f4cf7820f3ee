#include "commands/survey.h"

#include "store/pages.h"
#include "system/signals.h"
#include "union/joint.h"

#include <math.h>
#include <pthread.h>

/* False drops while a layer took in its keys: new lines that looked seen in it, and before that
 * those that looked seen in the older, full layers, whose rate is `before`. */
static double false_drops_while_filling(const struct layer_survey *layer, double before)
{
    /* A difference of numbers that may be as good as equal. */
    double here = fmax(layer->keys - layer->remembered, 0);
    return here + (before < 1 ? layer->keys * before / (1 - before) : 0);
}

/* A megabyte: what is mapped and read at a time. */
enum { SURVEY_PAGES = 256 };

/* A layer from this size on, 64 MB, is read by two threads, half by half; always so, since in how
 * many parts it is summed shows in the last digits. */
enum { TWO_PARTS_FROM = 16384 };

struct part {
    const struct store *store;
    unsigned layer;
    uint64_t from, to;
    struct estimate estimate;
};

static void *survey_part(void *context)
{
    struct part *part = context;
    const struct bits *bits = store_bits(part->store, part->layer);
    estimate_start(&part->estimate, bits->geometry);
    for (uint64_t page = part->from; page < part->to && !signals_pending(); page += SURVEY_PAGES) {
        uint64_t left = part->to - page;
        uint64_t pages = left < SURVEY_PAGES ? left : SURVEY_PAGES;
        pages_read_ahead(part->store, part->layer, page, pages);
        estimate_add(&part->estimate, bits->bytes + page * PAGE_BYTES, pages);
    }
    return NULL;
}

static void survey_pages(struct estimate *estimate, const struct store *store, unsigned layer)
{
    uint64_t pages = store_bits(store, layer)->pages;
    uint64_t middle = pages < TWO_PARTS_FROM ? pages : pages / 2;
    struct part first = {.store = store, .layer = layer, .to = middle};
    struct part second = {.store = store, .layer = layer, .from = middle, .to = pages};
    pthread_t thread;
    /* Both are to find the layer ready to be read from front to back. */
    pages_read_ahead(store, layer, 0, 0);
    bool beside = middle < pages && signals_start_thread(&thread, survey_part, &second);
    survey_part(&first);
    *estimate = first.estimate;
    if (middle == pages)
        return;
    if (beside)
        pthread_join(thread, NULL);
    else
        survey_part(&second);
    estimate_merge(estimate, &second.estimate);
}

static void survey_layer(struct layer_survey *layer, const struct store *store, unsigned i)
{
    struct estimate estimate;
    uint64_t counted_before = store_region_keys(store, i);
    survey_pages(&estimate, store, i);
    *layer = (struct layer_survey){
        .plan = store_plan(store, i),
        .stage = store_is_stage(store, i),
        .keys = estimate_keys(&estimate),
        .rate = estimate_rate(&estimate),
        .fill = estimate_fill(&estimate),
        .deviation = estimate_deviation(&estimate),
        .full_pages = estimate.full,
        .empty_pages = estimate.empty,
        .uneven = estimate_unevenness(&estimate),
        .wiped = estimate_has_wiped(&estimate),
        .filled = estimate_has_filled(&estimate),
        .counted_before = counted_before,
        .counted = store_region_keys(store, i),
    };
    layer->remembered = sizing_remembered(layer->plan.geometry, layer->plan.pages, layer->keys);
    if (store_header(store)->plan.generations != 0)
        layer->generation = generation_of(store, i);
}

/* --- lines in several layers --- */

/* Keys of a stage that are in its layer already, which counts them when the stage is emptied: those
 * that came again. */
static double also_in_stage(const struct layer_survey *layer)
{
    double uncounted = layer->remembered - (double)layer->counted;
    return fmin(fmax(uncounted, 0), (double)layer->staged);
}

static bool same_shape(const struct survey *survey, const struct store *store, unsigned a,
                       unsigned b)
{
    return !survey->layer[a].stage && !survey->layer[b].stage &&
           join_is_possible(store_bits(store, a), store_bits(store, b));
}

/* A filter that grew has a line in one layer, and layers of different sizes. A merged one may have
 * it in several of those that did not fit together; if they have one shape, that of layer `first`,
 * their joint bits tell how many lines there are. */
static void count_once(struct survey *survey, const struct store *store, unsigned first)
{
    const struct bits *members[REGIONS_MAX];
    struct estimate joint;
    unsigned n = 0;
    double sum = 0;
    for (unsigned i = 0; i < survey->layers; i++) {
        if (!same_shape(survey, store, i, first))
            continue;
        if (i < first) /* it was their turn then */
            return;
        members[n++] = store_bits(store, i);
        sum += survey->layer[i].keys;
    }
    if (n < 2 || joint_estimate(members, n, 1, &joint) != 0)
        return;
    /* Full pages tell no number. */
    if (joint.full == 0 && estimate_keys(&joint) < sum)
        survey->keys -= sum - estimate_keys(&joint);
}

/* --- windows --- */

/* The rate of the layers beside one. */
static double rate_beside(const struct survey *survey, unsigned layer)
{
    double miss = 1;
    for (unsigned i = 0; i < survey->layers; i++)
        if (i != layer && !survey->layer[i].generation.expired)
            miss *= 1 - survey->layer[i].rate;
    return 1 - miss;
}

/* The oldest generation that has not been forgotten, or `layers`. The newest goes when all else has
 * gone. */
static unsigned oldest_of(const struct survey *survey)
{
    unsigned oldest = survey->layers;
    for (unsigned i = 0; i < survey->layers; i++) {
        uint64_t number = survey->layer[i].generation.number;
        if (number != 0 && !survey->layer[i].generation.expired &&
            (oldest == survey->layers || number < survey->layer[oldest].generation.number))
            oldest = i;
    }
    return oldest;
}

/* What is different in a window: only layers whose lines are in count for false drops, and what
 * is reached next is the end of a generation. Every layer that is not in use is one more to fill
 * before the oldest goes. */
static void survey_window(struct survey *survey)
{
    survey->next = oldest_of(survey);
    /* If none is filling, the next key begins one; the first are alike. */
    survey->keys_until = (double)survey->layer[0].plan.capacity;
    survey->false_drops = survey->until_forgetting = 0;
    for (unsigned i = 0; i < survey->layers; i++) {
        const struct layer_survey *layer = &survey->layer[i];
        double room = fmax((double)layer->plan.capacity - (double)layer->counted, 0);
        if (!layer->generation.expired)
            survey->false_drops += false_drops_while_filling(layer, rate_beside(survey, i));
        if (layer->generation.filling)
            survey->until_forgetting += survey->keys_until = room;
        if (layer->generation.number == 0)
            survey->until_forgetting += (double)layer->plan.capacity;
    }
}

int survey_make(struct survey *survey, const struct store *store)
{
    double miss = 1, filled = 0, before = 0;
    *survey = (struct survey){.layers = store_regions(store)};
    for (unsigned i = 0; i < survey->layers; i++) {
        struct layer_survey *layer = &survey->layer[i];
        survey_layer(layer, store, i);
        if (i > 0 && layer[-1].stage)
            layer->staged = layer[-1].counted;
        if (signals_pending())
            return -1;
        if (!layer->stage) {
            survey->pages += layer->plan.pages;
            survey->capacity += (double)layer->plan.capacity;
            filled += layer->fill * (double)layer->plan.pages;
        }
        if (layer->generation.expired)
            continue;
        survey->keys += layer->keys - also_in_stage(layer);
        survey->false_drops += false_drops_while_filling(layer, before);
        before = 1 - (1 - before) * (1 - layer->rate);
        miss *= 1 - layer->rate;
    }
    survey->rate = survey->layers == 1 ? survey->layer[0].rate : 1 - miss;
    survey->fill = filled / (double)survey->pages;
    survey->keys_until = fmax(survey->capacity - survey->keys, 0);
    if (store_header(store)->plan.generations != 0)
        survey_window(survey);
    else
        for (unsigned i = 0; i < survey->layers; i++)
            count_once(survey, store, i);
    return signals_pending() ? -1 : 0;
}
