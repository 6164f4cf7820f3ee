#include "filter/create.h"

#include "filter/filter.h"
#include "io/newfile.h"
#include "system/io.h"
#include "system/lock.h"
#include "system/machine.h"
#include "system/path.h"
#include "text/number.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- what is there --- */

bool create_is_filter(const char *path)
{
    struct stat status;
    /* A FIFO must not be opened: its writer would take this process for its reader. O_NONBLOCK, in
     * case a FIFO takes the name after stat. */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is = filter_begins(fd);
    close(fd);
    return is;
}

int create_check_path(const char *path, unsigned over, struct fault *fault)
{
    struct stat status;
    char directory[PATH_MAX];
    while (stat(path, &status) != 0) {
        if (errno != ENOENT)
            return fault_errno(fault, path, NULL, errno);
        if (lstat(path, &status) != 0) {
            path_directory(path, directory);
            return path_check_directory(path, fault) == 0 &&
                           network_check_place(directory, path, fault) == 0
                       ? FOUND_NOTHING
                       : -1;
        }
        if (S_ISLNK(status.st_mode)) {
            fault_set(fault, path, "is a symbolic link to a file that does not exist");
            return fault_way_out(fault, "name the file itself");
        }
        /* Somebody has just made it. */
    }
    if (S_ISDIR(status.st_mode))
        return fault_errno(fault, path, NULL, EISDIR);
    if (!S_ISREG(status.st_mode))
        return fault_set(fault, path, "is not a regular file");

    bool empty = status.st_size == 0 && (over & OVER_EMPTY) != 0;
    if (!empty && (over & OVER_FILTER) == 0)
        return FOUND_OTHER;
    if (!empty && !create_is_filter(path)) {
        if (access(path, R_OK) != 0)
            return fault_errno(fault, path, NULL, errno);
        fault_set(fault, path, "is not a filter, and --force replaces only filters");
        return fault_way_out(fault, "remove it first, or name another file");
    }
    if (path_check_replaceable(path, &status, fault) != 0 ||
        network_check_place(path, path, fault) != 0)
        return -1;
    return empty ? FOUND_EMPTY : FOUND_FILTER;
}

/* --- its parts --- */

void create_new_identity(struct header *header)
{
    uint8_t *uuid = header->uuid;
    store64(uuid, random_word());
    store64(uuid + 8, random_word());
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
    header->created = (int64_t)time(NULL);
}

void create_lay_out(struct header *header, struct layer_record *records, unsigned count)
{
    header->layers_at = metadata_bytes(header->plan.geometry.counting);
    for (unsigned i = 0; i < count; i++)
        layer_put(&records[i], i == 0 ? header->layers_at : layer_end(&records[i - 1]));
}

int create_allocate(int fd, uint64_t from, const struct layer_record *records, unsigned count)
{
    for (unsigned i = 0; i <= count; i++) {
        uint64_t to = i < count ? records[i].stage_offset : layer_end(&records[count - 1]);
        if (to == 0)
            continue;
        if (to > from && io_allocate(fd, from, to - from) != 0)
            return -1;
        from = i < count ? records[i].offset : to;
    }
    return 0;
}

int create_write_head(int fd, const struct header *header, const struct layer_record *records,
                      unsigned count)
{
    uint8_t head[2 * HEADER_BYTES] = {0};
    header_encode(header, head);
    for (unsigned i = 0; i < count; i++)
        layer_encode(&records[i], head + LAYER_TABLE_AT + (size_t)i * LAYER_RECORD_BYTES);
    store32(head + LAYER_COUNT_AT, count);
    return io_write_at(fd, head, sizeof head, 0) == sizeof head ? 0 : -1;
}

/* --- a filter without keys --- */

struct layout {
    const struct header *header;
    const struct layer_record *records;
    unsigned count;
};

static int write_layout(int fd, const void *context)
{
    const struct layout *layout = context;
    return create_allocate(fd, 0, layout->records, layout->count) == 0
               ? create_write_head(fd, layout->header, layout->records, layout->count)
               : -1;
}

/* Locks an empty file before it is replaced, in *fd. Of several processes that find it, the first
 * makes a filter of it, and the others must not replace that, which may hold lines by then. Returns
 * 0; 1 if the path no longer leads to that empty file; -1 with the fault. */
static int lock_empty(const char *path, int *fd, struct fault *fault)
{
    struct stat open_now, named;
    *fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return fault_errno(fault, path, NULL, errno);
    if (lock_try(*fd, LOCK_CHANGE) == 0) {
        fault_set(fault, path, "another process is creating it");
        return fault_temporary(fault);
    }
    return fstat(*fd, &open_now) != 0 || stat(path, &named) != 0 || open_now.st_size != 0 ||
           !path_same_file(&open_now, &named);
}

int create_filter(const char *path, struct header *header, enum create_found found,
                  struct fault *fault)
{
    int lock = -1, result = 0;
    struct layer_record records[LAYERS_MAX];
    struct filter_plan plan = header->plan;
    unsigned count = growth_first_layers(&plan);
    if (plan.capacity == 0 && plan.pages == 0)
        plan.pages = GROWTH_FILE_PAGES / count;
    if (growth_first(&plan, &records[0].plan) != 0)
        return fault_set(fault, path, "the filter would be too large");
    for (unsigned i = 1; i < count; i++)
        records[i].plan = records[0].plan;

    if (found == FOUND_EMPTY)
        result = lock_empty(path, &lock, fault);
    if (result != 0)
        goto done;
    create_new_identity(header);
    create_lay_out(header, records, count);
    result = newfile_make(&(struct newfile_plan){
        .path = path,
        .over = found != FOUND_NOTHING,
        .secret = header_has_secret(header),
        .mark = header_magic,
        .mark_bytes = HEADER_MAGIC_BYTES,
        .fill = write_layout,
        .context = &(struct layout){header, records, count},
    });
    if (result >= 0)
        goto done;
    fault_errno(fault, path, "cannot be created", errno);
    if (fault->error == ENOSPC || fault->error == EFBIG) {
        char needed[NUMBER_TEXT];
        uint64_t pages = records[0].plan.pages;
        uint64_t bytes = header_bytes_without_stages(pages, &header->plan, count);
        fault_way_out(fault, "the filter needs %s", number_size((double)bytes, needed));
    }

done:
    if (lock >= 0)
        close(lock);
    return result;
}
