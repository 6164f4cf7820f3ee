/* output - writes lines to standard output, to a file, or through a function. */
#ifndef UNSEEN_IO_OUTPUT_H
#define UNSEEN_IO_OUTPUT_H

#include "system/fault.h"
#include "system/lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* The lock of a file to which lines are appended (system/lock.h). */
enum { LOCK_OUTPUT = 0 };

struct output {
    int fd;
    const char *name;
    char delimiter;
    /* Replace output_write and output_sync if not NULL. */
    size_t (*append)(void *context, const char *bytes, size_t length, struct fault *fault);
    int (*sync)(void *context, struct fault *fault);
    void *context;
    /* Called by the first write, with a file's lock held, if not NULL: sets the bytes that go out
     * before those lines, none unless it sets them. Returns 0; or -1 with the fault, and nothing is
     * written. */
    int (*begin)(void *context, const struct output *output, const char **bytes, size_t *length,
                 struct fault *fault);
    void *begin_context;
    /* A regular file: an unfinished last line, found by `end_fd`, is ended before a write. */
    bool ends_last_line;
    int end_fd;
    /* A FIFO, which cannot be locked: it gets whole lines, at most PIPE_BUF bytes at a time or a
     * line that is longer, so that other writers do not divide shorter lines. */
    bool by_pieces;
    bool to_the_end; /* no signal ends a write */
    /* Called with `name` after five seconds of waiting for the file's lock; may be NULL. */
    lock_waits *waits;
};

struct output output_standard(char delimiter);

/* Opens a file to append to, or creates it. A FIFO is waited for until it has a reader, or a signal
 * comes; it is never opened for reading, so that writing fails when its last reader is gone.
 * Returns 0, or -1 with the fault. */
int output_open(struct output *output, const char *path, char delimiter, struct fault *fault);

/* Whether output_open is likely to succeed; changes nothing. Returns 0, or -1 with the fault. */
int output_check(const char *path, struct fault *fault);

/* Writes lines; waits if a non-blocking descriptor is full. Returns how many bytes were
 * accepted: all, or fewer with the fault; fault->error is EINTR if a signal told the program to
 * end. */
size_t output_write(struct output *output, const char *bytes, size_t length, struct fault *fault);

/* The same for pieces of a line, by one writev(2) if the output is not a file that was opened, so
 * that other runs that append to the same file do not divide the line. */
size_t output_write_pieces(struct output *output, const struct iovec *pieces, size_t n,
                           struct fault *fault);

/* Whether `path`, or standard output if NULL, is a regular file or would be created as one. */
bool output_is_file(const char *path);

/* Flushes the output to disk. Returns 0, or -1 with the fault. */
int output_sync(const struct output *output, struct fault *fault);

/* Closes the output, which may report a deferred error. Returns 0, or -1 with the fault. */
int output_close(struct output *output, struct fault *fault);

#endif
