#include "commands/progress.h"

#include "commands/report.h"
#include "core/number.h"
#include "system/clock.h"
#include "system/terminal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct moment {
    int64_t at; /* by clock_monotonic */
    uint64_t bytes, lines;
};

static struct {
    bool draws;
    const struct input *input; /* NULL: none is open */
    uint64_t before;           /* bytes of the inputs before */
    uint64_t total;            /* bytes of all inputs; 0: unknown */
    const uint64_t *lines, *chosen;
    const char *what;
    struct moment first, last;
} progress;

/* Bytes of regular files, and what is left of standard input; 0 if an input is anything else. */
static uint64_t find_total(const char *const *names)
{
    uint64_t sum = 0;
    for (; *names != NULL; names++) {
        struct stat status;
        bool standard = strcmp(*names, "-") == 0;
        off_t at = standard ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
        if ((standard ? fstat(STDIN_FILENO, &status) : stat(*names, &status)) != 0)
            continue; /* nothing comes of it */
        if (!S_ISREG(status.st_mode) || at < 0 || at > status.st_size)
            return 0;
        sum += (uint64_t)(status.st_size - at);
    }
    return sum;
}

static struct moment now(void)
{
    const struct input *input = progress.input;
    return (struct moment){
        .at = clock_monotonic(),
        .bytes = progress.before + (input != NULL ? input_bytes(input) : 0),
        .lines = *progress.lines,
    };
}

struct line {
    char text[160];
    size_t length, width;
};

/* Adds a part where it fits. */
__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    char part[64];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(part, sizeof part, format, args);
    va_end(args);
    const char *comma = line->length > 0 ? ", " : "";
    if (length > 0 && line->length + strlen(comma) + (size_t)length <= line->width)
        line->length += (size_t)snprintf(line->text + line->length,
                                         sizeof line->text - line->length, "%s%s", comma, part);
}

static const char *duration(uint64_t seconds, char text[32])
{
    uint64_t hours = seconds / 3600;
    if (hours > 0)
        snprintf(text, 32, "%" PRIu64 ":%02u:%02u", hours, (unsigned)(seconds / 60 % 60),
                 (unsigned)(seconds % 60));
    else
        snprintf(text, 32, "%u:%02u", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
    return text;
}

/* What matters most comes first. */
static void describe(struct line *line, const struct moment *from, const struct moment *to,
                     bool ended)
{
    char size[16], time[32];
    double seconds = (double)(to->at - from->at) / 1000;
    double byte_rate = seconds > 0 ? (double)(to->bytes - from->bytes) / seconds : 0;
    double line_rate = seconds > 0 ? (double)(to->lines - from->lines) / seconds : 0;
    /* More than there was: the size told nothing, as in /proc. */
    bool known = progress.total > 0 && to->bytes <= progress.total;
    double share = known ? (double)to->bytes / (double)progress.total : 0;
    if (known)
        add(line, "%u%% of %s", (unsigned)(100 * share), report_size((double)progress.total, size));
    else
        add(line, "%s", report_size((double)to->bytes, size));
    if (ended)
        add(line, "in %s", duration((uint64_t)seconds, time));
    else if (known && byte_rate >= 1)
        add(line, "%s left",
            duration((uint64_t)((double)(progress.total - to->bytes) / byte_rate), time));
    add(line, "%" PRIu64 " %s", to->lines, number_lines(to->lines));
    if (progress.what != NULL)
        add(line, "%" PRIu64 " %s", *progress.chosen, progress.what);
    add(line, "%s/s", report_size(byte_rate, size));
    add(line, "%.0f lines/s", line_rate);
}

/* The last column stays free: at it, some terminals go to the next line. */
static void draw(const struct moment *from, const struct moment *to, bool ended)
{
    struct line line = {.width = terminal_width(STDERR_FILENO) - 1};
    if (line.width > sizeof line.text - 1)
        line.width = sizeof line.text - 1;
    describe(&line, from, to, ended);
    terminal_draw(line.text, ended);
}

void progress_count(const uint64_t *lines, const uint64_t *chosen, const char *what)
{
    progress.lines = lines;
    progress.chosen = chosen;
    progress.what = what;
}

void progress_begin(const char *const *names)
{
    const char *terminal = getenv("TERM");
    progress.draws = isatty(STDERR_FILENO) && (terminal == NULL || strcmp(terminal, "dumb") != 0);
    if (!progress.draws)
        return;
    progress.total = find_total(names);
    progress.first = progress.last = now();
}

void progress_input(const struct input *input)
{
    if (input == NULL && progress.input != NULL)
        progress.before += input_bytes(progress.input);
    progress.input = input;
}

void progress_look(void)
{
    enum { EVERY = 1000 };
    if (!progress.draws || clock_monotonic() - progress.last.at < EVERY)
        return;
    struct moment to = now();
    draw(&progress.last, &to, false);
    progress.last = to;
}

void progress_end(void)
{
    if (!progress.draws)
        return;
    struct moment to = now();
    draw(&progress.first, &to, true);
    progress.draws = false;
}
