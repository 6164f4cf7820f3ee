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

int collect_add(struct collect *collect, const char *bytes, size_t length, struct fault *fault)
{
    const struct iovec piece = {(void *)bytes, length};
    return collect_add_pieces(collect, &piece, 1, fault);
}

int collect_add_pieces(struct collect *collect, const struct iovec *pieces, size_t n,
                       struct fault *fault)
{
    size_t length = 0;
    for (size_t i = 0; i < n; i++)
        length += pieces[i].iov_len;
    if (length > COLLECT_BYTES - collect->length && collect_flush(collect, fault) != 0)
        return -1;
    if (length > COLLECT_BYTES) {
        for (size_t i = 0; i < n; i++)
            if (write_out(collect, pieces[i].iov_base, pieces[i].iov_len, fault) != 0)
                return -1;
        return 0;
    }
    char *to = collect->bytes + collect->length;
    for (size_t i = 0; i < n; i++)
        to = mempcpy(to, pieces[i].iov_base, pieces[i].iov_len);
    collect->length += length;
    return 0;
}
