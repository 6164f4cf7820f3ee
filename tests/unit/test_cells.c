/*
 * The counters of counting layers: the worked example, cells hit twice, saturation, and any number
 * of additions and removals against counters kept one by one.
 */
#include "core/cells.h"
#include "core/kernel.h"

#include "chance.h"
#include "oracle.h"
#include "pair.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- lines --- */

/* A word whose fields are these cells. */
static uint64_t word_of(const unsigned *cells, unsigned fields)
{
    uint64_t word = 0;
    for (unsigned t = 0; t < fields; t++)
        word |= (uint64_t)cells[t] << 7 * t;
    return word;
}

static void check_line(const uint8_t *line, const unsigned wanted[5], const char *what)
{
    for (unsigned cell = 0; cell < LINE_CELLS; cell++)
        tap_check(cell_value(line, cell) == (cell < 5 ? wanted[cell] : 0), "%s: cell %u is %u",
                  what, cell, cell_value(line, cell));
}

/* The example of the textbooks: of five cells "a" and "b" have the same two. */
static void worked_example(void)
{
    uint8_t line[LINE_BYTES] = {0};
    uint64_t a = word_of((unsigned[]){1, 2}, 2), b = word_of((unsigned[]){2, 1}, 2);
    tap_check(!cells_test(line, a, 2), "the empty line has a");
    cells_raise(line, a, 2);
    check_line(line, (unsigned[]){0, 1, 1, 0, 0}, "a");
    tap_check(cells_test(line, b, 2), "b has the cells of a, and is a false positive");
    cells_raise(line, b, 2);
    check_line(line, (unsigned[]){0, 2, 2, 0, 0}, "a, b");
    /* Cell 1 is the high nibble of byte 0, cell 2 the low one of byte 1. */
    tap_check(line[0] == 0x20 && line[1] == 0x02, "bytes %02x %02x", line[0], line[1]);
    cells_lower(line, a, 2);
    check_line(line, (unsigned[]){0, 1, 1, 0, 0}, "a, b, without a");
    tap_check(cells_test(line, b, 2), "b should still be in");
    cells_lower(line, b, 2);
    check_line(line, (unsigned[]){0, 0, 0, 0, 0}, "all removed");
    tap_check(!cells_test(line, a, 2) && !cells_test(line, b, 2), "something is in");
}

/* A key counts once in a cell that its fields hit twice, and is taken out once. */
static void hit_twice(void)
{
    uint8_t line[LINE_BYTES] = {0};
    uint64_t twice = word_of((unsigned[]){3, 0, 3, 3}, 4), once = word_of((unsigned[]){3}, 1);
    cells_raise(line, twice, 4);
    check_line(line, (unsigned[]){1, 0, 0, 1, 0}, "hit three times");
    cells_raise(line, once, 1);
    check_line(line, (unsigned[]){1, 0, 0, 2, 0}, "and by another");
    cells_lower(line, twice, 4);
    check_line(line, (unsigned[]){0, 0, 0, 1, 0}, "and taken out");
    tap_check(cells_test(line, once, 1), "the other should still be in");
}

/* 15 is for ever, whoever comes and goes; the neighbour in the same byte is not touched. */
static void saturation(void)
{
    for (unsigned cell = 0; cell < LINE_CELLS; cell++) {
        uint8_t line[LINE_BYTES] = {0};
        unsigned neighbour = cell ^ 1;
        cells_raise(line, word_of(&neighbour, 1), 1);
        for (unsigned i = 1; i <= 20; i++) {
            cells_raise(line, word_of(&cell, 1), 1);
            tap_check(cell_value(line, cell) == (i < 15 ? i : 15), "cell %u raised %u times: %u",
                      cell, i, cell_value(line, cell));
        }
        for (unsigned i = 0; i < 20; i++)
            cells_lower(line, word_of(&cell, 1), 1);
        tap_check(cell_value(line, cell) == 15, "cell %u does not stay at 15", cell);
        tap_check(cell_value(line, neighbour) == 1, "the neighbour of cell %u: %u", cell,
                  cell_value(line, neighbour));
    }
    uint8_t line[LINE_BYTES] = {0};
    for (unsigned cell = 0, i = 0; i < 14; i++)
        cells_raise(line, word_of(&cell, 1), 1);
    for (unsigned cell = 0, i = 0; i < 14; i++)
        cells_lower(line, word_of(&cell, 1), 1);
    check_line(line, (unsigned[]){0, 0, 0, 0, 0}, "14 up, 14 down");
}

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
    struct chance chance = {60U + geometry.lines};
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
    tap_check(lost == 0, "%u x %u: %u times a key that was in was not found", geometry.lines,
              geometry.fields, lost);
    tap_check(pair_same(&pair), "%u x %u: other counters", geometry.lines, geometry.fields);
    for (unsigned i = 0; i < 100; i++) {
        struct key key = chance_key(&chance);
        tap_check(cells_has(&pair.bits, key) == oracle_has(pair.plain, key, pages, geometry),
                  "%u x %u: another verdict", geometry.lines, geometry.fields);
    }
    pair_free(&pair);
}

