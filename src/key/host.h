/*
 * host - the host of a URL, in normal form (url.h): `host/1`.
 *
 * A line without :// before its first /, ? or # is taken as host[:port][/...], after bytes up to
 * 0x20 at both ends were removed: what is before that byte, without user info and port, in lower
 * case, if it is letters, digits, - _ and . alone.
 */
#ifndef UNSEEN_KEY_HOST_H
#define UNSEEN_KEY_HOST_H

#include "key/span.h"

#include <stdbool.h>

/* Returns false if there is none. It lies in the text, or in `room`, which has 3 bytes for each of
 * the text and 32 more. */
bool host_take(struct span text, char *room, struct span *host);

#endif
