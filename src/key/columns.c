#include "key/columns.h"

#include "key/csv.h"

#include <string.h>

bool columns_same(const struct recipe *recipe, struct span line, struct span other)
{
    struct span a = csv_row(line), b = csv_row(other);
    (void)recipe;
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

enum header_likeness columns_compare(const struct recipe *recipe, struct span line,
                                     struct span other)
{
    return columns_same(recipe, line, other) ? HEADER_SAME : HEADER_DIFFERS;
}
