/*
 * look - whether a line is a URL in normal form already, as nearly all are: seen in one pass, at a
 * tenth of the cost of making that form.
 *
 * The answer is yes for lines of up to URL_MAX bytes that are, without exception:
 *
 *   http:// or https://, in lower case
 *   a host, one byte or more: anything but A-Z % : @ ? _
 *   a slash, and whatever follows it
 *
 * where all bytes are some that a URL may have, there is no /. and each % begins a %HH with digits
 * in upper case that does not stand for an unreserved character. Yes means that url_write would
 * change nothing; no decides nothing: there may be a port, user info, brackets, another scheme.
 *
 * There is a plain version, for every machine, and vector versions that must give the same answers.
 */
#ifndef UNSEEN_KEY_LOOK_H
#define UNSEEN_KEY_LOOK_H

#include "key/span.h"

#include <stdbool.h>
#include <stdint.h>

struct look {
    const char *name;

    bool (*line)(struct span line);

    /* Of `n` lines laid end to end, as in hash_lines: normal[i] = 1 for yes, else 0. */
    void (*lines)(const char *bytes, const size_t *starts, size_t n, uint8_t *normal);
};

/* The fastest version that this machine runs. */
const struct look *look_best(void);

/* The versions that this machine runs, the plain one first. Returns how many. */
enum { LOOKS_MAX = 3 };
size_t look_all(const struct look *looks[LOOKS_MAX]);

#endif
