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
 * An entry is a batch with the arrays that it points to. With a second thread there is a ring of
 * ENTRIES of them, and each goes from state to state:
 *
 *     free -> split     by the second thread
 *          -> claimed   by the thread that then makes its keys, either of them
 *          -> made      by the same
 *          -> given     by the first thread, to its caller
 *          -> free      by the first thread, which returns it
 *
 * "Made" is a flag of the entry, since entries are not made in order. For the others, it is enough
 * to count entries since the thread began:
 *
 *     returned <= given <= claimed <= split <= returned + ENTRIES
 *
 * Only the second thread raises `split`, only the first `given` and `returned`; `claimed` is raised
 * by compare and exchange. So an entry belongs to one thread at any time. It changes hands by an
 * atomic store or exchange that follows all others: no lock is needed.
 *
 * The second thread makes keys when AHEAD entries wait for theirs, or when there is no room to
 * read; the first when it would otherwise wait, even for later entries while the second is busy
 * with the one it wants. A thread with nothing to do waits on a semaphore, `news` or `room`, that
 * the other posts after each change. Then it looks again: to be woken too often does no harm.
 *
 * Waking a thread takes microseconds. If the caller is the slower thread, it would wake the other
 * for each entry, which takes a tenth of the time of filling a filter file. So the caller returns
 * several entries at once. There are at least twice as many, so that neither thread waits for
 * entries that the other keeps.
 *
 * The bytes of an entry are in an input buffer. Buffers are used in turn, and one is free again
 * when the last entry of its chunk is returned.
 */
enum { ENTRIES = 8, ENTRIES_AT_ONCE = 4, BUFFERS = 5, BUFFERS_AT_ONCE = 2, AHEAD = 3 };

/* The second thread starts after START_BYTES in pieces of LARGE_PIECE bytes on average, and ends
 * after END_PIECES smaller pieces in a row. */
enum { START_BYTES = 1 << 20, LARGE_PIECE = 16 << 10, END_PIECES = 16 };

enum outcome {
    BATCH,
    CUT, /* a batch, and then the fault */
    END,
    FAULT,
    HANDED_BACK /* the second thread has ended, and the input goes on */
};

struct entry {
    struct batch batch;
    enum outcome outcome;
    struct fault fault;
    atomic_bool made;
    size_t starts[BATCH_LINES + 1];
    struct key keys[BATCH_LINES];
    struct key shard_keys[BATCH_LINES];
    struct key_text texts[BATCH_LINES];
    uint8_t no_key[BATCH_LINES];
    uint32_t shards[BATCH_LINES];
};

struct batches {
    struct batches_plan plan;
    const struct kernel *kernel;
    struct keyer *keyer; /* the caller's */
    struct input *input;

    /* The present chunk, which one thread at a time splits. */
    struct chunk chunk;
    size_t done;            /* bytes of it that are in batches */
    uint64_t lines;         /* of the input that are in batches */
    bool header;            /* the next line is a header line */
    uint64_t pieces, bytes; /* read since the input began, or since the second thread ended */
    unsigned small;         /* small pieces in a row */

    struct entry *entry;                 /* without a second thread, only the first is used */
    struct key_bytes key_bytes[ENTRIES]; /* of their texts */
    const struct entry *lent;            /* what the caller has; NULL: nothing */

    bool ahead; /* there is a second thread, */
    pthread_t thread;
    struct keyer *second; /* and its keyer */
    atomic_bool ending;
    size_t given;
    atomic_size_t returned, claimed, split;
    unsigned buffers_kept; /* free, but not yet returned */
    sem_t news, room;
    struct input_buffer spare[BUFFERS - 1];
};

unsigned batches_threads(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1 ? 2 : 1;
}

