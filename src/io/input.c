#include "io/input.h"

#include "core/bytes.h"
#include "system/signals.h"
#include "text/number.h"

#include <assert.h>
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
    size_t max_line;
    const atomic_bool *stop;    /* from input_set_stop; may be NULL */
    struct input_buffer buffer; /* its extra byte is for a missing last delimiter */
    size_t most_read;           /* bytes to read at a time */
    size_t chunk;               /* length of the last chunk, which begins the buffer */
    size_t filled;              /* bytes in the buffer */
    uint64_t read;              /* bytes read in all */
    input_judge *judge;         /* of the first chunk, which is still to come; or NULL */
    void *judge_context;
};

struct input *input_new(int fd, const char *name, char delimiter, size_t buffer_bytes,
                        size_t max_line)
{
    struct input *input = malloc(sizeof *input);
    char *bytes = malloc(buffer_bytes + 1);
    if (input == NULL || bytes == NULL) {
        free(input);
        free(bytes);
        return NULL;
    }
    *input = (struct input){
        .fd = fd,
        .name = name,
        .delimiter = delimiter,
        .max_line = max_line,
        .buffer.capacity = buffer_bytes,
        .most_read = buffer_bytes,
    };
    input->buffer.bytes = bytes;
    return input;
}

void input_free(struct input *input)
{
    if (input != NULL)
        free(input->buffer.bytes);
    free(input);
}

const char *input_name(const struct input *input)
{
    return input->name;
}

bool input_is_standard(const struct input *input)
{
    return input->fd == STDIN_FILENO;
}

uint64_t input_bytes(const struct input *input)
{
    return __atomic_load_n(&input->read, __ATOMIC_RELAXED);
}

size_t input_read_size(const struct input *input)
{
    return input->most_read;
}

size_t input_max_line(const struct input *input)
{
    return input->max_line;
}

static int too_long(const struct input *input, struct fault *fault)
{
    fault_set(fault, input->name, "has a line longer than %zu %s", input->max_line,
              number_of(input->max_line, "byte", "bytes"));
    fault_way_out(fault, "to allow it: --max-line SIZE; if lines end with NUL: -z");
    return INPUT_TOO_LONG;
}

size_t input_allowed(const struct input *input, const size_t *starts, size_t n, struct fault *fault)
{
    size_t most = input->max_line;
    for (size_t i = 0; i < n && input->chunk > most; i++)
        if (starts[i + 1] - starts[i] - 1 > most) {
            too_long(input, fault);
            return i;
        }
    return n;
}

static int resize(struct input_buffer *buffer, size_t capacity)
{
    char *bytes = realloc(buffer->bytes, capacity + 1);
    if (bytes == NULL)
        return -1;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return 0;
}

void input_keep_after(struct input *input, size_t used)
{
    input->chunk = used;
}

void input_set_judge(struct input *input, input_judge *judge, void *context)
{
    input->judge = judge;
    input->judge_context = context;
}

void input_set_stop(struct input *input, const atomic_bool *stop)
{
    input->stop = stop;
}

int input_change_buffer(struct input *input, struct input_buffer *buffer, struct fault *fault)
{
    struct input_buffer before = input->buffer;
    size_t rest = input->filled - input->chunk;
    if (buffer->capacity < input->most_read && resize(buffer, input->most_read) != 0)
        return fault_errno(fault, input->name, NULL, ENOMEM);
    assert(rest <= buffer->capacity); /* it came with one read */
    memcpy(buffer->bytes, before.bytes + input->chunk, rest);
    input->buffer = *buffer;
    input->filled = rest;
    input->chunk = 0;
    *buffer = before;
    return 0;
}

bool input_wait(struct input *input, int milliseconds)
{
    /* At the end of a file, and after an error, input_next does not wait. */
    return signals_wait(input->fd, POLLIN, milliseconds) != 0;
}

int input_next(struct input *input, struct chunk *chunk, struct fault *fault)
{
    struct input_buffer *buffer = &input->buffer;
    /* 1. What came after the last chunk is moved to the front. */
    if (input->chunk > 0) {
        input->filled -= input->chunk;
        memmove(buffer->bytes, buffer->bytes + input->chunk, input->filled);
        input->chunk = 0;
    }
    /* 2. Read what is available, or wait for it, until a line ends. */
    while (!input->ended && input->chunk == 0) {
        /* A buffer that one line fills is doubled, up to the longest line and its delimiter. */
        if (input->filled == buffer->capacity) {
            size_t limit = input->max_line + 1, capacity = buffer->capacity;
            if (input->stop != NULL)
                return INPUT_WOULD_WAIT;
            if (capacity >= limit) {
                *chunk = (struct chunk){buffer->bytes, input->filled, input->read - input->filled};
                return too_long(input, fault);
            }
            if (resize(buffer, capacity < limit / 2 ? capacity * 2 : limit) != 0)
                return fault_errno(fault, input->name, "a line does not fit into memory", ENOMEM);
        }
        if (input->stop != NULL && atomic_load(input->stop))
            return INPUT_WOULD_WAIT;
        /* A buffer that has grown for a long line is not filled at once, because bytes after the
         * line must be copied. */
        size_t most = buffer->capacity - input->filled;
        ssize_t n = signals_read(input->fd, buffer->bytes + input->filled,
                                 most < input->most_read ? most : input->most_read);
        if (n < 0) {
            if ((errno == EAGAIN && signals_wait(input->fd, POLLIN, -1) >= 0) ||
                (errno == EINTR && !signals_arrived()))
                continue;
            return fault_errno(fault, input->name, NULL, errno);
        }
        size_t lines = whole_lines(buffer->bytes + input->filled, (size_t)n, input->delimiter);
        input->chunk = lines > 0 ? input->filled + lines : 0;
        input->filled += (size_t)n;
        __atomic_store_n(&input->read, input->read + (size_t)n, __ATOMIC_RELAXED);
        input->ended = n == 0;
    }
    *chunk = (struct chunk){buffer->bytes, input->chunk, input->read - input->filled};
    /* 3. A last line without a delimiter gets one. (What was kept has one.) */
    if (input->chunk == 0 && input->filled > 0 &&
        buffer->bytes[input->filled - 1] != input->delimiter) {
        buffer->bytes[input->filled++] = input->delimiter;
        chunk->length = input->chunk = input->filled;
    }
    /* 4. The first chunk is judged. */
    input_judge *judge = input->chunk > 0 ? input->judge : NULL;
    if (judge == NULL)
        return input->chunk > 0;
    input->judge = NULL;
    return judge(input->judge_context, input, chunk, fault) == 0 ? 1 : -1;
}

uint64_t input_remaining(const struct input *input)
{
    struct stat status;
    off_t at = lseek(input->fd, 0, SEEK_CUR);
    if (at < 0 || fstat(input->fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < at)
        return 0;
    return (uint64_t)(status.st_size - at);
}

uint64_t input_expected(const char *const *names)
{
    uint64_t sum = 0;
    for (; *names != NULL; names++) {
        struct stat status;
        bool standard = strcmp(*names, "-") == 0;
        off_t at = standard ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
        if ((standard ? fstat(STDIN_FILENO, &status) : stat(*names, &status)) != 0)
            continue;
        if (!S_ISREG(status.st_mode) || at < 0 || at > status.st_size)
            return 0;
        sum += (uint64_t)(status.st_size - at);
    }
    return sum;
}

void input_unread(struct input *input, uint64_t used)
{
    /* A delimiter that input_next added was not read. */
    if (used < input->read)
        (void)!lseek(input->fd, -(off_t)(input->read - used), SEEK_CUR);
}
