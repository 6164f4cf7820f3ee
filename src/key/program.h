/*
 * program - a pattern as steps, for the matcher.
 *
 * A byte of the pattern is an item: a set of bytes that one byte of the value must be in. Items
 * have a bit each, so that all that can be said of them at one place of a value is a few words.
 * Steps are taken from the first one on:
 *
 *   ITEMS   items first..second - 1, one after another; some may be left out, or repeated
 *   SPLIT   from step `first` on, and else from `second` on
 *   JUMP    from step `first` on
 *   PLACE   only if the bytes beside this place are as it wants
 *   LOOP    from step `first` on, and else from the next one on; if it is lazy, the other way
 *           round. Only from the next one on if the loop is idle, one whose iterations may take no
 *           byte, and this one took none
 *   MATCH   the end
 *
 * All but LOOP lead to later steps.
 */
#ifndef UNSEEN_KEY_PROGRAM_H
#define UNSEEN_KEY_PROGRAM_H

#include "key/pattern.h"

enum step_kind { STEP_ITEMS, STEP_SPLIT, STEP_JUMP, STEP_PLACE, STEP_LOOP, STEP_MATCH };

enum { NOT_IDLE = UINT16_MAX };

struct step {
    uint8_t kind;
    bool lazy;              /* LOOP */
    bool passes;            /* ITEMS: all of them may be left out; */
    bool plain;             /* or none */
    uint8_t place;          /* PLACE */
    bool at_end;            /* PLACE: or at the beginning, or at the end, of the value */
    uint16_t first, second; /* steps or items; PLACE: the set */
    uint16_t loops;         /* idle loops around it */
    uint16_t idle;          /* LOOP: idle loops around this one; NOT_IDLE: it is none */
    uint32_t visits;        /* the sum of loops + 1 of all steps before */
};

struct item {
    bool optional; /* it may be left out, */
    bool repeats;  /* or taken any number of times; */
    bool lazy;     /* what takes fewer is tried first */
    uint16_t skip; /* the item to go on with if it is left out */
    uint16_t step; /* to which it belongs */
    uint16_t set;
};

struct program {
    unsigned steps, items;
    unsigned words;   /* of bits for the items */
    unsigned visits;  /* loops + 1 of all steps */
    unsigned pending; /* the most choices that can be left for later at one place */
    unsigned classes; /* of bytes that no set tells apart */
    bool is_one_set;  /* all bytes of a set are left out: `keeps` is 0 */
    bool looks_back;  /* at the byte before a place */
    int must;         /* a byte without which nothing matches; -1: there is none */
    unsigned before;  /* bytes of a match before the first `must` that it can have, at most */
    struct step *step;
    struct item *item;
    uint64_t *optional, *repeats; /* of the items */
    uint64_t *inner;              /* those that are not the last ones of plain steps */
    uint64_t *taking;             /* for each class: which items take a byte of it */
    uint8_t *within;              /* for each set, and each class in it: 1 */
    uint16_t right[257];          /* for each class, and after the end: the first one that no place
                                   * tells from it if it stands on the right */
    uint8_t class_of[256];
    uint8_t keeps[256];
};

/* Makes the program of a pattern. Returns 0, or -1 if memory is short; then, too, it is to be
 * freed. */
int program_make(const struct pattern *pattern, struct program *program);
void program_free(struct program *program);

#endif
