/*
 * writer - see writer.h; filters in memory are in memory.c, slots in slot.c, flights in flight.c.
 *
 * The obvious algorithm holds the lock while it tests a key, sets its bits if it is new, and prints
 * its line. The numbered steps in writer_claim and writer_settle say what that lacks, and how this
 * one is derived from it.
 */
#include "filter/writer.h"

#include "filter/internal.h"
#include "system/lock.h"
#include "system/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- which keys are in --- */

/* The stage first: keys are set in the layer before they leave the stage. */
static void test_layer(const struct filter *filter, unsigned i, uint64_t now,
                       const struct key *keys, size_t n, uint8_t *seen)
{
    const struct layer *layer = &filter->layers[i];
    if (layer->stage.pages != 0)
        stage_test(filter, i, keys, n, seen);
    if (!generation_expired(filter, i, now) && layer_has_bits(filter, layer))
        filter->kernel->test(&layer->bits, keys, n, seen);
}

/* Newest first, because it is the largest. */
void filter_test_layers(const struct filter *filter, unsigned except, const struct key *keys,
                        size_t n, uint8_t *seen)
{
    uint64_t now = generation_now(filter);
    for (unsigned i = filter->count; i-- > 0;)
        if (i != except)
            test_layer(filter, i, now, keys, n, seen);
}

/* As filter_test_layers, but in a window only in the newest generation: an older one will be
 * cleared earlier, and may have the key only by a false positive, at rate p. */
static void test_newest(const struct filter *filter, const struct key *keys, size_t n,
                        uint8_t *seen)
{
    unsigned newest = generation_largest(filter);
    if (!is_window(filter))
        filter_test_layers(filter, filter->count, keys, n, seen);
    else if (newest < filter->count)
        test_layer(filter, newest, generation_now(filter), keys, n, seen);
}

/* Sets seen[i] = 0, maps new layers, and requests pages. */
static int begin_test(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                      struct fault *fault)
{
    if (filter_refresh(filter, fault) != 0)
        return -1;
    pages_request(filter, keys, n);
    memset(seen, 0, n);
    return 0;
}

int filter_test(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                struct fault *fault)
{
    if (begin_test(filter, keys, n, seen, fault) != 0)
        return -1;
    filter_test_layers(filter, filter->count, keys, n, seen);
    return 0;
}

/* --- where new keys go --- */

/* A layer takes exactly `capacity` keys before the next one is filled. So the layer of a key
 * depends only on the keys before it, not on when or by which process they were settled. Of several
 * layers with room the oldest is filled first. In a window only one generation is filling. */

static uint64_t room_in(const struct filter *filter, unsigned layer)
{
    uint64_t keys = layer_keys(filter, &filter->layers[layer]);
    uint64_t capacity = filter->layers[layer].plan.capacity;
    return keys < capacity ? capacity - keys : 0;
}

uint64_t room_left(const struct filter *filter)
{
    uint64_t room = 0;
    unsigned filling = is_window(filter) ? generation_filling(filter) : filter->count;
    for (unsigned i = 0; i < filter->count; i++)
        if (!is_window(filter) || i == filling)
            room += room_in(filter, i);
    return filter->header.plan.fixed ? UINT64_MAX : room;
}

unsigned room_next(const struct filter *filter)
{
    unsigned layer = 0;
    if (is_window(filter)) {
        layer = generation_filling(filter);
        return layer < filter->count && room_in(filter, layer) > 0 ? layer : filter->count;
    }
    while (layer < filter->count && room_in(filter, layer) == 0)
        layer++;
    return layer == filter->count && filter->header.plan.fixed ? layer - 1 : layer;
}

/* How many new keys may go into flight beside the `taken` that are in flight anywhere. */
static uint64_t room_beside(const struct writer *writer, uint64_t taken)
{
    const struct filter *filter = writer->filter;
    uint64_t room = room_left(filter), more = window_room_ahead(filter);
    /* A run that does not settle its keys needs no room for them. */
    if (!filter->file.write || filter->header.plan.fixed)
        return UINT64_MAX;
    if (room == 0 || room + more <= taken)
        return 0;
    if (writer->turns)
        return room > writer->flight.count ? room - writer->flight.count : room;
    /* A window has room in its next generations, too, but a batch that is not held ends where the
     * window turns. */
    return is_window(filter) && !writer->holds ? room : room + more - taken;
}

/* Under LOCK_CHANGE: sets and counts the keys with in[i] == 0, each layer up to its capacity, then
 * the counter of settlings, which makes others test again. With `all`, keys for which there is no
 * room go into the newest layer. Returns how many keys are done. */
