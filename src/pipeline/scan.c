#include "pipeline/scan.h"

static int take_batch(struct scan *scan, const struct batch *batch, const char *input,
                      struct fault *fault)
{
    if (batch->header_line != NULL && scan->header_line != NULL &&
        scan->header_line(scan->context, batch, input, fault) != 0)
        return -1;
    pipeline_count(scan->counts, batch, input);
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
    batches_begin(scan->batches, input, scan->header);
    do {
        got = batches_next(scan->batches, &batch, fault);
        if (got > 0 && take_batch(scan, &batch, input_name(input), fault) != 0)
            got = -1;
    } while (got > 0);
    batches_end(scan->batches);
    /* After a fault, such as a line that is too long, the next input may have to be waited for. */
    if (got < 0 && collect_flush(scan->collect, &later) != 0)
        *fault = later;
    return got;
}
