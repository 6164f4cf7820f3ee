#include "filter/survey.h"

#include "core/join.h"
#include "filter/pages.h"
#include "filter/stage.h"
#include "filter/window.h"
#include "system/signals.h"

#include <math.h>

/* A megabyte is mapped and read at a time. */
enum { SURVEY_PAGES = 256 };

static void survey_pages(struct estimate *estimate, const struct store *store, unsigned layer)
{
    const struct bits *bits = store_bits(store, layer);
    estimate_start(estimate, bits->geometry);
    for (uint64_t page = 0; page < bits->pages && !signals_pending(); page += SURVEY_PAGES) {
        uint64_t left = bits->pages - page;
        uint64_t pages = left < SURVEY_PAGES ? left : SURVEY_PAGES;
        pages_read_ahead(store, layer, page, pages);
        estimate_add(estimate, bits->bytes + page * PAGE_BYTES, pages);
    }
}

static void survey_layer(struct layer_survey *layer, const struct store *store, unsigned i)
{
    const struct filter_plan *plan = &store_header(store)->plan;
    struct estimate estimate;
    struct fault ignored; /* keys that cannot be read are not counted; a signal ends the survey */
    uint64_t counted_before = store_layer_keys(store, i), staged;
    (void)stage_count(store, i, &staged, &ignored);
    survey_pages(&estimate, store, i);
    *layer = (struct layer_survey){
        .plan = store_plan(store, i),
        .window = plan->window,
        .keys = estimate_keys(&estimate) + (double)staged,
        .staged = (double)staged,
        .deviation = estimate_deviation(&estimate),
        .rate = estimate_rate(&estimate),
        .fill = estimate_fill(&estimate),
        .evenness = evenness_of(&estimate),
        .counted_before = counted_before,
        .counted = store_layer_keys(store, i),
    };
    layer->remembered = layer->staged + sizing_remembered(layer->plan.geometry, layer->plan.pages,
                                                          estimate_keys(&estimate));
    layer->lines = layer->keys;
    layer->full = layer->capacity = growth_sized_for(plan, &layer->plan);
    if (!plan->window)
        return;
    layer->lines = fmax(layer->remembered, fmin((double)layer->counted, layer->keys));
    layer->capacity = (double)layer->plan.capacity;
    layer->generation = generation_of(store, i);
}

/* --- lines in several layers --- */

int survey_joint(const struct bits *const *layers, size_t n, struct estimate *estimate)
{
    enum { SOME = 2 }; /* pages, for a small stack */
    uint8_t joint[SOME * PAGE_BYTES];
    uint64_t end = layers[0]->pages;
    estimate_start(estimate, layers[0]->geometry);
    for (uint64_t page = 0; page < end; page += SOME) {
        unsigned pages = end - page < SOME ? (unsigned)(end - page) : SOME;
        if (signals_pending())
            return -1;
        join_pages(layers, n, page, pages, joint);
        estimate_add(estimate, joint, pages);
    }
    return 0;
}

/* A filter that grew has each line in one layer. A merged filter may have a line in several layers
 * that could not be joined; for layers with the shape of layer `first`, the union of their bits
 * tells how many lines there are. */
static void count_once(struct survey *survey, const struct store *store, unsigned first)
{
    const struct bits *members[LAYERS_MAX];
    struct estimate joint;
    unsigned n = 0;
    double sum = 0;
    for (unsigned i = 0; i < survey->layers; i++) {
        if (!join_is_possible(store_bits(store, i), store_bits(store, first)))
            continue;
        if (i < first) /* these were counted with layer i */
            return;
        members[n++] = store_bits(store, i);
        sum += survey->layer[i].keys - survey->layer[i].staged;
    }
    if (n < 2 || survey_joint(members, n, &joint) != 0)
        return;
    /* A full page tells no number. */
    if (joint.full == 0 && estimate_keys(&joint) < sum)
        survey->keys -= sum - estimate_keys(&joint);
}

/* Some new lines are false drops because of older layers. So 1 / (1 - rate) lines came for each key
 * of a layer. The divisor is at least this. */
#define LEAST_PASSED 0.01

/* The lines of a filter that is no window. */
static void survey_lines(struct survey *survey, const struct store *store)
{
    double older = 1, all = 0;
    for (unsigned i = 0; i < survey->layers; i++)
        count_once(survey, store, i);
    for (unsigned i = 0; i < survey->layers; i++) {
        const struct layer_survey *layer = &survey->layer[i];
        bool grew = growth_added(&store_header(store)->plan, layer->plan.rate);
        double passed = grew ? fmax(older, LEAST_PASSED) : 1;
        all += layer->keys / passed;
        survey->capacity += layer->capacity / passed;
        older *= 1 - layer->rate;
    }
    survey->keys += all;
    survey->keys_until = fmax(survey->capacity - all, 0);
}

/* --- windows --- */

/* The oldest generation that is not forgotten, or `layers`. */
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

/* In a window only lines that are not forgotten count, and the next limit is the end of a
 * generation. Every free layer is filled before the oldest is forgotten. */
static void survey_window(struct survey *survey)
{
    survey->next = oldest_of(survey);
    /* If none is filling, the next key begins a generation. All first layers are alike. */
    survey->keys_until = survey->layer[0].capacity;
    for (unsigned i = 0; i < survey->layers; i++) {
        const struct layer_survey *layer = &survey->layer[i];
        double room = fmax(layer->capacity - (double)layer->counted, 0);
        survey->capacity += layer->capacity;
        if (!layer->generation.expired)
            survey->keys += layer->lines;
        if (layer->generation.filling)
            survey->until_forgetting += survey->keys_until = room;
        if (layer->generation.number == 0)
            survey->until_forgetting += layer->capacity;
    }
}

/* --- the whole filter --- */

/* A layer that is being emptied, or was when its writer died, is not judged. */
static void count_odd_pages(struct survey *survey, const struct store *store, unsigned i)
{
    const struct layer_survey *layer = &survey->layer[i];
    if (window_is_turning(store) || layer->generation.retired || stage_is_half_emptied(store, i))
        return;
    survey->fuller_pages += layer->evenness.fuller;
    survey->emptier_pages += layer->evenness.emptier;
}

int survey_make(struct survey *survey, const struct store *store)
{
    double miss = 1, filled = 0;
    *survey = (struct survey){.layers = store_layers(store)};
    for (unsigned i = 0; i < survey->layers; i++) {
        struct layer_survey *layer = &survey->layer[i];
        survey_layer(layer, store, i);
        if (signals_pending())
            return -1;
        count_odd_pages(survey, store, i);
        survey->pages += layer->plan.pages;
        filled += layer->fill * (double)layer->plan.pages;
        miss *= layer->generation.expired ? 1 : 1 - layer->rate;
    }
    survey->rate = survey->layers == 1 ? survey->layer[0].rate : 1 - miss;
    survey->fill = filled / (double)survey->pages;
    if (store_header(store)->plan.window)
        survey_window(survey);
    else
        survey_lines(survey, store);
    return signals_pending() ? -1 : 0;
}
