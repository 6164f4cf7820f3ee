/* input - see input.h. */
#include "io/input.h"

#include "io/signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct input {
    int fd;
    const char *name;
    char delimiter;
    bool ended;
    bool supplied; /* the last chunk's last delimiter was not in the input */
    size_t max_line;
    char *buffer;
    size_t capacity; /* one byte more is allocated, for a missing last delimiter */
    size_t chunk;    /* length of the last chunk, at the beginning of the buffer */
    size_t filled;   /* bytes in the buffer */
};

struct input *input_new(int fd, const char *name, char delimiter, size_t buffer_bytes,
                        size_t max_line)
{
    struct input *input = calloc(1, sizeof *input);
    if (input == NULL)
        return NULL;
    *input = (struct input){.fd = fd,
                            .name = name,
                            .delimiter = delimiter,
                            .max_line = max_line,
                            .capacity = buffer_bytes};
    input->buffer = malloc(buffer_bytes + 1);
    if (input->buffer == NULL) {
        free(input);
        return NULL;
    }
    return input;
}

void input_free(struct input *input)
{
    if (input == NULL)
        return;
    free(input->buffer);
    free(input);
}

const char *input_name(const struct input *input)
{
    return input->name;
}

size_t input_max_line(const struct input *input)
{
    return input->max_line;
}

static int too_long(const struct input *input, struct fault *fault)
{
    fault_set(fault, input->name, "a line is longer than %zu bytes", input->max_line);
    return fault_way_out(fault, "to allow it: --max-line");
}

/* Doubles the buffer, which is full of one line. The limit is one byte above the longest line, so
 * that a line just as long as allowed has room for its delimiter. */
static int grow(struct input *input, struct fault *fault)
{
    size_t limit = input->max_line + 1;
    if (input->capacity >= limit)
        return too_long(input, fault);
    size_t capacity = input->capacity < limit / 2 ? input->capacity * 2 : limit;
    char *buffer = realloc(input->buffer, capacity + 1);
    if (buffer == NULL)
        return fault_errno(fault, input->name, "a line does not fit into memory", ENOMEM);
    input->buffer = buffer;
    input->capacity = capacity;
    return 0;
}

/* Reads what is there; waits until something is. Returns the number of bytes, 0 at the end. */
static ssize_t fill(struct input *input, struct fault *fault)
{
    for (;;) {
        ssize_t n = signals_read(input->fd, input->buffer + input->filled,
                                 input->capacity - input->filled);
        if (n >= 0)
            return n;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (signals_wait_readable(input->fd, -1) >= 0 && !signals_pending())
                continue;
        }
        if (errno != EINTR || signals_pending())
            return fault_errno(fault, input->name, NULL, signals_pending() ? EINTR : errno);
    }
}

int input_wait(struct input *input, int milliseconds)
{
    /* Nothing to wait for at the end of a file, or with an error: reading says so. */
    return signals_wait_readable(input->fd, milliseconds) != 0;
}

int input_next(struct input *input, struct chunk *chunk, struct fault *fault)
{
    size_t rest = input->filled - input->chunk;
    memmove(input->buffer, input->buffer + input->chunk, rest);
    input->filled = rest;
    input->chunk = 0;
    while (!input->ended) {
        if (input->filled == input->capacity && grow(input, fault) != 0)
            return -1;
        ssize_t n = fill(input, fault);
        if (n < 0)
            return -1;
        size_t from = input->filled;
        input->filled += (size_t)n;
        input->ended = n == 0;
        const char *last = memrchr(input->buffer + from, input->delimiter, (size_t)n);
        if (last != NULL) {
            input->chunk = (size_t)(last - input->buffer) + 1;
            break;
        }
    }
    if (input->chunk == 0 && input->filled > 0) {
        input->buffer[input->filled++] = input->delimiter;
        input->chunk = input->filled;
        input->supplied = true;
    }
    *chunk = (struct chunk){input->buffer, input->chunk};
    return input->chunk > 0;
}

uint64_t input_remaining(const struct input *input)
{
    struct stat status;
    off_t at = lseek(input->fd, 0, SEEK_CUR);
    if (at < 0 || fstat(input->fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < at)
        return 0;
    return (uint64_t)(status.st_size - at);
}

void input_give_back(struct input *input, size_t used)
{
    size_t unused = input->filled - used;
    if (input->supplied && unused > 0)
        unused--;
    if (unused > 0)
        (void)!lseek(input->fd, -(off_t)unused, SEEK_CUR);
}
