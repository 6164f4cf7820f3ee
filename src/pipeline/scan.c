#include "pipeline/scan.h"

#include "pipeline/marks.h"

/* The header line is at the start of the chunk. */
static int take_header_line(struct scan *scan, struct batch *batch, struct fault *fault)
{
    const char *line = batch->bytes;
    size_t length = batch->starts[1];
    scan->begins = false;
    batch_skip(batch, 1);
    return scan->header_line != NULL ? scan->header_line(scan->context, line, length, fault) : 0;
}

static int take_batch(struct scan *scan, struct batch *batch, struct fault *fault)
{
    if (scan->begins && take_header_line(scan, batch, fault) != 0)
        return -1;
    scan->counts->read += batch->n;
    scan->counts->no_key += marks_count(batch->no_key, batch->n);
    if (batch->n > 0 && scan->lines(scan->context, batch, fault) != 0)
        return -1;
    if (!batch->last)
        return 0;
    scan->after_chunk();
    return collect_flush(scan->collect, fault);
}

int scan_run(struct scan *scan, struct input *input, struct fault *fault)
{
    struct batch batch;
    struct fault later;
    int got;
    scan->begins = scan->header;
    batches_begin(scan->batches, input);
    do {
        got = batches_next(scan->batches, &batch, fault);
        if (got > 0 && take_batch(scan, &batch, fault) != 0)
            got = -1;
    } while (got > 0);
    batches_end(scan->batches);
    /* After a fault, such as a line that is too long, the next input may have to be waited for. */
    if (got < 0 && collect_flush(scan->collect, &later) != 0)
        *fault = later;
    return got;
}
