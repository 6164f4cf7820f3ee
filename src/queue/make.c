/*
 * make - a queue where there was none; see queue.h.
 *
 * A directory is a queue once its state has its name, which it gets whole or not at all, and the
 * first one stays (newfile.h). Of many who make the queue of one new filter at once, one makes it,
 * and the others use what he has made; a filter takes its UUID from the queue that it finds. So
 * whichever of their filters gets the name, the two belong together, and a kill on the way leaves
 * nothing but a queue that was never used, for the next filter of that name.
 */
#include "queue/internal.h"

#include "system/network.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int fault_taken(const struct queue *queue, struct fault *fault)
{
    fault_set(fault, queue->path, "belongs to an earlier filter, and may still have lines");
    return fault_way_out(fault, "name another filter; or pop or save its lines, and move it away");
}

/* But for what somebody may be making of it: a state, under its own name or a temporary one. */
static bool is_empty(int directory)
{
    bool empty = true;
    DIR *stream = segment_directory(directory);
    if (stream == NULL)
        return false;
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream))
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, "state", 5) != 0)
            empty = false;
    closedir(stream);
    return empty;
}

/* Returns 1 if a queue is there that was never used; 0 if there is none, and room for one; -1. */
static int look(struct queue *queue, struct fault *fault)
{
    if (queue_open_directory(queue, fault) != 0)
        return fault->error == ENOENT ? 0 : -1;
    if (!is_empty(queue->directory))
        return fault_taken(queue, fault);
    int there = queue_open_state(queue, false, fault);
    if (there <= 0)
        return there;
    if (queue_load(queue, fault) != 0)
        return -1;
    return queue_state_tail(&queue->state) == 0 && !queue->state.known ? 1
                                                                       : fault_taken(queue, fault);
}

int queue_check_free(const char *filter, struct fault *fault)
{
    struct queue *queue = queue_new(filter, fault);
    int result = queue != NULL ? look(queue, fault) : -1;
    queue_close(queue);
    return result < 0 ? -1 : 0;
}

/* No more than queue_follow will allow, from the beginning. */
static mode_t directory_mode(const struct stat *like)
{
    mode_t mode = (like->st_mode & 0666) | 0600;
    return mode | (mode & 0444) >> 2;
}

/* Returns 0; 1 if somebody else was quicker, with one step or another; -1. */
static int attempt(const char *filter, const struct stat *like, uint8_t uuid[UUID_BYTES],
                   struct fault *fault)
{
    struct queue *queue = queue_new(filter, fault);
    if (queue == NULL)
        return -1;
    queue->like = *like;
    bool made = mkdir(queue->path, directory_mode(like)) == 0;
    int result = made || errno == EEXIST ? look(queue, fault)
                                         : fault_errno(fault, queue->path, NULL, errno);
    if (result >= 0 && queue->directory >= 0 &&
        network_check(queue->directory, queue->path, fault) != 0)
        result = -1;
    if (result == 0 && queue->directory < 0) {
        result = 1; /* gone again: what has the name by now was not looked at */
    } else if (result == 1) {
        memcpy(uuid, queue->head.uuid, UUID_BYTES);
        result = 0;
    } else if (result == 0) {
        memcpy(queue->head.uuid, uuid, UUID_BYTES);
        queue->head.segment_bytes = QUEUE_SEGMENT_BYTES;
        queue_follow(queue, queue->directory);
        result = queue_make_state(queue);
        if (result < 0 && errno == ENOENT)
            result = 1;
        else if (result < 0)
            fault_errno(fault, queue->path, "its file state cannot be made", errno);
    }
    /* Anyone else who was about to use it makes it again. */
    if (result < 0 && made)
        (void)rmdir(queue->path);
    queue_close(queue);
    return result;
}

int queue_make(const char *filter, const struct stat *like, uint8_t uuid[UUID_BYTES],
               struct fault *fault)
{
    int result = 1;
    for (unsigned i = 0; i < 100 && result > 0; i++)
        result = attempt(filter, like, uuid, fault);
    return result > 0 ? fault_errno(fault, filter, "its queue cannot be made", EAGAIN) : result;
}
