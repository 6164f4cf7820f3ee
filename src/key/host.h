/*
 * host - reduces a URL to its host, in normal form (url.h): `host/1`.
 *
 * A line without :// before its first /, ? or # is read as [user@]host[:port][/...], without bytes
 * up to 0x20 at both ends. Its host may have only letters, digits, -, _ and ., and becomes lower
 * case.
 */
#ifndef UNSEEN_KEY_HOST_H
#define UNSEEN_KEY_HOST_H

#include "key/span.h"

#include <stdbool.h>

/* Returns false if there is no host. *host points into `text`, or into `buffer`, which has three
 * times the bytes of `text` and 32 more. */
bool host_take(struct span text, char *buffer, struct span *host);

#endif
