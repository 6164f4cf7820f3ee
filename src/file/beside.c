/* beside - see beside.h. */
#include "file/beside.h"

#include <stdio.h>
#include <stdlib.h>

void beside_name(const char *filter, const char *suffix, char name[BESIDE_MAX])
{
    char real[PATH_MAX];
    if (realpath(filter, real) == NULL)
        snprintf(real, sizeof real, "%s", filter);
    snprintf(name, BESIDE_MAX, "%s%s", real, suffix);
}
