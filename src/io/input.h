/*
 * input - reads a stream in chunks of whole lines.
 *
 * A chunk is available as soon as a read has returned the end of a line, so a line is seen when it
 * arrives. The buffer holds a chunk and the beginning of the next line. It grows only for a line,
 * or for what the caller keeps of a chunk (a row of several lines), that fills it.
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
    char *bytes; /* the caller may change them */
    size_t length;
    uint64_t offset; /* of the chunk in the input */
};

/* A buffer of `capacity` bytes and one more. */
struct input_buffer {
    char *bytes;
    size_t capacity;
};

/* Reads from an open descriptor, which stays the caller's. Lines end with `delimiter` and have at
 * most `max_line` bytes without it. `buffer_bytes` is the initial size of the buffer, and the most
 * that is read at a time. Returns NULL if memory is short. */
enum { INPUT_BYTES = 256 << 10 }; /* the usual buffer_bytes */
struct input *input_new(int fd, const char *name, char delimiter, size_t buffer_bytes,
                        size_t max_line);
void input_free(struct input *input);

/* The next chunk: at least one line, each with its delimiter, which is added to a last line without
 * one. Returns 1, 0 at the end, -1 with the fault, INPUT_WOULD_WAIT (see below), or INPUT_TOO_LONG
 * with the fault, and then *chunk is what there is of the line. */
enum { INPUT_WOULD_WAIT = -2, INPUT_TOO_LONG = -3 };
int input_next(struct input *input, struct chunk *chunk, struct fault *fault);

/* The bytes of the last chunk after the first `used` are to begin the next one. If none comes, they
 * were the end of the input. */
void input_keep_after(struct input *input, size_t used);

/* Called once, with the first chunk, before input_next returns it. If it returns -1 with the fault,
 * so does input_next. To be set before the first input_next. */
typedef int input_judge(void *context, const struct input *input, const struct chunk *first,
                        struct fault *fault);
void input_set_judge(struct input *input, input_judge *judge, void *context);

/* For an input that another thread reads ahead: from now on, until it is called with NULL,
 * input_next returns INPUT_WOULD_WAIT instead of growing its buffer, and instead of waiting once
 * *stop is true and signals_end_thread has woken it. input_next can then be called again. */
void input_set_stop(struct input *input, const atomic_bool *stop);

/* Exchanges the buffers, so that the bytes of the last chunk stay in place, in what is then
 * *buffer. The new buffer is grown for one read if need be. Returns 0, or -1 with the fault.
 * Precondition: what is kept of the chunk came with the last read. */
int input_change_buffer(struct input *input, struct input_buffer *buffer, struct fault *fault);

/* Waits for input for at most `milliseconds`. Returns true if input_next need not wait; false
 * if time ran out or a signal came that does not end the process. */
bool input_wait(struct input *input, int milliseconds);

/* If the input can be positioned, sets its offset after its first `used` bytes, so that the next
 * process can read the rest. */
void input_unread(struct input *input, uint64_t used);

/* The bytes of a regular file that are still to be read; 0 for other inputs. */
uint64_t input_remaining(const struct input *input);

/* The sum of these for inputs that are still to be opened: names, "-" for standard input, with NULL
 * at the end. 0 if one of them is not a regular file; missing files are ignored. */
uint64_t input_expected(const char *const *names);

/* The bytes read so far. Any thread may call it. */
uint64_t input_bytes(const struct input *input);

const char *input_name(const struct input *input);
bool input_is_standard(const struct input *input);

/* The buffer_bytes, and max_line, of input_new. */
size_t input_read_size(const struct input *input);
size_t input_max_line(const struct input *input);

/* How many of n lines of the last chunk, where line i begins at starts[i], precede one that is too
 * long. If there is one, sets the fault. */
size_t input_allowed(const struct input *input, const size_t *starts, size_t n,
                     struct fault *fault);

#endif
