/*
 * probe - see probe.h.
 *
 * Keys are tested one after the other, and where a page is not in memory the test waits for the
 * disk: with a cold file, 100 lines waited 100 times, though a disk reads many pages in the time of
 * one. So once a page had to be read, the pages of all keys still to be tested are asked for
 * together. To ask costs a system call a page, three times what testing a key costs: not for pages
 * that are there. Which are, nobody is asked (that is a system call a page, too, and mincore(2)
 * tells only those who may write); the system counts the faults that had to read, and how often the
 * thread slept:
 *
 *   - for the first key after each layer, since each may cost a read;
 *   - then after 4, 16, 64 ... keys. The longer it went without, the fewer cold pages are left, and
 *     of those that are met before the count is looked at there are few, whatever their share;
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

/* A stage before its layer: keys go from there to here, and are in both for a while. */
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

/* Tests keys until a page had to be read. Returns how many keys need no other look. */
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

/* One key in one layer has nothing to be asked for together with; and the lines of a stream that
 * come one by one should not pay for a look each. */
static bool may_have_to_read(const struct store *store, size_t n)
{
    return n > 1 || (!store->warm && store->count > 1);
}

int probe(struct store *store, const struct key *keys, size_t n, uint8_t *seen, struct fault *fault)
{
    bool look = may_have_to_read(store, n);
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
