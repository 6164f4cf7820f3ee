/*
 * create - making a filter file (filter_create of filter.h).
 *
 * The file is made without a name (O_TMPFILE), filled, flushed, and only then given its name, by a
 * link, which fails if something has that name by now. So a half-made filter is never seen, and a
 * kill on the way leaves nothing behind. Where a file system has no nameless files, it gets a
 * temporary name beside the real one.
 */
#include "file/filter.h"
#include "io/path.h"
#include "io/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

struct maker {
    const char *path;
    char target[PATH_MAX]; /* path, symbolic links followed if it exists */
    char directory[PATH_MAX];
    char temporary[PATH_MAX + 16]; /* empty: the file has no name yet */
    int fd;
};

static mode_t creation_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static int find_directory(struct maker *maker, struct fault *fault)
{
    if (realpath(maker->path, maker->target) == NULL) {
        if (errno != ENOENT && errno != ENOTDIR)
            return fault_errno(fault, maker->path, NULL, errno);
        if (strlen(maker->path) >= sizeof maker->target - 16)
            return fault_errno(fault, maker->path, NULL, ENAMETOOLONG);
        strcpy(maker->target, maker->path);
    }
    path_directory(maker->target, maker->directory);
    return 0;
}

static int open_named(struct maker *maker)
{
    snprintf(maker->temporary, sizeof maker->temporary, "%s.XXXXXX", maker->target);
    maker->fd = mkostemp(maker->temporary, O_CLOEXEC);
    if (maker->fd < 0) {
        maker->temporary[0] = '\0';
        return -1;
    }
    return fchmod(maker->fd, creation_mode());
}

static int open_nameless(struct maker *maker)
{
#ifdef O_TMPFILE
    maker->fd = open(maker->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#endif
    return maker->fd < 0 ? -1 : 0;
}

static int allocate(int fd, uint64_t bytes)
{
    int error;
    do
        error = posix_fallocate(fd, 0, (off_t)bytes);
    while (error == EINTR);
    errno = error;
    return error == 0 ? 0 : -1;
}

static int fill(struct maker *maker, const struct header *header, const struct layer_plan *plan)
{
    uint8_t page[HEADER_BYTES];
    struct layer_record record = {
        .plan = *plan,
        .offset = layer_place(header->layers_at, plan->pages),
    };
    if (allocate(maker->fd, record.offset + plan->pages * PAGE_BYTES) != 0)
        return -1;
    header_encode(header, page);
    if (whole_write_at(maker->fd, page, sizeof page, 0) != sizeof page)
        return -1;
    memset(page, 0, sizeof page);
    layer_encode(&record, page);
    store32(page + (LAYER_COUNT_AT - LAYER_TABLE_AT), 1);
    if (whole_write_at(maker->fd, page, sizeof page, LAYER_TABLE_AT) != sizeof page)
        return -1;
    return fsync(maker->fd);
}

/* Gives the nameless file the name `name`. */
static int give_name(struct maker *maker, const char *name)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", maker->fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* A name for a moment, for a rename over what is there. */
static int give_temporary_name(struct maker *maker)
{
    if (maker->temporary[0] != '\0')
        return 0;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        unsigned number = 0;
        if (getrandom(&number, sizeof number, 0) < 0)
            return -1;
        snprintf(maker->temporary, sizeof maker->temporary, "%s.%06x", maker->target,
                 number & 0xffffff);
        if (give_name(maker, maker->temporary) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    maker->temporary[0] = '\0';
    return -1;
}

/* Puts the finished file under its name. Returns 1 if the name is taken. */
static int publish(struct maker *maker, bool over)
{
    if (over) {
        if (give_temporary_name(maker) != 0 || rename(maker->temporary, maker->target) != 0)
            return -1;
        maker->temporary[0] = '\0';
    } else if (maker->temporary[0] != '\0') {
        if (link(maker->temporary, maker->target) != 0)
            return errno == EEXIST ? 1 : -1;
        unlink(maker->temporary);
        maker->temporary[0] = '\0';
    } else if (give_name(maker, maker->target) != 0) {
        return errno == EEXIST ? 1 : -1;
    }
    /* The name is there; what is left is to make it last. Not all file systems can. */
    int directory = open(maker->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        fsync(directory);
        close(directory);
    }
    return 0;
}

static void drop(struct maker *maker)
{
    if (maker->temporary[0] != '\0')
        unlink(maker->temporary);
    if (maker->fd >= 0)
        close(maker->fd);
}

/* One attempt, with or without a name from the start. */
static int make(struct maker *maker, const struct header *header, const struct layer_plan *plan,
                bool over, bool named)
{
    maker->fd = -1;
    maker->temporary[0] = '\0';
    int result = named ? open_named(maker) : open_nameless(maker);
    if (result == 0)
        result = fill(maker, header, plan);
    if (result == 0)
        result = publish(maker, over);
    int error = errno;
    drop(maker);
    errno = error;
    return result;
}

static void make_uuid(uint8_t uuid[UUID_BYTES])
{
    if (getrandom(uuid, UUID_BYTES, 0) != UUID_BYTES)
        store64(uuid, (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32);
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

static bool begins_like_filter(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is = filter_begins(fd);
    close(fd);
    return is;
}

enum { NOTHING, REPLACEABLE, TAKEN };

/* What stands under the name now; -1 with the fault if no filter can ever stand there. */
static int what_is_there(const char *path, bool replace, struct fault *fault)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        if (errno != ENOENT)
            return fault_errno(fault, path, NULL, errno);
        if (lstat(path, &status) != 0)
            return NOTHING;
        fault_set(fault, path, "symbolic link to a file that does not exist");
        return fault_way_out(fault, "name the file itself");
    }
    if (S_ISDIR(status.st_mode))
        return fault_errno(fault, path, NULL, EISDIR);
    if (!S_ISREG(status.st_mode))
        return fault_set(fault, path, "not a regular file");
    if (status.st_size == 0)
        return REPLACEABLE;
    if (!replace)
        return TAKEN;
    if (begins_like_filter(path))
        return REPLACEABLE;
    fault_set(fault, path, "not a filter, and --force replaces nothing else");
    return fault_way_out(fault, "remove it first, or name another file");
}

int filter_create(const char *path, struct header *header, bool replace, struct fault *fault)
{
    struct maker maker = {.path = path};
    struct layer_plan plan;
    struct filter_plan first = header->plan;
    if (first.capacity == 0 && first.pages == 0)
        first.pages = GROWTH_FILE_PAGES;
    if (growth_first(&first, &plan) != 0)
        return fault_set(fault, path, "no filter of that size can be made");
    header->flight_keys = flight_keys_for(plan.pages, first.fixed);
    header->layers_at = FLIGHT_AT + flight_bytes(header->flight_keys);
    header->created = (int64_t)time(NULL);
    make_uuid(header->uuid);

    int there = what_is_there(path, replace, fault);
    if (there < 0)
        return -1;
    if (there == TAKEN)
        return 1;
    if (find_directory(&maker, fault) != 0)
        return -1;
    int result = make(&maker, header, &plan, there == REPLACEABLE, false);
    if (result < 0 && errno != ENOSPC && errno != EDQUOT && errno != EFBIG)
        result = make(&maker, header, &plan, there == REPLACEABLE, true);
    return result < 0 ? fault_errno(fault, path, "cannot be created", errno) : result;
}
