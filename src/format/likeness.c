/* likeness - see likeness.h. */
#include "format/likeness.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void rate_text(const struct header *header, char *text)
{
    snprintf(text, LIKENESS_TEXT, "%.15g", header->plan.rate);
}

static void seed_text(const struct header *header, char *text)
{
    snprintf(text, LIKENESS_TEXT, "%" PRIu64, header->seed);
}

static void hashes_text(const struct header *header, char *text)
{
    struct geometry geometry = header->plan.geometry;
    if (geometry.lines == 0)
        snprintf(text, LIKENESS_TEXT, "as the rate wants");
    else
        snprintf(text, LIKENESS_TEXT, "%u x %u", geometry.lines, geometry.fields);
}

static void cells_text(const struct header *header, char *text)
{
    snprintf(text, LIKENESS_TEXT, "%s", header->plan.geometry.counting ? "4 bits" : "1 bit");
}

static void growth_text(const struct header *header, char *text)
{
    snprintf(text, LIKENESS_TEXT, "%s", header->plan.fixed ? "none" : "as needed");
}

static void window_text(const struct header *header, char *text)
{
    const struct filter_plan *plan = &header->plan;
    if (plan->generations == 0)
        snprintf(text, LIKENESS_TEXT, "none");
    else if (plan->forget == 0)
        snprintf(text, LIKENESS_TEXT, "%" PRIu64 " lines in %u parts", plan->capacity,
                 plan->generations);
    else
        snprintf(text, LIKENESS_TEXT, "%.3f s in %u parts", (double)plan->forget / 1000,
                 plan->generations);
}

/* What must agree. There is only one hash, and one recipe for keys. */
static const struct {
    const char *name;
    void (*text)(const struct header *header, char *text);
} fields[] = {
    {"seed", seed_text},  {"error rate", rate_text}, {"lines x fields", hashes_text},
    {"cell", cells_text}, {"growth", growth_text},   {"window", window_text},
};

const char *likeness_differs(const struct header *one, const struct header *other,
                             char one_has[LIKENESS_TEXT], char other_has[LIKENESS_TEXT])
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        fields[i].text(one, one_has);
        fields[i].text(other, other_has);
        if (strcmp(one_has, other_has) != 0)
            return fields[i].name;
    }
    return NULL;
}
