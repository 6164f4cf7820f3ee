#include "pipeline/batches.h"

#include "core/bytes.h"
#include "core/shard.h"
#include "key/columns.h"
#include "system/signals.h"
#include "text/number.h"
#include "text/quote.h"

#include <assert.h>
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
    uint8_t no_key[BATCH_LINES], kinds[BATCH_LINES];
    uint32_t shards[BATCH_LINES], lines[BATCH_LINES];
};

struct batches {
    struct batches_plan plan;
    struct keyer *keyer; /* the caller's */
    struct input *input;

    /* The present chunk, which one thread at a time splits. */
    struct chunk chunk;
    struct rows rows;       /* finds the rows, or lines, of the input */
    size_t done;            /* bytes of the chunk that are in batches */
    uint64_t lines;         /* of the input that are in batches */
    bool header;            /* the next line is a header line */
    size_t most;            /* lines of the next batch */
    uint64_t pieces, bytes; /* read since the input began, or since the second thread ended */
    unsigned small;         /* small pieces in a row */

    /* The header line of the input; and the first byte, or the first after a quote, of lines that
     * may have its fields. */
    struct header_values head;
    bool may_be_head[256];

    struct entry *entry;                 /* without a second thread, only the first is used */
    struct key_bytes key_bytes[ENTRIES]; /* of their texts */
    const struct entry *lent;            /* what the caller has; NULL: nothing */

    bool ahead; /* there is a second thread, */
    pthread_t thread;
    struct keyer *second; /* and its keyer; */
    unsigned members;     /* of those that have ended: keyer_members */
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
    columns_values_free(&batches->head);
    free(batches->entry);
    free(batches);
}

void batches_begin(struct batches *batches, struct input *input, bool header)
{
    batches->input = input;
    batches->lines = 0;
    batches->header = header;
    batches->chunk = (struct chunk){NULL, 0, 0};
    rows_begin(&batches->rows, batches->plan.ends, true);
    columns_values_free(&batches->head);
    batches->most = BATCH_LINES;
    batches->done = 0;
    batches->pieces = batches->bytes = 0;
    batches->lent = NULL;
}

/* --- the two steps, in either thread --- */

/* Whether all of the chunk was looked at, so that the next batch begins with a read. */
static bool is_looked_through(const struct batches *batches)
{
    return batches->rows.at == batches->chunk.length;
}

/* The fault of the row after those of an entry, which begins in this line. */
static void tell_wrong(const struct batches *batches, uint64_t line, enum row_wrong wrong,
                       struct fault *fault)
{
    const char *input = input_name(batches->input);
    char quoted[QUOTE_MAX];
    fault_set(fault, input, "line %" PRIu64 ": %s", line, row_wrong_text(wrong));
    if (wrong == ROW_BLANKS)
        fault_way_out(fault, "if blanks around quotes are no data: --trim");
    else if (wrong == ROW_RETURNS)
        fault_way_out(fault, "tr '\\r' '\\n'%s%s | unseen ...",
                      input_is_standard(batches->input) ? "" : " <",
                      input_is_standard(batches->input) ? "" : quote_file(input, quoted));
    else
        fault_way_out(fault, "rows from there on were not read; quotes that are data: "
                             "unseen-cookbook(7)");
}

static void tell_too_long(const struct batches *batches, uint64_t line, struct fault *fault)
{
    size_t most = input_max_line(batches->input);
    fault_set(fault, input_name(batches->input), "line %" PRIu64 ": row is longer than %zu %s",
              line, most, number_of(most, "byte", "bytes"));
    fault_way_out(fault, "is a quote not closed? to allow it: --max-line SIZE");
}

/* Keeps the header line of the input, to know it when it comes again. Returns 0, or -1 if memory is
 * short. */
static int keep_head(struct batches *batches, const char *line, size_t length)
{
    const struct recipe *recipe = batches->plan.recipe;
    if (columns_values(recipe, (struct span){line, length - 1}, &batches->head) != 0)
        return -1;
    /* It may begin with a byte order mark, a quote, blanks that do not count, or its first value,
     * which may be empty, or begin with a quote itself. */
    const struct span value = batches->head.value[0];
    bool *may = batches->may_be_head;
    /* Any, where a quote separates. */
    memset(may, recipe->separated && recipe->separator == '"', sizeof batches->may_be_head);
    may[0xef] = may['"'] = may['\r'] = may[(uint8_t)batches->plan.ends.delimiter] = true;
    may[(uint8_t)recipe->separator] |= recipe->separated;
    for (const char *blank = " \t\v\f"; recipe->trim && *blank != '\0'; blank++)
        may[(uint8_t)*blank] = true;
    if (value.length > 0)
        may[(uint8_t)value.bytes[0]] = true;
    if (value.length > 1 && value.bytes[0] == '"')
        may[(uint8_t)value.bytes[1]] = true;
    return 0;
}

