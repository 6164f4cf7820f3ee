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

bool path_is_same(const char *a, const char *b)
{
    struct stat status_a, status_b;
    return stat(a, &status_a) == 0 && stat(b, &status_b) == 0 &&
           path_same_file(&status_a, &status_b);
}

bool path_is_same_name(const char *a, const char *b)
{
    char directory_a[PATH_MAX], directory_b[PATH_MAX];
    const char *last_a = path_directory(a, directory_a);
    const char *last_b = path_directory(b, directory_b);
    return strcmp(last_a, last_b) == 0 && path_is_same(directory_a, directory_b);
}
