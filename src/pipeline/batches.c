#include "pipeline/batches.h"

#include "core/kernel.h"
#include "core/shard.h"
#include "key/csv.h"
#include "system/signals.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

/*
 * With a second thread there are several input buffers, and several entries: batches with the
 * arrays that they point to. One semaphore counts the entries that are made, one the free entries,
 * and one the free buffers. Entries and buffers are used in turn, so the threads share nothing
 * else.
 *
 * Waking a thread takes microseconds. If the caller is the slower thread, it would wake the other
 * for each entry, which takes a tenth of the time of filling a filter file. So the caller returns
 * several entries at once. There are at least twice as many, so that neither thread waits for
 * entries that the other keeps.
 */
enum { ENTRIES = 8, ENTRIES_AT_ONCE = 4, BUFFERS = 5, BUFFERS_AT_ONCE = 2 };

/* The second thread starts after START_BYTES in pieces of LARGE_PIECE bytes on average, and ends
 * after END_PIECES smaller pieces in a row. */
enum { START_BYTES = 1 << 20, LARGE_PIECE = 16 << 10, END_PIECES = 16 };

enum outcome { BATCH, END, FAULT, HANDED_BACK };

struct entry {
    struct batch batch;
    enum outcome outcome;
    struct fault fault;
    size_t starts[BATCH_LINES + 1];
    struct key keys[BATCH_LINES];
    uint8_t no_key[BATCH_LINES];
    uint32_t shards[BATCH_LINES];
};

struct shard_maker {
    uint32_t shards;
    struct key keys[BATCH_LINES];
};

struct batches {
    const struct kernel *kernel;
    struct keyer *keyer;
    struct shard_maker *shard_maker; /* NULL: batches have no shards */
    char delimiter;
    struct hashers hashers;
    unsigned threads;
    struct input *input;

    /* The present chunk, which one thread at a time makes batches of. */
    struct chunk chunk;
    size_t done;            /* bytes of it that are in batches */
    uint64_t lines;         /* of the input that are in batches */
    bool header;            /* the next line is a header line */
    uint64_t pieces, bytes; /* read since the input began, or since the second thread ended */
    unsigned small;         /* small pieces in a row */

    struct entry *entry; /* ENTRIES of them; without a second thread, only the first is used */
    size_t given;        /* entries that the caller has received */

    bool ahead; /* there is a second thread */
    bool ready; /* the next entry is made */
    atomic_bool ending;
    pthread_t thread;
    sem_t made, free_entries, free_buffers;
    unsigned entries_kept, buffers_kept; /* free, but not yet returned by the caller */
    struct input_buffer spare[BUFFERS - 1];
    size_t changes;
};

unsigned batches_threads(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1 ? 2 : 1;
}

struct batches *batches_new(char delimiter, const struct recipe *recipe, struct hashers hashers,
                            unsigned threads)
{
    struct batches *batches = malloc(sizeof *batches);
    /* Not cleared, because a short run touches little of it. */
    struct entry *entry = malloc(ENTRIES * sizeof *entry);
    struct keyer *keyer = keyer_new(recipe);
    if (batches == NULL || entry == NULL || keyer == NULL) {
        free(batches);
        free(entry);
        keyer_free(keyer);
        return NULL;
    }
    *batches = (struct batches){.kernel = kernel_best(),
                                .keyer = keyer,
                                .delimiter = delimiter,
                                .hashers = hashers,
                                .threads = threads,
                                .entry = entry};
    return batches;
}

void batches_free(struct batches *batches)
{
    if (batches == NULL)
        return;
    free(batches->shard_maker);
    keyer_free(batches->keyer);
    free(batches->entry);
    free(batches);
}

int batches_add_shards(struct batches *batches, uint32_t shards)
{
    batches->shard_maker = malloc(sizeof *batches->shard_maker);
    if (batches->shard_maker == NULL)
        return -1;
    batches->shard_maker->shards = shards;
    return 0;
}

void batches_begin(struct batches *batches, struct input *input, bool header)
{
    batches->input = input;
    batches->lines = 0;
    batches->header = header;
    batches->chunk = (struct chunk){NULL, 0, 0};
    batches->done = 0;
    batches->pieces = batches->bytes = 0;
}

/* --- making a batch, in either thread --- */

/* Returns how many lines precede one that is wrong. */
static size_t make_shards(const struct batches *batches, struct entry *entry, const size_t *starts,
                          size_t n)
{
    struct shard_maker *maker = batches->shard_maker;
    const struct hashers hashers[2] = {batches->hashers, hashers_of_shards()};
    struct key *const keys[2] = {entry->keys, maker->keys};
    size_t hashed = keyer_hash_twice(batches->keyer, batches->chunk.bytes, starts, n, hashers, keys,
                                     entry->no_key);
    shards_of_keys(maker->keys, hashed, maker->shards, entry->shards);
    return hashed;
}

