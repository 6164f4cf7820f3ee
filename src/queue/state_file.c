/* state_file - FILTER.queue/state on disk: making, opening, reading, writing; see internal.h. */
#include "queue/internal.h"

#include "store/newfile.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { PAGE = 4096 };

static bool reads(const struct queue *queue, void *bytes, size_t length, uint64_t at)
{
    return whole_read_at(queue->fd, bytes, length, at) == length;
}

static bool writes(int fd, const void *bytes, size_t length, uint64_t at)
{
    return whole_write_at(fd, bytes, length, at) == length;
}

static uint64_t copy_at(unsigned copy)
{
    return QUEUE_HEAD_BYTES + (uint64_t)copy * QUEUE_COPY_BYTES;
}

/* --- made --- */

static int fill(int fd, const void *context)
{
    const struct queue *queue = context;
    uint8_t head[QUEUE_HEAD_BYTES];
    size_t length = queue_state_length(queue->copies[0]);
    queue_head_encode(&queue->head, head);
    whole_write_in_place(fd); /* lines must be taken off a full disk, too */
    if (whole_allocate(fd, 0, QUEUE_STATE_BYTES) != 0 || !writes(fd, head, sizeof head, 0) ||
        !writes(fd, queue->copies[0], length, copy_at(0)) ||
        !writes(fd, queue->copies[0], length, copy_at(1)))
        return -1;
    queue_follow(queue, fd);
    return 0;
}

int queue_make_state(struct queue *queue)
{
    char path[BESIDE_MAX + 8];
    snprintf(path, sizeof path, "%s/state", queue->path);
    queue->state.sequence = 1;
    queue_state_encode(&queue->state, queue->copies[0]);
    return newfile_make(&(struct newfile_plan){.path = path, .fill = fill, .context = queue});
}

/* --- opened --- */

static bool open_file(struct queue *queue, bool write)
{
    int access = write ? O_RDWR : O_RDONLY;
    queue->fd = openat(queue->directory, "state", access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return queue->fd >= 0;
}

/* Only a directory without lines can be without a state: none was made in it yet. */
static int look_for_lines(struct queue *queue, bool write, struct fault *fault)
{
    struct segment_list list;
    if (segment_list_read(&list, queue->directory) != 0)
        return queue_fault_segment(queue, fault);
    bool lines = list.count > 0;
    segment_list_free(&list);
    /* By now there may be both. */
    if (!lines || open_file(queue, write))
        return 0;
    return queue_damaged(queue, "it has lines, and no state", fault);
}

static int check_file(struct queue *queue, struct fault *fault)
{
    struct stat status;
    uint8_t head[QUEUE_HEAD_BYTES];
    if (fstat(queue->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return queue_damaged(queue, "its state is not a plain file", fault);
    if (status.st_size < QUEUE_STATE_BYTES)
        return queue_damaged(queue, "its state is cut off", fault);
    if (!reads(queue, head, sizeof head, 0))
        return fault_errno(fault, queue->path, NULL, errno != 0 ? errno : EIO);
    if (queue_head_decode(head, queue->path, &queue->head, fault) == 0)
        return 1;
    return fault->way_out[0] == '\0' ? queue_way_out(queue, fault) : -1;
}

int queue_open_state(struct queue *queue, bool write, struct fault *fault)
{
    if (!open_file(queue, write) && errno == ENOENT) {
        if (look_for_lines(queue, write, fault) != 0)
            return -1;
        if (queue->fd < 0 && !write)
            return 0;
        if (queue->fd < 0 && queue_make_state(queue) < 0)
            return fault_errno(fault, queue->path, "its file state cannot be made", errno);
        if (queue->fd < 0)
            (void)open_file(queue, write);
    }
    if (queue->fd >= 0)
        return check_file(queue, fault);
    fault_errno(fault, queue->path, "its state", errno);
    if (fault->error == EACCES)
        fault_way_out(fault,
                      "ask its owner to give you the access that you have to the filter: chmod");
    return -1;
}

/* --- read and written --- */

/* Most copies are shorter than a page. */
static bool read_copy(struct queue *queue, unsigned copy)
{
    uint8_t *bytes = queue->copies[copy];
    uint64_t at = copy_at(copy);
    if (!reads(queue, bytes, PAGE, at))
        return false;
    size_t length = queue_state_length(bytes);
    return length <= PAGE || reads(queue, bytes + PAGE, length - PAGE, at + PAGE);
}

int queue_load(struct queue *queue, struct fault *fault)
{
    if (!read_copy(queue, 0) || !read_copy(queue, 1))
        return queue_damaged(queue, "its state cannot be read", fault);
    unsigned newer = load64(queue->copies[1] + 8) > load64(queue->copies[0] + 8);
    if (!queue_state_decode(queue->copies[newer], &queue->state)) {
        newer = !newer;
        if (!queue_state_decode(queue->copies[newer], &queue->state))
            return queue_damaged(queue, "both copies of its state are damaged", fault);
    }
    queue->older = !newer;
    return 0;
}

/* Writes what was encoded. Of several pages, it is on disk before the other copy is touched
 * (state.c). */
static bool write_copy(const struct queue *queue, unsigned copy, size_t length)
{
    return writes(queue->fd, queue->copies[0], length, copy_at(copy)) &&
           (length <= PAGE || fdatasync(queue->fd) == 0);
}

int queue_save(struct queue *queue, struct fault *fault)
{
    /* What nobody could read again is not written over what can be read. */
    if (!queue_state_is_sound(&queue->state))
        return fault_set(fault, queue->path, "a change would damage its state, and was not made");
    queue->state.sequence++;
    size_t length = queue_state_encode(&queue->state, queue->copies[0]);
    if (!write_copy(queue, queue->older, length))
        return fault_errno(fault, queue->path, "its state cannot be written", errno);
    /* Now the state is the new one. In the other copy, too, so that one that is damaged takes
     * nothing with it. */
    (void)write_copy(queue, !queue->older, length);
    return 0;
}
