/*
 * punycode - a label of a host with bytes beyond ASCII, as DNS has it: RFC 3492, whose names for
 * steps and constants are kept, behind `xn--`. Nothing is mapped, so that no table is needed.
 */
#ifndef UNSEEN_KEY_PUNYCODE_H
#define UNSEEN_KEY_PUNYCODE_H

#include "key/span.h"

/* The longest label of DNS, in bytes. */
enum { PUNYCODE_MAX = 63 };

/* Writes `xn--` and the Punycode of a label in UTF-8 to `out`. Returns the number of bytes, or 0 if
 * the label is ASCII, is not valid UTF-8, or would be longer than PUNYCODE_MAX: `out` is undefined
 * then. Takes time for 60 characters at most, however long the label is. */
size_t punycode_write(struct span label, char out[PUNYCODE_MAX]);

#endif
