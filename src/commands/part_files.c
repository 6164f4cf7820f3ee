#include "commands/part_files.h"

#include "commands/part_name.h"
#include "core/quote.h"
#include "delivery/pending.h"
#include "store/newfile.h"
#include "store/store.h"
#include "system/descriptors.h"
#include "system/path.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the lines that are not yet written, in all files together and in each. */
enum { BUFFERS_BYTES = 64 << 20, BUFFER_LEAST = 4 << 10, BUFFER_MOST = 64 << 10 };

struct part_file {
    struct newfile *file;
    int fd;
    char *bytes;
    size_t length;
};

struct part_files {
    const char *pattern;
    uint32_t parts;
    size_t room; /* in the buffer of each */
    char *buffers;
    struct part_file *part;
    char name[PATH_MAX]; /* of the one at hand */
};

/* --- what is there already --- */

struct place {
    struct stat status;
    uint32_t part;
};

static int by_file(const void *a, const void *b)
{
    const struct stat *one = &((const struct place *)a)->status;
    const struct stat *other = &((const struct place *)b)->status;
    if (one->st_dev != other->st_dev)
        return one->st_dev < other->st_dev ? -1 : 1;
    return one->st_ino < other->st_ino ? -1 : one->st_ino > other->st_ino;
}

/* Whether lines may replace what stands there, a regular file. As `>` does, this wants a file that
 * can be written to. Returns 1, or -1 with the fault. */
static int check_replaceable(const char *name, struct fault *fault)
{
    int fd = access(name, W_OK) == 0 ? open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd < 0) {
        fault_errno(fault, name, NULL, errno);
        return fault_way_out(fault, "remove it, or choose other names");
    }
    const char *what = store_begins(fd) ? "a filter"
                       : pending_is(fd) ? "a file of pending keys"
                                        : NULL;
    close(fd);
    if (what == NULL)
        return 1;
    fault_set(fault, name, "is %s, and would be replaced by lines", what);
    return fault_way_out(fault, "choose other names");
}

/* Returns 1 if a file of that name would be replaced, 0 if there is none, -1 with the fault if it
 * must stay. */
static int look(struct part_files *files, struct place *place, struct fault *fault)
{
    const char *name = files->name;
    char quoted[QUOTE_MAX];
    struct stat *status = &place->status;
    if (stat(name, status) != 0) {
        if (errno != ENOENT)
            return fault_errno(fault, name, NULL, errno);
        if (lstat(name, status) != 0)
            return 0;
        fault_set(fault, name, "is a symbolic link to a file that does not exist");
        return fault_way_out(fault, "remove it, or choose other names");
    }
    if (S_ISDIR(status->st_mode)) {
        fault_errno(fault, name, NULL, EISDIR);
        return fault_way_out(fault, "choose other names");
    }
    if (!S_ISREG(status->st_mode)) {
        fault_set(fault, name, "is not a regular file, and cannot be replaced by one");
        return fault_way_out(fault, "to write to it: unseen shard %" PRIu32 "/%" PRIu32 " >%s",
                             place->part, files->parts, quote_word(name, quoted));
    }
    return check_replaceable(name, fault);
}

/* Those that are there are sorted by_file. */
static int check_inputs(struct part_files *files, const char *const *inputs,
                        const struct place *places, size_t count, struct fault *fault)
{
    for (; *inputs != NULL; inputs++) {
        struct place input = {.part = 0};
        const struct place *both = NULL;
        if (strcmp(*inputs, "-") == 0 ? fstat(STDIN_FILENO, &input.status) == 0
                                      : stat(*inputs, &input.status) == 0)
            both = bsearch(&input, places, count, sizeof input, by_file);
        if (both == NULL)
            continue;
        part_name_write(files->pattern, both->part, files->name);
        fault_set(fault, files->name, "is both an input and a part");
        return fault_way_out(fault, "choose other names");
    }
    return 0;
}

/* Two names can lead to one file, by a link: it would be replaced twice. */
static int check_distinct(struct part_files *files, const struct place *places, size_t count,
                          struct fault *fault)
{
    for (size_t i = 1; i < count; i++)
        if (by_file(&places[i - 1], &places[i]) == 0) {
            part_name_write(files->pattern, places[i].part, files->name);
            fault_set(fault, files->name, "is the same file as part %" PRIu32, places[i - 1].part);
            return fault_way_out(fault, "remove the link, or choose other names");
        }
    return 0;
}

static int check_places(struct part_files *files, const char *const *inputs, struct fault *fault)
{
    size_t count = 0;
    int there = 0;
    struct place *places = malloc(files->parts * sizeof *places);
    if (places == NULL)
        return fault_errno(fault, files->pattern, NULL, ENOMEM);
    for (uint32_t part = 1; part <= files->parts && there >= 0; part++) {
        places[count].part = part;
        part_name_write(files->pattern, part, files->name);
        there = look(files, &places[count], fault);
        count += there > 0;
    }
    qsort(places, count, sizeof *places, by_file);
    if (there >= 0)
        there = check_inputs(files, inputs, places, count, fault);
    if (there >= 0)
        there = check_distinct(files, places, count, fault);
    free(places);
    return there < 0 ? -1 : 0;
}

/* --- opening --- */

static int too_many(const struct part_files *files, struct fault *fault)
{
    fault_set(fault, "--files", "%" PRIu32 " files cannot be open at once", files->parts);
    return fault_way_out(fault,
                         "raise the limit: ulimit -n %" PRIu32 "; or make them one by one: unseen "
                         "shard 1/%" PRIu32,
                         files->parts + 64, files->parts);
}

