/* facts - counts what is in a queue, without the lock; see queue.h. */
#include "queue/internal.h"

#include "core/bytes.h"
#include "format/shared.h"
#include "io/side_file.h"
#include "system/io.h"
#include "text/number.h"
#include "text/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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
        facts->removed += record.status == '-';
        facts->unknown += !waits && record.status != '-';
        facts->cut += record.at - from;
    }
    facts->cut += segment->size - from;
}

static int count_segments(struct queue *queue, struct queue_facts *facts, struct fault *fault)
{
    struct segments found;
    struct segment segment = {.number = 0};
    int result;
    if (segments_find(&found, queue->directory, queue->path, 0, fault) != 0)
        return -1;
    strcpy(facts->foreign, found.foreign);
    while ((result = queue_next_segment(queue, &segment, O_RDONLY, fault)) > 0) {
        result = segment_map(&segment, false, queue->plan.delimiter, queue->path, fault);
        count_records(&segment, queue->plan.delimiter, facts);
        segment_close(&segment);
        if (result != 0)
            return -1;
    }
    return result;
}

static int count_given_up(struct queue *queue, struct queue_facts *facts, struct fault *fault)
{
    struct segment segment = {.number = 0};
    char delimiter = queue->plan.delimiter;
    segment.fd = side_file_open(queue->failed_path, O_RDONLY, &queue->filter_stat, fault);
    if (segment.fd < 0)
        return fault->error == ENOENT || fault->error == ENAMETOOLONG ? 0 : -1;
    int result = segment_map(&segment, false, delimiter, queue->failed_path, fault);
    if (segment.length > 0)
        facts->given_up = count_byte(segment.bytes, segment.length, delimiter);
    segment_close(&segment);
    return result;
}

int queue_facts(const char *filter, struct queue_facts *facts, struct fault *fault)
{
    struct queue *queue = queue_open(filter, &(struct queue_plan){.use = QUEUE_LOOK}, fault);
    *facts = (struct queue_facts){0};
    if (queue == NULL)
        return fault->error == ENOENT ? 1 : -1;
    int result = 0;
    if (queue->directory >= 0)
        result = count_segments(queue, facts, fault) == 0 ? count_given_up(queue, facts, fault)
                                                          : -1;
    queue_close(queue);
    return result;
}

/* --- what another filter has left --- */

/* With both delimiters: nothing says which of them ends the records. */
int queue_look_left(struct queue *queue, struct left *left, struct fault *fault)
{
    uint64_t most = 0;
    char own = queue->plan.delimiter;
    int result = 0;
    *left = (struct left){.delimiter = own};
    queue->directory = side_file_open_directory(queue->path, &queue->filter_stat,
                                                &queue->directory_stat, fault);
    if (queue->directory < 0)
        return fault->error == 0 || fault->error == ENOENT || fault->error == ENOTDIR ||
                       fault->error == ENAMETOOLONG
                   ? 0
                   : -1;
    left->is_queue = true;
    for (int pass = 0; pass < 2 && result == 0; pass++) {
        struct queue_facts facts = {0};
        queue->plan.delimiter = pass == 0 ? '\n' : '\0';
        result = count_segments(queue, &facts, fault);
        if (result == 0)
            result = count_given_up(queue, &facts, fault);
        uint64_t records = facts.waiting + facts.held + facts.removed;
        if (pass > 0 && records <= most)
            continue;
        left->facts = facts;
        left->delimiter = records > 0 ? queue->plan.delimiter : own;
        most = records;
    }
    queue->plan.delimiter = own;
    close(queue->directory);
    queue->directory = -1;
    return result;
}

int queue_refuse_left(const struct queue *queue, const struct left *left, uint8_t kind, bool exists,
                      struct fault *fault)
{
    char name[SIDE_FILE_NAME_MAX], side[QUOTE_MAX], filter[QUOTE_MAX];
    uint64_t waiting = left->facts.waiting + left->facts.held;
    uint64_t lines = waiting > 0 ? waiting : left->facts.given_up;
    const char *path = queue->filter_path, *zero = left->delimiter == '\0' ? " -z" : "";
    const char *them = number_of(lines, "it", "them"), *rm = waiting > 0 ? "rm -r" : "rm";
    if (lines == 0)
        return 0;
    quote_file(path, filter);
    side_file_shown(path, waiting > 0 ? ".queue" : ".failed", name);
    quote_file(name, side);
    fault_set(fault, path, "%" PRIu64 " %s in %.150s%s", lines,
              waiting > 0 ? number_of(lines, "line waits", "lines wait")
                          : number_of(lines, "line was given up", "lines were given up"),
              name, kind == QUEUE_NONE && exists ? ", but this filter has no queue" : "");
    if (kind != QUEUE_NONE && waiting > 0)
        return fault_way_out(fault, "work %s off: unseen pop%s %s; or drop %s: %s %s", them, zero,
                             filter, them, rm, side);
    return fault_way_out(fault, "to queue %s again: unseen push%s --failed%s %s; or drop %s: %s %s",
                         them, exists ? "" : " --create", zero, filter, them, rm, side);
}

int queue_check_left(const char *filter, struct fault *fault)
{
    struct left left;
    uint8_t before = QUEUE_NONE, kind = QUEUE_NONE;
    struct queue *queue = queue_new(filter, &(struct queue_plan){.use = QUEUE_LOOK}, fault);
    if (queue == NULL)
        return -1;
    queue->filter = open(filter, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool exists = queue->filter >= 0 && fstat(queue->filter, &queue->filter_stat) == 0 &&
                  io_read_at(queue->filter, &before, 1, QUEUE_AT) == 1;
    int result = queue_look_left(queue, &left, fault);
    /* Another process may have made the queue just now. */
    bool made = exists && before == QUEUE_NONE &&
                io_read_at(queue->filter, &kind, 1, QUEUE_AT) == 1 && kind != before;
    if (result == 0 && !made)
        result = queue_refuse_left(queue, &left, before, exists, fault);
    queue_close(queue);
    return result;
}
