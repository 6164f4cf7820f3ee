#include "system/machine.h"

#include "system/io.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The least limit of this process's control group and all around it, or `least`. A line of
 * /proc/self/cgroup is "0::/GROUP" (version 2). In a container the names of groups outside may lead
 * nowhere, and its own limit is at the root. */
static uint64_t limit_of_groups(uint64_t least)
{
    static const char root[] = "/sys/fs/cgroup", file[] = "/memory.max";
    char text[PATH_MAX], path[sizeof root + PATH_MAX + sizeof file], limit[32], *end;
    io_read_text("/proc/self/cgroup", text, sizeof text);
    const char *line = strstr(text, "0::/");
    if (line == NULL || (line > text && line[-1] != '\n'))
        return least;
    const char *group = line + strlen("0::");
    for (size_t length = strcspn(group, "\n");; length--) {
        if (group[length] != '/' && group[length] != '\n' && group[length] != '\0')
            continue;
        snprintf(path, sizeof path, "%s%.*s%s", root, (int)length, group, file);
        io_read_text(path, limit, sizeof limit);
        uint64_t bytes = strtoull(limit, &end, 10); /* not a number: "max" */
        if (end > limit && bytes < least)
            least = bytes;
        if (length == 0)
            return least;
    }
}

uint64_t machine_memory(void)
{
    static uint64_t memory;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (memory == 0 && pages > 0 && page > 0)
        memory = limit_of_groups((uint64_t)pages * (uint64_t)page);
    return memory;
}