static bool is_head(const struct batches *batches, const char *line, size_t length)
{
    uint8_t first = (uint8_t)line[*line == '"' && length > 1];
    return batches->may_be_head[first] &&
           columns_same(batches->plan.recipe, (struct span){line, length - 1}, &batches->head);
}

/* Says how far below the first line each of n rows begins. Returns how many lines they have. */
static uint64_t number_rows(struct entry *entry, size_t n, char delimiter)
{
    const size_t *starts = entry->starts;
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t more = entry->kinds[i] / ROW_SEVERAL;
        entry->lines[i] = count;
        count += 1U + more;
        if (more == UINT8_MAX / ROW_SEVERAL)
            count = entry->lines[i] + (uint32_t)lines_in(entry->batch.bytes + starts[i],
                                                         starts[i + 1] - starts[i], delimiter);
    }
    return count;
}

/* Reads a chunk. It begins with the row that the one before did not end, which is not looked at
 * again. Returns BATCH if there is one. */
static enum outcome read_chunk(struct batches *batches, struct entry *entry)
{
    struct chunk *chunk = &batches->chunk;
    struct rows *rows = &batches->rows;
    const uint64_t line = batches->lines + 1;
    rows_move(rows, batches->done);
    *chunk = (struct chunk){NULL, rows->at, 0};
    batches->done = 0;
    int got = input_next(batches->input, chunk, &entry->fault);
    if (got == 0 && rows_is_amid(rows)) {
        tell_wrong(batches, line, ROW_UNCLOSED, &entry->fault);
        return FAULT;
    }
    if (got == INPUT_TOO_LONG && rows->ends.rows) {
        entry->starts[0] = 0;
        (void)rows_find(rows, chunk->bytes, chunk->length, entry->starts, entry->kinds, 1);
        if (rows->wrong == ROW_RETURNS)
            tell_wrong(batches, line, ROW_RETURNS, &entry->fault);
        else
            tell_too_long(batches, line, &entry->fault);
    }
    if (got != 1)
        return got == 0 ? END : got == INPUT_WOULD_WAIT ? HANDED_BACK : FAULT;
    batches->pieces++;
    batches->bytes += chunk->length - rows->at;
    batches->small = chunk->length < LARGE_PIECE ? batches->small + 1 : 0;
    return BATCH;
}

/* How many of n lines, of which the first `headers` are header lines, precede the next header line.
 * What was found after that is found again; if such lines are many, less is found at a time. */
static size_t end_at_header(struct batches *batches, const struct entry *entry, size_t headers,
                            size_t n)
{
    const size_t *starts = entry->starts;
    const char *bytes = batches->chunk.bytes;
    batches->most = batches->most < BATCH_LINES / 2 ? batches->most * 2 : BATCH_LINES;
    for (size_t i = headers; batches->head.n > 0 && i < n; i++)
        if (is_head(batches, bytes + starts[i], starts[i + 1] - starts[i])) {
            batches->most = i < BATCH_LINES / 2 ? 2 * i : BATCH_LINES;
            rows_restart(&batches->rows, starts[i]);
            return i;
        }
    return n;
}

/* Makes a batch without keys of the next lines. Lines are found and counted here and nowhere
 * else. */
static enum outcome split_next(struct batches *batches, struct entry *entry)
{
    const struct chunk *chunk = &batches->chunk;
    struct rows *rows = &batches->rows;
    size_t *starts = entry->starts, found = 0;

    /* 1. Find lines, in the chunk or in the next. The bytes of batches before must not move: if
     * what is left of their chunk has no whole row, a batch without lines is its last. */
    do {
        enum outcome read = is_looked_through(batches) ? read_chunk(batches, entry) : BATCH;
        if (read != BATCH)
            return read;
        starts[0] = batches->done;
        found = rows_find(rows, chunk->bytes, chunk->length, starts, entry->kinds, batches->most);
        if (is_looked_through(batches))
            input_keep_after(batches->input, starts[found]);
    } while (found == 0 && rows->wrong == ROW_RIGHT && batches->done == 0);

    assert(chunk->bytes != NULL);
    /* 2. None may be too long. Only the first may be a header line: then it is not among those of
     * the batch. */
    const char *first = chunk->bytes + starts[0];
    size_t n = input_allowed(batches->input, starts, found, &entry->fault);
    size_t length = n > 0 ? starts[1] - starts[0] : 0;
    bool begins = n > 0 && batches->header;
    bool again = n > 0 && batches->head.n > 0 && is_head(batches, first, length);
    if (begins && keep_head(batches, first, length) != 0) {
        fault_errno(&entry->fault, input_name(batches->input), NULL, ENOMEM);
        return FAULT;
    }
    batches->header &= n == 0;
    size_t headers = begins || again, allowed = n;
    n = end_at_header(batches, entry, headers, n);

