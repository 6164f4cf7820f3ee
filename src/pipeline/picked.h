/*
 * picked - the selected lines of a chunk, moved together so that one write prints them all; and
 * marks, which say what is selected: arrays with one byte per line, 0 or 1.
 *
 * Marks are read eight at a time. Byte by byte, a query takes a tenth more instructions, and seen
 * lines take 7% more. Nothing here depends on the byte order of the machine.
 */
#ifndef UNSEEN_PIPELINE_PICKED_H
#define UNSEEN_PIPELINE_PICKED_H

#include "pipeline/batches.h"

#include <assert.h>
#include <string.h>

/* --- marks --- */

#define MARKS_ALL UINT64_C(0x0101010101010101)

static inline uint64_t marks_load(const uint8_t *marks)
{
    uint64_t word;
    memcpy(&word, marks, sizeof word);
    return word;
}

static inline size_t marks_count(const uint8_t *marks, size_t n)
{
    size_t count = 0, i = 0;
    /* The product's top byte is the sum of all eight. */
    for (; i + 8 <= n; i += 8)
        count += (size_t)(marks_load(marks + i) * MARKS_ALL >> 56);
    for (; i < n; i++)
        count += marks[i];
    return count;
}

/* The end of the run of marks that equal marks[from]. Precondition: from < n. */
static inline size_t marks_run(const uint8_t *marks, size_t from, size_t n)
{
    uint8_t mark = marks[from];
    uint64_t same = mark ? MARKS_ALL : 0;
    size_t i = from + 1;
    while (i + 8 <= n && marks_load(marks + i) == same)
        i += 8;
    while (i < n && marks[i] == mark)
        i++;
    return i;
}

/* The first of from..n that is not 0, whatever else it is; n if all are. */
static inline size_t marks_find(const uint8_t *marks, size_t from, size_t n)
{
    while (from + 8 <= n && marks_load(marks + from) == 0)
        from += 8;
    while (from < n && marks[from] == 0)
        from++;
    return from;
}

/* inverse[i] = !marks[i] */
static inline void marks_invert(const uint8_t *marks, size_t n, uint8_t *inverse)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t word = marks_load(marks + i) ^ MARKS_ALL;
        memcpy(inverse + i, &word, sizeof word);
    }
    for (; i < n; i++)
        inverse[i] = !marks[i];
}

/* --- picked lines --- */

/* The selected lines so far: the bytes from..to of the chunk. */
struct picked {
    char *from, *to;
};

/* Adds the lines from..end of a batch whose mark is 1, run by run. */
static inline void picked_add_runs(struct picked *picked, const struct batch *batch,
                                   const uint8_t *select, size_t from, size_t end)
{
    const size_t *starts = batch->starts;
    for (size_t i = from; i < end; from = i) {
        i = marks_run(select, from, end);
        if (!select[from])
            continue;
        size_t length = starts[i] - starts[from];
        if (picked->to != batch->bytes + starts[from])
            memmove(picked->to, batch->bytes + starts[from], length);
        picked->to += length;
    }
}

/* If selected and other lines alternate, the processor cannot predict the ends of their runs, which
 * costs an eighth of the time. In this case the selected ones of PICKED_LINES lines are listed
 * without a branch, and PICKED_BYTES are copied of each, whatever its length; the next line is
 * copied over the surplus. */
enum { PICKED_LINES = 64, PICKED_FEW = PICKED_LINES / 8, PICKED_BYTES = 128 };

/* Whether lines from..end, of which `count` are selected, are copied in this way: there are
 * PICKED_LINES, and neither few nor almost all are selected; the first copy, and so every copy,
 * ends before the bytes that are still to be read; and no copy reads past the end of the batch. */
static inline bool picked_takes_turns(const struct picked *picked, const struct batch *batch,
                                      size_t count, size_t from, size_t end)
{
    const size_t *starts = batch->starts;
    return end - from == PICKED_LINES && count > PICKED_FEW && count < PICKED_LINES - PICKED_FEW &&
           batch->bytes + starts[from] - picked->to >= PICKED_BYTES &&
           starts[batch->n] - starts[end - 1] >= PICKED_BYTES;
}

static inline void picked_add_listed(struct picked *picked, const struct batch *batch,
                                     const uint8_t *select, size_t from)
{
    size_t list[PICKED_LINES], listed = 0;
    for (size_t i = 0; i < PICKED_LINES; i++) {
        list[listed] = from + i;
        listed += select[from + i];
    }
    char *to = picked->to;
    for (size_t j = 0; j < listed; j++) {
        const size_t *starts = batch->starts + list[j];
        const char *line = batch->bytes + starts[0];
        size_t length = starts[1] - starts[0];
        memcpy(to, line, PICKED_BYTES);
        if (length > PICKED_BYTES)
            memmove(to, line, length);
        to += length;
    }
    picked->to = to;
}

/* Adds the lines of a batch whose mark is 1. The bytes from `to` to the end of the batch are
 * overwritten. Precondition: `to` is in the chunk of the batch, and not after its lines. */
static inline void picked_add(struct picked *picked, const struct batch *batch,
                              const uint8_t *select)
{
    assert(picked->to >= batch->bytes && picked->to <= batch->bytes + batch->starts[0]);
    for (size_t from = 0, end; from < batch->n; from = end) {
        end = batch->n - from < PICKED_LINES ? batch->n : from + PICKED_LINES;
        size_t count = marks_count(select + from, end - from);
        if (picked_takes_turns(picked, batch, count, from, end))
            picked_add_listed(picked, batch, select, from);
        else
            picked_add_runs(picked, batch, select, from, end);
    }
}

#endif
