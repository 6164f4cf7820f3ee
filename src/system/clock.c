#include "system/clock.h"

#include "system/io.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint64_t clock_now(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0 || now.tv_sec < 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t clock_uptime(void)
{
    static bool asked;
    static uint64_t boot;
    struct timespec now;
    if (!asked) {
        char text[6];
        io_read_text("/proc/sys/kernel/random/boot_id", text, sizeof text);
        boot = strtoul(text, NULL, 16);
        asked = true;
    }
    if (boot == 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0 || now.tv_sec < 0)
        return 0;
    return boot << CLOCK_UPTIME_BITS |
           ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
}

int64_t clock_monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
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
