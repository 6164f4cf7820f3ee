#include "commands/part_files.h"

#include "commands/message.h"
#include "core/quote.h"
#include "system/path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the lines that are not yet written, in all files together and in each. */
enum { BUFFERS_BYTES = 64 << 20, BUFFER_LEAST = 4 << 10, BUFFER_MOST = 64 << 10 };

enum { DIGITS_MAX = 10 };

struct part_files {
    const char *pattern;
    uint32_t parts, opened;
    char *buffers;
    FILE **file;
    bool finished;
    char name[PATH_MAX]; /* of the one at hand */
};

/* --- names --- */

/* What is after the number's place that begins at `at`, and how wide that is; NULL if none does. */
static const char *number_end(const char *at, int *width)
{
    *width = 0;
    if (at[1] == '0' && at[2] >= '1' && at[2] <= '9' && at[3] == 'd') {
        *width = at[2] - '0';
        return at + 4;
    }
    return at[1] == 'd' ? at + 2 : NULL;
}

int part_files_check_pattern(const char *pattern)
{
    char quoted[QUOTE_MAX];
    unsigned numbers = 0;
    int width;
    if (strlen(pattern) >= PATH_MAX - DIGITS_MAX)
        return message("--files %s: the name is too long", pattern);
    quote_word(pattern, quoted);
    for (const char *at = strchr(pattern, '%'); at != NULL; at = strchr(at, '%')) {
        const char *end = at[1] == '%' ? at + 2 : number_end(at, &width);
        if (end == NULL)
            return message("--files %s: '%.*s' is not %%d (%%d or %%03d is the part; for a percent "
                           "sign: %%%%)",
                           quoted, 1 + (int)quote_character(at + 1), at);
        numbers += at[1] != '%';
        at = end;
    }
    if (numbers != 1)
        return message("--files %s: needs one place for the part (--files part.%%d)", quoted);
    return 0;
}

static void write_name(const char *pattern, uint32_t part, char name[PATH_MAX])
{
    size_t length = 0;
    for (const char *at = pattern; *at != '\0' && length < PATH_MAX - 1;) {
        int width;
        const char *end = *at == '%' ? number_end(at, &width) : NULL;
        if (end != NULL)
            length += (size_t)snprintf(name + length, PATH_MAX - length, "%0*u", width, part);
        else
            name[length++] = *at;
        at = end != NULL ? end : at + (*at == '%' ? 2 : 1);
    }
    name[length] = '\0';
}

/* By a link, two parts could be one file. */
static bool is_linked(const char *name)
{
    struct stat status;
    return lstat(name, &status) == 0 && (S_ISLNK(status.st_mode) || status.st_nlink > 1);
}

static bool leads_to_earlier(const char *pattern, uint32_t part, const char *name)
{
    char earlier[PATH_MAX];
    while (--part > 0) {
        write_name(pattern, part, earlier);
        if (path_is_same(name, earlier))
            return true;
    }
    return false;
}

int part_files_check(const char *pattern, uint32_t parts, const struct inputs *inputs)
{
    struct stat status;
    char name[PATH_MAX];
    for (uint32_t part = 1; part <= parts; part++) {
        write_name(pattern, part, name);
        if (inputs_check(inputs, NULL, name) != 0)
            return EXIT_TROUBLE;
        if (stat(name, &status) == 0 && !S_ISREG(status.st_mode))
            return message("%s: is not a regular file (choose other names)", name);
        if (is_linked(name) && leads_to_earlier(pattern, part, name))
            return message("%s: is the file of another part, too (choose other names)", name);
    }
    return 0;
}

/* --- opening --- */

static int too_many(uint32_t parts, struct fault *fault)
{
    fault_set(fault, "--files", "%" PRIu32 " files cannot be open at once", parts);
    return fault_way_out(fault,
                         "raise the limit: ulimit -n %" PRIu32 "; or make them one by one: unseen "
                         "shard 1/%" PRIu32,
                         parts + 64, parts);
}

static int open_all(struct part_files *files, struct fault *fault)
{
    size_t room = BUFFERS_BYTES / files->parts;
    room = room < BUFFER_LEAST ? BUFFER_LEAST : room > BUFFER_MOST ? BUFFER_MOST : room;
    files->file = calloc(files->parts, sizeof(FILE *));
    files->buffers = malloc(files->parts * room);
    if (files->file == NULL || files->buffers == NULL)
        return fault_errno(fault, "--files", NULL, ENOMEM);
    for (; files->opened < files->parts; files->opened++) {
        write_name(files->pattern, files->opened + 1, files->name);
        FILE *file = fopen(files->name, "we");
        if (file == NULL && (errno == EMFILE || errno == ENFILE))
            return too_many(files->parts, fault);
        if (file == NULL)
            return fault_errno(fault, files->name, NULL, errno);
        setvbuf(file, files->buffers + files->opened * room, _IOFBF, room);
        files->file[files->opened] = file;
    }
    return 0;
}

/* Raises the limit, as far as this user may. Returns whether so many files more can be open. */
static bool allow_open(rlim_t more)
{
    enum { OPEN_ALREADY = 64 };
    struct rlimit limit;
    rlim_t wanted = more + OPEN_ALREADY;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return true;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == wanted;
}

struct part_files *part_files_new(const char *pattern, uint32_t parts, struct fault *fault)
{
    struct part_files *files = malloc(sizeof *files);
    if (files == NULL) {
        fault_errno(fault, "--files", NULL, ENOMEM);
        return NULL;
    }
    *files = (struct part_files){.pattern = pattern, .parts = parts};
    if ((allow_open(parts) ? open_all(files, fault) : too_many(parts, fault)) == 0)
        return files;
    part_files_free(files);
    return NULL;
}

/* The pattern may have the number in a directory's name; most often all are in one. */
void part_files_allow(const struct part_files *files, struct confine *confine)
{
    char name[PATH_MAX], directory[PATH_MAX], before[PATH_MAX] = "";
    for (uint32_t part = 1; part <= files->parts; part++) {
        write_name(files->pattern, part, name);
        path_directory(name, directory);
        if (strcmp(directory, before) != 0)
            confine_allow(confine, directory, CONFINE_REMOVE);
        memcpy(before, directory, sizeof before);
    }
}

/* --- writing --- */

static int fail(struct part_files *files, uint32_t part, struct fault *fault)
{
    int error = errno;
    write_name(files->pattern, part, files->name);
    return fault_errno(fault, files->name, NULL, error);
}

int part_files_add(struct part_files *files, uint32_t part, const char *bytes, size_t length,
                   struct fault *fault)
{
    uint32_t last = part != 0 ? part : files->parts;
    for (part = part != 0 ? part : 1; part <= last; part++)
        if (fwrite_unlocked(bytes, 1, length, files->file[part - 1]) != length)
            return fail(files, part, fault);
    return 0;
}

int part_files_finish(struct part_files *files, struct fault *fault)
{
    for (uint32_t part = 1; part <= files->parts; part++) {
        int failed = fclose(files->file[part - 1]);
        files->file[part - 1] = NULL;
        if (failed != 0)
            return fail(files, part, fault);
    }
    files->finished = true;
    return 0;
}

void part_files_free(struct part_files *files)
{
    if (files == NULL)
        return;
    for (uint32_t part = 1; !files->finished && part <= files->opened; part++) {
        if (files->file[part - 1] != NULL)
            fclose(files->file[part - 1]);
        write_name(files->pattern, part, files->name);
        unlink(files->name);
    }
    free(files->file);
    free(files->buffers);
    free(files);
}
