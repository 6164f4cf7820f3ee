#include "io/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct collect {
    struct output *output;
    char *bytes;
    size_t length, capacity; /* of what is in the buffer, and of the buffer */
    uint64_t accepted;
};

struct collect *collect_new(struct output *output)
{
    struct collect *collect = malloc(sizeof *collect);
    if (collect == NULL)
        return NULL;
    /* Not cleared, because a short run touches little of it. */
    *collect = (struct collect){output, malloc(COLLECT_BYTES), 0, COLLECT_BYTES, 0};
    if (collect->bytes != NULL)
        return collect;
    free(collect);
    return NULL;
}

void collect_free(struct collect *collect)
{
    if (collect != NULL)
        free(collect->bytes);
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

/* Flushes the buffer, and makes it larger if need be. */
static int make_room(struct collect *collect, size_t length, struct fault *fault)
{
    if (collect_flush(collect, fault) != 0)
        return -1;
    if (length <= collect->capacity)
        return 0;
    char *bytes = realloc(collect->bytes, length);
    if (bytes == NULL)
        return fault_errno(fault, collect->output->name, NULL, ENOMEM);
    collect->bytes = bytes;
    collect->capacity = length;
    return 0;
}

char *collect_room(struct collect *collect, size_t length, struct fault *fault)
{
    if (length > collect->capacity - collect->length && make_room(collect, length, fault) != 0)
        return NULL;
    char *at = collect->bytes + collect->length;
    collect->length += length;
    return at;
}

int collect_add(struct collect *collect, const char *bytes, size_t length, struct fault *fault)
{
    if (length > collect->capacity)
        return collect_flush(collect, fault) == 0 ? write_out(collect, bytes, length, fault) : -1;
    char *at = collect_room(collect, length, fault);
    if (at == NULL)
        return -1;
    memcpy(at, bytes, length);
    return 0;
}
