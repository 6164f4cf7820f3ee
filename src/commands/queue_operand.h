/*
 * queue_operand - the queue of a FILTER operand.
 */
#ifndef UNSEEN_COMMANDS_QUEUE_OPERAND_H
#define UNSEEN_COMMANDS_QUEUE_OPERAND_H

#include "filter/store.h"
#include "queue/queue.h"

/* Opens it. NULL after a message. */
struct queue *queue_operand(const struct store *store, enum queue_use use, char delimiter,
                            uint64_t max_line);

/* What is in it, for a report. Returns 0 with the facts; 1 if its directory is missing, with the
 * fault; or EXIT_TROUBLE after a message. */
int queue_operand_facts(const struct store *store, struct queue_facts *facts, struct fault *fault);

#endif
