/*
 * warnings - what is said of a filter, and of lines, while all goes on.
 */
#ifndef UNSEEN_COMMANDS_WARNINGS_H
#define UNSEEN_COMMANDS_WARNINGS_H

#include "filter/store.h"

/* What growth and waiting say. */
extern const struct store_watch warnings_watch;

/* At the end of a run that writes: says so if a filter that does not grow holds more than it was
 * made for, if the layers of a merged one have a higher rate than was asked for, or if the clock
 * was once so far ahead that a window will not forget. */
void warn_of_filter(const struct store *store);

/* Says so if the rate of a filter that a merge has made is above the one that was asked for. */
void warn_of_rate(const char *name, double rate, double asked);

/* Says so if most of the lines have no key: it may be the wrong one. */
void warn_of_no_key(const struct recipe *recipe, const char *name, uint64_t lines,
                    uint64_t without_key);

/* What a line without a key does not have: "such field", "URL"; NULL if each line has one. */
const char *words_for_key(const struct recipe *recipe);

#endif
