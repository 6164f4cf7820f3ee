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

uint64_t collect_accepted(const struct collect *collect)
{
    return collect->accepted;
}

int collect_reserve(struct collect *collect, size_t length, struct fault *fault)
{
    return length > COLLECT_BYTES - collect->length ? collect_flush(collect, fault) : 0;
}

int collect_add(struct collect *collect, const char *bytes, size_t length, struct fault *fault)
{
    return collect_add_tagged(collect, NULL, 0, bytes, length, fault);
}

int collect_add_tagged(struct collect *collect, const char *tag, size_t tag_length,
                       const char *bytes, size_t length, struct fault *fault)
{
    if (collect_reserve(collect, tag_length + length, fault) != 0)
        return -1;
    if (tag_length + length > COLLECT_BYTES) {
        if (tag_length > 0 && write_out(collect, tag, tag_length, fault) != 0)
            return -1;
        return write_out(collect, bytes, length, fault);
    }
    char *to = collect->bytes + collect->length;
    for (size_t i = 0; i < tag_length; i++)
        to[i] = tag[i];
    memcpy(to + tag_length, bytes, length);
    collect->length += tag_length + length;
    return 0;
}
