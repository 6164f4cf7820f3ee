#include "pipeline/header_lines.h"

#include "io/input.h"
#include "key/columns.h"
#include "text/quote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a header line that was cut off may be the beginning of another. */
static bool may_begin(const struct header_lines *cut, const struct header_lines *other)
{
    return cut->unfinished && cut->length <= other->length &&
           memcmp(cut->line, other->line, cut->length - 1) == 0;
}

/* Keeps next->line, or frees it if its columns are not those of the line before. */
static int keep_header(struct header_lines *lines, const struct header_lines *next,
                       struct fault *fault)
{
    char quoted[QUOTE_MAX];
    if (lines->line != NULL) {
        struct span last = {lines->line, lines->length - 1}, now = {next->line, next->length - 1};
        enum header_likeness likeness = columns_compare(lines->recipe, last, now);
        if (likeness != HEADER_SAME) {
            const struct header_lines *cut = may_begin(lines, next)   ? lines
                                             : may_begin(next, lines) ? next
                                                                      : NULL;
            const char *of = cut != NULL ? cut->of : next->of;
            free(next->line);
            if (cut != NULL) {
                fault_set(fault, of, "its header line is cut off");
                return fault_way_out(fault, "it has no other lines; to start over: rm %s",
                                     quote_file(of, quoted));
            }
            if (likeness == HEADER_NO_MEMORY)
                return fault_errno(fault, of, NULL, ENOMEM);
            if (likeness == HEADER_DIFFERS)
                return fault_set(fault, of, "columns differ from %s's", lines->of);
            fault_set(fault, of, "columns are in another order than %s's", lines->of);
            return fault_way_out(fault, "each order needs an output of its own");
        }
    }
    free(lines->line);
    *lines = *next;
    return 0;
}

int header_lines_add(struct header_lines *lines, const char *line, size_t length, const char *of,
                     struct fault *fault)
{
    struct header_lines next = {lines->recipe, malloc(length), length, of, false};
    if (next.line == NULL)
        return fault_errno(fault, of, NULL, ENOMEM);
    memcpy(next.line, line, length);
    return keep_header(lines, &next, fault);
}

/* Reads the first row of the file into first->line. Returns 1; 0 if it has none; or -1. */
static int read_first(const struct output *output, struct header_lines *first, struct fault *fault)
{
    enum { READ_BYTES = 4096 };
    struct input *input = input_new(output->end_fd, output->name, output->ends.delimiter,
                                    READ_BYTES, SIZE_MAX / 4);
    struct chunk chunk;
    struct rows rows;
    size_t starts[2] = {0};
    uint8_t kind;
    int got = -1;
    if (input == NULL)
        return fault_errno(fault, output->name, NULL, ENOMEM);
    rows_begin(&rows, output->ends, false);
    if (lseek(output->end_fd, 0, SEEK_SET) < 0)
        fault_errno(fault, output->name, NULL, errno);
    else
        while ((got = input_next(input, &chunk, fault)) > 0 &&
               rows_find(&rows, chunk.bytes, chunk.length, starts, &kind, 1) == 0 &&
               rows.wrong == ROW_RIGHT)
            input_keep_after(input, 0);
    /* A file whose first row is none was refused before (output_check_rows), unless it has changed
     * since. */
    bool cut = got == 0 && rows_is_amid(&rows);
    if (cut || (got > 0 && starts[1] == 0))
        got = fault_set(fault, output->name, "line 1: %s",
                        row_wrong_text(cut ? ROW_UNCLOSED : rows.wrong));
    if (got > 0 && starts[1] > 0) {
        first->length = starts[1];
        first->unfinished = starts[1] > input_bytes(input);
        first->line = malloc(starts[1]);
        if (first->line != NULL)
            memcpy(first->line, chunk.bytes, starts[1]);
    }
    input_free(input);
    if (got > 0 && first->line == NULL)
        return fault_errno(fault, output->name, NULL, ENOMEM);
    return got;
}

int header_lines_begin(void *context, const struct output *output, const char **bytes,
                       size_t *length, struct fault *fault)
{
    struct header_lines *lines = context;
    struct header_lines first = {.recipe = lines->recipe, .of = output->name};
    struct stat status;
    bool unreadable = output->end_fd < 0 && fstat(output->fd, &status) == 0 &&
                      S_ISREG(status.st_mode) && status.st_size > 0;
    *bytes = lines->line;
    *length = lines->length;
    if (!output->ends_last_line)
        return unreadable ? fault_errno(fault, output->name, NULL, EACCES) : 0;
    int got = read_first(output, &first, fault);
    if (got <= 0 || first.line == NULL)
        return got;
    *length = 0;
    return keep_header(lines, &first, fault);
}

void header_lines_free(struct header_lines *lines)
{
    free(lines->line);
}
