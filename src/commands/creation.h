/*
 * creation - a filter as the options describe it, and whether one that exists agrees with them.
 */
#ifndef UNSEEN_COMMANDS_CREATION_H
#define UNSEEN_COMMANDS_CREATION_H

#include "commands/options.h"
#include "delivery/filter.h"

#define DEFAULT_RATE GROWTH_DEFAULT_RATE

/* Works out plan, seed and asked of a header from -n, -p, --size and their like: any two of n, p
 * and size give the third. Or takes all from the filter that --like names. `assumed` is 0 if the
 * filter is to be made; else so many keys are assumed where --bits-per-key comes without a number.
 * Returns 0, or EXIT_TROUBLE after a message. */
int creation_plan(const struct options *options, uint64_t assumed, struct header *header);

/* Whether --create was given, or an option that implies it. */
bool creation_asked(const struct options *options);

/* Makes the filter, and the directory of its queue if it is to have one. As create_filter; but with a
 * queue in the way, nothing is made. */
int creation_make(const char *path, struct header *header, bool replace, struct fault *fault);

/* Opens FILTER for writing, making it first if it was asked for and there is none, with one line
 * on stderr. With `queue` it is made with a queue, or must have been. NULL after a message. */
struct filter *creation_open(const char *path, const struct options *options, bool queue);

/* What growth and waiting say on stderr, and whether a network file system is allowed. */
struct store_watch creation_watch(const struct options *options);

/* At the end of a run that writes: says so if a filter that does not grow holds more than it was made
 * for, or if the clock was once so far ahead that a window will not forget. */
void creation_warn(const struct store *filter);

/* "3.6 MB": up to 16 bytes into text, which is returned. */
const char *creation_size(double bytes, char text[16]);

/* "7d", as --forget-after takes it: up to 32 bytes into text, which is returned. */
const char *creation_time(uint64_t milliseconds, char text[32]);

#endif
