/*
 * probe - see probe.h.
 *
 * With a cold file, 100 lines would wait 100 times for the disk, which could read many pages at
 * once. So the pages of the first batch, which may be the whole run, are prefetched together. For a
 * page in memory this wastes a system call of 0.2 us.
 */
#include "filter/probe.h"

#include "filter/internal.h"

#include <string.h>

/* The stage first: keys are set in the layer before they leave the stage. */
static void probe_layer(const struct filter *filter, unsigned i, uint64_t now,
                        const struct key *keys, size_t n, uint8_t *seen)
{
    const struct layer *layer = &filter->layers[i];
    if (has_stage(layer))
        stage_test(filter, i, keys, n, seen);
    if (!generation_expired(filter, i, now) && layer_has_bits(filter, layer))
        filter->kernel->test(&layer->bits, keys, n, seen);
}

/* Newest first, because it is the largest. */
void probe_layers(const struct filter *filter, unsigned except, const struct key *keys, size_t n,
                  uint8_t *seen)
{
    uint64_t now = generation_now(filter);
    for (unsigned i = filter->count; i-- > 0;)
        if (i != except)
            probe_layer(filter, i, now, keys, n, seen);
}

void probe_newest(const struct filter *filter, const struct key *keys, size_t n, uint8_t *seen)
{
    unsigned newest = generation_largest(filter);
    if (!is_window(filter))
        probe_layers(filter, filter->count, keys, n, seen);
    else if (newest < filter->count)
        probe_layer(filter, newest, generation_now(filter), keys, n, seen);
}

int probe_begin(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                struct fault *fault)
{
    if (filter_refresh(filter, fault) != 0)
        return -1;
    if (!filter->asked && !in_memory(filter)) {
        for (unsigned i = 0; i < filter->count; i++)
            stage_prefetch(filter, i, keys, n);
        pages_prefetch(filter, keys, n);
    }
    filter->asked = true;
    memset(seen, 0, n);
    return 0;
}

int probe(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
          struct fault *fault)
{
    if (probe_begin(filter, keys, n, seen, fault) != 0)
        return -1;
    probe_layers(filter, filter->count, keys, n, seen);
    return 0;
}