static size_t set_keys(struct filter *filter, const struct key *keys, size_t n, const uint8_t *in,
                       bool all)
{
    size_t done = 0;
    while (done < n) {
        if (in[done]) {
            done++;
            continue;
        }
        unsigned number = room_next(filter);
        bool fits = number < filter->count;
        if (!fits && !all)
            break;
        const uint8_t *end = memchr(in + done, 1, n - done);
        size_t some = end != NULL ? (size_t)(end - (in + done)) : n - done;
        if (fits && room_in(filter, number) > 0 && room_in(filter, number) < some)
            some = (size_t)room_in(filter, number);
        if (!fits)
            number = is_window(filter) ? generation_largest(filter) : filter->count - 1;
        if (number == filter->count) /* a window without a generation */
            number = 0;
        struct layer *layer = &filter->layers[number];
        if (layer->stage.pages != 0)
            stage_set(filter, number, keys + done, some);
        else
            pages_set(filter, layer, keys + done, some);
        layer->added += some;
        window_count(filter, number, some);
        done += some;
    }
    if (done > 0)
        count_settling(filter);
    return done;
}

/* --- opening and closing --- */

struct writer *writer_new(struct filter *filter, struct fault *fault)
{
    struct fault no_file = FAULT_UNSET;
    struct writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        fault_errno(fault, filter_name(filter), NULL, ENOMEM);
        return NULL;
    }
    writer->filter = filter;
    writer->flight.fd = writer->expected.fd = -1;
    if (!filter->file.write)
        return writer;
    if (slot_take(writer, fault) != 0)
        goto failed;
    room_raise_counters(filter);
    /* If the slot is too small for a batch, its side file is made now, before the process is
     * confined. If the file cannot be made, a small slot will do. */
    if (slot_reserve(writer, BATCH_KEYS, &no_file) != 0 && writer->flight.capacity == 0) {
        *fault = no_file;
        goto failed;
    }
    slot_rest(writer);
    return writer;
failed:
    writer_free(writer);
    return NULL;
}

void writer_free(struct writer *writer)
{
    if (writer == NULL)
        return;
    slot_close(writer);
    flight_unmap(&writer->flight);
    flight_unmap(&writer->expected);
    if (writer->expected.fd >= 0)
        close(writer->expected.fd);
    free(writer);
}

void writer_allow(const struct writer *writer, bool claims, struct confine *confine)
{
    const struct filter *filter = writer->filter;
    bool has_file = filter->file.write && writer->flight.fd >= 0;
    unsigned uses = (claims ? CONFINE_READ : 0) | (has_file ? CONFINE_REMOVE : 0);
    if (filter_path(filter) != NULL && uses != 0)
        confine_allow_place(confine, filter_path(filter), uses);
}

int writer_hold(struct writer *writer, bool briefly, struct fault *fault)
{
    const struct filter_plan *plan = &writer->filter->header.plan;
    writer->holds = true;
    writer->turns = briefly && plan->window && plan->forget == 0;
    return briefly ? slot_reserve(writer, BATCH_KEYS + 1, fault) : 0;
}

bool writer_fills(const struct writer *writer)
{
    return writer->turns && writer->kept >= room_left(writer->filter);
}

int writer_hold_in(struct writer *writer, int fd, const char *path, struct fault *fault)
{
    writer->holds = true;
    writer->flight = (struct flight){.salt = random_word() | 1, .path = path, .fd = fd};
    return flight_reserve(&writer->flight, 1, fault);
}

int writer_expect_again(struct writer *writer, const struct key *keys, size_t n,
                        struct fault *fault)
{
    uint8_t seen[BATCH_KEYS] = {0};
    struct flight *expected = &writer->expected;
    const char *path = writer->flight.path;
    if (expected->log == NULL) {
        int fd = side_file_unnamed(path);
        if (fd < 0)
            return fault_errno(fault, path, "cannot create a file beside it", errno);
        *expected = (struct flight){.salt = random_word() | 1, .path = path, .fd = fd};
    }
    if (flight_reserve(expected, n, fault) != 0)
        return -1;
    flight_add(expected, keys, n, UINT64_MAX, seen);
    return 0;
}

uint64_t writer_expected(const struct writer *writer)
{
    return writer->expected.log != NULL ? writer->expected.count - writer->came_again : 0;
}

/* --- claiming --- */

