/* output - see output.h. */
#include "io/output.h"

#include "file/lock.h"
#include "io/path.h"
#include "io/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct output output_standard(char delimiter)
{
    return (struct output){.fd = STDOUT_FILENO, .name = "standard output", .delimiter = delimiter};
}

/* Whether the file ends in the middle of a line. */
static bool ends_unfinished(const struct output *output)
{
    struct stat status;
    char last;
    if (fstat(output->fd, &status) != 0 || status.st_size == 0)
        return false;
    return pread(output->fd, &last, 1, status.st_size - 1) == 1 && last != output->delimiter;
}

int output_check(const char *path, struct fault *fault)
{
    struct stat status;
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return fault_errno(fault, path, NULL, EISDIR);
        return access(path, W_OK) == 0 ? 0 : fault_errno(fault, path, NULL, errno);
    }
    if (errno != ENOENT)
        return fault_errno(fault, path, NULL, errno);
    char directory[PATH_MAX];
    path_directory(path, directory);
    return access(directory, W_OK | X_OK) == 0 ? 0 : fault_errno(fault, path, NULL, errno);
}

int output_open(struct output *output, const char *path, char delimiter, struct fault *fault)
{
    int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    bool readable = fd >= 0;
    /* Not every file that can be appended to can be read. */
    if (fd < 0 && (errno == EACCES || errno == EINVAL || errno == ENXIO))
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return fault_errno(fault, path, NULL, errno);
    *output = (struct output){.fd = fd, .name = path, .delimiter = delimiter};
    output->mends = readable && output_is_regular(output);
    return 0;
}

static size_t write_all(const struct output *output, const char *bytes, size_t length,
                        struct fault *fault)
{
    size_t done = whole_write(output->fd, bytes, length);
    if (done != length)
        fault_errno(fault, output->name, NULL, errno);
    return done;
}

/* A run that was killed, now or long ago, can have left half a line, which would spoil the next one.
 * Whether the file ends in one can only be told while nobody else is in the middle of a write: hence
 * a lock on the output, that all who write by -o take. */
static size_t write_mending(struct output *output, const char *bytes, size_t length,
                            struct fault *fault)
{
    size_t done = 0;
    bool locked = lock_take(output->fd, LOCK_OUTPUT, NULL, NULL) == 0;
    /* Where there are no locks, a look at the end is safe at the beginning, if ever. */
    output->mends = locked;
    bool mended = !ends_unfinished(output) || write_all(output, &output->delimiter, 1, fault) == 1;
    if (mended)
        done = write_all(output, bytes, length, fault);
    if (locked)
        lock_drop(output->fd, LOCK_OUTPUT);
    return done;
}

size_t output_write(struct output *output, const char *bytes, size_t length, struct fault *fault)
{
    if (output->append != NULL)
        return output->append(output->context, bytes, length, fault);
    if (output->mends && length > 0)
        return write_mending(output, bytes, length, fault);
    return write_all(output, bytes, length, fault);
}

bool output_is_regular(const struct output *output)
{
    struct stat status;
    return fstat(output->fd, &status) == 0 && S_ISREG(status.st_mode);
}

int output_sync(const struct output *output, struct fault *fault)
{
    if (output->sync != NULL)
        return output->sync(output->context, fault);
    if (fdatasync(output->fd) != 0)
        return fault_errno(fault, output->name, "cannot be flushed to disk", errno);
    return 0;
}

int output_close(struct output *output, struct fault *fault)
{
    if (close(output->fd) != 0 && errno != EINTR)
        return fault_errno(fault, output->name, NULL, errno);
    return 0;
}
