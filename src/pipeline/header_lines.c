#include "pipeline/header_lines.h"

#include "key/csv.h"
#include "text/quote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool begins_with(struct span line, struct span start)
{
    return start.length <= line.length && memcmp(line.bytes, start.bytes, start.length) == 0;
}

/* Keeps next->line, or frees it if its columns are not those of the line before. */
static int keep_header(struct header_lines *lines, const struct header_lines *next,
                       struct fault *fault)
{
    char quoted[QUOTE_MAX];
    if (lines->line != NULL) {
        struct span last = csv_row((struct span){lines->line, lines->length - 1});
        struct span now = csv_row((struct span){next->line, next->length - 1});
        const struct header_lines *cut = lines->unfinished && begins_with(now, last)  ? lines
                                         : next->unfinished && begins_with(last, now) ? next
                                                                                      : NULL;
        if (last.length != now.length || !begins_with(last, now)) {
            free(next->line);
            if (cut == NULL)
                return fault_set(fault, next->of, "columns differ from %s's", lines->of);
            fault_set(fault, cut->of, "its header line is cut off");
            return fault_way_out(fault, "it has no other lines; to start over: rm %s",
                                 quote_file(cut->of, quoted));
        }
    }
    free(lines->line);
    *lines = *next;
    return 0;
}

int header_lines_add(struct header_lines *lines, const char *line, size_t length, const char *of,
                     struct fault *fault)
{
    struct header_lines next = {malloc(length), length, of, false};
    if (next.line == NULL)
        return fault_errno(fault, of, NULL, ENOMEM);
    memcpy(next.line, line, length);
    return keep_header(lines, &next, fault);
}

/* The byte that getdelim puts after a line is replaced by the delimiter if there is none. */
int header_lines_begin(void *context, const struct output *output, const char **bytes,
                       size_t *length, struct fault *fault)
{
    struct header_lines *lines = context;
    struct header_lines first = {.of = output->name};
    struct stat status;
    size_t capacity = 0;
    bool unreadable = output->end_fd < 0 && fstat(output->fd, &status) == 0 &&
                      S_ISREG(status.st_mode) && status.st_size > 0;
    *bytes = lines->line;
    *length = lines->length;
    if (!output->ends_last_line)
        return unreadable ? fault_errno(fault, output->name, NULL, EACCES) : 0;
    int copy = dup(output->end_fd);
    FILE *file = copy >= 0 ? fdopen(copy, "r") : NULL;
    if (file == NULL)
        return fault_errno(fault, output->name, NULL, errno);
    rewind(file);
    ssize_t n = getdelim(&first.line, &capacity, output->ends.delimiter, file);
    bool failed = n < 0 && !feof(file);
    int error = errno;
    fclose(file);
    if (n <= 0) {
        free(first.line);
        return failed ? fault_errno(fault, output->name, NULL, error) : 0;
    }
    *length = 0;
    first.unfinished = first.line[n - 1] != output->ends.delimiter;
    first.length = (size_t)n + first.unfinished;
    first.line[first.length - 1] = output->ends.delimiter;
    return keep_header(lines, &first, fault);
}

void header_lines_free(struct header_lines *lines)
{
    free(lines->line);
}
