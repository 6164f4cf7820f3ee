/*
 * batches - reads the lines of an input in batches, with the hashes of their keys.
 *
 * A batch is read, split and hashed when the caller asks for it. If the input is long and there is
 * a second processor, a second thread reads and splits ahead, while the caller tests and writes the
 * batch before; keys are made by both. Batches come in order either way, and only the caller uses
 * the filter, so the output is the same.
 *
 * A row of CSV is a line here, also one that has several lines (core/rows.h). A chunk ends with its
 * last whole row; what follows stays in the input's buffer, and begins the next chunk.
 *
 * The second thread starts when a megabyte has come in large pieces, and ends when pieces become
 * small again, so that a few lines never wait for a thread.
 */
#ifndef UNSEEN_PIPELINE_BATCHES_H
#define UNSEEN_PIPELINE_BATCHES_H

#include "io/input.h"
#include "key/keyer.h"

enum { BATCH_LINES = 2048 }; /* at most in a batch */

struct batches;

/* Lines of one chunk, end to end, each with its delimiter. */
struct batch {
    const char *header_line; /* before these lines, with its delimiter; else NULL */
    size_t header_length;
    bool header_again;    /* not the first one of the input, but with the same fields */
    char *bytes;          /* of the chunk; the caller may change them up to the end of the batch */
    const size_t *starts; /* n + 1 offsets from `bytes` */
    const struct key *keys;
    const struct key_text *texts; /* with `texts` of the plan, instead of keys */
    const uint8_t *no_key;        /* an enum no_key of each line */
    const uint32_t *shards;       /* with `shards` of the plan: the shard of each line */
    const uint8_t *kinds;         /* of rows (core/rows.h); of other lines nothing */
    const uint32_t *lines; /* how far below `number` each row begins; NULL: each has one line */
    size_t n;
    uint64_t number; /* of the first line in the input, from 1 on */
    uint64_t offset; /* of the chunk in the input */
    bool last;       /* batch of the chunk; its bytes are valid until the next call */
};

static inline void batch_skip(struct batch *batch, size_t n)
{
    batch->starts += n;
    batch->keys += n;
    batch->texts += n;
    batch->no_key += n;
    batch->shards += n;
    batch->kinds += n;
    if (batch->lines != NULL)
        batch->lines += n;
    else
        batch->number += n;
    batch->n -= n;
}

/* The number in the input of the line that line i of the batch begins with. */
static inline uint64_t batch_line(const struct batch *batch, size_t i)
{
    return batch->number + (batch->lines != NULL ? batch->lines[i] : i);
}

/* How many threads to use: 1 if this process may run on one processor only, otherwise 2. */
unsigned batches_threads(void);

struct batches_plan {
    struct line_ends ends;
    const struct recipe *recipe;
    struct hashers hashers;
    uint32_t shards;  /* batches have the shard of each line, of this many; 0: they do not */
    bool texts;       /* batches have the texts of keys instead of their hashes */
    unsigned threads; /* with more than one, a second thread may read ahead */
};

/* Returns NULL if memory is short. */
struct batches *batches_new(const struct batches_plan *plan);
void batches_free(struct batches *batches);

/* Begins with an input, wherever it is positioned. `header`: its first line is a header line, which
 * comes with the first batch, and so is each later one that has the same fields. */
void batches_begin(struct batches *batches, struct input *input, bool header);

/* Waits for at most `milliseconds`, or without limit if negative, and makes keys meanwhile. Returns
 * true if batches_next need not wait; false if time ran out or a signal came that does not end the
 * process. The last batch is no longer valid. */
bool batches_wait(struct batches *batches, int milliseconds);

/* The next batch, of at least one line or a header line; or of neither, and then it is the last of
 * a chunk that ends within a row. Returns 1; 0 at the end; -1 with the fault, after all lines
 * before the fault. */
int batches_next(struct batches *batches, struct batch *batch, struct fault *fault);

/* Ends with the input; the second thread no longer reads it. Returns keyer_members, of all
 * inputs. */
unsigned batches_end(struct batches *batches);

#endif
