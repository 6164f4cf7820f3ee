#include "commands/figures.h"

#include "commands/message.h"
#include "text/number.h"
#include "text/quote.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *figures_text(struct figures *figures, const char *format, ...)
{
    char *text = figures->texts + figures->used;
    size_t left = sizeof figures->texts - figures->used;
    va_list args;
    va_start(args, format);
    size_t length = (size_t)vsnprintf(text, left, format, args);
    va_end(args);
    /* The last byte is the end of all strings that are cut off. */
    figures->used += length + 1 < left ? length + 1 : left - 1;
    return text;
}

const char *figures_window(struct figures *figures, const struct filter_plan *plan, double most)
{
    char time[NUMBER_TEXT], longest[NUMBER_TEXT];
    uint64_t most_time = plan->forget + growth_generation(plan->forget);
    if (plan->forget == 0)
        return figures_text(figures, "the last %" PRIu64 " %s, at most %.0f", plan->capacity,
                            number_lines(plan->capacity), most);
    return figures_text(figures, "%s, at most %s",
                        number_exact((double)plan->forget, NUMBER_TIME, time),
                        number_exact((double)most_time, NUMBER_TIME, longest));
}

/* Whole numbers are exact up to 2^53. */
static const char *number(const struct figure *row, unsigned digits, char text[NUMBER_TEXT])
{
    double whole = round(row->value);
    if (row->kind <= FIGURE_SIZE || row->value == whole)
        return number_text(whole, 16, text);
    return number_text(row->value, digits, text);
}

void figures_open(struct figures *figures, const char *name, char bracket)
{
    if (figures->json && figures->shown > 0)
        putc(',', figures->to);
    if (figures->json && name != NULL)
        fprintf(figures->to, "\"%s\":", name);
    if (figures->json)
        putc(bracket, figures->to);
    figures->shown = 0;
}

void figures_close(struct figures *figures, char bracket)
{
    if (figures->json || figures->sentence)
        putc(figures->json ? bracket : '\n', figures->to);
    figures->shown = 1;
}

void figures_begin(struct figures *figures, FILE *to, bool json)
{
    figures->to = to;
    figures->json = json;
    figures->sentence = false;
    figures->shown = figures->used = 0;
    if (json)
        putc('{', to);
}

void figures_end(struct figures *figures)
{
    fputs(figures->json ? "}\n" : "", figures->to);
}

static void print_list(FILE *to, const char *strings)
{
    putc('[', to);
    for (const char *at = strings; *at != '\0'; at += strlen(at) + 1) {
        fputs(at > strings ? "," : "", to);
        quote_json(to, at);
    }
    putc(']', to);
}

void figures_show_rows(struct figures *figures, const struct figure *rows)
{
    char text[2 * NUMBER_TEXT], digits[NUMBER_TEXT], size[NUMBER_TEXT], quoted[4 * QUOTE_MAX];
    FILE *to = figures->to;
    for (const struct figure *row = rows; row->kind != FIGURES_END; row++) {
        const char *note = row->note != NULL ? row->note : "", *value = text;
        if (row->absent || (figures->json ? row->name : row->words) == NULL)
            continue;
        /* 1. In JSON. */
        if (figures->json && row->rows != NULL) {
            figures_open(figures, row->name, '{');
            figures_show_rows(figures, row->rows);
            figures_close(figures, '}');
            continue;
        }
        if (figures->json) {
            unsigned most = row->kind == FIGURE_TIME ? 15 : row->kind == FIGURE_BITS ? 4 : 6;
            fprintf(to, "%s\"%s\":", figures->shown++ > 0 ? "," : "", row->name);
            if (row->kind == FIGURE_TEXT && row->text != NULL)
                quote_json(to, row->text);
            else if (row->kind == FIGURE_DIGITS && row->text != NULL)
                fputs(row->text, to);
            else if (row->kind == FIGURE_LIST)
                print_list(to, row->text);
            else if (row->kind == FIGURE_FLAG)
                fputs(row->value != 0 ? "true" : "false", to);
            else
                fputs(row->kind < FIGURE_FLAG ? number(row, most, digits) : "null", to);
            continue;
        }
        /* 2. The value in text. */
        number(row, row->kind == FIGURE_ASKED ? NUMBER_ASKED : NUMBER_FOUND, digits);
        if (row->text != NULL || row->kind >= FIGURE_FLAG)
            value = row->text != NULL ? row->text : "";
        else if (row->kind == FIGURE_SHARE)
            snprintf(text, sizeof text, "%.1f%%", row->value * 100);
        else if (row->kind == FIGURE_BITS)
            snprintf(text, sizeof text, "%.2f", row->value);
        else if (row->kind == FIGURE_SIZE)
            snprintf(text, sizeof text, "%s bytes (%s)", digits, number_size(row->value, size));
        else if (row->kind == FIGURE_LINES)
            snprintf(text, sizeof text, "%s %s", digits, number_lines((uint64_t)round(row->value)));
        else
            value = digits;
        /* 3. On a line of its own, or in the sentence. */
        if (!figures->sentence) {
            fprintf(to, "%-20s%s", row->words, quote_controls(value, quoted, sizeof quoted));
            fprintf(to, "%s\n", quote_controls(note, quoted, sizeof quoted));
        } else if (figures->shown == 0) {
            fprintf(to, "%s%s: ", row->words, value);
        } else if (row->kind == FIGURE_COUNT || row->kind == FIGURE_OBJECT) {
            fprintf(to, "%s%s %s", figures->shown > 1 ? ", " : "", value, row->words);
        } else {
            fprintf(to, "; %s: %s%s", row->words, value, note);
        }
        figures->shown++;
    }
    figures->used = 0;
}

void figures_summary_rows(const struct options *options, const struct figure *rows)
{
    char *text = NULL;
    size_t length = 0;
    struct figures figures;
    FILE *to = options->summary ? open_memstream(&text, &length) : NULL;
    if (to == NULL)
        return;
    figures_begin(&figures, to, options->json);
    figures.sentence = true;
    figures_show_rows(&figures, rows);
    figures_end(&figures);
    if (fclose(to) == 0 && options->json)
        (void)!fwrite(text, 1, length, stderr);
    else if (text != NULL)
        message("%s", text);
    free(text);
}
