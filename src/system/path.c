/* path - see path.h. */
#include "system/path.h"

#include <stdio.h>
#include <string.h>

const char *path_directory(const char *path, char directory[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        strcpy(directory, ".");
        return path;
    }
    /* The root keeps its slash. */
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    snprintf(directory, PATH_MAX, "%.*s", length < PATH_MAX ? (int)length : PATH_MAX - 1, path);
    return slash + 1;
}