    /* 3. Make the batch. */
    bool several = false;
    for (size_t i = 0; rows->ends.rows && i < n; i++)
        several |= row_has_several_lines(entry->kinds[i]);
    entry->batch = (struct batch){
        .header_line = headers > 0 ? first : NULL,
        .header_length = headers > 0 ? length : 0,
        .header_again = again,
        .bytes = chunk->bytes,
        .starts = starts + headers,
        .keys = entry->keys,
        .texts = entry->texts,
        .no_key = entry->no_key,
        .shards = entry->shards,
        .kinds = entry->kinds + headers,
        .lines = several ? entry->lines + headers : NULL,
        .n = n - headers,
        .number = batches->lines + 1 + (several ? 0 : headers),
        .offset = chunk->offset,
        .last = is_looked_through(batches),
    };
    batches->done = starts[n];
    batches->lines += several ? number_rows(entry, n, rows->ends.delimiter) : n;

    /* 4. The line after them may be too long, or no row. */
    if (n < allowed || (allowed == found && rows->wrong == ROW_RIGHT))
        return BATCH;
    if (rows->ends.rows && allowed < found)
        tell_too_long(batches, batches->lines + 1, &entry->fault);
    else if (allowed == found)
        tell_wrong(batches, batches->lines + 1, rows->wrong, &entry->fault);
    entry->batch.last = false;
    return n > 0 ? CUT : FAULT;
}

/* Makes the keys of an entry that was split. */
static void make_keys(struct batches *batches, struct keyer *keyer, struct entry *entry)
{
    struct batch *batch = &entry->batch;
    const char *input = input_name(batches->input);
    const uint8_t *kinds = batches->plan.ends.rows ? batch->kinds : NULL;
    size_t n = batch->n, made = 0;
    bool fits = keyer_reserve(keyer, batch->starts[n] - entry->starts[0]) == 0;
    if (fits && batch->header_line != NULL && !batch->header_again &&
        keyer_read_header(keyer, batch->header_line, batch->header_length - 1, input,
                          &entry->fault) != 0) {
        entry->outcome = FAULT;
        return;
    }
    if (fits && batches->plan.texts) {
        made = keyer_texts(keyer, batch->bytes, batch->starts, kinds, n, entry->texts,
                           entry->no_key, &batches->key_bytes[entry - batches->entry]);
    } else if (fits) {
        const struct hashes hashes[2] = {{batches->plan.hashers, entry->keys},
                                         {hashers_of_shards(), entry->shard_keys}};
        keyer_hash(keyer, batch->bytes, batch->starts, kinds, n, hashes,
                   batches->plan.shards > 0 ? 2 : 1, entry->no_key);
        made = n;
        if (batches->plan.shards > 0)
            shards_of_keys(entry->shard_keys, made, batches->plan.shards, entry->shards);
    }
    if (fits && made == n)
        return;
    /* The lines before the fault come first. */
    entry->outcome = made > 0 || (fits && batch->header_line != NULL) ? CUT : FAULT;
    batch->n = made;
    batch->last = false;
    fault_errno(&entry->fault, input, "the key of a line does not fit into memory", ENOMEM);
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
    if (entry->outcome == BATCH || entry->outcome == CUT)
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
        bool fresh = is_looked_through(batches);
        bool room = split - returned < ENTRIES &&
                    (!fresh || chunk_end[chunks % BUFFERS] <= returned);
        if (outcome == BATCH && room && split - atomic_load(&batches->claimed) < AHEAD) {
            struct entry *entry = &batches->entry[split % ENTRIES];
            /* The buffer of a finished chunk is left to its batches; the input continues in the
             * buffer that the caller has had longest. A long row that is not at its end is left to
             * the first thread, whose buffer can grow. */
            if (fresh && (batches->small >= END_PIECES ||
                          batches->rows.at - batches->done > input_read_size(batches->input) / 2))
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
    batches->members |= keyer_members(batches->second);
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
    return batches->ahead || !is_looked_through(batches) ||
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
    if (!batches->ahead && batches->plan.threads > 1 && is_looked_through(batches) &&
        batches->chunk.bytes != NULL && batches->chunk.length <= input_read_size(batches->input) &&
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
        if (entry->outcome == BATCH || entry->outcome == CUT)
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

unsigned batches_end(struct batches *batches)
{
    if (batches->ahead)
        end_ahead(batches);
    return batches->members | keyer_members(batches->keyer);
}
