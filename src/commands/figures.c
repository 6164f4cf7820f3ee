#include "commands/figures.h"

#include "commands/message.h"
#include "text/number.h"
#include "text/quote.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

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

/* --- JSON --- */

static void print_value(FILE *to, const struct figure *row)
{
    char text[NUMBER_TEXT];
    unsigned digits = row->kind == FIGURE_TIME ? 15 : row->kind == FIGURE_BITS ? 4 : 6;
    if (row->kind == FIGURE_TEXT && row->text != NULL)
        quote_json(to, row->text);
    else if (row->kind == FIGURE_DIGITS && row->text != NULL)
        fputs(row->text, to);
    else if (row->kind == FIGURE_FLAG)
        fputs(row->value != 0 ? "true" : "false", to);
    else
        fputs(row->kind < FIGURE_FLAG ? number(row, digits, text) : "null", to);
}

/* Each element begins an object of its own. */
static void print_elements(struct figures *figures, const struct figure *row)
{
    size_t used = figures->used;
    for (size_t i = 0; i < (size_t)row->value; i++) {
        figures->shown = 0;
        fputs(i > 0 ? "," : "", figures->to);
        row->element(figures, row->context, i);
        putc('}', figures->to);
        figures->used = used;
    }
}

static void print_member(struct figures *figures, const struct figure *row)
{
    unsigned shown = figures->shown;
    fprintf(figures->to, "%c\"%s\":", shown > 0 ? ',' : '{', row->name);
    if (row->kind == FIGURE_LIST) {
        putc('[', figures->to);
        print_elements(figures, row);
        putc(']', figures->to);
    } else if (row->rows != NULL) {
        figures->shown = 0;
        figures_show_rows(figures, row->rows);
        putc('}', figures->to);
    } else {
        print_value(figures->to, row);
    }
    figures->shown = shown + 1;
}

/* --- text --- */

/* The value in text. */
static const char *value_of(const struct figure *row, char text[2 * NUMBER_TEXT])
{
    char digits[NUMBER_TEXT], size[NUMBER_TEXT];
    if (row->text != NULL || row->kind >= FIGURE_FLAG)
        return row->text != NULL ? row->text : "";
    if (row->kind == FIGURE_SHARE)
        snprintf(digits, sizeof digits, "%.1f%%", row->value * 100);
    else if (row->kind == FIGURE_BITS)
        snprintf(digits, sizeof digits, "%.2f", row->value);
    else
        number(row, row->kind == FIGURE_ASKED ? NUMBER_ASKED : NUMBER_FOUND, digits);
    if (row->kind == FIGURE_SIZE)
        snprintf(text, 2 * NUMBER_TEXT, "%s bytes (%s)", digits, number_size(row->value, size));
    else if (row->kind == FIGURE_LINES)
        snprintf(text, 2 * NUMBER_TEXT, "%s %s", digits, number_lines((uint64_t)round(row->value)));
    else
        snprintf(text, 2 * NUMBER_TEXT, "%s", digits);
    return text;
}

static void print_line(FILE *to, const struct figure *row)
{
    char text[2 * NUMBER_TEXT], quoted[4 * QUOTE_MAX];
    fprintf(to, "%-20s%s", row->words, quote_controls(value_of(row, text), quoted, sizeof quoted));
    fprintf(to, "%s\n", row->note != NULL ? quote_controls(row->note, quoted, sizeof quoted) : "");
}

static void print_in_sentence(struct figures *figures, const struct figure *row)
{
    char text[2 * NUMBER_TEXT];
    const char *value = value_of(row, text), *note = row->note != NULL ? row->note : "";
    unsigned shown = figures->shown++;
    if (shown == 0)
        fprintf(figures->to, "%s%s: ", row->words, value);
    else if (row->kind == FIGURE_COUNT || row->kind == FIGURE_OBJECT)
        fprintf(figures->to, "%s%s %s", shown > 1 ? ", " : "", value, row->words);
    else
        fprintf(figures->to, "; %s: %s%s", row->words, value, note);
}

/* --- rows --- */

static void show(struct figures *figures, const struct figure *row)
{
    if (figures->json && row->name != NULL)
        print_member(figures, row);
    else if (!figures->json && figures->sentence && row->words != NULL)
        print_in_sentence(figures, row);
    else if (!figures->json && row->words != NULL)
        print_line(figures->to, row);
}

void figures_show_rows(struct figures *figures, const struct figure *rows)
{
    for (; rows->kind != FIGURES_END; rows++)
        if (!rows->absent)
            show(figures, rows);
}

void figures_end(struct figures *figures)
{
    fputs(figures->json ? "}\n" : "", figures->to);
}

void figures_summary_rows(const struct options *options, const struct figure *rows)
{
    char *text = NULL;
    size_t length = 0;
    struct figures figures = {.json = options->json, .sentence = true};
    figures.to = options->summary ? open_memstream(&text, &length) : NULL;
    if (figures.to == NULL)
        return;
    figures_show_rows(&figures, rows);
    figures_end(&figures);
    if (fclose(figures.to) == 0 && figures.json)
        (void)!fwrite(text, 1, length, stderr);
    else if (text != NULL)
        message("%s", text);
    free(text);
}
