/*
 * join - the pages of several layers of one shape, read as one layer: what it would be if all their
 * keys had been set in it.
 *
 * A cell of the joint layer is the OR of the others' bits; of counts, their sum, and 15 stays 15.
 * So the order does not matter, and the joint page is the page that one filter of all keys has, bit
 * for bit. Keys that are in several layers are counted once by the bits, and as often as they are
 * in by counts.
 */
#ifndef UNSEEN_CORE_JOIN_H
#define UNSEEN_CORE_JOIN_H

#include "core/estimate.h"

/* Whether two layers are of one shape: equal pages and geometry. */
bool join_is_possible(const struct bits *a, const struct bits *b);

/* `pages` joint pages, from `first` on, of n >= 1 layers of one shape. About 0.1 us a
 * page and layer. */
void join_pages(const struct bits *const *layers, size_t n, uint64_t first, unsigned pages,
                uint8_t *to);

#endif
