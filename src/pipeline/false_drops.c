#include "pipeline/false_drops.h"

#include "filter/survey.h"

#include <math.h>

static double odds_now(const struct filter *filter)
{
    static struct survey survey; /* 16 KB */
    survey_sample(&survey, filter);
    return survey.rate / fmax(1 - survey.rate, 1e-18);
}

static void plan_next(struct false_drops *drops)
{
    enum { LEAST = 64 };
    uint64_t sixteenth = filter_keys(drops->filter) / 16;
    drops->added = drops->batches = 0;
    drops->next = sixteenth > LEAST ? sixteenth : LEAST;
}

void false_drops_start(struct false_drops *drops, const struct filter *filter)
{
    *drops = (struct false_drops){.filter = filter, .odds = odds_now(filter)};
    plan_next(drops);
}

/* The false drops for so many lines since the odds were computed. Lines of one batch are judged
 * together, before any of them is settled; in memory, one by one. */
static double drops_of(struct false_drops *drops, double lines)
{
    double before = drops->odds, batches = (double)drops->batches;
    double mean = filter_path(drops->filter) == NULL || batches == 0
                      ? 0.5
                      : (batches - 1) / (2 * batches);
    drops->odds = odds_now(drops->filter);
    plan_next(drops);
    return lines * (before + (drops->odds - before) * mean);
}

/* After s successes, each with chance 1 - R, s + 1 times the odds is the mean of the failures: of
 * all lines that a saturated filter drops, though it prints none. */
double false_drops_finish(struct false_drops *drops)
{
    return drops_of(drops, (double)drops->added + 1);
}

double false_drops_add(struct false_drops *drops, uint64_t n)
{
    drops->added += n;
    drops->batches++;
    return drops->added < drops->next ? 0 : drops_of(drops, (double)drops->added);
}
