#include "io/output.h"

#include "core/bytes.h"
#include "io/input.h"
#include "system/io.h"
#include "system/machine.h"
#include "system/path.h"
#include "system/signals.h"
#include "text/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

/* Standard output or error may lead to the same file, as /dev/stderr does after 2>log, and write
 * not at its end but where their last write ended: over what is appended here. Returns which one
 * does, or 0. */
static int find_standard(const struct stat *status)
{
    for (int standard = STDOUT_FILENO; standard <= STDERR_FILENO; standard++) {
        struct stat other;
        int flags = fcntl(standard, F_GETFL);
        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && (flags & O_APPEND) == 0 &&
            fstat(standard, &other) == 0 && path_same_file(status, &other))
            return standard;
    }
    return 0;
}

/* The descriptor to write through. A standard one goes on after these lines if they are written
 * through it, at the end of the file, which others may have moved. Locks are taken by output->fd,
 * because processes share the standard ones. */
static int written_to(const struct output *output)
{
    if (output->standard == 0)
        return output->fd;
    (void)lseek(output->standard, 0, SEEK_END);
    return output->standard;
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
    output->standard = find_standard(&status);
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

/* --- rows in a file --- */

/* The number of the line that begins at an offset of the file. */
static uint64_t line_at(const struct output *output, uint64_t offset)
{
    char bytes[16 << 10];
    uint64_t line = 1, at = 0;
    while (at < offset) {
        size_t most = offset - at < sizeof bytes ? (size_t)(offset - at) : sizeof bytes;
        size_t n = io_read_at(output->end_fd, bytes, most, at);
        if (n == 0)
            break;
        line += lines_in(bytes, n, output->ends.delimiter);
        at += n;
    }
    return line;
}

/* The fault of the row at output->looked_through; `at_end`: the file ends within it. */
static int tell_wrong_row(const struct output *output, enum row_wrong wrong, bool at_end,
                          struct fault *fault)
{
    char quoted[QUOTE_MAX];
    const char *file = quote_file(output->name, quoted);
    uint64_t line = line_at(output, output->looked_through);
    fault_set(fault, output->name, "line %" PRIu64 ": %s", line, row_wrong_text(wrong));
    if (!at_end)
        return fault_way_out(fault, "mend that row, or append to another file");
    return fault_way_out(fault,
                         "what is appended would be part of it; to look at it: tail%s -n +%" PRIu64
                         " %s; if a run was stopped there, it comes again, and can be cut off: "
                         "truncate -s %" PRIu64 " %s",
                         output->ends.delimiter == '\0' ? " -z" : "", line, file,
                         output->looked_through, file);
}

/* Looks through the file from output->looked_through on, to its end. Of a row that is not at its
 * end no bytes are kept. Returns as output_check_rows. */
static int look_through(struct output *output, struct fault *fault)
{
    enum { SOME = 256 };
    size_t starts[SOME + 1];
    uint8_t kinds[SOME];
    const uint64_t from = output->looked_through;
    struct chunk chunk;
    struct rows rows;
    struct input *input = input_new(output->end_fd, output->name, output->ends.delimiter,
                                    INPUT_BYTES, SIZE_MAX / 4);
    int got = -1;
    bool at_end = false; /* with what was found last */
    if (input == NULL)
        return fault_errno(fault, output->name, NULL, ENOMEM);
    rows_begin(&rows, output->ends, false);
    if (lseek(output->end_fd, (off_t)from, SEEK_SET) < 0)
        fault_errno(fault, output->name, NULL, errno);
    else
        while ((got = input_next(input, &chunk, fault)) > 0) {
            size_t n = SOME;
            rows_leave(&rows);
            for (starts[0] = 0; n == SOME; starts[0] = starts[n]) {
                n = rows_find(&rows, chunk.bytes, chunk.length, starts, kinds, SOME);
                /* A last row without a delimiter was given one. */
                uint64_t end = from + chunk.offset + starts[n], read = from + input_bytes(input);
                if (n > 0)
                    output->looked_through = end < read ? end : read;
            }
            at_end = from + chunk.offset + rows.at > from + input_bytes(input);
            if (rows.wrong != ROW_RIGHT)
                break;
        }
    input_free(input);
    if (got < 0)
        return -1;
    if (rows.wrong == ROW_RIGHT)
        return rows_is_amid(&rows) ? tell_wrong_row(output, ROW_UNCLOSED, true, fault) : 0;
    return tell_wrong_row(output, rows.wrong, at_end, fault);
}

/* Looks at what was appended to the file, which is locked; at all of it if it was emptied or cut
 * meanwhile. */
static int look_at_more(struct output *output, struct fault *fault)
{
    struct stat status;
    char last = output->ends.delimiter;
    uint64_t *done = &output->looked_through;
    if (fstat(output->end_fd, &status) != 0)
        return fault_errno(fault, output->name, NULL, errno);
    uint64_t size = (uint64_t)status.st_size;
    if (size == *done)
        return 0;
    if (size < *done || (*done > 0 && (io_read_at(output->end_fd, &last, 1, *done - 1) != 1 ||
                                       last != output->ends.delimiter)))
        *done = 0;
    return look_through(output, fault);
}

int output_check_rows(struct output *output, struct fault *fault)
{
    if (!output->ends.rows || !output->ends_last_line)
        return 0;
    /* Without the lock, because a large file takes long; then again from the last row on, because
     * another run may be amid a write. */
    int result = look_through(output, fault);
    if (result == 0 || fault->error == EINTR)
        return result;
    bool locked = lock_take(output->fd, LOCK_OUTPUT, false, output->waits, (void *)output->name) ==
                  0;
    result = look_at_more(output, fault);
    if (locked)
        lock_drop(output->fd, LOCK_OUTPUT);
    return result;
}

/* --- writing --- */

static void stop_checking(struct output *output)
{
    close(output->end_fd);
    output->ends_last_line = false;
}

/* Writes to the descriptor. A FIFO, which cannot be locked, gets as many whole lines at a time as
 * other writers cannot divide. Returns as output_write. */
static size_t write_pieces(const struct output *output, const char *bytes, size_t length,
                           struct fault *fault)
{
    size_t done = 0;
    terminal_clear(output->fd);
    while (done < length) {
        size_t piece = 0;
        if (output->by_pieces)
            piece = rows_fitting(output->ends, bytes + done, length - done, PIPE_BUF);
        if (piece == 0)
            piece = length - done;
        size_t written = io_write(written_to(output), bytes + done, piece, output->to_the_end);
        done += written;
        if (written < piece) {
            fault_errno(fault, output->name, NULL, errno);
            break;
        }
    }
    return done;
}

size_t output_write(struct output *output, const char *bytes, size_t length, struct fault *fault)
{
    struct stat status;
    const char *before;
    char last, *joined = NULL;
    uint64_t size = 0; /* of a file, before the lines */
    size_t ahead = 0, done = 0;

    /* 1. Lock a file. Its end and its header line can be checked only while no other process
     * writes, so all runs with -a do this. Without locks, only the first check is reasonably
     * safe. */
    bool checks = output->ends_last_line;
    bool locked = checks && lock_take(output->fd, LOCK_OUTPUT, output->to_the_end, output->waits,
                                      (void *)output->name) == 0;

    /* 2. A file must not end within a row: another run may have been killed. */
    bool has_rows = checks && output->ends.rows;
    if (has_rows && look_at_more(output, fault) != 0)
        goto unlock;

    /* 3. Ask once what goes before the first lines. */
    if (output->begin != NULL &&
        output->begin(output->begin_context, output, &before, &ahead, fault) != 0)
        goto unlock;
    output->begin = NULL;

    /* 4. End an unfinished line, which a killed run may have left: the next line would be joined to
     * it. */
    if (checks && fstat(output->end_fd, &status) == 0)
        size = (uint64_t)status.st_size;
    if (size > 0 && io_read_at(output->end_fd, &last, 1, size - 1) == 1 &&
        last != output->ends.delimiter) {
        if (io_write(written_to(output), &output->ends.delimiter, 1, output->to_the_end) != 1) {
            fault_errno(fault, output->name, NULL, errno);
            goto unlock;
        }
        size++;
    }

    /* 5. What goes before is in the same write, because a command that is started by this write has
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

    /* 6. Write. What was written whole need not be looked at later, if nobody has written without
     * the lock. */
    done = output->append != NULL ? output->append(output->context, bytes, length, fault)
                                  : write_pieces(output, bytes, length, fault);
    free(joined);
    if (has_rows && done == length && fstat(output->end_fd, &status) == 0 &&
        (uint64_t)status.st_size == size + done)
        output->looked_through = size + done;
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
        at_once = writev(written_to(output), pieces, (int)n);
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
