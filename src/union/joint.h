/*
 * joint - layers of one shape, read as if they were one: with all keys of all of them.
 */
#ifndef UNSEEN_UNION_JOINT_H
#define UNSEEN_UNION_JOINT_H

#include "core/join.h"

enum { JOINT_RUN = 256 }; /* pages to read at a time */

/* Estimates the joint layer of n >= 1 layers of one shape from all its runs of pages, or from one
 * in `step`. Returns 0, or -1: a signal came. */
int joint_estimate(const struct bits *const *layers, size_t n, uint64_t step,
                   struct estimate *estimate);

#endif
