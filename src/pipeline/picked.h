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

/* Moves the lines of a batch whose mark is 1 up to those that were picked before. Neighbours move
 * as one. Precondition: `to` is in the chunk of the batch, and not after its lines. */
static inline void picked_add(struct picked *picked, const struct batch *batch,
                              const uint8_t *select)
{
    const size_t *starts = batch->starts;
    for (size_t i = 0, from; i < batch->n;) {
        from = i;
        i = marks_run(select, from, batch->n);
        if (!select[from])
            continue;
        size_t length = starts[i] - starts[from];
        if (picked->to != batch->bytes + starts[from])
            memmove(picked->to, batch->bytes + starts[from], length);
        picked->to += length;
    }
}

#endif
