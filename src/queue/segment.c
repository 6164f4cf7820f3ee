#include "queue/segment.h"

#include "system/path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct segment_name segment_name(uint64_t start)
{
    struct segment_name name;
    snprintf(name.text, sizeof name.text, "%020" PRIu64, start);
    return name;
}

/* Where others can give a name to a file, it may be the second name of one that lies elsewhere, and
 * that they may not write to. The name is asked, not the open file: from that it may be gone again,
 * and the other one be the only one. */
static bool is_only_name(int directory, const char *name, const struct stat *file)
{
    struct stat around, named;
    if (fstat(directory, &around) == 0 && (around.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return true;
    return fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           path_same_file(&named, file) && named.st_nlink == 1;
}

int segment_open_named(int directory, const char *name, int flags)
{
    struct stat status;
    flags |= O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = openat(directory, name, flags, 0600);
    if (fd < 0) {
        if (errno == ELOOP || errno == EISDIR || errno == ENXIO)
            errno = EINVAL;
        return -1;
    }
    bool reads = (flags & O_ACCMODE) == O_RDONLY;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        (reads || is_only_name(directory, name, &status)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

int segment_open(int directory, uint64_t start, int flags)
{
    return segment_open_named(directory, segment_name(start).text, flags);
}

int segment_length(int directory, uint64_t start, uint64_t *length)
{
    struct stat status;
    if (fstatat(directory, segment_name(start).text, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    *length = (uint64_t)status.st_size;
    if (S_ISREG(status.st_mode) && start <= SEGMENT_END_MAX && *length <= SEGMENT_END_MAX - start)
        return 0;
    errno = EINVAL;
    return -1;
}

int segment_remove(int directory, uint64_t start)
{
    return unlinkat(directory, segment_name(start).text, 0);
}

/* --- the list --- */

DIR *segment_directory(int directory)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (stream == NULL && fd >= 0)
        close(fd);
    return stream;
}

/* Returns 1; 0 if it is a name of another kind; -1 with EINVAL. */
static int position_of(const char *name, uint64_t *start)
{
    if (name[0] < '0' || name[0] > '9')
        return 0;
    *start = strtoull(name, NULL, 10);
    if (*start <= SEGMENT_END_MAX && strcmp(name, segment_name(*start).text) == 0)
        return 1;
    errno = EINVAL;
    return -1;
}

static int add(struct segment_list *list, uint64_t start)
{
    /* Full at each power of two. */
    if ((list->count & (list->count - 1)) == 0) {
        size_t room = list->count == 0 ? 1 : 2 * list->count;
        uint64_t *starts = reallocarray(list->starts, room, sizeof *starts);
        if (starts == NULL)
            return -1;
        list->starts = starts;
    }
    list->starts[list->count++] = start;
    return 0;
}

static int read_all(struct segment_list *list, DIR *stream)
{
    for (;;) {
        uint64_t start;
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (entry == NULL)
            return errno == 0 ? 0 : -1;
        int is = position_of(entry->d_name, &start);
        if (is < 0 || (is > 0 && add(list, start) != 0))
            return -1;
    }
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

int segment_list_read(struct segment_list *list, int directory)
{
    *list = (struct segment_list){0};
    DIR *stream = segment_directory(directory);
    if (stream == NULL)
        return -1;
    int result = read_all(list, stream);
    int error = errno;
    closedir(stream);
    if (result == 0 && list->count > 0)
        qsort(list->starts, list->count, sizeof *list->starts, ascending);
    if (result != 0)
        segment_list_free(list);
    errno = error;
    return result;
}

void segment_list_free(struct segment_list *list)
{
    free(list->starts);
    *list = (struct segment_list){0};
}
