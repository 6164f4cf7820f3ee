#include "union/parts.h"

#include "core/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The parts that are there, in rising order, each once. */
struct found {
    uint32_t *part;
    size_t count;
    uint32_t parts;   /* of the list; 0: no input is for a part */
    const char *like; /* an input that is */
    bool whole;       /* an input is not */
};

static int compare_parts(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void find(struct found *found, struct store *const *inputs, size_t count)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        struct shard shard = store_header(inputs[i])->shard;
        if (shard.parts == 0) {
            found->whole = true;
            continue;
        }
        found->part[found->count++] = shard.part;
        found->parts = shard.parts;
        if (found->like == NULL)
            found->like = store_path(inputs[i]);
    }
    qsort(found->part, found->count, sizeof *found->part, compare_parts);
    for (size_t i = 0; i < found->count; i++)
        if (i == 0 || found->part[i] != found->part[i - 1])
            found->part[distinct++] = found->part[i];
    found->count = distinct;
}

/* "3, 5-7", of the parts that are missing; the last ones only counted if there are too many ranges
 * to read. Returns the first of them. */
static uint32_t describe(const struct found *found, char *text, size_t size)
{
    enum { RANGES = 8 };
    uint32_t first = 0, next = 1, left = found->parts - (uint32_t)found->count;
    size_t used = 0;
    for (size_t i = 0, ranges = 0; i <= found->count && ranges < RANGES; i++) {
        uint32_t end = i < found->count ? found->part[i] : found->parts + 1, missing = end - next;
        if (missing > 0) {
            used += (size_t)snprintf(text + used, size - used, "%s%" PRIu32, ranges > 0 ? ", " : "",
                                     next);
            if (missing > 1)
                used += (size_t)snprintf(text + used, size - used, "-%" PRIu32, end - 1);
            first = first != 0 ? first : next;
            left -= missing;
            ranges++;
        }
        next = end + 1;
    }
    if (left > 0)
        snprintf(text + used, size - used, " and %" PRIu32 " more", left);
    return first;
}

static int say_missing(const struct found *found, struct fault *fault)
{
    char text[200], quoted[QUOTE_MAX];
    uint32_t first = describe(found, text, sizeof text);
    bool one = found->count + 1 == found->parts;
    fault_set(fault, "merge", "part%s %s of %" PRIu32 " %s missing", one ? "" : "s", text,
              found->parts, one ? "is" : "are");
    return fault_way_out(fault,
                         "name %s, too; if one is lost, an empty one can take its place: unseen "
                         "create --like %s --shard %" PRIu32 "/%" PRIu32 " part%" PRIu32 ".bf",
                         one ? "its filter" : "their filters", quote_file(found->like, quoted),
                         first, found->parts, first);
}

int parts_join(struct store *const *inputs, size_t count, struct shard *joint, struct fault *fault)
{
    int result = 0;
    struct found found = {.part = calloc(count, sizeof(uint32_t))};
    if (found.part == NULL)
        return fault_errno(fault, "merge", NULL, ENOMEM);
    find(&found, inputs, count);
    *joint = (struct shard){0};
    if (found.count == 1 && found.parts > 1 && !found.whole)
        *joint = (struct shard){found.part[0], found.parts};
    else if (found.count != found.parts)
        result = say_missing(&found, fault);
    free(found.part);
    return result;
}