struct batches *batches_new(const struct batches_plan *plan)
{
    struct batches *batches = malloc(sizeof *batches);
    /* Not cleared, because a short run touches little of it. */
    struct entry *entry = malloc(ENTRIES * sizeof *entry);
    struct keyer *keyer = keyer_new(plan->recipe);
    if (batches == NULL || entry == NULL || keyer == NULL) {
        free(batches);
        free(entry);
        keyer_free(keyer);
        return NULL;
    }
    *batches = (struct batches){
        .plan = *plan,
        .kernel = kernel_best(),
        .keyer = keyer,
        .entry = entry,
    };
    return batches;
}

void batches_free(struct batches *batches)
{
    if (batches == NULL)
        return;
    for (unsigned i = 0; i < ENTRIES; i++)
        free(batches->key_bytes[i].bytes);
    keyer_free(batches->keyer);
    free(batches->entry);
    free(batches);
}

void batches_begin(struct batches *batches, struct input *input, bool header)
{
    batches->input = input;
    batches->lines = 0;
    batches->header = header;
    batches->chunk = (struct chunk){NULL, 0, 0};
    batches->done = 0;
    batches->pieces = batches->bytes = 0;
    batches->lent = NULL;
}

/* --- the two steps, in either thread --- */

/* Makes a batch without keys of the next lines, after reading a chunk if need be. */
static enum outcome split_next(struct batches *batches, struct entry *entry)
{
    struct chunk *chunk = &batches->chunk;
    if (batches->done == chunk->length) {
        *chunk = (struct chunk){NULL, 0, 0};
        batches->done = 0;
        int got = input_next(batches->input, chunk, &entry->fault);
        if (got != 1)
            return got == 0 ? END : got == INPUT_WOULD_WAIT ? HANDED_BACK : FAULT;
        batches->pieces++;
        batches->bytes += chunk->length;
        batches->small = chunk->length < LARGE_PIECE ? batches->small + 1 : 0;
    }
    /* Lines are found and counted here and nowhere else, in the order of the input. If a row of CSV
     * is to have several lines, a finder of rows in `core` takes the place of `split`: newlines in
     * quotes end no row, and whether quotes are open it must keep from chunk to chunk. `number` and
     * `lines` then count rows, or delimiters, as the messages want. */
    entry->starts[0] = batches->done;
    size_t n = batches->kernel->split(chunk->bytes, chunk->length, batches->plan.delimiter,
                                      entry->starts, BATCH_LINES);
    n = input_allowed(batches->input, entry->starts, n, &entry->fault);
    if (n == 0)
        return FAULT;
    size_t headers = batches->header;
    batches->done = entry->starts[n];
    entry->batch = (struct batch){
        .header_line = headers > 0 ? chunk->bytes + entry->starts[0] : NULL,
        .header_length = headers > 0 ? entry->starts[1] - entry->starts[0] : 0,
        .bytes = chunk->bytes,
        .starts = entry->starts + headers,
        .keys = entry->keys,
        .texts = entry->texts,
        .no_key = entry->no_key,
        .shards = entry->shards,
        .n = n - headers,
        .number = batches->lines + headers + 1,
        .offset = chunk->offset,
        .last = batches->done == chunk->length,
    };
    batches->header = false;
    batches->lines += n;
    return BATCH;
}

