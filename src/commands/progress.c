#include "commands/progress.h"

#include "system/machine.h"
#include "text/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct moment {
    int64_t at; /* by clock_monotonic */
    uint64_t bytes, lines;
};

static struct {
    bool draws;
    const struct input *input; /* NULL: none is open */
    uint64_t before;           /* bytes of earlier inputs */
    uint64_t total;            /* bytes of all inputs; 0: unknown */
    const uint64_t *lines, *chosen;
    const char *what;
    struct moment first, last;
} progress;

static struct moment now(void)
{
    const struct input *input = progress.input;
    return (struct moment){
        .at = clock_monotonic(),
        .bytes = progress.before + (input != NULL ? input_bytes(input) : 0),
        .lines = *progress.lines,
    };
}

/* Most important first, because the end is cut off if it does not fit. */
static void draw(const struct moment *from, bool ended)
{
    struct moment to = now();
    char text[256], size[NUMBER_TEXT], rate[NUMBER_TEXT], share[16] = "", time[48] = "";
    char hours[24] = "", chosen[64] = "", *comma;
    double seconds = (double)(to.at - from->at) / 1000, each = seconds > 0 ? 1 / seconds : 0;
    double byte_rate = (double)(to.bytes - from->bytes) * each;
    /* If more bytes came than expected, the size was wrong, as in /proc. */
    bool known = progress.total > 0 && to.bytes <= progress.total;
    if (known)
        snprintf(share, sizeof share, "%u%% of ", (unsigned)(to.bytes * 100 / progress.total));
    if (ended || (known && byte_rate >= 1)) {
        double left = ended ? seconds : (double)(progress.total - to.bytes) / byte_rate;
        uint64_t whole = (uint64_t)left;
        unsigned minute = (unsigned)(whole / 60 % 60), second = (unsigned)(whole % 60);
        if (whole >= 3600)
            snprintf(hours, sizeof hours, "%" PRIu64 ":", whole / 3600);
        snprintf(time, sizeof time, whole < 3600 ? ", %s%s%u:%02u%s" : ", %s%s%02u:%02u%s",
                 ended ? "in " : "", hours, minute, second, ended ? "" : " left");
    }
    if (progress.what != NULL)
        snprintf(chosen, sizeof chosen, ", %" PRIu64 " %s", *progress.chosen, progress.what);
    number_size((double)(known ? progress.total : to.bytes), size);
    snprintf(text, sizeof text, "%s%s%s, %" PRIu64 " %s%s, %s/s, %.0f lines/s", share, size, time,
             to.lines, number_lines(to.lines), chosen, number_size(byte_rate, rate),
             (double)(to.lines - from->lines) * each);
    /* The last column stays free, because some terminals wrap there. */
    while (strlen(text) >= terminal_width(STDERR_FILENO) && (comma = strrchr(text, ',')) != NULL)
        *comma = '\0';
    terminal_draw(text, ended);
    progress.last = to;
}

void progress_begin(const char *const *names, const uint64_t *lines, const uint64_t *chosen,
                    const char *what)
{
    const char *terminal = getenv("TERM");
    progress.draws = isatty(STDERR_FILENO) && (terminal == NULL || strcmp(terminal, "dumb") != 0);
    if (!progress.draws)
        return;
    progress.lines = lines;
    progress.chosen = chosen;
    progress.what = what;
    progress.total = input_expected(names);
    progress.first = progress.last = now();
}

void progress_input(const struct input *input)
{
    if (input == NULL && progress.input != NULL)
        progress.before += input_bytes(progress.input);
    progress.input = input;
}

void progress_update(void)
{
    enum { EVERY = 1000 };
    if (progress.draws && clock_monotonic() - progress.last.at >= EVERY)
        draw(&progress.last, false);
}

void progress_end(void)
{
    if (progress.draws)
        draw(&progress.first, true);
    progress.draws = false;
}
