/* segment - see segment.h. */
#include "file/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void segment_name(uint64_t start, char name[SEGMENT_NAME_BYTES])
{
    snprintf(name, SEGMENT_NAME_BYTES, "%020" PRIu64, start);
}

/* Never through somebody's link, and nothing but a plain file. */
static int open_named(int directory, uint64_t start, int flags)
{
    char name[SEGMENT_NAME_BYTES];
    struct stat status;
    segment_name(start, name);
    int fd = openat(directory, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

int segment_open(int directory, uint64_t start)
{
    return open_named(directory, start, O_RDONLY);
}

int segment_open_to_write(int directory, uint64_t start)
{
    return open_named(directory, start, O_WRONLY);
}

int segment_make(int directory, uint64_t start)
{
    return open_named(directory, start, O_WRONLY | O_CREAT | O_TRUNC);
}

int segment_length(int directory, uint64_t start, uint64_t *length)
{
    char name[SEGMENT_NAME_BYTES];
    struct stat status;
    segment_name(start, name);
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    *length = (uint64_t)status.st_size;
    return 0;
}

int segment_remove(int directory, uint64_t start)
{
    char name[SEGMENT_NAME_BYTES];
    segment_name(start, name);
    return unlinkat(directory, name, 0);
}

static int is_segment(const char *name)
{
    return strlen(name) == SEGMENT_NAME_BYTES - 1 &&
           strspn(name, "0123456789") == SEGMENT_NAME_BYTES - 1;
}

int segment_first(int directory, uint64_t from, uint64_t *start)
{
    int found = 0;
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (stream == NULL) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
        if (!is_segment(entry->d_name))
            continue;
        uint64_t at = strtoull(entry->d_name, NULL, 10);
        if (at >= from && (!found || at < *start)) {
            *start = at;
            found = 1;
        }
    }
    closedir(stream);
    return found;
}
