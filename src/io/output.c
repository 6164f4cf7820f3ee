#include "io/output.h"

#include "system/io.h"
#include "system/path.h"
#include "system/signals.h"
#include "system/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output output_standard(char delimiter)
{
    return (struct output){.fd = STDOUT_FILENO, .name = "standard output", .delimiter = delimiter};
}

static bool ends_unfinished(const struct output *output)
{
    struct stat status;
    char last;
    if (fstat(output->end_fd, &status) != 0 || status.st_size == 0)
        return false;
    return pread(output->end_fd, &last, 1, status.st_size - 1) == 1 && last != output->delimiter;
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
    return path_check_directory(path, fault);
}

/* Opens the same regular file for reading; -1 if that is not possible. */
static int open_end(int fd, const char *path)
{
    struct stat status, end_status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return -1;
    int end_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (end_fd < 0 || (fstat(end_fd, &end_status) == 0 && path_same_file(&status, &end_status)))
        return end_fd;
    close(end_fd);
    return -1;
}

int output_open(struct output *output, const char *path, char delimiter, struct fault *fault)
{
    /* First without O_CREAT: in a directory with the sticky bit, the system refuses that for
     * another user's file. */
    int flags = O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC;
    int fd = signals_open(path, flags, 0);
    if (fd < 0 && errno == ENOENT)
        fd = signals_open(path, flags | O_CREAT, 0666);
    if (fd < 0)
        return fault_errno(fault, path, NULL, errno);
    *output = (struct output){.fd = fd, .name = path, .delimiter = delimiter};
    output->end_fd = open_end(fd, path);
    output->ends_last_line = output->end_fd >= 0;
    struct stat status;
    output->by_pieces = fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
    return 0;
}

bool output_is_file(const char *path)
{
    struct stat status;
    if ((path != NULL ? stat(path, &status) : fstat(STDOUT_FILENO, &status)) != 0)
        return path != NULL && errno == ENOENT;
    return S_ISREG(status.st_mode);
}

/* How many of the bytes go into one write. */
static size_t piece_of(const struct output *output, const char *bytes, size_t length)
{
    if (!output->by_pieces || length <= PIPE_BUF)
        return length;
    const char *end = memrchr(bytes, output->delimiter, PIPE_BUF);
    if (end == NULL)
        end = memchr(bytes + PIPE_BUF, output->delimiter, length - PIPE_BUF);
    return end != NULL ? (size_t)(end - bytes) + 1 : length;
}

static size_t write_all(const struct output *output, const char *bytes, size_t length,
                        struct fault *fault)
{
    size_t done = 0;
    if (output->append != NULL)
        return output->append(output->context, bytes, length, fault);
    terminal_clear(output->fd);
    while (done < length) {
        size_t piece = piece_of(output, bytes + done, length - done);
        size_t written = io_write(output->fd, bytes + done, piece, output->to_the_end);
        done += written;
        if (written < piece) {
            fault_errno(fault, output->name, NULL, errno);
            break;
        }
    }
    return done;
}

static void stop_checking(struct output *output)
{
    close(output->end_fd);
    output->ends_last_line = false;
}

/* A killed run may have left an unfinished line, which the next line would be joined to. What goes
 * before the first lines is in the same write, because a command that is started by this write has
 * taken all of it (io/child.h). */
static size_t write_lines(struct output *output, const char *bytes, size_t length,
                          struct fault *fault)
{
    const char *before;
    size_t ahead = 0;
    if (output->begin != NULL &&
        output->begin(output->begin_context, output, &before, &ahead, fault) != 0)
        return 0;
    output->begin = NULL;
    if (output->ends_last_line && ends_unfinished(output) &&
        write_all(output, &output->delimiter, 1, fault) != 1)
        return 0;
    if (ahead == 0)
        return write_all(output, bytes, length, fault);
    char *all = malloc(ahead + length);
    if (all == NULL) {
        fault_errno(fault, output->name, NULL, ENOMEM);
        return 0;
    }
    memcpy(mempcpy(all, before, ahead), bytes, length);
    size_t done = write_all(output, all, ahead + length, fault);
    free(all);
    return done > ahead ? done - ahead : 0;
}

/* The end of a file and its header line can be checked only while no other process is writing, so
 * all runs with -a take a lock on the file. Without locks, only the check before the first write is
 * reasonably safe. */
size_t output_write(struct output *output, const char *bytes, size_t length, struct fault *fault)
{
    if (!output->ends_last_line || length == 0)
        return write_lines(output, bytes, length, fault);
    bool locked = lock_take(output->fd, LOCK_OUTPUT, output->to_the_end, output->waits,
                            (void *)output->name) == 0;
    size_t done = write_lines(output, bytes, length, fault);
    if (locked)
        lock_drop(output->fd, LOCK_OUTPUT);
    else
        stop_checking(output);
    return done;
}

/* What is left, or failed, is written piece by piece. */
size_t output_write_pieces(struct output *output, const struct iovec *pieces, size_t n,
                           struct fault *fault)
{
    ssize_t at_once = 0;
    if (output->append == NULL && output->begin == NULL && !output->ends_last_line) {
        terminal_clear(output->fd);
        at_once = writev(output->fd, pieces, (int)n);
    }
    size_t begun = at_once > 0 ? (size_t)at_once : 0, done = begun;
    for (size_t i = 0; i < n; i++) {
        size_t skip = begun < pieces[i].iov_len ? begun : pieces[i].iov_len;
        size_t left = pieces[i].iov_len - skip;
        begun -= skip;
        if (left == 0)
            continue;
        size_t accepted = output_write(output, (char *)pieces[i].iov_base + skip, left, fault);
        done += accepted;
        if (accepted < left)
            break;
    }
    return done;
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
    if (output->ends_last_line)
        stop_checking(output);
    if (close(output->fd) != 0 && errno != EINTR)
        return fault_errno(fault, output->name, NULL, errno);
    return 0;
}
