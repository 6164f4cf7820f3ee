/*
 * ipv6 - addresses of IPv6 as RFC 4291 writes them, section 2.2, and as RFC 5952 does, section 4.
 */
#ifndef UNSEEN_KEY_IPV6_H
#define UNSEEN_KEY_IPV6_H

#include "key/span.h"

#include <stdint.h>

enum { IPV6_GROUPS = 8, IPV6_TEXT = 39 };

/* Reads an address: groups of 1 to 4 hex digits; `::`, once, for one or more groups of zero; and
 * perhaps IPv4 in the last 32 bits, whose numbers have no leading zeros. No zone. Returns false if
 * it is none. */
bool ipv6_read(struct span text, uint16_t groups[IPV6_GROUPS]);

/* Writes at most IPV6_TEXT bytes to `out`: lower case, no leading zeros, :: for the first of the
 * longest runs of two or more zeros, no IPv4. Returns the end. */
char *ipv6_write(char *out, const uint16_t groups[IPV6_GROUPS]);

#endif
