#include "io/collect.h"

#include <stdlib.h>
#include <string.h>

struct collect {
    struct output *output;
    size_t length; /* bytes in the buffer */
    uint64_t accepted;
    char bytes[COLLECT_BYTES];
};

struct collect *collect_new(struct output *output)
{
    /* Not cleared, because a short run touches little of it. */
    struct collect *collect = malloc(sizeof *collect);
    if (collect == NULL)
        return NULL;
    collect->output = output;
    collect->length = 0;
    collect->accepted = 0;
    return collect;
}

void collect_free(struct collect *collect)
{
    free(collect);
}

static int write_out(struct collect *collect, const char *bytes, size_t length, struct fault *fault)
{
    size_t accepted = output_write(collect->output, bytes, length, fault);
    collect->accepted += accepted;
    return accepted == length ? 0 : -1;
}

int collect_flush(struct collect *collect, struct fault *fault)
{
    size_t length = collect->length;
    collect->length = 0;
    return length > 0 ? write_out(collect, collect->bytes, length, fault) : 0;
}

int collect_reserve(struct collect *collect, size_t length, struct fault *fault)
{
    return length > COLLECT_BYTES - collect->length ? collect_flush(collect, fault) : 0;
}

uint64_t collect_accepted(const struct collect *collect)
{
    return collect->accepted;
}

int collect_add(struct collect *collect, const char *bytes, size_t length, struct fault *fault)
{
    if (collect_reserve(collect, length, fault) != 0)
        return -1;
    if (length > COLLECT_BYTES)
        return write_out(collect, bytes, length, fault);
    memcpy(collect->bytes + collect->length, bytes, length);
    collect->length += length;
    return 0;
}
