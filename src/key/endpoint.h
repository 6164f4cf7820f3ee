/*
 * endpoint - reduces URLs of pages that the same program makes to one key: `endpoint/2`.
 *
 *   1. Scheme, user info and a route are removed; host and port are kept.
 *   2. Each segment of the path is compared without its extension (the last dot and one or more
 *      letters or digits after it, unless the segment begins with this dot). The first of these
 *      that matches all of it replaces it: {d} for a date, YYYY-MM-DD or YYYYMMDD; {0} for digits;
 *      {u} for a UUID; {h} for 16 or more hex digits, at least one of them 0-9. No URL in normal
 *      form has braces, so a marker cannot be taken for a real segment.
 *   3. The query is reduced to the names of its parameters, in byte order, each once.
 */
#ifndef UNSEEN_KEY_ENDPOINT_H
#define UNSEEN_KEY_ENDPOINT_H

#include "key/url.h"

/* Writes the endpoint of a URL in normal form to `buffer`, which has twice the URL's bytes. `names`
 * has an element for every two bytes of the query as it was in the line. Takes n log n time. */
struct span endpoint_write(const struct url *url, char *buffer, struct span *names);

#endif
