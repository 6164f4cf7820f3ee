/* flight - see flight.h. */
#include "file/flight.h"

#include "core/kernel.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT16_MAX

struct entry {
    uint64_t page;
    uint16_t next; /* the entry before in the same chain, or NONE */
    uint8_t layer;
};

struct flight {
    size_t count, room;
    unsigned shift; /* a chain is the top bits of a product */
    unsigned layer_low, layer_high;
    struct key *keys;
    struct entry *entries;
    uint16_t *chains;
};

static size_t chains_of(const struct flight *flight)
{
    return (size_t)1 << (64 - flight->shift);
}

static size_t chain_of(const struct flight *flight, uint64_t page)
{
    return (size_t)((page * UINT64_C(0x9e3779b97f4a7c15)) >> flight->shift);
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
    flight->keys = calloc(room, sizeof *flight->keys);
    flight->entries = calloc(room, sizeof *flight->entries);
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

size_t flight_count(const struct flight *flight)
{
    return flight->count;
}

size_t flight_room(const struct flight *flight)
{
    return flight->room;
}

const struct key *flight_keys(const struct flight *flight)
{
    return flight->keys;
}

unsigned flight_layer_low(const struct flight *flight)
{
    return flight->layer_low;
}

unsigned flight_layer_high(const struct flight *flight)
{
    return flight->layer_high;
}

void flight_add(struct flight *flight, struct key key, unsigned layer, const struct bits *bits)
{
    size_t i = flight->count++;
    uint64_t page = geometry_page(key, bits->pages);
    uint16_t *chain = &flight->chains[chain_of(flight, page)];
    flight->keys[i] = key;
    flight->entries[i] = (struct entry){.page = page, .next = *chain, .layer = (uint8_t)layer};
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
            line_set(content, walk.word, geometry.fields);
        walk_next(&walk);
    }
}

bool flight_covers(const struct flight *flight, struct key key, unsigned layer,
                   const struct bits *bits)
{
    uint64_t page = geometry_page(key, bits->pages);
    uint16_t first = flight->chains[chain_of(flight, page)];
    if (first == NONE)
        return false;
    const uint8_t *bytes = bits->bytes + page * PAGE_BYTES;
    struct walk walk = walk_start(key);
    for (unsigned j = 0; j < bits->geometry.lines; j++) {
        uint8_t content[LINE_BYTES];
        memcpy(content, bytes + (size_t)walk.line * LINE_BYTES, sizeof content);
        for (uint16_t i = first; i != NONE; i = flight->entries[i].next)
            if (flight->entries[i].page == page && flight->entries[i].layer == layer)
                add_line(content, walk.line, flight->keys[i], bits->geometry);
        if (!line_test(content, walk.word, bits->geometry.fields))
            return false;
        walk_next(&walk);
    }
    return true;
}

void flight_clear(struct flight *flight)
{
    for (size_t i = 0; i < flight->count; i++)
        flight->chains[chain_of(flight, flight->entries[i].page)] = NONE;
    flight->count = 0;
}
