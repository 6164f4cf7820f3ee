#include "io/shard_files.h"

#include "io/output.h"
#include "system/lock.h"
#include "system/path.h"
#include "text/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Buffers: of all files together, to fit into the processor's cache, and of one file. */
enum { BUFFERS_BYTES = 1 << 20, BUFFER_LEAST = 4 << 10, BUFFER_MOST = 64 << 10 };

struct shard_files {
    const char *pattern;
    uint32_t shards, opened, emptied;
    bool finished;
    size_t size;
    char *buffers; /* `size` bytes for each file, allocated after `file` */
    struct shard_file {
        FILE *stream;
        bool made; /* it was not there */
    } file[];
};

/* --- names --- */

static int bad_pattern(const char *pattern, struct fault *fault)
{
    char quoted[QUOTE_MAX], object[QUOTE_MAX + 16];
    snprintf(object, sizeof object, "--files %s", quote_word(pattern, quoted));
    fault_set(fault, object, "must contain one %%d, or %%03d, for the number of the shard");
    return fault_way_out(fault, "such as shard.%%d; for a percent sign: %%%%");
}

int shard_files_name(const char *pattern, uint32_t shard, char name[PATH_MAX], struct fault *fault)
{
    enum { DIGITS_MAX = 10 };
    size_t length = 0, step;
    unsigned numbers = 0;
    if (strlen(pattern) > PATH_MAX - 2 * DIGITS_MAX)
        return fault_errno(fault, pattern, NULL, ENAMETOOLONG);
    for (const char *at = pattern; *at != '\0' && numbers < 2; at += step) {
        bool padded = at[0] == '%' && at[1] == '0' && at[2] >= '1' && at[2] <= '9' && at[3] == 'd';
        bool plain = at[0] == '%' && at[1] == 'd';
        if (padded || plain) {
            length += (size_t)snprintf(name + length, DIGITS_MAX + 1, "%0*" PRIu32,
                                       padded ? at[2] - '0' : 0, shard);
            numbers++;
            step = padded ? 4 : 2;
            continue;
        }
        if (at[0] == '%' && at[1] != '%')
            return bad_pattern(pattern, fault);
        name[length++] = *at;
        step = *at == '%' ? 2 : 1;
    }
    name[length] = '\0';
    return numbers == 1 ? 0 : bad_pattern(pattern, fault);
}

static int fault_of(const struct shard_files *files, uint32_t shard, struct fault *fault)
{
    int error = errno;
    char name[PATH_MAX];
    (void)shard_files_name(files->pattern, shard, name, fault);
    return fault_errno(fault, name, NULL, error);
}

/* --- opening --- */

/* Opens the next file without changing it, and locks it, so that it has one name and is written by
 * one run. Returns 0, or -1 with the fault; it is among the opened files unless that failed. */
static int open_next_file(struct shard_files *files, struct fault *fault)
{
    const int flags = O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
    const uint32_t i = files->opened;
    struct shard_file *file = &files->file[i];
    char name[PATH_MAX], other[PATH_MAX];
    struct stat status, named;
    (void)shard_files_name(files->pattern, i + 1, name, fault);
    /* 1. If the name exists, first without O_CREAT, as in output_open; but it may be a link to a
     * missing file. */
    if (stat(name, &status) == 0 && !S_ISREG(status.st_mode))
        return fault_set(fault, name, "is not a regular file");
    int fd = open(name, flags | O_CREAT | O_EXCL, 0666);
    file->made = fd >= 0;
    if (fd < 0 && errno == EEXIST)
        fd = open(name, flags);
    if (fd < 0 && errno == ENOENT) {
        fd = open(name, flags | O_CREAT, 0666);
        file->made = fd >= 0;
    }
    file->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file->stream == NULL) {
        fault_errno(fault, name, NULL, errno);
        if (fd >= 0)
            close(fd);
        if (file->made)
            unlink(name);
        return -1;
    }
    setvbuf(file->stream, files->buffers + i * files->size, _IOFBF, files->size);
    files->opened++;
    /* 2. A run that fails removes only files that it has locked, so the name is checked after the
     * lock. */
    if (lock_try(fd, LOCK_OUTPUT) != 0 && fstat(fd, &status) == 0 && stat(name, &named) == 0 &&
        path_same_file(&status, &named))
        return 0;
    file->made = false;
    /* 3. An earlier file of this run holds the lock if links, or a number in the name of a
     * directory, lead to it again. */
    for (uint32_t j = 0; j < i; j++) {
        (void)shard_files_name(files->pattern, j + 1, other, fault);
        if (!path_is_same(name, other))
            continue;
        fault_set(fault, name, "is the same file as %.200s", other);
        return fault_way_out(fault, "remove one of the two names, or use other names");
    }
    fault_set(fault, name, "another run is writing to it");
    return fault_temporary(fault);
}

