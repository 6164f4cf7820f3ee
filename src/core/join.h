/*
 * join - combines the pages of several layers of one shape: the result is, bit for bit, the page
 * that a single layer with all their keys would have.
 *
 * Bits are combined by OR. Counting cells are added, up to 15. In either case the order of the
 * layers does not matter. A key that is in several layers is in the bits once, and in the counting
 * cells once per layer.
 */
#ifndef UNSEEN_CORE_JOIN_H
#define UNSEEN_CORE_JOIN_H

#include "core/estimate.h"

/* Whether two layers have one shape: the same number of pages and the same geometry. */
bool join_is_possible(const struct bits *a, const struct bits *b);

/* Writes `pages` combined pages of n >= 1 layers of one shape to `to`, from page `first` on. About
 * 0.1 us per page and layer. */
void join_pages(const struct bits *const *layers, size_t n, uint64_t first, unsigned pages,
                uint8_t *to);

#endif
