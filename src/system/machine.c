#include "system/machine.h"

#include "system/io.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOT_MAX = 64 };

/* Reads the beginning of a small file; "" if that is not possible. Not with stdio, which would be a
 * twentieth of a run of one line. */
static void read_start(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    text[fd < 0 ? 0 : io_read_at(fd, text, size - 1, 0)] = '\0';
    if (fd >= 0)
        close(fd);
}

/* The least limit of a group and all around it, or `least`; `file` begins with a slash. In a
 * container the names of those outside may lead nowhere, and its own limit is at the root. */
static uint64_t limit_of(const char *root, const char *group, size_t length, const char *file,
                         uint64_t least)
{
    char path[ROOT_MAX + PATH_MAX], text[32], *end;
    size_t at = strlen(root);
    memcpy(path, root, at);
    memcpy(path + at, group, length);
    for (;;) {
        strcpy(path + at + length, file);
        read_start(path, text, sizeof text);
        uint64_t limit = strtoull(text, &end, 10); /* not a number: "max" */
        if (end > text && limit < least)
            least = limit;
        if (length == 0)
            return least;
        do
            length--;
        while (group[length] != '/');
    }
}

/* A line of /proc/self/cgroup is "NUMBER:CONTROLLERS:/GROUP", without controllers for version 2,
 * which is mounted below version 1 if there are both. */
static uint64_t limit_of_groups(uint64_t least)
{
    char text[PATH_MAX];
    const char *second = access("/sys/fs/cgroup/unified", F_OK) == 0 ? "/sys/fs/cgroup/unified"
                                                                     : "/sys/fs/cgroup";
    read_start("/proc/self/cgroup", text, sizeof text);
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;) {
        const char *controllers = strchr(line, ':');
        const char *group = controllers != NULL ? strstr(controllers, ":/") : NULL;
        if (group == NULL)
            continue;
        size_t length = strcmp(group, ":/") != 0 ? strlen(group) - 1 : 0;
        if (controllers + 1 == group)
            least = limit_of(second, group + 1, length, "/memory.max", least);
        else if (strncmp(controllers, ":memory:", 8) == 0)
            least = limit_of("/sys/fs/cgroup/memory", group + 1, length, "/memory.limit_in_bytes",
                             least);
    }
    return least;
}

uint64_t machine_memory(void)
{
    static uint64_t memory;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (memory == 0 && pages > 0 && page > 0)
        memory = limit_of_groups((uint64_t)pages * (uint64_t)page);
    return memory;
}
