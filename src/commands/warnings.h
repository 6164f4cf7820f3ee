/*
 * warnings - messages about a filter and its lines that do not end the run.
 */
#ifndef UNSEEN_COMMANDS_WARNINGS_H
#define UNSEEN_COMMANDS_WARNINGS_H

#include "filter/filter.h"
#include "pipeline/pipeline.h"

/* Messages about growth and waiting. */
extern const struct filter_watch warnings_watch;

/* For the end of a run that writes. Warns if a filter that does not grow holds more lines than it
 * was made for, if the rate of a merged filter is above the one asked for, or if the clock was so
 * far ahead that a window does not forget. */
void warn_of_filter(const struct filter *filter);

/* Warns if the rate of a merged filter is above the one asked for. */
void warn_of_rate(const char *name, double rate, double asked);

/* Warns if all lines, or most of many, have no key: the key options may be wrong. */
void warn_of_no_key(const struct recipe *recipe, const char *name,
                    const struct pipeline_counts *counts);

/* What a line without a key lacks: "such field", "URL"; NULL if every line has a key. */
const char *words_for_key(const struct recipe *recipe);

#endif
