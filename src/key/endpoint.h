/*
 * endpoint - what URLs have in common that are made by the same program: `endpoint/1`.
 *
 *   1. Scheme and user info are dropped; host and port stay.
 *   2. A segment of the path without its extension (the last dot and one or more letters or digits
 *      after it, if something is before it) is replaced if all of it is one of these, the first
 *      that fits: a date, YYYY-MM-DD or YYYYMMDD, by {d}; digits by {0}; a UUID by {u}; 16 or more
 *      hex digits, at least one of them 0-9, by {h}. No URL in normal form has braces.
 *   3. Of the query the names of its parameters stay, in the order of bytes, each once.
 */
#ifndef UNSEEN_KEY_ENDPOINT_H
#define UNSEEN_KEY_ENDPOINT_H

#include "key/url.h"

/* The endpoint of a URL in normal form. `room` has twice its bytes; `names` has one for each two
 * bytes that its query had as it was written. Time is n log n of the bytes at most. */
struct span endpoint_write(const struct url *url, char *room, struct span *names);

#endif
