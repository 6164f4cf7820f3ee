/* random - numbers that nobody can guess, from the operating system. */
#ifndef UNSEEN_SYSTEM_RANDOM_H
#define UNSEEN_SYSTEM_RANDOM_H

#include <stddef.h>

/* At most 256 bytes. May wait, early after the machine was started. Returns 0, or -1 with errno. */
int random_fill(void *bytes, size_t length);

#endif
