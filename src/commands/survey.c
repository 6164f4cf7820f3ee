/* survey - see survey.h. */
#include "commands/survey.h"

#include <math.h>

/* Lines wrongly dropped while a layer took its keys: each distinct line that came was dropped with
 * the rate of that moment, so for each one remembered there were 1 / (1 - rate) that came, and the
 * dropped ones are the integral of rate / (1 - rate) over the keys. Simpson's rule on the model,
 * which is smooth. `before`: the rate of the older, full layers. */
static double dropped_while_filling(const struct layer_plan *plan, double keys, double before)
{
    enum { STEPS = 16 };
    double sum = 0;
    for (unsigned i = 0; i <= STEPS; i++) {
        double own = sizing_rate(plan->geometry, plan->pages, keys * i / STEPS);
        double rate = 1 - (1 - own) * (1 - before);
        if (rate > 0.999)
            rate = 0.999;
        double weight = i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * rate / (1 - rate);
    }
    return sum * keys / (3 * STEPS);
}

static void survey_layer(struct layer_survey *layer, const struct filter *filter, unsigned i)
{
    struct estimate estimate;
    const struct bits *bits = filter_bits(filter, i);
    estimate_start(&estimate, bits->geometry);
    estimate_add(&estimate, bits->bytes, bits->pages);
    *layer = (struct layer_survey){
        .plan = filter_layer(filter, i),
        .keys = estimate_keys(&estimate),
        .rate = estimate_rate(&estimate),
        .fill = estimate_fill(&estimate),
        .full_pages = estimate.full,
        .counted = filter_layer_keys(filter, i),
    };
}

void survey_make(struct survey *survey, const struct filter *filter)
{
    double miss = 1, filled = 0, before = 0;
    *survey = (struct survey){.layers = filter_layers(filter)};
    for (unsigned i = 0; i < survey->layers; i++) {
        struct layer_survey *layer = &survey->layer[i];
        survey_layer(layer, filter, i);
        survey->pages += layer->plan.pages;
        survey->capacity += (double)layer->plan.capacity;
        survey->keys += layer->keys;
        filled += layer->fill * (double)layer->plan.pages;
        survey->dropped += dropped_while_filling(&layer->plan, layer->keys, before);
        before = 1 - (1 - before) * (1 - layer->rate);
        miss *= 1 - layer->rate;
    }
    survey->rate = survey->layers == 1 ? survey->layer[0].rate : 1 - miss;
    survey->fill = filled / (double)survey->pages;
    survey->keys_until = survey->capacity > survey->keys ? survey->capacity - survey->keys : 0;
}
