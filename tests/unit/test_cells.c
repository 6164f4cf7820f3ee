/*
 * Removals from counting layers: any number of additions and removals against counters kept one by
 * one, and removals that stopped anywhere.
 */
#include "core/cells.h"
#include "core/kernel.h"

#include "layer.h"
#include "oracle.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* --- layers --- */

static struct key pair_add(struct pair *pair, struct chance *chance)
{
    struct key key = chance_key(chance);
    kernel_for(pair->bits.geometry)->set(&pair->bits, &key, 1);
    oracle_count(pair->plain, key, pair->bits.pages, pair->bits.geometry, 1);
    return key;
}

enum { LIVE = 600 };

/* Adds and removes in any order; in between all that are in are found. */
static void come_and_go(struct geometry geometry, uint64_t pages)
{
    struct chance chance = {60U + geometry.blocks};
    struct pair pair = pair_new(pages, geometry);
    static struct key keys[LIVE];
    unsigned n = 0, lost = 0;
    for (unsigned round = 0; round < 3000; round++) {
        if (n < LIVE && (n == 0 || chance_below(&chance, 5) < 3)) {
            keys[n++] = pair_add(&pair, &chance);
        } else {
            unsigned i = (unsigned)chance_below(&chance, n);
            lost += !cells_has(&pair.bits, keys[i]);
            cells_remove(&pair.bits, keys[i]);
            oracle_count(pair.plain, keys[i], pages, geometry, -1);
            keys[i] = keys[--n];
        }
        for (unsigned i = round % 7; i < n; i += 7)
            lost += !cells_has(&pair.bits, keys[i]);
    }
    tap_check(lost == 0, "%u x %u: %u times a key that was in was not found", geometry.blocks,
              geometry.fields, lost);
    tap_check(pair_same(&pair), "%u x %u: other counters", geometry.blocks, geometry.fields);
    for (unsigned i = 0; i < 100; i++) {
        struct key key = chance_key(&chance);
        tap_check(cells_has(&pair.bits, key) == oracle_has(pair.plain, key, pages, geometry),
                  "%u x %u: another verdict", geometry.blocks, geometry.fields);
    }
    pair_free(&pair);
}

static void adds_and_removes(void)
{
    for (unsigned blocks = 1; blocks <= BLOCKS_MAX; blocks++)
        for (unsigned fields = 1; fields <= FIELDS_MAX; fields += 2)
            come_and_go((struct geometry){(uint8_t)blocks, (uint8_t)fields, true}, 1 + blocks % 3);
}

/* --- undoing --- */

/* As a kill leaves it: of the bytes that a removal changes only the first `stored`. */
static void half_remove(struct pair *pair, struct key key, unsigned stored)
{
    uint8_t *before = malloc(pair->bytes);
    if (before == NULL)
        exit(1);
    memcpy(before, pair->bits.bytes, pair->bytes);
    cells_remove(&pair->bits, key);
    for (size_t i = 0; i < pair->bytes; i++)
        if (pair->bits.bytes[i] != before[i] && stored-- == 0) {
            memcpy(pair->bits.bytes + i, before + i, pair->bytes - i);
            break;
        }
    free(before);
}

/* Gives a random cell of one of the key's blocks a value that no removal left there. */
static void damage(struct pair *pair, struct key key, struct chance *chance)
{
    uint64_t cells[ORACLE_BITS_MAX];
    unsigned n = oracle_bits(key, pair->bits.pages, pair->bits.geometry, cells);
    unsigned block = (unsigned)cells[chance_below(chance, n)] / BLOCK_CELLS;
    unsigned cell = block * BLOCK_CELLS + (unsigned)chance_below(chance, BLOCK_CELLS);
    cell_put(pair->bits.bytes, cell, (cell_value(pair->bits.bytes, cell) + 2) % (CELL_MAX + 1));
    memcpy(pair->plain, pair->bits.bytes, pair->bytes);
}

/* Wherever a removal stopped, it is undone to the byte; but not what something else did. */
static void restored(void)
{
    struct chance chance = {61};
    for (unsigned round = 0; round < 700; round++) {
        struct geometry geometry = {(uint8_t)(1 + round % 16), (uint8_t)(1 + round % 7), true};
        struct pair pair = pair_new(2, geometry);
        uint8_t copy[BLOCKS_MAX * BLOCK_BYTES];
        for (unsigned i = 0; i < round % 400; i++)
            pair_add(&pair, &chance);
        struct key key = pair_add(&pair, &chance);
        cells_save(&pair.bits, key, copy);
        half_remove(&pair, key, round % (geometry_hashes(geometry) + 1));
        tap_check(cells_restore(&pair.bits, key, copy), "round %u: not undone", round);
        tap_check(pair_same(&pair), "round %u: other counters", round);
        tap_check(cells_restore(&pair.bits, key, copy) && pair_same(&pair), "round %u: twice",
                  round);
        half_remove(&pair, key, round % (geometry_hashes(geometry) + 1));
        damage(&pair, key, &chance);
        tap_check(!cells_restore(&pair.bits, key, copy) && pair_same(&pair), "round %u: damaged",
                  round);
        pair_free(&pair);
    }
}

int main(void)
{
    tap_run_long("any additions and removals, all g and f", adds_and_removes);
    tap_run("a removal that stopped anywhere is undone", restored);
    return tap_end();
}
