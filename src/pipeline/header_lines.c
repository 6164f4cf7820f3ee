#include "pipeline/header_lines.h"

#include "key/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    struct span first = csv_row((struct span){lines->line, lines->length - 1});
    struct span other = csv_row((struct span){line, length - 1});
    if (first.length == other.length && memcmp(first.bytes, other.bytes, first.length) == 0)
        return 0;
    return fault_set(fault, of, "columns differ from %s's", lines->of);
}

void header_lines_free(struct header_lines *lines)
{
    free(lines->line);
}
