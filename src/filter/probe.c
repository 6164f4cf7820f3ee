/*
 * probe - see probe.h.
 *
 * With a cold file, 100 lines would wait 100 times for the disk, which could read many pages at
 * once. So the pages of the first batch, which may be the whole run, are prefetched together. For a
 * page in memory this wastes a system call of 0.2 us.
 */
#include "filter/probe.h"

#include "filter/generation.h"
#include "filter/internal.h"
#include "filter/pages.h"
#include "filter/stage.h"

#include <string.h>

/* The stage first: keys are set in the layer before they leave the stage. */
static void probe_layer(const struct store *store, unsigned i, uint64_t now, const struct key *keys,
                        size_t n, uint8_t *seen)
{
    const struct layer *layer = &store->layers[i];
    if (has_stage(layer))
        stage_test(store, i, keys, n, seen);
    if (!generation_expired(store, i, now) && !layer_is_empty(store, layer))
        store->kernel->test(&layer->bits, keys, n, seen);
}

/* Newest first, because it is the largest. */
void probe_layers(const struct store *store, unsigned except, const struct key *keys, size_t n,
                  uint8_t *seen)
{
    uint64_t now = generation_now(store);
    for (unsigned i = store->count; i-- > 0;)
        if (i != except)
            probe_layer(store, i, now, keys, n, seen);
}

void probe_newest(const struct store *store, const struct key *keys, size_t n, uint8_t *seen)
{
    unsigned newest = generation_largest(store);
    if (!is_window(store))
        probe_layers(store, store->count, keys, n, seen);
    else if (newest < store->count)
        probe_layer(store, newest, generation_now(store), keys, n, seen);
}

int probe_begin(struct store *store, const struct key *keys, size_t n, uint8_t *seen,
                struct fault *fault)
{
    if (store_refresh(store, fault) != 0)
        return -1;
    if (!store->asked && !in_memory(store)) {
        for (unsigned i = 0; i < store->count; i++)
            stage_prefetch(store, i, keys, n);
        pages_prefetch(store, keys, n);
    }
    store->asked = true;
    memset(seen, 0, n);
    return 0;
}

int probe(struct store *store, const struct key *keys, size_t n, uint8_t *seen, struct fault *fault)
{
    if (probe_begin(store, keys, n, seen, fault) != 0)
        return -1;
    probe_layers(store, store->count, keys, n, seen);
    return 0;
}
