/* segment - the files of a queue, and their records; see queue.h. */
#include "queue/internal.h"

#include "core/bytes.h"
#include "system/io.h"
#include "system/map.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENT_NAME "%010" PRIu64 /* of its number */

int segments_find(struct segments *segments, int directory, const char *path, uint64_t after,
                  struct fault *fault)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    bool old = false;
    *segments = (struct segments){.next = 0};
    if (entries == NULL)
        return fault_errno(fault, path, NULL, errno);
    for (errno = 0; !old && (entry = readdir(entries)) != NULL;) {
        const char *name = entry->d_name;
        bool digits = strspn(name, "0123456789") == 10 && name[10] == '\0';
        uint64_t number = digits ? strtoull(name, NULL, 10) : 0;
        if (number > segments->last)
            segments->last = number;
        if (number > after && (segments->next == 0 || number < segments->next))
            segments->next = number;
        if (number == 0 && name[0] != '.')
            strcpy(segments->foreign, name);
        old = strcmp(name, "state") == 0; /* of an older layout */
    }
    int error = errno;
    closedir(entries);
    if (!old)
        return error == 0 ? 0 : fault_errno(fault, path, NULL, error);
    fault_set(fault, path, "was made by an older version of unseen");
    return fault_way_out(fault, "move it away, and push its lines again");
}

int segment_open(const struct queue *queue, uint64_t number, int flags, struct fault *fault)
{
    char path[SIDE_FILE_NAME_MAX + 24];
    snprintf(path, sizeof path, "%s/" SEGMENT_NAME, queue->path, number);
    if (number <= 9999999999)
        return side_file_open(path, flags, &queue->filter_stat, fault);
    fault_set(fault, queue->path, "the segment numbers are used up");
    fault->error = ENOENT;
    return -1;
}

int segment_open_next(const struct queue *queue, struct segment *segment, int flags,
                      struct fault *fault)
{
    struct segments found = {.next = segment->number + 1};
    /* Usually it has the next number. */
    for (bool look = segment->number == 0;; look = true) {
        if (look &&
            segments_find(&found, queue->directory, queue->path, segment->number, fault) != 0)
            return -1;
        if (found.next == 0)
            return 0;
        int fd = segment_open(queue, found.next, flags, fault);
        if (fd < 0 && fault->error == ENOENT)
            continue;
        if (fd >= 0)
            *segment = (struct segment){.number = found.next, .fd = fd};
        return fd >= 0 ? 1 : -1;
    }
}

int segment_measure(int fd, char delimiter, uint64_t *size, uint64_t *end, const char *name,
                    struct fault *fault)
{
    char bytes[4096];
    struct stat status;
    size_t whole = 0;
    if (fstat(fd, &status) != 0)
        return fault_errno(fault, name, NULL, errno);
    *size = *end = (uint64_t)status.st_size;
    while (whole == 0 && *end > 0) {
        size_t length = *end == *size ? 1 : *end < sizeof bytes ? (size_t)*end : sizeof bytes;
        if (io_read_at(fd, bytes, length, *end - length) != length)
            /* Without errno, another process has cut off the rest meanwhile. */
            return errno != 0 ? fault_errno(fault, name, NULL, errno)
                              : segment_measure(fd, delimiter, size, end, name, fault);
        whole = whole_lines(bytes, length, delimiter);
        *end -= length - whole;
    }
    return 0;
}

int segment_map(struct segment *segment, bool write, char delimiter, const char *name,
                struct fault *fault)
{
    uint64_t end = 0;
    char *bytes = NULL;
    if (segment_measure(segment->fd, delimiter, &segment->size, &end, name, fault) != 0)
        return -1;
    if (end > SIZE_MAX)
        return fault_errno(fault, name, "cannot be mapped", EFBIG);
    if (end == segment->length)
        return 0;
    if (end > 0 && (bytes = map_file(segment->fd, write, 0, (size_t)end, name, fault)) == NULL)
        return -1;
    if (segment->length > 0)
        map_drop(segment->bytes, segment->length);
    segment->bytes = bytes;
    segment->length = (size_t)end;
    return 0;
}

void segment_close(struct segment *segment)
{
    if (segment->length > 0)
        map_drop(segment->bytes, segment->length);
    segment->length = 0;
    close(segment->fd);
}

void segment_remove_if_done(const struct queue *queue, const struct segment *segment)
{
    char name[24];
    struct stat status;
    struct record record = {.end = 0};
    while (segment_next(segment, record.end, queue->plan.delimiter, &record))
        if (record.status != '-')
            return;
    /* Another file may have its name by now. */
    if (fstat(segment->fd, &status) != 0 || status.st_nlink == 0)
        return;
    snprintf(name, sizeof name, SEGMENT_NAME, segment->number);
    unlinkat(queue->directory, name, 0);
}

bool segment_next(const struct segment *segment, size_t from, char delimiter, struct record *record)
{
    const char *bytes = segment->bytes;
    while (from < segment->length && bytes[from] == '\0')
        from++;
    record->at = from;
    size_t length = from < segment->length
                        ? first_line(bytes + from, segment->length - from, delimiter)
                        : 0;
    if (length == 0)
        return false;
    record->end = from + length;
    record->status = bytes[from];
    return true;
}

int segment_lock(const struct segment *segment, short type, size_t from, size_t to)
{
    struct flock flock = {.l_type = type, .l_start = (off_t)from, .l_len = (off_t)(to - from)};
    if (fcntl(segment->fd, F_OFD_SETLK, &flock) == 0)
        return 1;
    return errno == EAGAIN || errno == EACCES ? 0 : -1;
}

/* The kernel reports any lock in the range, not always the first. */
bool segment_is_held(const struct segment *segment, uint64_t at, uint64_t *until)
{
    for (;;) {
        struct flock flock = {.l_type = F_WRLCK,
                              .l_start = (off_t)at,
                              .l_len = (off_t)(*until - at)};
        if (fcntl(segment->fd, F_OFD_GETLK, &flock) != 0 || flock.l_type == F_UNLCK)
            return false;
        uint64_t start = (uint64_t)flock.l_start, length = (uint64_t)flock.l_len;
        *until = start > at ? start : length != 0 ? start + length : UINT64_MAX;
        if (start <= at)
            return true;
    }
}
