#include "pipeline/header_lines.h"

#include "key/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int header_lines_add(struct header_lines *lines, const char *line, size_t length, const char *of,
                     struct fault *fault)
{
    if (lines->line != NULL) {
        struct span last = csv_row((struct span){lines->line, lines->length - 1});
        struct span now = csv_row((struct span){line, length - 1});
        if (last.length != now.length || memcmp(last.bytes, now.bytes, now.length) != 0)
            return fault_set(fault, of, "columns differ from %s's", lines->of);
    }
    char *copy = realloc(lines->line, length);
    if (copy == NULL)
        return fault_errno(fault, of, NULL, ENOMEM);
    memcpy(copy, line, length);
    lines->line = copy;
    lines->length = length;
    lines->of = of;
    return 0;
}

void header_lines_free(struct header_lines *lines)
{
    free(lines->line);
}