/* The same. */
static size_t make_keys(const struct batches *batches, struct entry *entry, const size_t *starts,
                        size_t n)
{
    if (batches->shard_maker != NULL)
        return make_shards(batches, entry, starts, n);
    return keyer_hash(batches->keyer, batches->chunk.bytes, starts, n, batches->hashers,
                      entry->keys, entry->no_key);
}

static int tell_wrong(const struct batches *batches, struct fault *fault)
{
    fault_set(fault, input_name(batches->input), "line %" PRIu64 ": %s", batches->lines + 1,
              keyer_wrong(batches->keyer));
    return fault_way_out(fault, CSV_WAY_OUT);
}

/* Takes the header line out of the batch. Returns 0 or -1. */
static int take_header_line(struct batches *batches, struct batch *batch, struct fault *fault)
{
    batch->header_line = batch->bytes + batch->starts[0];
    batch->header_length = batch->starts[1] - batch->starts[0];
    batch->starts++;
    batch->n--;
    batches->header = false;
    batches->lines++;
    return keyer_read_header(batches->keyer, batch->header_line, batch->header_length - 1,
                             input_name(batches->input), fault);
}

static enum outcome make_batch(struct batches *batches, struct entry *entry)
{
    struct chunk chunk = batches->chunk;
    entry->starts[0] = batches->done;
    size_t split = batches->kernel->split(chunk.bytes, chunk.length, batches->delimiter,
                                          entry->starts, BATCH_LINES);
    struct batch batch = {
        .bytes = chunk.bytes,
        .starts = entry->starts,
        .keys = entry->keys,
        .no_key = entry->no_key,
        .shards = entry->shards,
        .n = input_allowed(batches->input, entry->starts, split, &entry->fault),
        .offset = chunk.offset,
    };
    if (batch.n == 0)
        return FAULT;
    if (keyer_reserve(batches->keyer, chunk.length) != 0) {
        fault_errno(&entry->fault, input_name(batches->input),
                    "the key of a line does not fit into memory", ENOMEM);
        return FAULT;
    }
    if (batches->header && take_header_line(batches, &batch, &entry->fault) != 0)
        return FAULT;
    size_t wanted = batch.n;
    batch.n = make_keys(batches, entry, batch.starts, wanted);
    if (batch.n == 0 && wanted > 0 && batch.header_line == NULL) {
        tell_wrong(batches, &entry->fault);
        return FAULT;
    }
    batch.number = batches->lines + 1;
    batches->lines += batch.n;
    batches->done = batch.starts[batch.n];
    batch.last = batches->done == chunk.length;
    entry->batch = batch;
    return BATCH;
}

static enum outcome next_chunk(struct batches *batches, struct fault *fault)
{
    batches->chunk = (struct chunk){NULL, 0, 0};
    batches->done = 0;
    int got = input_next(batches->input, &batches->chunk, fault);
    if (got != 1)
        return got == 0 ? END : got == INPUT_WOULD_WAIT ? HANDED_BACK : FAULT;
    batches->pieces++;
    batches->bytes += batches->chunk.length;
    batches->small = batches->chunk.length < LARGE_PIECE ? batches->small + 1 : 0;
    return BATCH;
}

/* Returns false if the second thread is to end. */
static bool wait_for_free(struct batches *batches, sem_t *free)
{
    while (sem_wait(free) != 0) {
    }
    return !atomic_load(&batches->ending);
}

/* Leaves the buffer of a finished chunk to its batches; the input continues in the buffer that the
 * caller has had longest. */
static enum outcome change_buffer(struct batches *batches, struct fault *fault)
{
    struct input_buffer *spare = &batches->spare[batches->changes++ % (BUFFERS - 1)];
    if (batches->small >= END_PIECES || !wait_for_free(batches, &batches->free_buffers))
        return HANDED_BACK;
    return input_change_buffer(batches->input, spare, fault) == 0 ? BATCH : FAULT;
}

/* `ahead`: in the second thread. */
static enum outcome make_next(struct batches *batches, struct entry *entry, bool ahead)
{
    enum outcome outcome = BATCH;
    if (batches->done == batches->chunk.length) {
        if (ahead)
            outcome = change_buffer(batches, &entry->fault);
        if (outcome == BATCH)
            outcome = next_chunk(batches, &entry->fault);
    }
    return outcome == BATCH ? make_batch(batches, entry) : outcome;
}

/* --- the second thread --- */

