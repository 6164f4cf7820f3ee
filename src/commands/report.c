/* report - see report.h. */
#include "commands/report.h"

#include <stdarg.h>
#include <stdio.h>

void report_text(const struct report *report, const char *name, const char *format, ...)
{
    va_list args;
    if (report->json || name == NULL)
        return;
    printf("%-20s", name);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
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
    report_text(report, name, "%.3g%s", rate, unit);
    report_json(report, member, "%.6g", rate);
}

/* Bytes above 0x7e and control characters as \u00XX, so that the object is valid whatever the
 * name. */
void report_quoted(struct report *report, const char *member, const char *text)
{
    if (!report->json)
        return;
    report_json(report, member, "%c", '"');
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < 0x20 || *c > 0x7e)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    putchar('"');
}
