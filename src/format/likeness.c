#include "format/likeness.h"
#include "core/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What must agree. */
static const char *const names[] = {"key recipe",
                                    "seed",
                                    "false-positive rate",
                                    "number of hashes",
                                    "kind",
                                    "growth",
                                    "window",
                                    "number of parts",
                                    "hash"};
enum { NAMES = sizeof names / sizeof *names };

static void describe(const struct header *header, char texts[NAMES][LIKENESS_TEXT])
{
    const struct filter_plan *plan = &header->plan;
    recipe_shown(&header->recipe, texts[0]);
    snprintf(texts[1], LIKENESS_TEXT, "%" PRIu64,
             header_has_secret(header) ? 0 : header->hasher.k0);
    number_text(plan->rate, 15, texts[2]);
    if (plan->geometry.lines == 0)
        snprintf(texts[3], LIKENESS_TEXT, "what suits the rate");
    else
        snprintf(texts[3], LIKENESS_TEXT, "%u (%u x %u)", geometry_hashes(plan->geometry),
                 plan->geometry.lines, plan->geometry.fields);
    snprintf(texts[4], LIKENESS_TEXT, "%s", plan->geometry.counting ? "--counting" : "plain");
    snprintf(texts[5], LIKENESS_TEXT, "%s", plan->fixed ? "none (--fixed)" : "as needed");
    snprintf(texts[7], LIKENESS_TEXT, "%" PRIu32, header->shard.parts);
    snprintf(texts[8], LIKENESS_TEXT, "%s",
             header_has_secret(header) ? "SipHash with a secret" : "XXH3");
    if (!plan->window)
        snprintf(texts[6], LIKENESS_TEXT, "none");
    else if (plan->forget == 0)
        snprintf(texts[6], LIKENESS_TEXT, "%" PRIu64 " lines", plan->capacity);
    else
        snprintf(texts[6], LIKENESS_TEXT, "%.3f s", (double)plan->forget / 1000);
}

const char *likeness_differs(const struct header *one, const struct header *other,
                             char one_has[LIKENESS_TEXT], char other_has[LIKENESS_TEXT])
{
    char ones[NAMES][LIKENESS_TEXT], others[NAMES][LIKENESS_TEXT];
    describe(one, ones);
    describe(other, others);
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(ones[i], others[i]) != 0) {
            memcpy(one_has, ones[i], LIKENESS_TEXT);
            memcpy(other_has, others[i], LIKENESS_TEXT);
            return names[i];
        }
    if (one->hasher.k0 == other->hasher.k0 && one->hasher.k1 == other->hasher.k1)
        return NULL;
    /* Secrets are not shown. */
    snprintf(one_has, LIKENESS_TEXT, "the same");
    snprintf(other_has, LIKENESS_TEXT, "another one");
    return "secret";
}
