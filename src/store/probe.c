/*
 * probe - see probe.h.
 *
 * Keys are tested one after the other, and where a page is not in memory the test waits for the
 * disk: with a cold file, 100 lines waited 100 times, though a disk reads many pages in the time of
 * one. So once a page had to be read, the pages of all keys still to be tested are asked for
 * together. Asking costs a system call a page, three times what testing a key costs, so it is not
 * done for pages that are in memory. Finding out which are would cost a system call a page, too,
 * and mincore(2) tells only those who may write. But the system counts the faults that had to read,
 * and how often the thread slept, and these counts are looked at:
 *
 *   - for the first key after each layer, since each may cost a read;
 *   - then after 4, 16, 64 ... keys. The more keys went without a read, the fewer cold pages there
 *     can be, so only few are waited for between two looks, whatever their share;
 *   - only at the end of a batch, once a batch has had none.
 */
#include "store/probe.h"

#include "store/generation.h"
#include "store/internal.h"
#include "store/pages.h"
#include "store/stage.h"
#include "system/map.h"

#include <stdbool.h>
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

/* Tests keys until a page had to be read. Returns how many keys need not be tested again. */
static size_t probe_until_read(struct store *store, const struct key *keys, size_t n, uint8_t *seen)
{
    uint64_t now = generation_now(store);
    for (unsigned i = store->count; i-- > 0;) {
        probe_layer(store, i, now, keys, 1, seen);
        if (map_has_waited(&store->waits))
            return 0;
    }
    for (size_t done = 1, end; done < n; done = end) {
        end = n / 4 > done ? 4 * done : n;
        probe_layers(store, keys + done, end - done, seen + done);
        if (map_has_waited(&store->waits))
            return end;
    }
    store->warm = true;
    return n;
}

/* For one key in one layer there is nothing to be asked for together; and the lines of a stream
 * that come one by one should not pay for a look each. */
static bool is_worth_a_look(const struct store *store, size_t n)
{
    return n > 1 || (!store->warm && store->count > 1);
}

int probe(struct store *store, const struct key *keys, size_t n, uint8_t *seen, struct fault *fault)
{
    bool look = is_worth_a_look(store, n);
    size_t done = 0;
    if (store_refresh(store, fault) != 0)
        return -1;
    memset(seen, 0, n);
    if (look)
        (void)map_has_waited(&store->waits);
    if (look && !store->warm) {
        done = probe_until_read(store, keys, n, seen);
        pages_ask(store, keys + done, n - done);
    }
    probe_layers(store, keys + done, n - done, seen + done);
    if (look && map_has_waited(&store->waits))
        store->warm = false;
    return 0;
}