static void *work_ahead(void *context)
{
    struct batches *batches = context;
    for (size_t i = 0;; i++) {
        struct entry *entry = &batches->entry[i % ENTRIES];
        if (!wait_for_free(batches, &batches->free_entries))
            return NULL;
        /* After sem_post, the entry is the caller's. */
        enum outcome outcome = make_next(batches, entry, true);
        entry->outcome = outcome;
        sem_post(&batches->made);
        if (outcome != BATCH)
            return NULL;
    }
}

/* Ends the second thread, whatever it waits for. Only the input's own buffer is kept: the others
 * may have grown for a line of a gigabyte, and the next such line may be about to come. */
static void end_ahead(struct batches *batches)
{
    atomic_store(&batches->ending, true);
    sem_post(&batches->free_entries);
    sem_post(&batches->free_buffers);
    if (batches->ahead)
        signals_end_thread(batches->thread);
    batches->ahead = batches->ready = false;
    for (unsigned i = 0; i < BUFFERS - 1; i++) {
        free(batches->spare[i].bytes);
        batches->spare[i] = (struct input_buffer){NULL, 0};
    }
    input_set_stop(batches->input, NULL);
    sem_destroy(&batches->made);
    sem_destroy(&batches->free_entries);
    sem_destroy(&batches->free_buffers);
    batches->pieces = batches->bytes = 0;
}

/* If no second thread can be started, one thread continues. */
static void start_ahead(struct batches *batches)
{
    batches->changes = 0;
    sem_init(&batches->made, 0, 0);
    sem_init(&batches->free_entries, 0, ENTRIES);
    /* All buffers are free, because the input's present chunk is finished. */
    sem_init(&batches->free_buffers, 0, BUFFERS);
    input_set_stop(batches->input, &batches->ending);
    batches->small = 0;
    batches->given = 0;
    batches->entries_kept = batches->buffers_kept = 0;
    batches->ending = false;
    batches->ahead = signals_start_thread(&batches->thread, work_ahead, batches);
    if (!batches->ahead)
        end_ahead(batches);
}

/* Waits until the second thread has made the next entry; ends the thread if it has handed the input
 * back. Returns as signals_wait_semaphore. */
static int wait_for_made(struct batches *batches, int milliseconds)
{
    int result = batches->ready ? 1 : signals_wait_semaphore(&batches->made, milliseconds);
    batches->ready = result == 1;
    if (batches->ready && batches->entry[batches->given % ENTRIES].outcome == HANDED_BACK)
        end_ahead(batches);
    return result;
}

/* Counts one more as free, and returns all of them when there are `at_once`. */
static void give_back(sem_t *free, unsigned *kept, unsigned at_once)
{
    if (++*kept < at_once)
        return;
    for (; *kept > 0; --*kept)
        sem_post(free);
}

static void give_back_last(struct batches *batches)
{
    if (batches->given == 0)
        return;
    if (batches->entry[(batches->given - 1) % ENTRIES].batch.last)
        give_back(&batches->free_buffers, &batches->buffers_kept, BUFFERS_AT_ONCE);
    give_back(&batches->free_entries, &batches->entries_kept, ENTRIES_AT_ONCE);
}

static struct entry *take_made(struct batches *batches)
{
    batches->ready = false;
    return &batches->entry[batches->given++ % ENTRIES];
}

/* The thread would end at a line longer than the buffer; after one such line, another is likely. It
 * must not start in the middle of a line, when there is no chunk yet. */
static bool is_worth_it(const struct batches *batches)
{
    return batches->threads > 1 && batches->bytes >= START_BYTES && batches->chunk.length > 0 &&
           batches->chunk.length <= input_read_size(batches->input) &&
           batches->bytes / batches->pieces >= LARGE_PIECE;
}

bool batches_wait(struct batches *batches, int milliseconds)
{
    if (batches->ahead && wait_for_made(batches, milliseconds) == 0)
        return false;
    return batches->ahead || batches->done < batches->chunk.length ||
           input_wait(batches->input, milliseconds);
}

int batches_next(struct batches *batches, struct batch *batch, struct fault *fault)
{
    struct entry *entry = &batches->entry[0];
    if (!batches->ahead && batches->done == batches->chunk.length && is_worth_it(batches))
        start_ahead(batches);
    if (batches->ahead)
        give_back_last(batches);
    if (batches->ahead && wait_for_made(batches, -1) < 0)
        return fault_errno(fault, input_name(batches->input), NULL, EINTR);
    if (batches->ahead)
        entry = take_made(batches);
    else
        entry->outcome = make_next(batches, entry, false);
    if (entry->outcome == FAULT) {
        *fault = entry->fault;
        return -1;
    }
    *batch = entry->batch;
    return entry->outcome == BATCH;
}

void batches_end(struct batches *batches)
{
    if (batches->ahead)
        end_ahead(batches);
}