static int open_one(struct part_files *files, uint32_t number, struct fault *fault)
{
    char directory[PATH_MAX];
    struct stat old;
    struct part_file *part = &files->part[number - 1];
    part_name_write(files->pattern, number, files->name);
    /* What a kill leaves must not be found by part.*, and be read as one part more. */
    bool over = stat(files->name, &old) == 0;
    if (over && path_check_replaceable(files->name, &old, fault) != 0)
        return -1;
    struct newfile_plan plan = {
        .path = files->name,
        .over = over,
        .suffix = ".unseen-new",
        .like = over ? &old : NULL,
    };
    part->file = newfile_begin(&plan, &part->fd);
    if (part->file != NULL)
        return 0;
    if (errno == EMFILE || errno == ENFILE)
        return too_many(files, fault);
    fault_errno(fault, files->name, NULL, errno);
    path_directory(files->name, directory);
    return fault->error == ENOENT ? fault_way_out(fault, "there is no directory %s", directory)
                                  : -1;
}

static int open_all(struct part_files *files, struct fault *fault)
{
    files->part = malloc(files->parts * sizeof *files->part);
    files->buffers = malloc(files->parts * files->room);
    if (files->part == NULL || files->buffers == NULL) {
        files->parts = 0;
        return fault_errno(fault, "--files", NULL, ENOMEM);
    }
    for (uint32_t i = 0; i < files->parts; i++)
        files->part[i] = (struct part_file){.bytes = files->buffers + i * files->room};
    for (uint32_t part = 1; part <= files->parts; part++)
        if (signals_pending() || open_one(files, part, fault) != 0)
            return signals_pending() ? fault_errno(fault, files->name, NULL, EINTR) : -1;
    return 0;
}

static size_t room_for_each(uint32_t parts)
{
    size_t room = BUFFERS_BYTES / parts;
    return room < BUFFER_LEAST ? BUFFER_LEAST : room > BUFFER_MOST ? BUFFER_MOST : room;
}

struct part_files *part_files_new(const char *pattern, uint32_t parts, const char *const *inputs,
                                  struct fault *fault)
{
    struct part_files *files = malloc(sizeof *files);
    if (files == NULL) {
        fault_errno(fault, "--files", NULL, ENOMEM);
        return NULL;
    }
    *files = (struct part_files){.pattern = pattern, .parts = parts, .room = room_for_each(parts)};
    signals_be_careful();
    int result = descriptors_allow(parts) ? check_places(files, inputs, fault)
                                          : too_many(files, fault);
    if (result == 0 && open_all(files, fault) == 0)
        return files;
    part_files_free(files);
    return NULL;
}

void part_files_allow(const struct part_files *files, struct confine *confine)
{
    for (uint32_t i = 0; i < files->parts; i++)
        newfile_allow(files->part[i].file, i > 0 ? files->part[i - 1].file : NULL, confine);
}

void part_files_free(struct part_files *files)
{
    if (files == NULL)
        return;
    for (uint32_t i = 0; files->part != NULL && i < files->parts; i++)
        newfile_free(files->part[i].file);
    free(files->part);
    free(files->buffers);
    free(files);
}

/* --- writing --- */

static int fail(struct part_files *files, uint32_t part, const char *doing, struct fault *fault)
{
    int error = errno;
    part_name_write(files->pattern, part, files->name);
    return fault_errno(fault, files->name, doing, error);
}

static int write_out(struct part_files *files, uint32_t part, const char *bytes, size_t length,
                     struct fault *fault)
{
    return whole_write(files->part[part - 1].fd, bytes, length) == length
               ? 0
               : fail(files, part, NULL, fault);
}

static int flush(struct part_files *files, uint32_t part, struct fault *fault)
{
    struct part_file *file = &files->part[part - 1];
    size_t length = file->length;
    file->length = 0;
    return write_out(files, part, file->bytes, length, fault);
}

static int add(struct part_files *files, uint32_t part, const char *bytes, size_t length,
               struct fault *fault)
{
    struct part_file *file = &files->part[part - 1];
    if (length > files->room - file->length && flush(files, part, fault) != 0)
        return -1;
    if (length > files->room)
        return write_out(files, part, bytes, length, fault);
    memcpy(file->bytes + file->length, bytes, length);
    file->length += length;
    return 0;
}

int part_files_add(struct part_files *files, uint32_t part, const char *bytes, size_t length,
                   struct fault *fault)
{
    if (part != 0)
        return add(files, part, bytes, length, fault);
    for (part = 1; part <= files->parts; part++)
        if (add(files, part, bytes, length, fault) != 0)
            return -1;
    return 0;
}

/* --- names --- */

static int name_all(struct part_files *files, struct fault *fault)
{
    for (uint32_t part = 1; part <= files->parts; part++) {
        int named = newfile_name(files->part[part - 1].file);
        if (named == 0)
            continue;
        if (named > 0)
            errno = EEXIST;
        fail(files, part, "cannot get its name", fault);
        if (part > 1)
            fault_way_out(fault, "the parts before it are in place; mend that, then run it again");
        return -1;
    }
    for (uint32_t i = 0; i < files->parts; i++)
        newfile_flush_name(files->part[i].file, i > 0 ? files->part[i - 1].file : NULL);
    return 0;
}

int part_files_finish(struct part_files *files, struct fault *fault)
{
    for (uint32_t part = 1; part <= files->parts; part++)
        if (flush(files, part, fault) != 0)
            return -1;
    for (uint32_t part = 1; part <= files->parts && !signals_pending(); part++)
        if (newfile_flush(files->part[part - 1].file) != 0)
            return fail(files, part, "cannot be flushed to disk", fault);
    if (signals_pending())
        return fault_errno(fault, files->pattern, NULL, EINTR);
    return name_all(files, fault);
}
