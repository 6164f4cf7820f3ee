#include "pipeline/header_lines.h"

#include "key/span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Without byte order mark, CR and delimiter. */
static struct span columns_of(const char *line, size_t length)
{
    const char *first = line, *end = line + length - 1;
    if (end - first >= 3 && memcmp(first, "\xef\xbb\xbf", 3) == 0)
        first += 3;
    if (end > first && end[-1] == '\r')
        end--;
    return span_between(first, end);
}

int header_lines_add(struct header_lines *lines, const char *line, size_t length, const char *of,
                     struct fault *fault)
{
    if (lines->line == NULL) {
        lines->line = malloc(length);
        if (lines->line == NULL)
            return fault_errno(fault, of, NULL, ENOMEM);
        memcpy(lines->line, line, length);
        lines->length = length;
        lines->of = of;
        return 0;
    }
    struct span first = columns_of(lines->line, lines->length), other = columns_of(line, length);
    if (first.length == other.length && memcmp(first.bytes, other.bytes, first.length) == 0)
        return 0;
    return fault_set(fault, of, "columns differ from %s's", lines->of);
}

void header_lines_free(struct header_lines *lines)
{
    free(lines->line);
}
