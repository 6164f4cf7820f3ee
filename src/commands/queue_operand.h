/*
 * queue_operand - the queue of a FILTER operand, open for pushing and popping.
 */
#ifndef UNSEEN_COMMANDS_QUEUE_OPERAND_H
#define UNSEEN_COMMANDS_QUEUE_OPERAND_H

#include "queue/queue.h"
#include "store/store.h"

/* Opens it; lines end with `delimiter`, and with `pushes` that is settled by it if it is not yet.
 * None may be longer than max_line. NULL after a message. `store` must outlive it. */
struct queue *queue_operand(const struct store *store, char delimiter, bool pushes,
                            uint64_t max_line);

bool queue_operand_has(const struct store *store);

/* Opens it to be looked at. NULL after a message. */
struct queue *queue_operand_to_read(const struct store *store);

#endif
