/*
 * descriptors - how many files can be open at once.
 */
#ifndef UNSEEN_SYSTEM_DESCRIPTORS_H
#define UNSEEN_SYSTEM_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/* Raises the limit, as far as this user may, so that `more` files can be open besides those that
 * are. Returns whether that is allowed; there may still be too few. */
bool descriptors_allow(uint64_t more);

#endif
