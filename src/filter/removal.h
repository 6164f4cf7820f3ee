/*
 * removal - removes keys from a counting filter.
 */
#ifndef UNSEEN_FILTER_REMOVAL_H
#define UNSEEN_FILTER_REMOVAL_H

#include "core/hash.h"
#include "filter/filter.h"

/* What became of a line that was to be removed. */
enum removal {
    REMOVAL_DONE,
    REMOVAL_ABSENT,   /* it was not in */
    REMOVAL_AMBIGUOUS /* several layers seem to have it, all but one falsely: nothing was done */
};

/* Removes up to BATCH_KEYS keys from a counting filter, in order; removals[i] is an enum removal.
 * Keys in flight are not in. Returns how many were removed, or -1 with the fault: none was, then.
 * If the process is killed, each key is removed completely or not at all. */
ptrdiff_t removal_remove(struct filter *filter, const struct key *keys, size_t n, uint8_t *removals,
                         struct fault *fault);

/* Whether a removal was killed, so that the next writer will undo its last key. */
bool removal_is_unfinished(const struct filter *filter);

#endif
