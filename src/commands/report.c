#include "commands/report.h"

#include "core/number.h"
#include "core/quote.h"

#include <inttypes.h>
#include <stdarg.h>

void report_text(const struct report *report, const char *name, const char *format, ...)
{
    char text[QUOTE_MAX + 256], shown[4 * sizeof text];
    va_list args;
    if (report->json || name == NULL)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("%-20s%s\n", name, quote_controls(text, shown, sizeof shown));
}

void report_json(struct report *report, const char *member, const char *format, ...)
{
    va_list args;
    if (!report->json || member == NULL)
        return;
    printf("%c\"%s\":", report->begun ? ',' : '{', member);
    report->begun = true;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}

void report_count(struct report *report, const char *name, const char *member, double count,
                  const char *unit)
{
    report_text(report, name, "%.0f%s", count, unit);
    report_json(report, member, "%.0f", count);
}

void report_rate(struct report *report, const char *name, const char *member, double rate,
                 const char *unit)
{
    char text[NUMBER_TEXT];
    report_text(report, name, "%s%s", number_text(rate, NUMBER_FOUND, text), unit);
    report_json(report, member, "%.6g", rate);
}

/* One character, or a byte that is none: as "\\xHH", a backslash being doubled in JSON. Returns how
 * many bytes it took. */
static size_t quote_one(FILE *to, const char *text)
{
    size_t length = quote_character(text);
    unsigned char byte = (unsigned char)text[0], second = (unsigned char)text[1];
    if (length == 0)
        fprintf(to, "\\\\x%02x", byte);
    else if (byte < 0x20 || byte == 0x7f)
        fprintf(to, "\\u%04x", byte);
    else if (byte == 0xc2 && second < 0xa0)
        fprintf(to, "\\u%04x", second);
    else
        fprintf(to, "%s%.*s", byte == '"' || byte == '\\' ? "\\" : "", (int)length, text);
    return length > 0 ? length : 1;
}

void report_quote(FILE *to, const char *text)
{
    putc('"', to);
    while (*text != '\0')
        text += quote_one(to, text);
    putc('"', to);
}

void report_quoted(struct report *report, const char *member, const char *text)
{
    report_json(report, member, "%s", "");
    if (report->json)
        report_quote(stdout, text);
}

const char *report_size(double bytes, char text[16])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1000;
        unit++;
    }
    snprintf(text, 16, bytes < 9.95 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

const char *report_sizes(uint64_t bytes, uint64_t stages, char text[REPORT_SIZES])
{
    char size[16];
    uint64_t rest = bytes - stages;
    int end = snprintf(text, REPORT_SIZES, "%" PRIu64 " bytes (%s)", rest,
                       report_size((double)rest, size));
    if (stages > 0)
        snprintf(text + end, REPORT_SIZES - (size_t)end, ", at most %" PRIu64 " (%s)", bytes,
                 report_size((double)bytes, size));
    return text;
}

const char *report_geometry(struct geometry geometry, char text[64])
{
    snprintf(text, 64, "%u cache %s x %u %s", geometry.lines, number_lines(geometry.lines),
             geometry.fields, number_of(geometry.fields, "field", "fields"));
    return text;
}

const char *report_time(uint64_t milliseconds, char text[32])
{
    static const struct {
        uint64_t milliseconds;
        const char *letter;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}};
    snprintf(text, 32, "%.3fs", (double)milliseconds / 1000);
    for (size_t i = sizeof units / sizeof *units; i-- > 0;)
        if (milliseconds % units[i].milliseconds == 0)
            snprintf(text, 32, "%" PRIu64 "%s", milliseconds / units[i].milliseconds,
                     units[i].letter);
    return text;
}
