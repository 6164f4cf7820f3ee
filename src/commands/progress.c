#include "commands/progress.h"

#include "system/clock.h"
#include "system/signals.h"
#include "system/terminal.h"
#include "system/whole.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct moment {
    int64_t at; /* by clock_monotonic */
    uint64_t bytes, lines;
};

/* Most of this runs in a signal handler, between any two instructions of the program: it looks at
 * counts of others, and changes nothing but this. */
static struct {
    volatile sig_atomic_t draws; /* the line is to be on the terminal */
    volatile sig_atomic_t drawn; /* and is */
    volatile sig_atomic_t begun, ended;
    const char *const *names;           /* the inputs from the present one on */
    const struct input *volatile input; /* NULL: it is not open */
    uint64_t before;                    /* bytes of the inputs before */
    uint64_t total;                     /* bytes of all inputs; 0: unknown */
    volatile sig_atomic_t has_total;    /* it was asked for */
    const volatile uint64_t *lines, *chosen;
    const char *what;
    uint64_t last_lines, last_chosen;
    struct moment first, older, newer;
} progress;

/* --- what there is to say --- */

static uint64_t bytes_now(void)
{
    const struct input *input = progress.input;
    return progress.before + (input != NULL ? input_bytes(input) : 0);
}

/* Adds the bytes of a regular file, of standard input those still to come. Returns whether the size
 * of the input can be told. */
static bool add_size(const char *name, uint64_t *sum)
{
    struct stat status;
    bool standard = strcmp(name, "-") == 0;
    if ((standard ? fstat(STDIN_FILENO, &status) : stat(name, &status)) != 0)
        return true; /* nothing comes of it */
    off_t at = standard ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    if (!S_ISREG(status.st_mode) || at < 0 || at > status.st_size)
        return false;
    *sum += (uint64_t)(status.st_size - at);
    return true;
}

static uint64_t find_total(void)
{
    uint64_t sum = progress.before;
    if (progress.input != NULL && strcmp(*progress.names, "-") == 0)
        sum += input_bytes(progress.input);
    for (const char *const *name = progress.names; *name != NULL; name++)
        if (!add_size(*name, &sum))
            return 0;
    return sum;
}

static uint64_t total(void)
{
    if (!progress.has_total)
        progress.total = find_total();
    progress.has_total = 1;
    return progress.total;
}

/* The moment that rates are counted from: at least a second ago, if there was one, and mostly not
 * much more; at the end, the beginning. */
static struct moment base(const struct moment *now)
{
    enum { WINDOW = 900 };
    if (progress.ended)
        return progress.first;
    if (now->at - progress.newer.at >= WINDOW) {
        progress.older = progress.newer;
        progress.newer = *now;
    }
    return progress.older;
}

static uint64_t rate(uint64_t from, uint64_t to, int64_t milliseconds)
{
    return to > from && milliseconds > 0 ? (to - from) * 1000 / (uint64_t)milliseconds : 0;
}

/* --- the line: printf(3) is not for handlers --- */

struct text {
    char bytes[160];
    size_t length;
};

static void put(struct text *text, const char *what)
{
    while (*what != '\0' && text->length < sizeof text->bytes)
        text->bytes[text->length++] = *what++;
}

/* At least so many digits. */
static void put_number(struct text *text, uint64_t n, unsigned digits)
{
    char reversed[24];
    size_t length = 0;
    for (; n > 0 || length < digits; n /= 10)
        reversed[length++] = (char)('0' + n % 10);
    while (length > 0 && text->length < sizeof text->bytes)
        text->bytes[text->length++] = reversed[--length];
}

