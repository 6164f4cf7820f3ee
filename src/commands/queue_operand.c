#include "commands/queue_operand.h"

#include "commands/message.h"

#include <errno.h>

struct queue *queue_operand(const struct store *store, enum queue_use use, char delimiter,
                            uint64_t max_line)
{
    struct fault fault;
    struct queue_plan plan = {use, delimiter, max_line, message_waits};
    struct queue *queue = queue_open(store_real_path(store), &plan, &fault);
    if (queue == NULL)
        message_fault(&fault);
    return queue;
}

int queue_operand_facts(const struct store *store, struct queue_facts *facts, struct fault *fault)
{
    struct queue_plan plan = {.use = QUEUE_LOOK};
    struct queue *queue = queue_open(store_real_path(store), &plan, fault);
    if (queue == NULL)
        return fault->error == ENOENT ? 1 : message_fault(fault);
    int result = queue_facts(queue, facts, fault);
    queue_close(queue);
    return result == 0 ? 0 : message_fault(fault);
}
