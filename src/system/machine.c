#include "system/machine.h"

#include "system/io.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* --- memory --- */

/* The limits of this process's control group and all around it count. A line of /proc/self/cgroup
 * is "0::/GROUP", or "7:memory:/GROUP" in version 1. In a container the names of groups outside may
 * lead nowhere, and its own limit is at the root. */
static const struct {
    const char *before, *root, *file;
} limits[] = {
    {"\n0::/", "/sys/fs/cgroup", "/memory.max"},
    {":memory:/", "/sys/fs/cgroup/memory", "/memory.limit_in_bytes"},
};

uint64_t machine_memory(void)
{
    static uint64_t memory;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (memory != 0 || pages <= 0 || page <= 0)
        return memory;

    char text[PATH_MAX] = "\n", path[2 * PATH_MAX], limit[32], *end;
    uint64_t least = (uint64_t)pages * (uint64_t)page;
    io_read_text("/proc/self/cgroup", text + 1, sizeof text - 1);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const char *line = strstr(text, limits[i].before);
        const char *group = line != NULL ? line + strlen(limits[i].before) - 1 : "";
        for (size_t length = strcspn(group, "\n"); line != NULL; length--) {
            if (group[length] == '/' || group[length] == '\n' || group[length] == '\0') {
                snprintf(path, sizeof path, "%s%.*s%s", limits[i].root, (int)length, group,
                         limits[i].file);
                io_read_text(path, limit, sizeof limit);
                uint64_t bytes = strtoull(limit, &end, 10); /* not a number: "max" */
                if (end > limit && bytes < least)
                    least = bytes;
            }
            if (length == 0)
                break;
        }
    }
    return memory = least;
}

/* --- the disk --- */

struct disk_reads machine_disk_reads(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_THREAD, &usage);
    return (struct disk_reads){(uint64_t)usage.ru_majflt, (uint64_t)usage.ru_inblock * 512};
}

/* --- time --- */

/* 0 if the clock is set to an earlier time than its zero, or cannot be read. */
static uint64_t milliseconds_of(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0 || now.tv_sec < 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t clock_now(void)
{
    return milliseconds_of(CLOCK_REALTIME);
}

uint64_t clock_uptime(void)
{
    static bool asked;
    static uint64_t boot;
    if (!asked) {
        char text[6];
        io_read_text("/proc/sys/kernel/random/boot_id", text, sizeof text);
        boot = strtoul(text, NULL, 16);
        asked = true;
    }
    uint64_t up = milliseconds_of(CLOCK_BOOTTIME);
    return boot == 0 || up == 0 ? 0 : boot << CLOCK_UPTIME_BITS | up;
}

int64_t clock_monotonic(void)
{
    return (int64_t)milliseconds_of(CLOCK_MONOTONIC);
}

const char *clock_date(uint64_t milliseconds, char text[CLOCK_DATE])
{
    time_t time = (time_t)(milliseconds / 1000);
    struct tm date;
    if (gmtime_r(&time, &date) == NULL ||
        strftime(text, CLOCK_DATE, "%Y-%m-%d %H:%M:%S UTC", &date) == 0)
        snprintf(text, CLOCK_DATE, "%" PRIu64 " s after 1970", milliseconds / 1000);
    return text;
}

/* --- chance --- */

uint64_t random_word(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t word = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 24;
    (void)!getrandom(&word, sizeof word, GRND_NONBLOCK);
    return word;
}

int random_secret(uint64_t *word, struct fault *fault)
{
    if (getrandom(word, sizeof *word, 0) == sizeof *word)
        return 0;
    return fault_errno(fault, "secret", "cannot get random bytes", errno);
}

/* --- the terminal --- */

enum { WIDTH_LEAST = 20, WIDTH_DEFAULT = 80, WIDTH_MOST = 1000 };

unsigned terminal_width(int fd)
{
    struct winsize size = {0};
    unsigned width = WIDTH_DEFAULT;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
        width = size.ws_col;
    if (width < WIDTH_LEAST)
        return WIDTH_LEAST;
    return width < WIDTH_MOST ? width : WIDTH_MOST;
}

#define CLEAR "\r\033[K"

static bool drawn;

void terminal_draw(const char *line, bool stays)
{
    pid_t group = tcgetpgrp(STDERR_FILENO);
    if (group >= 0 && group != getpgrp())
        return;
    fprintf(stderr, CLEAR "%s%s", line, stays ? "\n" : "");
    drawn = !stays;
}

void terminal_clear(int fd)
{
    int error = errno;
    if (drawn && isatty(fd)) {
        (void)!write(STDERR_FILENO, CLEAR, sizeof CLEAR - 1);
        drawn = false;
    }
    errno = error;
}

/* As in setlocale(3), the first variable that is not empty counts. */
bool terminal_shows_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        locale = getenv(names[i]);
        if (locale != NULL && locale[0] != '\0')
            break;
    }
    const char *charset = locale != NULL ? strchr(locale, '.') : NULL;
    return charset != NULL &&
           (strncasecmp(charset, ".utf-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0);
}
