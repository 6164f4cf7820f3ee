/*
 * batches - the lines of an input, a batch at a time, with their keys.
 *
 * A batch is made when it is asked for: read, split, hashed. Or, where an input is long and another
 * processor is there, a second thread does that ahead of the caller, who judges and writes the
 * batch before meanwhile. Batches come one by one and in order either way, so what is made of them
 * is the same by construction: only the caller ever looks at the filter.
 *
 * The second thread starts when a megabyte has come in large pieces, and ends when lines trickle
 * again: a few lines never wait for a thread, nor pay for one.
 */
#ifndef UNSEEN_PIPELINE_BATCHES_H
#define UNSEEN_PIPELINE_BATCHES_H

#include "io/input.h"
#include "key/keyer.h"

enum { BATCH_LINES = 2048 }; /* in a batch, at most */

struct batches;

/* Lines that arrived together, one after the other; each ends with the delimiter. */
struct batch {
    char *bytes; /* of their chunk, which the caller may change up to the end of the batch */
    const size_t *starts; /* n + 1: where they begin in it */
    const struct key *keys;
    const uint8_t *no_key;  /* 1 for a line without a key, else 0 */
    const uint32_t *shards; /* after batches_add_shards: the shard of each line */
    size_t n;
    uint64_t offset; /* of the chunk in the input */
    bool last;       /* of its chunk, whose bytes are there until the next call */
};

/* Leaves out the first `n` lines of what is left of a batch. */
static inline void batch_skip(struct batch *batch, size_t n)
{
    batch->starts += n;
    batch->keys += n;
    batch->no_key += n;
    batch->shards += n;
    batch->n -= n;
}

/* How many threads are of use here: 2, or 1 if this process may run on one processor alone. */
unsigned batches_threads(void);

/* Keys are made as the recipe says, with the hashes; with `threads` > 1, a second thread may work
 * ahead. NULL if memory is short. */
struct batches *batches_new(char delimiter, const struct recipe *recipe, struct hashers hashers,
                            unsigned threads);
void batches_free(struct batches *batches);

/* From now on each line also gets its part, of so many. Before batches_begin.
 * Returns 0, or -1 if memory is short. */
int batches_add_shards(struct batches *batches, uint32_t shards);

/* Starts with an input, after what was read of it. */
void batches_begin(struct batches *batches, struct input *input);

/* Waits at most so many milliseconds, or as long as it takes if negative, until batches_next need
 * not wait. Returns whether that is so; else time ran out, or a signal came that does not end the
 * process. The batch before must not be used any more. */
bool batches_wait(struct batches *batches, int milliseconds);

/* The next batch, of at least one line. Returns 1; 0 at the end; -1 with the fault, after all lines
 * before it were given out. */
int batches_next(struct batches *batches, struct batch *batch, struct fault *fault);

/* Ends with the input: nobody reads it from here on. */
void batches_end(struct batches *batches);

#endif
