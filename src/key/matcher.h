/*
 * matcher - leaves out of a value what a pattern matches, in time linear in bytes times nodes of
 * the pattern, whatever these are.
 *
 *   1. From the end of the value to its beginning: which items can take the byte at each place, and
 *      then come to the end of a match? That depends only on the byte, on what was known one byte
 *      to the right, and on the bytes beside the place. So it is a state, which is made when it is
 *      met for the first time, and found in a table from then on: a load for each byte.
 *   2. From the beginning: at each place where a match begins, steps are taken in the order of the
 *      pattern. An item that can take the byte is right, since it is known that it leads to the end
 *      of a match: nothing is tried in vain, and no byte is read twice. These choices, too, are
 *      remembered.
 *
 * The obvious way, to try and go back, takes exponential time for some patterns, or quadratic time
 * if what failed is remembered only for one beginning.
 */
#ifndef UNSEEN_KEY_MATCHER_H
#define UNSEEN_KEY_MATCHER_H

#include "key/program.h"

struct matcher;

/* For one thread at a time. Return NULL if memory is short. Up to 1.5 KB are used for each byte of
 * the longest value, for most patterns below 100 bytes. */
struct matcher *matcher_new(const struct pattern *pattern);
void matcher_free(struct matcher *matcher);

/* Leaves out of a value of at most 65,536 bytes what matches. Returns it, if nothing does; else
 * what is left, in `buffer`, which has as many bytes, and where the value may be. */
struct span matcher_leave_out(struct matcher *matcher, struct span value, char *buffer);

#endif
