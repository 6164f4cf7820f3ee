/*
 * input - a stream of lines, in chunks of whole lines.
 *
 * A chunk is what had arrived: it is given out as soon as a read has returned at least the end of
 * one line, so that a line typed or sent is seen at once. The buffer holds a chunk and the
 * beginning of the next line; it grows only for a line that is longer than it.
 */
#ifndef UNSEEN_IO_INPUT_H
#define UNSEEN_IO_INPUT_H

#include "system/fault.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;

struct chunk {
    char *bytes; /* the reader may change them */
    size_t length;
    uint64_t offset; /* bytes of the input before it */
};

/* Room for chunks: `capacity` bytes and one more. */
struct input_buffer {
    char *bytes;
    size_t capacity;
};

/* Reads from an open descriptor, which stays the caller's. Lines end with `delimiter`, are at most
 * `max_line` bytes long without it; `buffer_bytes` are read at a time, and the buffer starts with
 * as many. NULL if out of memory. */
enum { INPUT_BYTES = 256 << 10 }; /* to read at a time, where nothing speaks for others */
struct input *input_new(int fd, const char *name, char delimiter, size_t buffer_bytes,
                        size_t max_line);
void input_free(struct input *input);

/* The next chunk: at least one line, each with its delimiter; a missing last one is supplied.
 * Returns 1, 0 at the end, -1 with the fault; or INPUT_WAITS: see below. */
int input_next(struct input *input, struct chunk *chunk, struct fault *fault);

/* For an input that another thread reads ahead. input_let_wait: from now on (NULL: no longer)
 * input_next returns INPUT_WAITS instead of making its buffer larger, and instead of waiting once
 * `stop` is true and signals_end_thread has woken it; it goes on where it was.
 * input_change_buffer: the bytes of the last chunk stay where they are, in what is now *buffer; the
 * input goes on in what was there, made large enough for one read. Returns 0 or -1. */
enum { INPUT_WAITS = -2 };
void input_let_wait(struct input *input, const atomic_bool *stop);
int input_change_buffer(struct input *input, struct input_buffer *buffer, struct fault *fault);

/* Waits for input at most so many milliseconds. Returns whether input_next has something to say;
 * else time ran out, or a signal came that does not end the process. */
bool input_wait(struct input *input, int milliseconds);

/* Gives back what comes after the first `used` bytes of the input: where it can be positioned, its
 * offset is set just after them, for whoever reads it next. */
void input_give_back(struct input *input, uint64_t used);

/* Bytes that are still to be read, as far as that is known: of a regular file; else 0. */
uint64_t input_remaining(const struct input *input);

/* The same of all inputs of these names, "-" for standard input and NULL at the end, before they
 * are opened; 0 also if one of them is no regular file. What does not exist has none. */
uint64_t input_expected(const char *const *names);

/* Bytes that were read so far; also for a signal handler, whichever thread reads. */
uint64_t input_bytes(const struct input *input);

const char *input_name(const struct input *input);
size_t input_most_read(const struct input *input);

/* Of n lines of the last chunk, where line i begins at starts[i]: how many come before one that is
 * too long. The fault tells of that one. */
size_t input_allowed(const struct input *input, const size_t *starts, size_t n,
                     struct fault *fault);

#endif
