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

/* Returns 0 if the output accepted as many bytes as it was given, else -1. */
static int count(struct collect *collect, size_t accepted, size_t length)
{
    collect->accepted += accepted;
    return accepted == length ? 0 : -1;
}

int collect_flush(struct collect *collect, struct fault *fault)
{
    size_t length = collect->length;
    collect->length = 0;
    if (length == 0)
        return 0;
    return count(collect, output_write(collect->output, collect->bytes, length, fault), length);
}

uint64_t collect_accepted(const struct collect *collect)
{
    return collect->accepted;
}

int collect_add(struct collect *collect, const char *bytes, size_t length, struct fault *fault)
{
    return collect_add_tagged(collect, "", 0, bytes, length, fault);
}

int collect_add_tagged(struct collect *collect, const char *tag, size_t tag_length,
                       const char *bytes, size_t length, struct fault *fault)
{
    if (tag_length + length > COLLECT_BYTES - collect->length) {
        const struct iovec pieces[] = {{(void *)tag, tag_length}, {(void *)bytes, length}};
        return collect_add_pieces(collect, pieces, 2, fault);
    }
    char *to = collect->bytes + collect->length;
    for (size_t i = 0; i < tag_length; i++)
        to[i] = tag[i];
    memcpy(to + tag_length, bytes, length);
    collect->length += tag_length + length;
    return 0;
}

int collect_add_pieces(struct collect *collect, const struct iovec *pieces, size_t n,
                       struct fault *fault)
{
    size_t length = 0;
    for (size_t i = 0; i < n; i++)
        length += pieces[i].iov_len;
    if (length > COLLECT_BYTES - collect->length && collect_flush(collect, fault) != 0)
        return -1;
    if (length > COLLECT_BYTES)
        return count(collect, output_write_pieces(collect->output, pieces, n, fault), length);
    for (size_t i = 0; i < n; i++) {
        memcpy(collect->bytes + collect->length, pieces[i].iov_base, pieces[i].iov_len);
        collect->length += pieces[i].iov_len;
    }
    return 0;
}
