/*
 * parts - what filters for parts of a list are a filter for when they become one.
 */
#ifndef UNSEEN_UNION_PARTS_H
#define UNSEEN_UNION_PARTS_H

#include "store/store.h"

/* All parts of a list, each once or several times, are the list; one part alone is that part. A
 * filter for all of the list among parts does not stand for any of them: what is in it is not known
 * to be all that theirs would have.
 *
 * Sets *joint; or returns -1 with the fault, which names the parts that are missing. Precondition:
 * those inputs that are for a part are of the same number of parts. */
int parts_join(struct store *const *inputs, size_t count, struct shard *joint, struct fault *fault);

#endif
