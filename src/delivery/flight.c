#include "delivery/flight.h"

#include "core/kernel.h"

#include <stdlib.h>
#include <string.h>

static size_t chains_of(const struct flight *flight)
{
    return (size_t)1 << (64 - flight->shift);
}

static uint16_t *chain_of(const struct flight *flight, uint64_t page)
{
    return &flight->chains[(page * UINT64_C(0x9e3779b97f4a7c15)) >> flight->shift];
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

/* Sets the key's word in `content`, the bytes of line `line`, if that is one of its lines. */
static void add_line(uint8_t *content, uint32_t line, struct key key, struct geometry geometry)
{
    struct walk walk = walk_start(key);
    for (unsigned j = 0; j < geometry.lines; j++) {
        if (walk.line == line)
            kernel_line_set(content, walk.word, geometry);
        walk_next(&walk);
    }
}

/* The newest entry of a chain, from entry `i` on, that is on this page of this layer. */
static uint16_t same_page(const struct flight *flight, uint16_t i, uint64_t page, unsigned layer)
{
    while (i != FLIGHT_NONE &&
           (flight->entries[i].page != page || flight->entries[i].layer != layer))
        i = flight->entries[i].next;
    return i;
}

/* Steps 4 and 5 of flight.h. */
bool flight_covers(const struct flight *flight, struct key key, unsigned layer,
                   const struct bits *bits)
{
    uint64_t page = geometry_page(key, bits->pages);
    uint16_t first = same_page(flight, *chain_of(flight, page), page, layer);
    if (first == FLIGHT_NONE)
        return false;
    const uint8_t *bytes = bits->bytes + page * PAGE_BYTES;
    struct walk walk = walk_start(key);
    for (unsigned j = 0; j < bits->geometry.lines; j++) {
        uint8_t content[LINE_BYTES];
        memcpy(content, bytes + (size_t)walk.line * LINE_BYTES, sizeof content);
        for (uint16_t i = first; i != FLIGHT_NONE;
             i = same_page(flight, flight->entries[i].next, page, layer))
            add_line(content, walk.line, flight->keys[i], bits->geometry);
        if (!kernel_line_test(content, walk.word, bits->geometry))
            return false;
        walk_next(&walk);
    }
    return true;
}

size_t flight_take(struct flight *flight, const struct key *keys, size_t n, size_t most,
                   unsigned layer, const struct bits *bits, uint8_t *seen)
{
    size_t count = flight->count;
    size_t end = most < flight->room - count ? count + most : flight->room;
    size_t i;
    for (i = 0; i < n; i++) {
        if (seen[i])
            continue;
        uint64_t page = geometry_page(keys[i], bits->pages);
        uint16_t *chain = chain_of(flight, page);
        if (*chain != FLIGHT_NONE && flight_covers(flight, keys[i], layer, bits)) {
            seen[i] = 1;
            continue;
        }
        if (count == end)
            break;
        flight->keys[count] = keys[i];
        flight->entries[count] = (struct flight_entry){.page = page,
                                                       .next = *chain,
                                                       .layer = (uint8_t)layer};
        *chain = (uint16_t)count++;
    }
    if (count > flight->count) {
        if (flight->count == 0 || layer < flight->layer_low)
            flight->layer_low = layer;
        if (flight->count == 0 || layer > flight->layer_high)
            flight->layer_high = layer;
        flight->count = count;
    }
    return i;
}

/* The newest entry is the head of its chain. */
void flight_drop_last(struct flight *flight, size_t n)
{
    while (n-- > 0) {
        const struct flight_entry *last = &flight->entries[--flight->count];
        *chain_of(flight, last->page) = last->next;
    }
}

void flight_clear(struct flight *flight)
{
    size_t chains = chains_of(flight);
    if (flight->count > chains / 64)
        memset(flight->chains, 0xff, chains * sizeof *flight->chains);
    else
        for (size_t i = 0; i < flight->count; i++)
            *chain_of(flight, flight->entries[i].page) = FLIGHT_NONE;
    flight->count = 0;
}