static void adds_and_removes(void)
{
    for (unsigned lines = 1; lines <= LINES_MAX; lines++)
        for (unsigned fields = 1; fields <= FIELDS_MAX; fields++)
            come_and_go((struct geometry){(uint8_t)lines, (uint8_t)fields, true}, 1 + lines % 3);
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

/* Wherever a removal stopped, it is undone to the byte. */
static void restored(void)
{
    struct chance chance = {61};
    for (unsigned round = 0; round < 2000; round++) {
        struct geometry geometry = {(uint8_t)(1 + round % 16), (uint8_t)(1 + round % 7), true};
        struct pair pair = pair_new(2, geometry);
        uint8_t copy[LINES_MAX * LINE_BYTES];
        for (unsigned i = 0; i < round % 400; i++)
            pair_add(&pair, &chance);
        struct key key = pair_add(&pair, &chance);
        cells_save(&pair.bits, key, copy);
        half_remove(&pair, key, round % (geometry_hashes(geometry) + 1));
        tap_check(cells_restore(&pair.bits, key, copy), "round %u: not undone", round);
        tap_check(pair_same(&pair), "round %u: other counters", round);
        tap_check(cells_restore(&pair.bits, key, copy) && pair_same(&pair), "round %u: twice",
                  round);
        pair_free(&pair);
    }
}

/* What is not the rest of that removal is left as it is. */
static void not_restored(void)
{
    struct geometry geometry = {3, 6, true};
    struct chance chance = {62};
    for (unsigned round = 0; round < 500; round++) {
        struct pair pair = pair_new(1, geometry);
        uint8_t copy[LINES_MAX * LINE_BYTES];
        uint64_t cells[ORACLE_BITS_MAX];
        struct key key = pair_add(&pair, &chance);
        cells_save(&pair.bits, key, copy);
        oracle_bits(key, 1, geometry, cells);
        cells_remove(&pair.bits, key);
        /* One cell of those lines counts somebody else by now. */
        uint64_t cell = cells[round % 18] / LINE_CELLS * LINE_CELLS + round % LINE_CELLS;
        unsigned value = cell_value(pair.bits.bytes, (unsigned)cell) + 1 + round % 14;
        bool own = false;
        for (unsigned i = 0; i < 18; i++)
            own = own || cells[i] == cell;
        if (own && value == 1)
            value = 2; /* 1 would be as it was */
        cell_put(pair.bits.bytes, (unsigned)cell, value);
        memcpy(pair.plain, pair.bits.bytes, pair.bytes);
        tap_check(!cells_restore(&pair.bits, key, copy), "round %u: undone", round);
        tap_check(pair_same(&pair), "round %u: something has changed", round);
        pair_free(&pair);
    }
}

int main(void)
{
    tap_run("the worked example: two keys with equal cells", worked_example);
    tap_run("a cell hit twice by one key counts it once", hit_twice);
    tap_run("a cell stays at 15; its neighbour in the byte is left alone", saturation);
    tap_run_long("any additions and removals, all g and f", adds_and_removes);
    tap_run("a removal that stopped anywhere is undone", restored);
    tap_run("what is not such a removal is left alone", not_restored);
    return tap_end();
}
