/*
 * output - writes lines to standard output, to a file, or through a function; and collect, a buffer
 * before an output.
 */
#ifndef UNSEEN_IO_OUTPUT_H
#define UNSEEN_IO_OUTPUT_H

#include "core/rows.h"
#include "system/fault.h"
#include "system/lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* The lock of a file to which lines are appended (system/lock.h). */
enum { LOCK_OUTPUT = 0 };

struct output {
    int fd;
    int standard; /* 1 or 2: lines are written through that descriptor of the same file; 0: by fd */
    const char *name;
    struct line_ends ends;
    /* Replace output_write and output_sync if not NULL. */
    size_t (*append)(void *context, const char *bytes, size_t length, struct fault *fault);
    int (*sync)(void *context, struct fault *fault);
    void *context;
    /* If not NULL, the first write calls it, under the lock of a file, for the bytes that are to
     * precede the lines: *length is 0 unless it sets both. Returns 0; or -1 with the fault, and
     * nothing is written. */
    int (*begin)(void *context, const struct output *output, const char **bytes, size_t *length,
                 struct fault *fault);
    void *begin_context;
    /* A regular file: an unfinished last line, found by `end_fd`, is ended before a write. */
    bool ends_last_line;
    int end_fd;
    /* With rows: up to this offset, whole rows were found in it, of which the last ends there. */
    uint64_t looked_through;
    /* A FIFO, which cannot be locked: it gets whole lines, at most PIPE_BUF bytes at a time or a
     * line that is longer, so that other writers do not divide shorter lines. */
    bool by_pieces;
    bool to_the_end; /* no signal ends a write */
    /* Called with `name` after five seconds of waiting for the file's lock; may be NULL. */
    lock_waits *waits;
};

struct output output_standard(struct line_ends ends);

/* Opens a file to append to, or creates it. A FIFO is waited for until it has a reader, or a signal
 * comes; it is never opened for reading, so that writing fails when its last reader is gone.
 * Returns 0, or -1 with the fault. */
int output_open(struct output *output, const char *path, struct line_ends ends,
                struct fault *fault);

/* Whether output_open is likely to succeed; changes nothing. Returns 0, or -1 with the fault. */
int output_check(const char *path, struct fault *fault);

/* For rows of CSV in a regular file that can be read: looks through all of it. What is appended to
 * a file that ends within a row would become a part of that row. Changes nothing. Returns 0; or -1
 * with a fault that tells where the row begins, or if there is what is no row. output_write then
 * looks at what others have appended meanwhile, and writes nothing after such a row. Costs a read
 * of the file; for other outputs, and for lines, nothing. */
int output_check_rows(struct output *output, struct fault *fault);

/* Writes lines; waits if a non-blocking descriptor is full. Returns how many bytes were
 * accepted: all, or fewer with the fault; fault->error is EINTR if a signal told the program to
 * end. */
size_t output_write(struct output *output, const char *bytes, size_t length, struct fault *fault);

/* Whether `path`, or standard output if NULL, is a regular file or would be created as one. */
bool output_is_file(const char *path);

/* Flushes the output to disk. Returns 0, or -1 with the fault. */
int output_sync(const struct output *output, struct fault *fault);

/* Closes the output, which may report a deferred error. Returns 0, or -1 with the fault. */
int output_close(struct output *output, struct fault *fault);

/*
 * Many short lines are written at a time if they are collected first. This is for output that is
 * not one piece of the input's buffer: keys, lines with a tag, the dropped lines of a batch. The
 * owner flushes the buffer before it waits for input, so that no line is delayed.
 */
enum { COLLECT_BYTES = 256 << 10 }; /* size of the buffer */

struct collect;

/* `output` must outlive the result. Returns NULL if memory is short. */
struct collect *collect_new(struct output *output);

/* Discards what was not flushed. */
void collect_free(struct collect *collect);

/* Adds lines with their delimiters. The bytes of one call are never divided between two writes, so
 * whole lines stay whole. More bytes than the buffer holds are written directly. Returns 0; or -1
 * with the fault of output_write, and then the buffer is discarded. */
int collect_add(struct collect *collect, const char *bytes, size_t length, struct fault *fault);

/* Add a line after a tag of a few bytes, and one of `n` pieces. A line that is longer than the
 * buffer is not copied, because that would take as much memory again. Return as collect_add. */
int collect_add_tagged(struct collect *collect, const char *tag, size_t tag_length,
                       const char *bytes, size_t length, struct fault *fault);
int collect_add_pieces(struct collect *collect, const struct iovec *pieces, size_t n,
                       struct fault *fault);

/* Writes the buffer. Returns as collect_add. */
int collect_flush(struct collect *collect, struct fault *fault);

/* How many bytes the output has accepted so far, those of a write that failed included. */
uint64_t collect_accepted(const struct collect *collect);

#endif
