#include "delivery/flight.h"

#include "core/kernel.h"
#include "system/random.h"

#include <stdlib.h>
#include <string.h>

static size_t chains_of(const struct flight *flight)
{
    return (size_t)1 << (64 - flight->shift);
}

static uint64_t where_of(uint64_t page, unsigned layer)
{
    return page | (uint64_t)layer << 56;
}

static uint16_t *chain_of(const struct flight *flight, uint64_t where)
{
    return &flight->chains[(where * flight->salt) >> flight->shift];
}

struct flight *flight_new(size_t room)
{
    struct flight *flight = calloc(1, sizeof *flight);
    if (flight == NULL)
        return NULL;
    flight->room = room;
    flight->salt = random_word() | 1;
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
    free(flight->sums);
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

/* The newest entry of a chain, from entry `i` on, that is there. */
static uint16_t find(const struct flight *flight, uint16_t i, uint64_t where)
{
    while (i != FLIGHT_NONE && flight->entries[i].where != where)
        i = flight->entries[i].next;
    return i;
}

static uint8_t *sum_of(const struct flight *flight, const struct flight_entry *entry)
{
    return flight->sums + (size_t)(entry->sum - 1) * PAGE_BYTES;
}

/* Cells that are not zero, where either has one, are all that counts: or does for them, too. */
static void or_line(uint8_t *content, const uint8_t *line)
{
    for (unsigned i = 0; i < LINE_BYTES; i++)
        content[i] |= line[i];
}

/* Makes `content` what line `line` of a page is once all keys in flight there are set, from entry
 * `first` on, the newest. */
static void add_all(const struct flight *flight, uint16_t first, uint32_t line,
                    struct geometry geometry, uint8_t *content)
{
    const struct flight_entry *entry = &flight->entries[first];
    uint16_t i = first;
    if (entry->sum != 0)
        or_line(content, sum_of(flight, entry) + (size_t)line * LINE_BYTES);
    for (unsigned n = entry->alone; n > 0; i = flight->entries[i].next)
        if (flight->entries[i].where == entry->where) {
            add_line(content, line, flight->keys[i], geometry);
            n--;
        }
}

/* Steps 4 to 6 of flight.h; `first` is the newest entry of the key's page. */
static bool covers(const struct flight *flight, uint16_t first, struct key key,
                   const struct bits *bits)
{
    const uint8_t *bytes = bits->bytes + geometry_page(key, bits->pages) * PAGE_BYTES;
    struct walk walk = walk_start(key);
    for (unsigned j = 0; j < bits->geometry.lines; j++) {
        uint8_t content[LINE_BYTES];
        memcpy(content, bytes + (size_t)walk.line * LINE_BYTES, sizeof content);
        add_all(flight, first, walk.line, bits->geometry, content);
        if (!kernel_line_test(content, walk.word, bits->geometry))
            return false;
        walk_next(&walk);
    }
    return true;
}

bool flight_covers(const struct flight *flight, struct key key, unsigned layer,
                   const struct bits *bits)
{
    uint64_t where = where_of(geometry_page(key, bits->pages), layer);
    uint16_t first = find(flight, *chain_of(flight, where), where);
    return first != FLIGHT_NONE && covers(flight, first, key, bits);
}

static void add_key(uint8_t *page, struct key key, struct geometry geometry)
{
    struct walk walk = walk_start(key);
    for (unsigned j = 0; j < geometry.lines; j++) {
        kernel_line_set(page + (size_t)walk.line * LINE_BYTES, walk.word, geometry);
        walk_next(&walk);
    }
}

/* Puts the keys of a page that are in no sum into a new one. Without memory for it they stay as
 * they are, which is slow and right. */
static void sum_up(struct flight *flight, uint16_t first, struct geometry geometry)
{
    struct flight_entry *entry = &flight->entries[first];
    uint16_t i = first;
    if (flight->sums == NULL)
        flight->sums = malloc(flight->room / FLIGHT_CROWD * PAGE_BYTES);
    if (flight->sums == NULL)
        return;
    uint8_t *page = flight->sums + flight->summed++ * PAGE_BYTES;
    if (entry->sum != 0)
        memcpy(page, sum_of(flight, entry), PAGE_BYTES);
    else
        memset(page, 0, PAGE_BYTES);
    for (; entry->alone > 0; i = flight->entries[i].next)
        if (flight->entries[i].where == entry->where) {
            add_key(page, flight->keys[i], geometry);
            entry->alone--;
        }
    entry->sum = (uint16_t)flight->summed;
}

/* An entry for a page that has others, of which `older` is the newest. */
static void join(struct flight *flight, uint16_t entry, uint16_t older, struct geometry geometry)
{
    flight->entries[entry].alone = (uint16_t)(flight->entries[older].alone + 1);
    flight->entries[entry].sum = flight->entries[older].sum;
    if (flight->entries[entry].alone >= FLIGHT_CROWD)
        sum_up(flight, entry, geometry);
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
        uint64_t where = where_of(geometry_page(keys[i], bits->pages), layer);
        uint16_t *chain = chain_of(flight, where), older = find(flight, *chain, where);
        if (older != FLIGHT_NONE && covers(flight, older, keys[i], bits)) {
            seen[i] = 1;
            continue;
        }
        if (count == end)
            break;
        flight->keys[count] = keys[i];
        flight->entries[count] = (struct flight_entry){.where = where, .next = *chain, .alone = 1};
        *chain = (uint16_t)count;
        if (older != FLIGHT_NONE)
            join(flight, (uint16_t)count, older, bits->geometry);
        count++;
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
        *chain_of(flight, last->where) = last->next;
        flight->summed -= last->alone == 0;
    }
}

void flight_clear(struct flight *flight)
{
    size_t chains = chains_of(flight);
    if (flight->count > chains / 64)
        memset(flight->chains, 0xff, chains * sizeof *flight->chains);
    else
        for (size_t i = 0; i < flight->count; i++)
            *chain_of(flight, flight->entries[i].where) = FLIGHT_NONE;
    flight->count = 0;
    flight->summed = 0;
}
