/*
 * oracle_rows - what the program makes of many small files of CSV, in one process; oracle_rows.py
 * says what it should be.
 *
 * A file is read as the commands read it: input, batches, keyer. It comes in pieces of chance, so
 * that rows are cut anywhere; from THREADS_FROM bytes on, a second thread may read ahead. It is
 * read twice, for texts of keys and for their hashes, which must be those of the texts.
 *
 * Standard input has frames: see struct frame, integers little-endian, then LIST, then the file.
 * Standard output has for each the length of an answer, 4 bytes, and the answer, a line each:
 *
 *     header START END       the header line
 *     again START END        a later row that is one
 *     row START END LINE key|none LENGTH KEY
 *     error LINE             the rest of the file was left
 *
 * START and END are offsets in the file, and END is after the row's delimiter, if it has one or
 * not. Exit: 0, or 1 if the input is no such frames; what must hold is INSISTed on (abort).
 */
#include "key/keyer.h"
#include "pipeline/batches.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSIST(what)                                                                               \
    do                                                                                             \
        if (!(what)) {                                                                             \
            fprintf(stderr, "oracle_rows.c:%d: %s\n", __LINE__, #what);                            \
            abort();                                                                               \
        }                                                                                          \
    while (0)

enum { FLAG_TRIM = 1, FLAG_HEADER = 2, FLAG_NUL = 4, FLAG_FOLD = 8, FLAG_PIPE = 16 };
enum { PIPE_BYTES = 4096, THREADS_FROM = 1 << 20 };

struct frame {
    uint32_t length;   /* of the file */
    uint32_t buffer;   /* the input's at first */
    uint32_t seed;     /* of the sizes of pieces; 0: as large as they are asked for */
    uint32_t max_line; /* UINT32_MAX: any */
    uint16_t list_length;
    uint8_t flags, separator;
};

static const struct hashers hashers = {{HASH_XXH3, 7, 0}, {HASH_XXH3, 8, 0}};

/* --- the input --- */

static struct {
    int fd;
    uint64_t state;
    size_t least, most;
} pieces = {.fd = -1};

static uint64_t draw(void)
{
    uint64_t x = pieces.state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 31;
}

/* In the place of the library's. */
ssize_t __wrap_read(int fd, void *buffer, size_t length); // NOLINT: the linker's name
ssize_t __wrap_read(int fd, void *buffer, size_t length)  // NOLINT
{
    if (fd == pieces.fd && pieces.most > 0) {
        uint64_t dice = draw();
        if (dice % 32 == 0) {
            errno = EINTR;
            return -1;
        }
        size_t most = pieces.least + (size_t)(dice >> 8) % (pieces.most - pieces.least + 1);
        length = length < most ? length : most;
    }
    return syscall(SYS_read, fd, buffer, length);
}

static int input_of(const struct frame *frame, const char *bytes)
{
    int ends[2];
    if ((frame->flags & FLAG_PIPE) == 0 || frame->length > PIPE_BYTES) {
        int fd = memfd_create("input", 0);
        INSIST(fd >= 0 && pwrite(fd, bytes, frame->length, 0) == (ssize_t)frame->length);
        return fd;
    }
    INSIST(pipe(ends) == 0 && write(ends[1], bytes, frame->length) == (ssize_t)frame->length);
    close(ends[1]);
    return ends[0];
}

/* Sizes of up to 1, 2, 4 ... 8192; of long files, as large as a second thread wants them. */
static void choose_pieces(const struct frame *frame, int fd)
{
    pieces.fd = fd;
    pieces.state = frame->seed;
    pieces.least = frame->length < THREADS_FROM ? 1 : 20000;
    pieces.most = frame->length < THREADS_FROM ? 1U << draw() % 14 : 200000;
    if (frame->seed == 0)
        pieces.most = 0;
}

/* --- the answer --- */

static FILE *answer;
static size_t answered; /* bytes of the file that the answer has told of */

/* The next bytes of the file as they came out: from the answered ones on. */
static void pass(const struct frame *frame, const char *file, const char *bytes, size_t length)
{
    bool added = answered + length == (size_t)frame->length + 1; /* its last delimiter */
    INSIST(length > 0 && answered + length <= (size_t)frame->length + added);
    INSIST(memcmp(file + answered, bytes, length - added) == 0);
    INSIST(bytes[length - 1] == ((frame->flags & FLAG_NUL) != 0 ? '\0' : '\n'));
    fprintf(answer, " %zu %zu", answered, answered + length);
    answered += length;
}

static void tell_fault(const struct fault *fault)
{
    const bool has_line = strncmp(fault->reason, "line ", 5) == 0;
    fprintf(answer, "error %lu\n", has_line ? strtoul(fault->reason + 5, NULL, 10) : 1);
}

/* The hashes of all rows in order, from the texts of their keys; then compared. */
static struct {
    struct key *keys;
    size_t n, room, compared;
} wanted;

static void want_hash(struct key_text text)
{
    if (wanted.n == wanted.room) {
        wanted.room = 2 * wanted.room + 64;
        wanted.keys = realloc(wanted.keys, wanted.room * sizeof *wanted.keys);
        INSIST(wanted.keys != NULL);
    }
    wanted.keys[wanted.n++] = hash_key(text.bytes, text.length,
                                       text.no_key ? hashers.line : hashers.key);
}

static void take_batch(const struct frame *frame, const char *file, const struct batch *batch,
                       bool texts)
{
    if (texts && batch->header_line != NULL) {
        fputs(batch->header_again ? "again" : "header", answer);
        pass(frame, file, batch->header_line, batch->header_length);
        fputc('\n', answer);
    }
    for (size_t i = 0; i < batch->n; i++) {
        if (!texts) {
            INSIST(wanted.compared < wanted.n);
            const struct key *key = &wanted.keys[wanted.compared++];
            INSIST(batch->keys[i].lo == key->lo && batch->keys[i].hi == key->hi);
            continue;
        }
        const size_t *starts = batch->starts + i;
        const struct key_text *text = &batch->texts[i];
        fputs("row", answer);
        pass(frame, file, batch->bytes + starts[0], starts[1] - starts[0]);
        INSIST(text->no_key == batch->no_key[i]);
        fprintf(answer, " %" PRIu64 " %s %zu ", batch_line(batch, i), text->no_key ? "none" : "key",
                text->length);
        (void)fwrite(text->bytes, 1, text->length, answer);
        fputc('\n', answer);
        want_hash(*text);
    }
}

static void read_file(const struct frame *frame, const struct recipe *recipe, const char *file,
                      bool texts)
{
    struct fault fault = FAULT_UNSET;
    struct batches_plan plan = {
        .ends = recipe_line_ends(recipe, (frame->flags & FLAG_NUL) != 0 ? '\0' : '\n'),
        .recipe = recipe,
        .hashers = hashers,
        .texts = texts,
        .threads = frame->length < THREADS_FROM ? 1 : 2,
    };
    int fd = input_of(frame, file), got;
    struct input *input = input_new(fd, "input", plan.ends.delimiter, frame->buffer,
                                    frame->max_line == UINT32_MAX ? (size_t)1 << 30
                                                                  : frame->max_line);
    struct batches *batches = batches_new(&plan);
    struct batch batch;
    INSIST(input != NULL && batches != NULL);
    choose_pieces(frame, fd);
    batches_begin(batches, input,
                  (frame->flags & FLAG_HEADER) != 0 || recipe_has_column_names(recipe));
    while ((got = batches_next(batches, &batch, &fault)) == 1)
        take_batch(frame, file, &batch, texts);
    INSIST(got == 0 || got == -1);
    if (texts && got < 0)
        tell_fault(&fault);
    batches_end(batches);
    pieces.fd = -1;
    close(fd);
    batches_free(batches);
    input_free(input);
}

static void answer_frame(const struct frame *frame, const char *list, const char *file)
{
    const char *wrong;
    char *text = NULL;
    size_t length = 0;
    struct recipe recipe = {
        .syntax = SYNTAX_CSV,
        .trim = (frame->flags & FLAG_TRIM) != 0,
        .fold = (frame->flags & FLAG_FOLD) != 0,
        .separated = true,
        .separator = (char)frame->separator,
    };
    INSIST(recipe_parse_fields(&recipe, *list != '\0' ? list : "1-", &wrong) == NULL);
    answered = wanted.n = wanted.compared = 0;
    answer = open_memstream(&text, &length);
    INSIST(answer != NULL);
    read_file(frame, &recipe, file, true);
    fclose(answer);
    read_file(frame, &recipe, file, false);
    INSIST(wanted.compared == wanted.n);
    uint8_t head[4] = {(uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(length >> 16),
                       (uint8_t)(length >> 24)};
    INSIST(fwrite(head, 1, 4, stdout) == 4 && fwrite(text, 1, length, stdout) == length);
    free(text);
}

/* --- frames --- */

static uint32_t number(const uint8_t *bytes, unsigned count)
{
    uint32_t value = 0;
    while (count-- > 0)
        value = value << 8 | bytes[count];
    return value;
}

int main(void)
{
    uint8_t head[20];
    size_t got;
    while ((got = fread(head, 1, sizeof head, stdin)) == sizeof head) {
        struct frame frame = {
            .length = number(head, 4),
            .buffer = number(head + 4, 4),
            .seed = number(head + 8, 4),
            .max_line = number(head + 12, 4),
            .list_length = (uint16_t)number(head + 16, 2),
            .flags = head[18],
            .separator = head[19],
        };
        /* Of their own, so that a sanitizer sees what is read beyond them. */
        char *list = calloc(frame.list_length + 1U, 1), *file = malloc(frame.length);
        if (list == NULL || (file == NULL && frame.length > 0) ||
            fread(list, 1, frame.list_length, stdin) != frame.list_length ||
            fread(file, 1, frame.length, stdin) != frame.length)
            return 1;
        answer_frame(&frame, list, file);
        free(list);
        free(file);
    }
    free(wanted.keys);
    return got != 0;
}
