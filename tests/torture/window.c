/*
 * window - a long stream with repeats at controlled distances against a window by count.
 *
 *     window N RATE SLACK [FILE]      in FILE, which is made; else in memory
 *
 * Of 50 N lines a tenth repeats a line that was printed last as number d before, d counted in
 * printed lines: half of them with d at most N, which must never be printed again, and half with d
 * above (1 + slack) N, which must, save for the rate; the rest are new. Every fourth distance is
 * one at the very edge. Prints what it found; exit 1 if it is not as it should be.
 */
#include "delivery/filter.h"
#include "store/create.h"
#include "store/newfile.h"

#include "core/hash.h"

#include "../unit/chance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct stream {
    struct filter *filter;
    struct chance chance;
    uint64_t *printed; /* the line that was printed as number i */
    uint64_t *last;    /* of each line, the number it was printed as last */
    uint64_t count, lines;
};

struct found {
    uint64_t near, near_printed; /* d <= N */
    uint64_t far, far_dropped;   /* d > (1 + slack) N */
    uint64_t new, new_dropped;
};

static bool take(struct stream *stream, uint64_t line)
{
    struct fault fault;
    struct key key = hash_key(&line, sizeof line, hasher_xxh3(0));
    uint8_t seen;
    if (filter_claim(stream->filter, &key, 1, UINT64_MAX, &seen, &fault) != 1 ||
        filter_settle(stream->filter, 1, &fault) != 0) {
        fprintf(stderr, "window: %s: %s\n", fault.object, fault.reason);
        exit(1);
    }
    if (seen)
        return false;
    stream->last[line] = stream->count;
    stream->printed[stream->count++] = line;
    return true;
}

/* A line that was printed `distance` before the next, and not since; or false. */
static bool find(const struct stream *stream, uint64_t distance, uint64_t *line)
{
    if (distance > stream->count)
        return false;
    uint64_t number = stream->count - distance;
    *line = stream->printed[number];
    return stream->last[*line] == number;
}

/* 1..most, every fourth at its upper edge. */
static uint64_t draw(struct chance *chance, uint64_t most)
{
    return chance_below(chance, 4) == 0 ? most - chance_below(chance, most < 3 ? most : 3)
                                        : 1 + chance_below(chance, most);
}

static void run(struct stream *stream, uint64_t n, uint64_t most, uint64_t total,
                struct found *found)
{
    uint64_t line;
    for (uint64_t i = 0; i < total; i++) {
        uint64_t kind = chance_below(&stream->chance, 20);
        if (kind == 0 && find(stream, draw(&stream->chance, n), &line)) {
            found->near++;
            found->near_printed += take(stream, line);
        } else if (kind == 1 &&
                   find(stream, most + 2 * n + 1 - draw(&stream->chance, 2 * n), &line)) {
            found->far++;
            found->far_dropped += !take(stream, line);
        } else {
            found->new ++;
            found->new_dropped += !take(stream, stream->lines++);
        }
    }
}

static struct filter *make(const char *path, struct header *header)
{
    struct fault fault;
    if (path != NULL && create_filter(path, header, OVER_EMPTY | OVER_FILTER, NULL, &fault) < 0)
        return NULL;
    return path != NULL ? filter_open(path, true, NULL, &fault)
                        : filter_memory(header, NULL, &fault);
}

/* Prints what was found; whether it is as it should be. */
static bool passes(struct stream *stream, uint64_t total, struct found *found)
{
    const struct filter_plan *plan = &store_header(filter_store(stream->filter))->plan;
    uint64_t n = plan->capacity, pages = 0;
    run(stream, n, (uint64_t)((double)n * (1 + plan->slack)), total, found);
    for (unsigned i = 0; i < store_regions(filter_store(stream->filter)); i++)
        pages += store_plan(filter_store(stream->filter), i).pages;
    printf("N %" PRIu64 ", p %g, slack %g: distance <= N: %" PRIu64 " of %" PRIu64
           " printed again; distance > (1 + slack) N: %" PRIu64 " of %" PRIu64
           " dropped, rate %.3g; new: %" PRIu64 " of %" PRIu64
           " dropped, rate %.3g; %u layers, %" PRIu64 " pages\n",
           n, plan->rate, plan->slack, found->near_printed, found->near, found->far_dropped,
           found->far, (double)found->far_dropped / (double)found->far, found->new_dropped,
           found->new, (double)found->new_dropped / (double)found->new,
           store_regions(filter_store(stream->filter)), pages);
    return found->near_printed == 0 && found->near > total / 50 && found->far > total / 50 &&
           chance_excess((double)found->far_dropped, (double)found->far, plan->rate) < 6 &&
           chance_excess((double)found->new_dropped, (double)found->new, plan->rate) < 6;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: window N RATE SLACK [FILE]\n");
        return 2;
    }
    uint64_t n = strtoull(argv[1], NULL, 10);
    double rate = strtod(argv[2], NULL), slack = strtod(argv[3], NULL);
    struct header header = {.plan = {.rate = rate,
                                     .capacity = n,
                                     .slack = slack,
                                     .generations = growth_generations(n, slack)}};
    uint64_t total = 50 * n;
    struct stream stream = {.filter = make(argc > 4 ? argv[4] : NULL, &header),
                            .chance = {91},
                            .printed = calloc(total, sizeof *stream.printed),
                            .last = calloc(total, sizeof *stream.last)};
    struct found found = {0};
    bool good = stream.filter != NULL && stream.printed != NULL && stream.last != NULL &&
                passes(&stream, total, &found);
    filter_close(stream.filter);
    free(stream.printed);
    free(stream.last);
    return good ? 0 : 1;
}
