#include "store/probe.h"

#include "store/generation.h"
#include "store/internal.h"
#include "store/stage.h"

#include <string.h>

void probe_layers(const struct store *store, const struct key *keys, size_t n, uint8_t *seen)
{
    uint64_t now = generation_now(store);
    /* Newest first: it is the largest. But a stage before its layer: keys go from there to here,
     * and are in both for a while. */
    for (unsigned i = store->count; i-- > 0;) {
        const struct layer *layer = &store->layers[i];
        if (stage_keys(store, i) > 0) {
            store->kernel->test(&layer->stage.bits, keys, n, seen);
            in_order_for_others();
        }
        if (!generation_expired(store, i, now))
            store->kernel->test(&layer->region.bits, keys, n, seen);
    }
}

void probe_past_stages(const struct store *store, const struct key *keys, size_t n, uint8_t *seen)
{
    for (unsigned i = store->count; i-- > 0;)
        store->kernel->test(&store->layers[i].region.bits, keys, n, seen);
}

int probe(struct store *store, const struct key *keys, size_t n, uint8_t *seen, struct fault *fault)
{
    if (store_refresh(store, fault) != 0)
        return -1;
    memset(seen, 0, n);
    probe_layers(store, keys, n, seen);
    return 0;
}
