#include "io/output.h"

#include "system/io.h"
#include "system/machine.h"
#include "system/path.h"
#include "system/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output output_standard(struct line_ends ends)
{
    return (struct output){.fd = STDOUT_FILENO, .name = "standard output", .ends = ends};
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

int output_open(struct output *output, const char *path, struct line_ends ends, struct fault *fault)
{
    /* First without O_CREAT: in a directory with the sticky bit, the system refuses that for
     * another user's file. */
    int flags = O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC;
    int fd = signals_open(path, flags, 0);
    if (fd < 0 && errno == ENOENT)
        fd = signals_open(path, flags | O_CREAT, 0666);
    if (fd < 0)
        return fault_errno(fault, path, NULL, errno);
    *output = (struct output){.fd = fd, .name = path, .ends = ends, .end_fd = -1};
    struct stat status, end_status;
    if (fstat(fd, &status) != 0)
        return 0;
    output->by_pieces = S_ISFIFO(status.st_mode);
    if (!S_ISREG(status.st_mode))
        return 0;
    /* The same file for reading, if that is allowed, and the name still leads to it. */
    int end_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (end_fd >= 0 && (fstat(end_fd, &end_status) != 0 || !path_same_file(&status, &end_status))) {
        close(end_fd);
        end_fd = -1;
    }
    output->end_fd = end_fd;
    output->ends_last_line = end_fd >= 0;
    return 0;
}

bool output_is_file(const char *path)
{
    struct stat status;
    if ((path != NULL ? stat(path, &status) : fstat(STDOUT_FILENO, &status)) != 0)
        return path != NULL && errno == ENOENT;
    return S_ISREG(status.st_mode);
}

static void stop_checking(struct output *output)
{
    close(output->end_fd);
    output->ends_last_line = false;
}

size_t output_write(struct output *output, const char *bytes, size_t length, struct fault *fault)
{
    struct stat status;
    const char *before;
    char last, *joined = NULL;
    size_t ahead = 0, done = 0;

    /* 1. Lock a file. Its end and its header line can be checked only while no other process
     * writes, so all runs with -a do this. Without locks, only the first check is reasonably
     * safe. */
    bool checks = output->ends_last_line;
    bool locked = checks && lock_take(output->fd, LOCK_OUTPUT, output->to_the_end, output->waits,
                                      (void *)output->name) == 0;

    /* 2. Ask once what goes before the first lines. */
    if (output->begin != NULL &&
        output->begin(output->begin_context, output, &before, &ahead, fault) != 0)
        goto unlock;
    output->begin = NULL;

    /* 3. End an unfinished line, which a killed run may have left: the next line would be joined to
     * it. */
    if (checks && fstat(output->end_fd, &status) == 0 && status.st_size > 0 &&
        pread(output->end_fd, &last, 1, status.st_size - 1) == 1 &&
        last != output->ends.delimiter &&
        io_write(output->fd, &output->ends.delimiter, 1, output->to_the_end) != 1) {
        fault_errno(fault, output->name, NULL, errno);
        goto unlock;
    }

    /* 4. What goes before is in the same write, because a command that is started by this write has
     * taken all of it (io/child.h). */
    if (ahead > 0) {
        joined = malloc(ahead + length);
        if (joined == NULL) {
            fault_errno(fault, output->name, NULL, ENOMEM);
            goto unlock;
        }
        memcpy(mempcpy(joined, before, ahead), bytes, length);
        bytes = joined;
        length += ahead;
    }

    /* 5. Write. A FIFO, which cannot be locked, gets as many whole lines at a time as other writers
     * cannot divide. */
    if (output->append != NULL) {
        done = output->append(output->context, bytes, length, fault);
    } else {
        terminal_clear(output->fd);
        while (done < length) {
            size_t piece = 0;
            if (output->by_pieces)
                piece = rows_fitting(output->ends, bytes + done, length - done, PIPE_BUF);
            if (piece == 0)
                piece = length - done;
            size_t written = io_write(output->fd, bytes + done, piece, output->to_the_end);
            done += written;
            if (written < piece) {
                fault_errno(fault, output->name, NULL, errno);
                break;
            }
        }
    }
    free(joined);
    done = done > ahead ? done - ahead : 0;

unlock:
    if (locked)
        lock_drop(output->fd, LOCK_OUTPUT);
    else if (checks)
        stop_checking(output);
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

/* --- a buffer --- */

struct collect {
    struct output *output;
    size_t length; /* bytes in the buffer */
    uint64_t accepted;
    char bytes[COLLECT_BYTES];
};

struct collect *collect_new(struct output *output)
{
    /* Not cleared, because a short run touches little of it. */
    struct collect *collect = malloc(sizeof *collect);
    if (collect == NULL)
        return NULL;
    collect->output = output;
    collect->length = 0;
    collect->accepted = 0;
    return collect;
}

void collect_free(struct collect *collect)
{
    free(collect);
}

int collect_flush(struct collect *collect, struct fault *fault)
{
    size_t length = collect->length, accepted = 0;
    if (length > 0)
        accepted = output_write(collect->output, collect->bytes, length, fault);
    collect->length = 0;
    collect->accepted += accepted;
    return accepted == length ? 0 : -1;
}

uint64_t collect_accepted(const struct collect *collect)
{
    return collect->accepted;
}

int collect_add(struct collect *collect, const char *bytes, size_t length, struct fault *fault)
{
    return collect_add_tagged(collect, "", 0, bytes, length, fault);
}

int collect_add_tagged(struct collect *collect, const char *tag, size_t tag_length,
                       const char *bytes, size_t length, struct fault *fault)
{
    if (tag_length + length > COLLECT_BYTES - collect->length) {
        const struct iovec pieces[] = {{(void *)tag, tag_length}, {(void *)bytes, length}};
        return collect_add_pieces(collect, pieces, 2, fault);
    }
    char *to = collect->bytes + collect->length;
    for (size_t i = 0; i < tag_length; i++)
        to[i] = tag[i];
    memcpy(to + tag_length, bytes, length);
    collect->length += tag_length + length;
    return 0;
}

int collect_add_pieces(struct collect *collect, const struct iovec *pieces, size_t n,
                       struct fault *fault)
{
    struct output *output = collect->output;
    size_t length = 0;
    for (size_t i = 0; i < n; i++)
        length += pieces[i].iov_len;
    if (length > COLLECT_BYTES - collect->length && collect_flush(collect, fault) != 0)
        return -1;
    for (size_t i = 0; i < n && length <= COLLECT_BYTES; i++) {
        memcpy(collect->bytes + collect->length, pieces[i].iov_base, pieces[i].iov_len);
        collect->length += pieces[i].iov_len;
    }
    if (length <= COLLECT_BYTES)
        return 0;
    /* By one writev(2) if the output is not a file that was opened, so that other runs that append
     * to the same file do not divide the line. What is left, or failed, is written piece by
     * piece. */
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
    collect->accepted += done;
    return done == length ? 0 : -1;
}