ptrdiff_t writer_claim(struct writer *writer, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault)
{
    struct filter *filter = writer->filter;
    struct flight *flight = &writer->flight;
    const bool expects = writer->expected.log != NULL;
    uint8_t expected[BATCH_KEYS];
    uint64_t taken = 0; /* keys in flight anywhere, when that was asked last */
    size_t judged = 0;
    if (in_memory(filter))
        return memory_claim(filter, keys, n, most_new, seen, fault);
    if (n > BATCH_KEYS)
        n = BATCH_KEYS;
    /* Opening has made space for one batch in the flight. Held keys need more, about as many as new
     * ones so far suggest; if their side file cannot be made, fewer are claimed. */
    if (filter->tested < filter->expected)
        flight->expected = (uint64_t)((double)flight->count / (double)(filter->tested + 1) *
                                      (double)filter->expected * 1.02);
    if (writer->holds && slot_reserve(writer, n, fault) != 0 && flight->capacity == flight->count)
        return -1;
    while (judged == 0) {
        if (filter->file.write && stage_wants_room(filter, room_next(filter)) &&
            room_make(filter, taken, fault) != 0)
            return -1;

        /* 1. A test takes 10 to 60 ns per key, and longer if pages come from the disk. So keys are
         * tested without the lock. Most are seen; if all are, the lock is not taken at all. */
        uint64_t settled = filter_settlings(filter);
        if (filter_test(filter, keys, n, seen, fault) != 0)
            return -1;
        if (!expects && memchr(seen, 0, n) == NULL)
            return (ptrdiff_t)n;

        /* 2. From here on, one writer at a time; a run that only reads the filter, and keeps its
         * keys in a pending file, has neither slot nor lock. */
        if (slot_take(writer, fault) != 0 || filter_lock(filter, fault) != 0)
            return -1;

        /* 3. A line that another writer has claimed would be printed twice. So all writers see each
         * other's keys in flight, as long as the owner lives. */
        if (slot_test_others(writer, keys, n, seen, &taken, fault) != 0) {
            filter_unlock(filter);
            return -1;
        }
        taken += flight->count;

        /* 4. A key that another writer has settled since step 1 would be printed twice. So keys are
         * tested again if the counter of settlings has moved; after step 3, because bits are set
         * before keys leave a flight. */
        if (filter_settlings(filter) != settled)
            filter_test_layers(filter, filter->count, keys, n, seen);
        if (expects) { /* see "A retry" in writer.h */
            memset(expected, 0, n);
            flight_test(&writer->expected, keys, n, expected);
            for (size_t i = 0; i < n; i++)
                seen[i] &= !expected[i];
        }

        /* 5. A line that is remembered but not delivered is lost if the process is killed. So
         * claiming sets no bits: it puts the keys in flight, and writer_settle sets the bits. Keys
         * claimed together are compared with each other there, too. */
        uint64_t room = room_beside(writer, taken);
        if (flight->count == 0)
            writer->claimed_at = filter_settlings(filter);
        judged = flight_add(flight, keys, n, most_new < room ? most_new : room, seen);
        filter_unlock(filter);

        /* 6. A full disk must be noticed before lines are printed that the filter cannot hold. So
         * keys are claimed only if these and all keys in flight anywhere fit into the layers. Room
         * takes as long as the disk, so it is made without the lock, and all steps are repeated. */
        if (judged == 0 && room_make(filter, taken, fault) != 0)
            return -1;
    }
    for (size_t i = 0; expects && i < judged; i++)
        writer->came_again += expected[i] && !seen[i];
    return (ptrdiff_t)judged;
}

/* --- delivered or not --- */

/* Takes no lock. Keys leave last first, so whoever reads the flight meanwhile, with LOCK_CHANGE or
 * without, sees it as it was before some of these were claimed, and finds all kept keys. If the
 * flight becomes empty and its slot is given back, who takes the slot needs LOCK_CHANGE, and a
 * reader finds that the slot names no file any more (test_slot). */
void writer_keep(struct writer *writer, uint64_t delivered)
{
    uint64_t count = writer->flight.count; /* in memory 0: no key is kept */
    uint64_t new = count - writer->kept;
    writer->kept += delivered < new ? delivered : new;
    if (count > writer->kept)
        flight_drop(&writer->flight, count - writer->kept);
    slot_rest(writer);
}

uint64_t writer_kept(const struct writer *writer)
{
    return writer->kept;
}

void writer_drop(struct writer *writer, uint64_t n)
{
    writer->kept -= n < writer->kept ? n : writer->kept;
    writer_keep(writer, 0);
}

/* --- settling --- */