static const char *const byte_units[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
static const char *const line_units[] = {"", "k", "M", "G", "T", "P", "E"};

static uint64_t unit_of(uint64_t n)
{
    uint64_t unit = 1;
    while (n / unit >= 1000)
        unit *= 1000;
    return unit;
}

/* To so many digits, but not to fewer than it has before the point. */
static uint64_t rounded(uint64_t n, unsigned digits)
{
    uint64_t step = unit_of(n), least = digits == 3 ? 100 : 10;
    for (uint64_t whole = n / step; whole < least && step > 1; whole *= 10)
        step /= 10;
    return (n + step / 2) / step * step;
}

/* With 2 or 3 digits, but at least those before the point. */
static void put_scaled(struct text *text, uint64_t n, unsigned digits, const char *const units[])
{
    n = rounded(n, digits);
    uint64_t unit = unit_of(n);
    for (uint64_t below = unit; below > 1; below /= 1000)
        units++;
    uint64_t whole = n / unit;
    unsigned decimals = digits - (whole > 0) - (whole > 9) - (whole > 99);
    put_number(text, whole, 1);
    if (unit >= 1000 && decimals > 0 && decimals < digits) {
        put(text, ".");
        uint64_t rest = n % unit / (unit / 1000); /* thousandths */
        put_number(text, decimals == 1 ? rest / 100 : rest / 10, decimals);
    }
    put(text, *units);
}

/* h:mm:ss, or m:ss. */
static void put_time(struct text *text, uint64_t seconds)
{
    if (seconds >= 3600) {
        put_number(text, seconds / 3600, 1);
        put(text, ":");
    }
    put_number(text, seconds / 60 % 60, seconds >= 3600 ? 2 : 1);
    put(text, ":");
    put_number(text, seconds % 60, 2);
}

static void put_bytes(struct text *text, uint64_t bytes)
{
    /* More than there was: the size told nothing, as in /proc. */
    bool known = total() > 0 && bytes <= progress.total;
    if (known) {
        put_number(text, (uint64_t)(100 * ((double)bytes / (double)progress.total)), 1);
        put(text, " % of ");
    }
    put_scaled(text, known ? progress.total : bytes, 3, byte_units);
}

/* Time left, or at the end how long it took. */
static void put_end(struct text *text, const struct moment *now, uint64_t byte_rate)
{
    if (progress.ended) {
        put(text, "in ");
        put_time(text, (uint64_t)(now->at - progress.first.at) / 1000);
    } else if (byte_rate > 0 && now->bytes < progress.total) {
        put_time(text, (progress.total - now->bytes) / byte_rate);
        put(text, " left");
    }
}

/* Adds a part where it fits. */
static void join(struct text *line, struct text *part, size_t width)
{
    if (part->length > 0 && line->length + 2 + part->length <= width) {
        put(line, ", ");
        memcpy(line->bytes + line->length, part->bytes, part->length);
        line->length += part->length;
    }
    part->length = 0;
}

/* What matters most comes first. */
static void describe(struct text *line, size_t width)
{
    struct text part = {.length = 0};
    struct moment now = {clock_monotonic(), bytes_now(), *progress.lines};
    struct moment from = progress.begun ? base(&now) : now;
    uint64_t byte_rate = rate(from.bytes, now.bytes, now.at - from.at);
    put_bytes(line, now.bytes);
    put_end(&part, &now, byte_rate);
    join(line, &part, width);
    put_scaled(&part, now.lines, 3, line_units);
    put(&part, now.lines == 1 ? " line" : " lines");
    join(line, &part, width);
    if (progress.what != NULL) {
        put_scaled(&part, *progress.chosen, 3, line_units);
        put(&part, " ");
        put(&part, progress.what);
    }
    join(line, &part, width);
    put_scaled(&part, byte_rate, 2, byte_units);
    put(&part, "/s");
    join(line, &part, width);
    put_scaled(&part, rate(from.lines, now.lines, now.at - from.at), 2, line_units);
    put(&part, " lines/s");
    join(line, &part, width);
}

/* --- saying it --- */

#define CLEAR "\r\033[K"

/* Nothing that would block: a terminal may be held (Ctrl-S), and nobody may read a pipe. If its
 * reader has just gone, that is no reason to end. */
static bool show(const char *bytes, size_t length)
{
    struct pollfd end = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&end, 1, 0) != 1 || end.revents != POLLOUT)
        return false;
    if (write(STDERR_FILENO, bytes, length) >= 0)
        return true;
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    if (errno == EPIPE)
        (void)sigtimedwait(&broken, NULL, &(struct timespec){0, 0});
    return false;
}

static void hide(void)
{
    progress.drawn = !show(CLEAR, sizeof CLEAR - 1);
}

static struct text compose(const char *before, size_t width, const char *after)
{
    struct text line = {.length = 0};
    size_t most = sizeof line.bytes - 8;
    put(&line, before);
    describe(&line, width < most - line.length ? line.length + width : most);
    put(&line, after);
    return line;
}

static void answer(bool may_block)
{
    struct text line = compose("unseen: ", SIZE_MAX, "\n");
    if (may_block)
        whole_write(STDERR_FILENO, line.bytes, line.length);
    else
        show(line.bytes, line.length);
}

/* Not from the background, where the terminal is somebody else's. The last column stays free: at
 * it, some terminals go to the next line. */
static void draw(const char *after)
{
    pid_t group = tcgetpgrp(STDERR_FILENO);
    if (group >= 0 && group != getpgrp())
        return;
    struct text line = compose(CLEAR, terminal_width(STDERR_FILENO) - 1, after);
    progress.drawn = show(line.bytes, line.length);
}

static void end_line(void)
{
    progress.ended = 1;
    if (progress.draws && progress.begun)
        draw("\n");
    progress.draws = progress.drawn = 0;
}

static void on_event(enum signals_event event)
{
    if (event != SIGNALS_TICK && progress.drawn)
        hide();
    if (event == SIGNALS_ASKED || event == SIGNALS_WAS_ASKED)
        answer(event == SIGNALS_WAS_ASKED);
    else if (event == SIGNALS_TICK)
        draw("");
    else if (event == SIGNALS_ENDS)
        end_line();
}

void progress_start(const char *const *names, bool draws)
{
    const char *terminal = getenv("TERM");
    progress.names = names;
    progress.lines = &progress.last_lines;
    progress.chosen = &progress.last_chosen;
    progress.draws = draws && terminal_is(STDERR_FILENO) &&
                     (terminal == NULL || strcmp(terminal, "dumb") != 0);
    signals_listen(on_event);
}

void progress_count(const uint64_t *lines, const uint64_t *chosen, const char *what)
{
    progress.lines = lines;
    progress.chosen = chosen;
    progress.what = what;
}

void progress_begin(void)
{
    progress.first = (struct moment){.at = clock_monotonic()};
    progress.older = progress.newer = progress.first;
    progress.begun = 1;
    if (progress.draws) {
        (void)total();
        signals_tick(true);
    }
}

void progress_turn(const char *const *names)
{
    progress.names = names;
}

void progress_input(const struct input *input)
{
    uint64_t bytes = bytes_now();
    progress.input = input;
    progress.before = bytes;
    if (input == NULL)
        progress.names++;
}

void progress_end(void)
{
    signals_tick(false);
    progress.last_lines = *progress.lines;
    progress.lines = &progress.last_lines;
    if (progress.what != NULL)
        progress.last_chosen = *progress.chosen;
    progress.chosen = &progress.last_chosen;
    end_line();
}
