/*
 * probe - see probe.h.
 *
 * Where a page is not in memory, the test of its key waits for the disk: with a cold file, 100
 * lines waited 100 times, though a disk reads many pages in the time of one. So the pages of the
 * first batch of a run, which may be all of it, are asked for together. For a page that is in
 * memory that is a system call in vain, of 0.2 us.
 */
#include "store/probe.h"

#include "store/generation.h"
#include "store/internal.h"
#include "store/pages.h"
#include "store/stage.h"

#include <string.h>

/* A stage before its layer: keys go from the stage to the layer, and are in both for a while. */
static void probe_layer(const struct store *store, unsigned i, uint64_t now, const struct key *keys,
                        size_t n, uint8_t *seen)
{
    const struct layer *layer = &store->layers[i];
    if (stage_keys(store, i) > 0) {
        store->kernel->test(&layer->stage.bits, keys, n, seen);
        in_order_for_others();
    }
    if (!generation_expired(store, i, now) && !layer_is_empty(store, layer))
        store->kernel->test(&layer->region.bits, keys, n, seen);
}

/* Newest first: it is the largest. */
void probe_layers(const struct store *store, const struct key *keys, size_t n, uint8_t *seen)
{
    uint64_t now = generation_now(store);
    for (unsigned i = store->count; i-- > 0;)
        probe_layer(store, i, now, keys, n, seen);
}

void probe_past_stages(const struct store *store, const struct key *keys, size_t n, uint8_t *seen)
{
    for (unsigned i = store->count; i-- > 0;)
        if (!layer_is_empty(store, &store->layers[i]))
            store->kernel->test(&store->layers[i].region.bits, keys, n, seen);
}

int probe(struct store *store, const struct key *keys, size_t n, uint8_t *seen, struct fault *fault)
{
    if (store_refresh(store, fault) != 0)
        return -1;
    if (!store->asked && store->file.fd >= 0)
        pages_ask(store, keys, n);
    store->asked = true;
    memset(seen, 0, n);
    probe_layers(store, keys, n, seen);
    return 0;
}
