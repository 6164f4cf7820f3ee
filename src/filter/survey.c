#include "filter/survey.h"

#include "core/cells.h"
#include "filter/internal.h"
#include "system/signals.h"

#include <math.h>

/* A megabyte is read at a time. */
enum { SURVEY_PIECE = 256 };

/* A sample of fewer keys tells their number less well than the counter. */
enum { FEW_KEYS = 10000 };

/* Of `most` pages that are spread evenly over a layer, number i. */
static uint64_t spread(uint64_t pages, uint64_t most, uint64_t i)
{
    return pages <= most ? i : (uint64_t)((double)pages / (double)most * (double)i);
}

/* Reads the pages of a layer; if there are more than `most`, only that many. Returns how many
 * pages of the layer there are for each that was read. */
static double survey_pages(struct estimate *estimate, const struct filter *filter, unsigned layer,
                           uint64_t most, uint64_t *staged)
{
    _Alignas(BLOCK_BYTES) uint8_t buffer[PAGE_BYTES];
    struct fault ignored; /* keys that cannot be read are not counted; a signal ends the survey */
    const struct bits *bits = filter_bits(filter, layer);
    estimate_start(estimate, bits->geometry);
    *staged = 0;
    for (uint64_t i = 0; i < most && most < bits->pages; i++) {
        uint64_t here, number = spread(bits->pages, most, i);
        (void)filter_count_staged(filter, layer, number, number + 1, &here, &ignored);
        *staged += here;
        const uint8_t *page = pages_get(filter, layer, number, buffer);
        if (page != NULL)
            estimate_add(estimate, page, 1);
    }
    if (most < bits->pages)
        return (double)bits->pages / fmax(1, (double)estimate->pages);
    filter_read_all(filter, layer);
    (void)filter_count_staged(filter, layer, 0, bits->pages, staged, &ignored);
    estimate_expect(estimate, bits->pages);
    for (uint64_t page = 0; page < bits->pages && !signals_arrived(); page += SURVEY_PIECE) {
        uint64_t left = bits->pages - page;
        uint64_t pages = left < SURVEY_PIECE ? left : SURVEY_PIECE;
        estimate_add(estimate, bits->bytes + page * PAGE_BYTES, pages);
    }
    return 1;
}

static void survey_layer(struct layer_survey *layer, const struct filter *filter, unsigned i,
                         uint64_t most)
{
    const struct filter_plan *plan = &filter_header(filter)->plan;
    struct estimate estimate;
    uint64_t counted_before = filter_layer_keys(filter, i), staged;
    double each = survey_pages(&estimate, filter, i, most, &staged);
    bool told = estimate_is_told(&estimate), sampled = each > 1;
    double keys = told ? estimate_keys(&estimate) : estimate_least_keys(&estimate);
    *layer = (struct layer_survey){
        .plan = filter_plan(filter, i),
        .window = plan->window,
        .told = told,
        .keys = each * (keys + (double)staged),
        .staged = each * (double)staged,
        .deviation = each * hypot(estimate_deviation(&estimate), sampled ? sqrt(keys + 1) : 0),
        .rate = estimate_rate(&estimate),
        .fill = estimate_fill(&estimate),
        .counted_before = counted_before,
        .counted = filter_layer_keys(filter, i),
        .generation = plan->window ? filter_generation(filter, i)
                                   : (struct generation){.number = 0},
    };
    struct geometry geometry = layer->plan.geometry;
    uint64_t pages = layer->plan.pages;
    double counted = (double)layer->counted;
    if (sampled && keys < FEW_KEYS && fabs(counted - layer->keys) < 6 * layer->deviation) {
        layer->keys = counted;
        layer->deviation = 0;
        layer->rate = sizing_rate(geometry, pages, counted);
    }
    /* A key in the stage takes no other key for seen, but it will in the layer. */
    if (staged > 0)
        layer->rate = fmax(layer->rate, sizing_rate(geometry, pages, layer->keys));
    if (most != SURVEY_ALL)
        return;
    layer->evenness = evenness_of(&estimate);
    layer->remembered = layer->staged + sizing_remembered(geometry, pages, keys);
    layer->lines = layer->keys;
    layer->capacity = growth_sized_for(plan, &layer->plan);
    layer->full = plan->fixed ? layer->capacity : growth_lines_when_full(&layer->plan);
    if (plan->window) {
        layer->lines = fmax(layer->remembered, fmin(counted, layer->keys));
        layer->capacity = (double)layer->plan.capacity;
    }
    /* While it was copied, a window may have turned, and a stage have been emptied. */
    bool ordered = !plan->window && layer->plan.stage == 0;
    double least = ordered ? (double)counted_before : 0;
    double flight = plan->window ? GROWTH_IN_FLIGHT : 0;
    layer->no_copy = evenness_is_no_copy(&estimate, ordered, least / (double)pages,
                                         (layer->full + flight) / (double)pages);
}

/* --- lines in several layers --- */

