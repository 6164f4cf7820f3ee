#include "commands/scan.h"

#include "commands/message.h"
#include "commands/progress.h"

#include <errno.h>
#include <string.h>

struct reading {
    const struct scan *scan;
    struct batches *batches;
    uint64_t lines;
};

static int take_heading(const struct scan *scan, struct batch *batch, struct fault *fault)
{
    const char *line = batch->bytes + batch->starts[0];
    size_t length = batch->starts[1] - batch->starts[0];
    batch_skip(batch, 1);
    return scan->heading != NULL ? scan->heading(scan->context, line, length, fault) : 0;
}

static int tell_pause(const struct scan *scan, struct fault *fault)
{
    return scan->pause != NULL ? scan->pause(scan->context, fault) : 0;
}

/* Returns 1, 0 at the end, -1 with the fault. */
static int take_batch(struct reading *reading, bool first, struct fault *fault)
{
    const struct scan *scan = reading->scan;
    struct batch batch;
    int got = batches_next(reading->batches, &batch, fault);
    if (got <= 0)
        return got;
    if (first && scan->inputs->header && take_heading(scan, &batch, fault) != 0)
        return -1;
    reading->lines += batch.n;
    if (batch.n > 0 && scan->lines(scan->context, &batch, fault) != 0)
        return -1;
    if (batch.last)
        progress_look();
    return batch.last && tell_pause(scan, fault) != 0 ? -1 : 1;
}

static int scan_input(void *context, struct input *input, struct fault *fault)
{
    struct reading *reading = context;
    struct fault later;
    batches_begin(reading->batches, input);
    int got = take_batch(reading, true, fault);
    while (got > 0)
        got = take_batch(reading, false, fault);
    batches_end(reading->batches);
    /* After a line that is too long the next input may have to be waited for. */
    if (got < 0 && tell_pause(reading->scan, &later) != 0)
        *fault = later;
    return got;
}

int scan_inputs(const struct scan *scan)
{
    const struct inputs *inputs = scan->inputs;
    struct reading reading = {
        .scan = scan,
        .batches = batches_new(inputs->delimiter, scan->recipe, scan->hashers, inputs->threads),
    };
    if (reading.batches == NULL)
        return message("%s", strerror(ENOMEM));
    progress_count(&reading.lines, NULL, NULL);
    int status = inputs_read(inputs, scan_input, &reading);
    batches_free(reading.batches);
    return status;
}
