/* flight - see flight.h. */
#include "file/flight.h"

#include "core/kernel.h"

#include <stdlib.h>
#include <string.h>

static size_t chains_of(const struct flight *flight)
{
    return (size_t)1 << (64 - flight->shift);
}

struct flight *flight_new(size_t room)
{
    struct flight *flight = calloc(1, sizeof *flight);
    if (flight == NULL)
        return NULL;
    flight->room = room;
    flight->shift = 64 - 4;
    while (chains_of(flight) < 4 * room)
        flight->shift--;
    /* Not cleared: a run of one line would touch a hundred kilobytes for it. */
    flight->keys = malloc(room * sizeof *flight->keys);
    flight->entries = malloc(room * sizeof *flight->entries);
    flight->chains = malloc(chains_of(flight) * sizeof *flight->chains);
    if (flight->keys == NULL || flight->entries == NULL || flight->chains == NULL) {
        flight_free(flight);
        return NULL;
    }
    memset(flight->chains, 0xff, chains_of(flight) * sizeof *flight->chains);
    return flight;
}

void flight_free(struct flight *flight)
{
    if (flight == NULL)
        return;
    free(flight->keys);
    free(flight->entries);
    free(flight->chains);
    free(flight);
}

void flight_add(struct flight *flight, struct key key, unsigned layer, const struct bits *bits)
{
    size_t i = flight->count++;
    uint64_t page = geometry_page(key, bits->pages);
    uint16_t *chain = flight_chain(flight, page);
    flight->keys[i] = key;
    flight->entries[i] = (struct flight_entry){.page = page,
                                               .next = *chain,
                                               .layer = (uint8_t)layer};
    *chain = (uint16_t)i;
    if (i == 0 || layer < flight->layer_low)
        flight->layer_low = layer;
    if (i == 0 || layer > flight->layer_high)
        flight->layer_high = layer;
}

/* Sets in `content` what key `key` has in line number `line`. */
static void add_line(uint8_t *content, uint32_t line, struct key key, struct geometry geometry)
{
    struct walk walk = walk_start(key);
    for (unsigned j = 0; j < geometry.lines; j++) {
        if (walk.line == line)
            kernel_line_set(content, walk.word, geometry);
        walk_next(&walk);
    }
}

bool flight_covers(const struct flight *flight, struct key key, unsigned layer,
                   const struct bits *bits)
{
    uint64_t page = geometry_page(key, bits->pages);
    uint16_t first = *flight_chain(flight, page);
    if (first == FLIGHT_NONE)
        return false;
    const uint8_t *bytes = bits->bytes + page * PAGE_BYTES;
    struct walk walk = walk_start(key);
    for (unsigned j = 0; j < bits->geometry.lines; j++) {
        uint8_t content[LINE_BYTES];
        memcpy(content, bytes + (size_t)walk.line * LINE_BYTES, sizeof content);
        for (uint16_t i = first; i != FLIGHT_NONE; i = flight->entries[i].next)
            if (flight->entries[i].page == page && flight->entries[i].layer == layer)
                add_line(content, walk.line, flight->keys[i], bits->geometry);
        if (!kernel_line_test(content, walk.word, bits->geometry))
            return false;
        walk_next(&walk);
    }
    return true;
}

void flight_clear(struct flight *flight)
{
    for (size_t i = 0; i < flight->count; i++)
        *flight_chain(flight, flight->entries[i].page) = FLIGHT_NONE;
    flight->count = 0;
}