int survey_joint(const struct bits *const *layers, size_t n, uint64_t most,
                 struct estimate *estimate)
{
    uint8_t joint[PAGE_BYTES];
    uint64_t pages = layers[0]->pages;
    estimate_start(estimate, layers[0]->geometry);
    for (uint64_t i = 0; i < most && i < pages; i++) {
        if (most == SURVEY_ALL && signals_arrived())
            return -1;
        join_pages(layers, n, spread(pages, most, i), 1, joint);
        estimate_add(estimate, joint, 1);
    }
    return 0;
}

/* A filter that grew has each line in one layer. A merged filter may have a line in several layers
 * that could not be joined; for layers with the shape of layer `first`, the union of their bits
 * tells how many lines there are. */
static void count_once(struct survey *survey, const struct filter *filter, unsigned first,
                       uint64_t most)
{
    const struct bits *members[LAYERS_MAX];
    struct estimate joint;
    unsigned n = 0;
    double sum = 0;
    for (unsigned i = 0; i < survey->layers; i++) {
        if (!join_is_possible(filter_bits(filter, i), filter_bits(filter, first)))
            continue;
        if (i < first) /* these were counted with layer i */
            return;
        members[n++] = filter_bits(filter, i);
        sum += survey->layer[i].keys - survey->layer[i].staged;
    }
    if (n < 2 || survey_joint(members, n, most, &joint) != 0 || joint.pages == 0)
        return;
    double keys = estimate_keys(&joint) * (double)members[0]->pages / (double)joint.pages;
    if (estimate_is_told(&joint) && keys < sum)
        survey->keys -= sum - keys;
}

/* Some new lines are false drops because of older layers. So 1 / (1 - rate) lines came for each key
 * of a layer. The divisor is at least this. */
#define LEAST_PASSED 0.01

/* The lines of a filter that is no window. */
static void survey_lines(struct survey *survey, const struct filter *filter, uint64_t most)
{
    double older = 1, all = 0, room = 0;
    for (unsigned i = 0; i < survey->layers; i++)
        count_once(survey, filter, i, most);
    for (unsigned i = 0; i < survey->layers; i++) {
        const struct layer_survey *layer = &survey->layer[i];
        bool grew = growth_added(&filter_header(filter)->plan, layer->plan.rate);
        double passed = grew ? fmax(older, LEAST_PASSED) : 1;
        all += layer->keys / passed;
        survey->capacity += layer->capacity / passed;
        room += layer->full / passed;
        older *= 1 - layer->rate;
    }
    survey->keys += all;
    survey->keys_until = fmax(room - all, 0);
}

/* --- windows --- */

/* In a window only lines that are not forgotten count, and the next limit is the end of a
 * generation. Every free layer is filled before the oldest is forgotten. */
static void survey_window(struct survey *survey)
{
    uint64_t oldest = UINT64_MAX;
    survey->next = survey->layers;
    /* If none is filling, the next key begins a generation. All first layers are alike. */
    survey->keys_until = survey->layer[0].capacity;
    for (unsigned i = 0; i < survey->layers; i++) {
        const struct layer_survey *layer = &survey->layer[i];
        const struct generation *generation = &layer->generation;
        double room = fmax(layer->capacity - (double)layer->counted, 0);
        survey->capacity += layer->capacity;
        if (!generation->expired)
            survey->keys += layer->lines;
        if (generation->filling)
            survey->until_forgetting += survey->keys_until = room;
        if (generation->number == 0)
            survey->until_forgetting += layer->capacity;
        else if (!generation->expired && generation->number < oldest) {
            oldest = generation->number;
            survey->next = i;
        }
    }
}

/* --- the whole filter --- */

int survey_make(struct survey *survey, const struct filter *filter, uint64_t most)
{
    double filled = 0;
    *survey = (struct survey){.layers = filter_layers(filter), .told = true};
    for (unsigned i = 0; i < survey->layers; i++) {
        struct layer_survey *layer = &survey->layer[i];
        survey_layer(layer, filter, i, most);
        if (most == SURVEY_ALL && signals_arrived())
            return -1;
        /* A layer that is being emptied, or was when its writer died, is not judged. */
        if (!filter_is_turning(filter) && !layer->generation.retired &&
            !filter_is_half_emptied(filter, i)) {
            survey->fuller_pages += layer->evenness.fuller;
            survey->emptier_pages += layer->evenness.emptier;
        }
        survey->pages += layer->plan.pages;
        survey->sampled = survey->sampled || layer->plan.pages > most;
        survey->deviation = hypot(survey->deviation, layer->deviation);
        filled += layer->fill * (double)layer->plan.pages;
        if (layer->generation.expired)
            continue;
        survey->rate = sizing_joint_rate(survey->rate, layer->rate);
        survey->told = survey->told && layer->told;
    }
    survey->fill = filled / (double)survey->pages;
    if (filter_header(filter)->plan.window)
        survey_window(survey);
    else
        survey_lines(survey, filter, most);
    return most == SURVEY_ALL && signals_arrived() ? -1 : 0;
}
