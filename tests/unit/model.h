/*
 * model - what a filter must have in it: plain bit arrays, no batches, nothing in flight, bits
 * numbered by the oracle. Only the layers' sizes are the program's own (test_growth).
 */
#ifndef UNSEEN_TESTS_MODEL_H
#define UNSEEN_TESTS_MODEL_H

#include "core/growth.h"
#include "format/header.h"

#include "oracle.h"
#include "sample.h"

#include <stdlib.h>

struct model {
    struct filter_plan plan;
    unsigned layers;
    struct layer_plan layer[LAYERS_MAX];
    uint64_t keys[LAYERS_MAX];
    uint8_t *bits[LAYERS_MAX];
};

static inline void model_layer(struct model *model, struct layer_plan layer)
{
    model->layer[model->layers] = layer;
    model->bits[model->layers] = calloc(layer.pages, PAGE_BYTES);
    if (model->bits[model->layers++] == NULL)
        exit(1);
}

static inline void model_start(struct model *model, const struct filter_plan *plan)
{
    struct layer_plan layer;
    *model = (struct model){.plan = *plan};
    if (growth_first(plan, &layer) != 0)
        exit(1);
    model_layer(model, layer);
}

static inline void model_free(struct model *model)
{
    for (unsigned i = 0; i < model->layers; i++)
        free(model->bits[i]);
}

static inline bool model_has(const struct model *model, struct key key)
{
    for (unsigned i = 0; i < model->layers; i++)
        if (oracle_has(model->bits[i], key, model->layer[i].pages, model->layer[i].geometry))
            return true;
    return false;
}

static inline void model_grow(struct model *model)
{
    struct layer_plan layer;
    uint64_t pages = 0, keys = 0;
    for (unsigned i = 0; i < model->layers; i++) {
        pages += model->layer[i].pages;
        keys += model->layer[i].capacity;
    }
    if (growth_next(&model->plan, model->layers, pages, keys, &layer) != 0)
        exit(1);
    model_layer(model, layer);
}

/* The key is in from now on. A layer changes after exactly its capacity. */
static inline void model_put(struct model *model, struct key key)
{
    unsigned last = model->layers - 1;
    if (!model->plan.fixed && model->keys[last] == model->layer[last].capacity) {
        model_grow(model);
        last++;
    }
    oracle_add(model->bits[last], key, model->layer[last].pages, model->layer[last].geometry);
    model->keys[last]++;
}

/* The layers hold what they should, to the bit, and as many keys. */
static inline void model_check(const struct model *model, const struct writer *writer,
                               const char *name)
{
    const struct filter *filter = sample_filter(writer);
    if (!tap_check(filter_layers(filter) == model->layers, "%s: %u layers, not %u", name,
                   filter_layers(filter), model->layers))
        return;
    for (unsigned i = 0; i < model->layers; i++) {
        const struct bits *bits = filter_bits(filter, i);
        tap_check(filter_layer_keys(filter, i) == model->keys[i],
                  "%s: layer %u holds %" PRIu64 " keys, not %" PRIu64, name, i,
                  filter_layer_keys(filter, i), model->keys[i]);
        tap_check(bits->pages == model->layer[i].pages &&
                      memcmp(bits->bytes, model->bits[i], bits->pages * PAGE_BYTES) == 0,
                  "%s: layer %u has other bits", name, i);
    }
}

#endif