/* Makes the keys of an entry that was split. */
static void make_keys(struct batches *batches, struct keyer *keyer, struct entry *entry)
{
    struct batch *batch = &entry->batch;
    const char *input = input_name(batches->input);
    size_t n = batch->n, made = 0;
    bool fits = keyer_reserve(keyer, batch->starts[n] - entry->starts[0]) == 0;
    if (fits && batch->header_line != NULL &&
        keyer_read_header(keyer, batch->header_line, batch->header_length - 1, input,
                          &entry->fault) != 0) {
        entry->outcome = FAULT;
        return;
    }
    if (fits && batches->plan.texts) {
        made = keyer_texts(keyer, batch->bytes, batch->starts, n, entry->texts, entry->no_key,
                           &batches->key_bytes[entry - batches->entry]);
    } else if (fits) {
        const struct hashes hashes[2] = {{batches->plan.hashers, entry->keys},
                                         {hashers_of_shards(), entry->shard_keys}};
        made = keyer_hash(keyer, batch->bytes, batch->starts, n, hashes,
                          batches->plan.shards > 0 ? 2 : 1, entry->no_key);
        if (batches->plan.shards > 0)
            shards_of_keys(entry->shard_keys, made, batches->plan.shards, entry->shards);
    }
    if (fits && made == n)
        return;
    /* The lines before the fault come first. */
    entry->outcome = made > 0 || (fits && batch->header_line != NULL) ? CUT : FAULT;
    batch->n = made;
    batch->last = false;
    const char *wrong = fits ? keyer_wrong(keyer) : NULL;
    if (wrong != NULL) {
        fault_set(&entry->fault, input, "line %" PRIu64 ": %s", batch->number + made, wrong);
        fault_way_out(&entry->fault, CSV_WAY_OUT);
    } else {
        fault_errno(&entry->fault, input, "the key of a line does not fit into memory", ENOMEM);
    }
}

/* --- two threads --- */

/* Makes the keys of the first entry that waits for them. Returns false if there is none. */
static bool make_waiting(struct batches *batches, struct keyer *keyer)
{
    size_t i = atomic_load(&batches->claimed);
    do
        if (i == atomic_load(&batches->split))
            return false;
    while (!atomic_compare_exchange_weak(&batches->claimed, &i, i + 1));
    struct entry *entry = &batches->entry[i % ENTRIES];
    if (entry->outcome == BATCH)
        make_keys(batches, keyer, entry);
    atomic_store(&entry->made, true);
    return true;
}

static void *work_ahead(void *context)
{
    struct batches *batches = context;
    enum outcome outcome = BATCH;
    size_t split = 0, chunks = 0;
    size_t chunk_end[BUFFERS] = {0}; /* entries up to the end of the last chunk in each buffer */
    while (!atomic_load(&batches->ending)) {
        size_t returned = atomic_load(&batches->returned);
        bool fresh = batches->done == batches->chunk.length;
        bool room = split - returned < ENTRIES &&
                    (!fresh || chunk_end[chunks % BUFFERS] <= returned);
        if (outcome == BATCH && room && split - atomic_load(&batches->claimed) < AHEAD) {
            struct entry *entry = &batches->entry[split % ENTRIES];
            /* The buffer of a finished chunk is left to its batches; the input continues in the
             * buffer that the caller has had longest. */
            if (fresh && batches->small >= END_PIECES)
                outcome = HANDED_BACK;
            else if (fresh &&
                     input_change_buffer(batches->input, &batches->spare[chunks % (BUFFERS - 1)],
                                         &entry->fault) != 0)
                outcome = FAULT;
            else
                outcome = split_next(batches, entry);
            entry->outcome = outcome;
            entry->made = false;
            split++;
            if (outcome == BATCH && entry->batch.last)
                chunk_end[chunks++ % BUFFERS] = split;
            atomic_store(&batches->split, split);
            sem_post(&batches->news);
        } else if (make_waiting(batches, batches->second)) {
            sem_post(&batches->news);
        } else if (outcome != BATCH) {
            break;
        } else {
            sem_wait(&batches->room);
        }
    }
    return NULL;
}

/* Ends the second thread, whatever it waits for. Only the input's own buffer is kept: the others
 * may have grown for a line of a gigabyte, and the next such line may be about to come. */
static void end_ahead(struct batches *batches)
{
    atomic_store(&batches->ending, true);
    sem_post(&batches->room);
    if (batches->ahead)
        signals_end_thread(batches->thread);
    batches->ahead = false;
    keyer_free(batches->second);
    for (unsigned i = 0; i < BUFFERS - 1; i++) {
        free(batches->spare[i].bytes);
        batches->spare[i] = (struct input_buffer){NULL, 0};
    }
    input_set_stop(batches->input, NULL);
    sem_destroy(&batches->news);
    sem_destroy(&batches->room);
    batches->pieces = batches->bytes = 0;
}