struct shard_files *shard_files_new(const char *pattern, uint32_t shards, struct fault *fault)
{
    enum { OPEN_ALREADY = 64 };
    /* 1. The limit on open files is raised, as far as this user may. */
    struct rlimit limit;
    rlim_t wanted = (rlim_t)shards + OPEN_ALREADY;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur != wanted) {
            fault_set(fault, "--files", "cannot keep %" PRIu32 " files open", shards);
            fault_way_out(fault,
                          "raise the limit: ulimit -n %ju; or make one shard at a time: unseen "
                          "shard 1/%" PRIu32,
                          (uintmax_t)wanted, shards);
            return NULL;
        }
    }
    size_t size = BUFFERS_BYTES / shards;
    size = size < BUFFER_LEAST ? BUFFER_LEAST : size > BUFFER_MOST ? BUFFER_MOST : size;
    struct shard_files *files = malloc(sizeof *files + shards * (sizeof *files->file + size));
    if (files == NULL) {
        fault_errno(fault, "--files", NULL, ENOMEM);
        return NULL;
    }
    *files = (struct shard_files){.pattern = pattern, .shards = shards, .size = size};
    files->buffers = (char *)(files->file + shards);
    /* 2. All are opened before the first is emptied. */
    while (files->opened < shards)
        if (open_next_file(files, fault) != 0)
            goto failed;
    for (; files->emptied < shards; files->emptied++)
        if (ftruncate(fileno(files->file[files->emptied].stream), 0) != 0) {
            fault_of(files, files->emptied + 1, fault);
            goto failed;
        }
    return files;
failed:
    shard_files_free(files);
    return NULL;
}

/* All files are usually in one directory, but the pattern may have the number in its name. */
void shard_files_allow(const struct shard_files *files, struct confine *confine)
{
    char name[PATH_MAX], directory[PATH_MAX], before[PATH_MAX] = "";
    struct fault none;
    for (uint32_t shard = 1; shard <= files->shards; shard++) {
        (void)shard_files_name(files->pattern, shard, name, &none);
        path_directory(name, directory);
        if (strcmp(directory, before) != 0)
            confine_allow(confine, directory, CONFINE_REMOVE);
        memcpy(before, directory, sizeof before);
    }
}

/* --- writing --- */

int shard_files_add(struct shard_files *files, uint32_t shard, const char *bytes, size_t length,
                    struct fault *fault)
{
    uint32_t last = shard != 0 ? shard : files->shards;
    for (shard = shard != 0 ? shard : 1; shard <= last; shard++)
        if (fwrite_unlocked(bytes, 1, length, files->file[shard - 1].stream) != length)
            return fault_of(files, shard, fault);
    return 0;
}

/* The files stay open, to be emptied if a later one fails. Some file systems report a failure only
 * when a descriptor is closed. */
int shard_files_finish(struct shard_files *files, struct fault *fault)
{
    for (uint32_t i = 0; i < files->shards; i++) {
        FILE *stream = files->file[i].stream;
        int copy = -1;
        if (fflush(stream) != 0 || (copy = dup(fileno(stream))) < 0 || close(copy) != 0)
            return fault_of(files, i + 1, fault);
    }
    files->finished = true;
    return 0;
}

void shard_files_free(struct shard_files *files)
{
    char name[PATH_MAX], real[PATH_MAX];
    struct fault none;
    if (files == NULL)
        return;
    for (uint32_t i = 0; i < files->opened; i++) {
        FILE *stream = files->file[i].stream;
        /* Removes the file, not a link to it, if the name still leads to it. */
        if (!files->finished && files->file[i].made &&
            shard_files_name(files->pattern, i + 1, name, &none) == 0 &&
            realpath(name, real) != NULL && path_leads_to(real, fileno(stream)))
            unlink(real);
        if (!files->finished && i < files->emptied) {
            __fpurge(stream);
            (void)!ftruncate(fileno(stream), 0);
        }
        fclose(stream);
    }
    free(files);
}
