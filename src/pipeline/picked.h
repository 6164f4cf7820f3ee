/*
 * picked - lines of a chunk that go on, moved together in it, so that one write takes them all.
 */
#ifndef UNSEEN_PIPELINE_PICKED_H
#define UNSEEN_PIPELINE_PICKED_H

#include "pipeline/batches.h"
#include "pipeline/marks.h"

/* They lie from `from` up to `to`. */
struct picked {
    char *from, *to;
};

/* Where lines that go on and lines that do not take turns, no processor foresees where a run of
 * either ends, and that took an eighth of a run. So there eight lines at a time are all copied, as
 * many bytes of each, without asking: what follows is copied over a line that does not go on. */
enum { PICKED_LINES = 8, PICKED_BYTES = 128 };

/* Whether the next eight lines are for that: they are not all alike; copies end before what is
 * still to be read, the first and so all that follow; and what is read is within the batch. */
static inline bool picked_takes_turns(const struct picked *picked, const struct batch *batch,
                                      const uint8_t *select, size_t i)
{
    const size_t *starts = batch->starts;
    if (i + PICKED_LINES > batch->n)
        return false;
    uint64_t marks = marks_load(select + i);
    return marks != 0 && marks != MARKS_ALL &&
           batch->bytes + starts[i] - picked->to >= PICKED_BYTES &&
           starts[batch->n] - starts[i + PICKED_LINES - 1] >= PICKED_BYTES;
}

static inline void picked_add_eight(struct picked *picked, const struct batch *batch,
                                    const uint8_t *select, size_t i)
{
    const size_t *starts = batch->starts;
    char *to = picked->to;
    for (size_t end = i + PICKED_LINES; i < end; i++) {
        const char *line = batch->bytes + starts[i];
        size_t length = (starts[i + 1] - starts[i]) & -(size_t)select[i];
        memcpy(to, line, PICKED_BYTES);
        if (length > PICKED_BYTES)
            memmove(to, line, length);
        to += length;
    }
    picked->to = to;
}

/* Moves lines from..end of a batch. */
static inline void picked_add_run(struct picked *picked, const struct batch *batch, size_t from,
                                  size_t end)
{
    const char *lines = batch->bytes + batch->starts[from];
    size_t length = batch->starts[end] - batch->starts[from];
    if (picked->to != lines)
        memmove(picked->to, lines, length);
    picked->to += length;
}

/* Moves the lines of a batch whose mark is 1 up to those that were picked before. Neighbours move
 * as one. What lies between those picked and the end of the batch is lost. Precondition: `to` is in
 * the chunk of the batch, and not after its lines. */
static inline void picked_add(struct picked *picked, const struct batch *batch,
                              const uint8_t *select)
{
    for (size_t i = 0, from; i < batch->n;) {
        from = i;
        if (picked_takes_turns(picked, batch, select, i)) {
            picked_add_eight(picked, batch, select, i);
            i += PICKED_LINES;
            continue;
        }
        i = marks_run(select, from, batch->n);
        if (select[from])
            picked_add_run(picked, batch, from, i);
    }
}

#endif
