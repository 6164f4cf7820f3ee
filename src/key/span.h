/* span - a reference to bytes that are stored elsewhere. */
#ifndef UNSEEN_KEY_SPAN_H
#define UNSEEN_KEY_SPAN_H

#include <stddef.h>

struct span {
    const char *bytes;
    size_t length;
};

/* Room for what is decoded from a line of CSV or JSON, and written anew in quotes. */
#define SPAN_DECODED(length) (3 * (length) + 64)

static inline struct span span_between(const char *first, const char *end)
{
    return (struct span){first, (size_t)(end - first)};
}

static inline const char *span_end(struct span span)
{
    return span.bytes + span.length;
}

#endif
