#include "pipeline/false_drops.h"

#include "filter/counter.h"

static double odds_now(const struct store *store)
{
    double rate = counter_rate(store);
    return rate < 1 ? rate / (1 - rate) : 0;
}

static void plan_next(struct false_drops *drops)
{
    enum { LEAST = 64 };
    uint64_t sixteenth = store_keys(drops->store) / 16;
    drops->added = 0;
    drops->next = sixteenth > LEAST ? sixteenth : LEAST;
}

void false_drops_start(struct false_drops *drops, const struct store *store)
{
    *drops = (struct false_drops){.store = store, .odds = odds_now(store)};
    plan_next(drops);
}

double false_drops_finish(struct false_drops *drops)
{
    double before = drops->odds, lines = (double)drops->added;
    drops->odds = odds_now(drops->store);
    plan_next(drops);
    return lines * (before + drops->odds) / 2;
}

double false_drops_add(struct false_drops *drops, uint64_t n)
{
    drops->added += n;
    return drops->added < drops->next ? 0 : false_drops_finish(drops);
}
