#include "commands/queue_operand.h"

#include "commands/message.h"
#include "core/number.h"

#include <inttypes.h>

static void tell_waits(void *context, bool to_the_end)
{
    message_waits((void *)queue_path(context), to_the_end);
}

bool queue_operand_has(const struct store *store)
{
    return (store_header(store)->writer_features & WRITER_QUEUE) != 0;
}

struct queue *queue_operand(const struct store *store, char delimiter, bool pushes,
                            uint64_t max_line)
{
    struct fault fault;
    const struct header *header = store_header(store);
    const char *path = store_path(store);
    if (!queue_operand_has(store)) {
        message("%s: was made without a queue (only a new filter can have one: unseen create "
                "--queue NEW)",
                path);
        return NULL;
    }
    struct queue *queue = queue_open(store_real_path(store), header->uuid, true,
                                     QUEUE_SEGMENT_BYTES, &fault);
    if (queue != NULL) {
        uint64_t lost = 0;
        queue_set_waits(queue, tell_waits);
        queue_set_max_line(queue, max_line);
        bool mended = queue_mend(queue, &lost, &fault) == 0;
        if (lost > 0)
            message("%s: %" PRIu64 " %s %s lost in a crash: not yet on disk (to prevent that: push "
                    "--durable)",
                    queue_path(queue), lost, number_lines(lost), number_of(lost, "was", "were"));
        if (mended && queue_set_delimiter(queue, delimiter, pushes, &fault) == 0)
            return queue;
        queue_close(queue);
    }
    message_fault(&fault);
    return NULL;
}

struct queue *queue_operand_to_read(const struct store *store)
{
    struct fault fault;
    struct queue *queue = queue_open(store_real_path(store), store_header(store)->uuid, false, 0,
                                     &fault);
    if (queue == NULL)
        message_fault(&fault);
    return queue;
}