/* If no second thread can be started, one thread continues. The present chunk is finished, so that
 * all entries and buffers are free, and the second keyer knows the columns of the header line. */
static void start_ahead(struct batches *batches)
{
    sem_init(&batches->news, 0, 0);
    sem_init(&batches->room, 0, 0);
    batches->given = 0;
    batches->returned = 0;
    batches->claimed = 0;
    batches->split = 0;
    batches->buffers_kept = batches->small = 0;
    batches->ending = false;
    input_set_stop(batches->input, &batches->ending);
    batches->second = keyer_copy(batches->keyer);
    batches->ahead = batches->second != NULL &&
                     signals_start_thread(&batches->thread, work_ahead, batches);
    if (!batches->ahead)
        end_ahead(batches);
}

/* Makes keys, and waits, until the next entry has its keys; ends the second thread if it has handed
 * the input back. Returns as signals_wait_semaphore. */
static int wait_for_next(struct batches *batches, int milliseconds)
{
    struct entry *next = &batches->entry[batches->given % ENTRIES];
    while (sem_trywait(&batches->news) == 0) {
    }
    while (atomic_load(&batches->split) == batches->given || !atomic_load(&next->made)) {
        int result = make_waiting(batches, batches->keyer)
                         ? 1
                         : signals_wait_semaphore(&batches->news, milliseconds);
        if (result != 1)
            return result;
    }
    if (next->outcome == HANDED_BACK)
        end_ahead(batches);
    return 1;
}

/* --- the caller --- */

bool batches_wait(struct batches *batches, int milliseconds)
{
    if (batches->ahead && wait_for_next(batches, milliseconds) == 0)
        return false;
    return batches->ahead || batches->done < batches->chunk.length ||
           input_wait(batches->input, milliseconds);
}

int batches_next(struct batches *batches, struct batch *batch, struct fault *fault)
{
    struct entry *entry = &batches->entry[0];
    if (batches->lent != NULL && batches->lent->outcome == CUT) {
        *fault = batches->lent->fault;
        return -1;
    }
    /* 1. A second thread starts if it is worth it. It would end at a line longer than the buffer,
     * and after one such line, another is likely; it must not start in the middle of a line, when
     * there is no chunk yet. */
    if (!batches->ahead && batches->plan.threads > 1 && batches->done == batches->chunk.length &&
        batches->chunk.length > 0 && batches->chunk.length <= input_read_size(batches->input) &&
        batches->bytes >= START_BYTES && batches->bytes / batches->pieces >= LARGE_PIECE) {
        start_ahead(batches);
    } else if (batches->ahead && batches->given > 0 && batches->lent != NULL) {
        /* 2. The last entry is done with, and returned together with others. */
        batches->buffers_kept += batches->lent->batch.last;
        if (batches->given - batches->returned >= ENTRIES_AT_ONCE ||
            batches->buffers_kept >= BUFFERS_AT_ONCE) {
            batches->buffers_kept = 0;
            atomic_store(&batches->returned, batches->given);
            sem_post(&batches->room);
        }
    }
    /* 3. The next one comes from the second thread, or is made here. */
    if (batches->ahead && wait_for_next(batches, -1) < 0)
        return fault_errno(fault, input_name(batches->input), NULL, EINTR);
    if (batches->ahead) {
        entry = &batches->entry[batches->given++ % ENTRIES];
    } else {
        entry->outcome = split_next(batches, entry);
        if (entry->outcome == BATCH)
            make_keys(batches, batches->keyer, entry);
    }
    batches->lent = entry;
    if (entry->outcome == FAULT) {
        *fault = entry->fault;
        return -1;
    }
    *batch = entry->batch;
    return entry->outcome == BATCH || entry->outcome == CUT;
}

void batches_end(struct batches *batches)
{
    if (batches->ahead)
        end_ahead(batches);
}