int writer_settle(struct writer *writer, struct fault *fault)
{
    static struct key buffer[BATCH_KEYS];
    struct fault ignored;
    struct filter *filter = writer->filter;
    struct flight *flight = &writer->flight;
    uint64_t done = 0;
    bool locked = false, all = false;
    if (writer->kept == 0)
        return 0;
    /* 1. From here on no signal ends this ("Settling" in internal.h). */
    filter->settling = true;

    /* 2. A merge over the filter waits until all held keys are in; or it was first, and then none
     * is settled, because step 3 finds another file. */
    if (writer->holds && filter_take(filter, LOCK_HELD, fault) != 0)
        goto done;
    locked = writer->holds;
    while (done < writer->kept) {
        uint8_t in[BATCH_KEYS] = {0};
        uint64_t left = writer->kept - done;
        size_t n = left < BATCH_KEYS ? (size_t)left : BATCH_KEYS;

        /* 3. The lock is taken for one batch at a time, so that nobody waits for long. The path
         * must still lead to this file, or nobody would see what is set in it. */
        if (filter_lock_to_settle(filter, fault) != 0)
            goto done;

        /* 4. A key that is settled late, after CMD or a second, may have been added by another
         * writer meanwhile, and must not count twice. So keys are tested again if anybody has
         * settled since the claim. In a window, a generation that will be cleared may have the key
         * only by a false positive, so only the newest is asked. */
        const struct key *keys = flight_keys(flight, done, n, buffer);
        bool alone = filter_settlings(filter) == writer->claimed_at;
        if (!alone)
            test_newest(filter, keys, n, in);

        /* 5. Bits, then counters, and only then does the flight become empty, all of it at once: so
         * others see each key in one of the two. After a kill in between, some keys are settled,
         * and the other lines come again. */
        size_t set = set_keys(filter, keys, n, in, all);
        if (alone)
            writer->claimed_at = filter_settlings(filter);
        done += set;
        if (done == writer->kept)
            flight_hide(flight);
        filter_unlock(filter);

        /* 6. There was room when they were claimed; but a window may have turned since, and a
         * counter may have been repaired. Without room the newest layer takes all. */
        if (set < n && room_make(filter, 0, &ignored) != 0)
            all = true;
    }
done:
    if (locked)
        lock_drop(filter->file.fd, LOCK_HELD);
    filter->settling = false;
    if (done < writer->kept)
        return -1;
    flight_clear(flight, done);
    writer->kept = 0;
    slot_rest(writer);
    return 0;
}

/* --- adding --- */

/* Claims and settles under one lock, whatever others have in flight: their delivery may fail. The
 * steps are those above. */
ptrdiff_t writer_add(struct writer *writer, const struct key *keys, size_t n, uint8_t *seen,
                     uint64_t *added, struct fault *fault)
{
    static struct key buffer[BATCH_KEYS];
    static const uint8_t none[BATCH_KEYS];
    struct filter *filter = writer->filter;
    struct flight *flight = &writer->flight;
    size_t judged = 0, some;
    *added = 0;
    for (; judged < n; judged += some, keys += some, seen += some) {
        uint64_t settled = filter_settlings(filter), taken = 0;
        some = n - judged < BATCH_KEYS ? n - judged : BATCH_KEYS;
        if ((stage_wants_room(filter, room_next(filter)) && room_make(filter, 0, fault) != 0) ||
            begin_test(filter, keys, some, seen, fault) != 0)
            goto failed;
        test_newest(filter, keys, some, seen);
        if (memchr(seen, 0, some) == NULL)
            continue;
        if (filter_lock_to_settle(filter, fault) != 0)
            goto failed;
        if (filter_settlings(filter) != settled)
            test_newest(filter, keys, some, seen);
        /* Only for how many keys there must be room. */
        if (slot_test_others(writer, keys, 0, NULL, &taken, fault) != 0) {
            filter_unlock(filter);
            goto failed;
        }
        /* This run's flight, empty so far, finds keys that come twice in the batch. */
        some = flight_add(flight, keys, some, room_beside(writer, taken), seen);
        size_t new = (size_t)flight->count;
        *added += set_keys(filter, flight_keys(flight, 0, new, buffer), new, none, true);
        flight_hide(flight);
        flight_clear(flight, new);
        filter_unlock(filter);
        if (some == 0 && room_make(filter, taken, fault) != 0)
            goto failed;
    }
    return (ptrdiff_t)judged;
failed:
    return judged > 0 ? (ptrdiff_t)judged : -1;
}
