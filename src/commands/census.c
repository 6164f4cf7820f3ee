#include "commands/census.h"

#include "commands/message.h"
#include "commands/scan.h"
#include "core/hyperloglog.h"
#include "pipeline/marks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct count {
    struct census *census;
    struct hyperloglog *sketch;
};

static int count_lines(void *context, const struct batch *batch, struct fault *fault)
{
    const struct count *count = context;
    struct census *census = count->census;
    (void)fault;
    census->lines += batch->n;
    census->bytes += batch->starts[batch->n] - batch->starts[0] - batch->n;
    census->itself += marks_count(batch->itself, batch->n);
    hyperloglog_add(count->sketch, batch->keys, batch->n);
    return 0;
}

int census_take(const struct inputs *inputs, const struct recipe *recipe, struct census *census)
{
    struct count count = {census, calloc(1, sizeof *count.sketch)};
    *census = (struct census){.lines = 0};
    if (count.sketch == NULL)
        return message("%s", strerror(ENOMEM));
    int status = scan_inputs(&(struct scan){
        .inputs = inputs,
        .recipe = recipe,
        .hashers = hashers_of_keys(hasher_xxh3(0)),
        .context = &count,
        .lines = count_lines,
    });
    double distinct = round(hyperloglog_estimate(count.sketch));
    census->distinct = distinct < (double)census->lines ? (uint64_t)distinct : census->lines;
    free(count.sketch);
    return status;
}
