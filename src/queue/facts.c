/* facts - counts what is in a queue, without the lock; see queue.h. */
#include "queue/internal.h"

#include "core/bytes.h"
#include "system/side_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static void count_records(const struct segment *segment, char delimiter, struct queue_facts *facts)
{
    struct record record = {.end = 0};
    uint64_t until = 0, from = 0;
    bool held = false;
    for (; segment_next(segment, from, delimiter, &record); from = record.end) {
        bool waits = record_waits(&record);
        if (waits && record.at >= until) {
            until = segment->length;
            held = segment_is_held(segment, record.at, &until);
        }
        facts->held += waits && held;
        facts->waiting += waits && !held;
        facts->unknown += !waits && record.status != '-';
        facts->cut += record.at - from;
    }
    facts->cut += segment->size - from;
}

static int look(struct queue *queue, struct queue_facts *facts, struct fault *fault)
{
    struct segments found;
    struct segment segment = {.number = 0};
    char delimiter = queue->plan.delimiter;
    int result;
    *facts = (struct queue_facts){0};
    if (queue->directory < 0)
        return 0;
    if (segments_find(&found, queue->directory, queue->path, 0, fault) != 0)
        return -1;
    strcpy(facts->foreign, found.foreign);
    while ((result = queue_next_segment(queue, &segment, O_RDONLY, fault)) > 0) {
        result = segment_map(&segment, false, delimiter, queue->path, fault);
        count_records(&segment, delimiter, facts);
        segment_close(&segment);
        if (result != 0)
            return -1;
    }
    if (result < 0)
        return -1;
    segment.length = 0;
    segment.fd = side_file_open(queue->failed_path, O_RDONLY, &queue->filter_stat, fault);
    if (segment.fd < 0)
        return fault->error == ENOENT ? 0 : -1;
    result = segment_map(&segment, false, delimiter, queue->failed_path, fault);
    if (segment.length > 0)
        facts->given_up = count_byte(segment.bytes, segment.length, delimiter);
    segment_close(&segment);
    return result;
}

int queue_facts(const char *filter, struct queue_facts *facts, struct fault *fault)
{
    struct queue *queue = queue_open(filter, &(struct queue_plan){.use = QUEUE_LOOK}, fault);
    if (queue == NULL)
        return fault->error == ENOENT ? 1 : -1;
    int result = look(queue, facts, fault);
    queue_close(queue);
    return result;
}
