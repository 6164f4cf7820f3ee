/* random - numbers that nobody can guess, from the operating system. */
#ifndef UNSEEN_SYSTEM_RANDOM_H
#define UNSEEN_SYSTEM_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* At most 256 bytes. May wait, early after the machine was started. Returns 0, or -1 with errno. */
int random_fill(void *bytes, size_t length);

/* 64 bits, for salts and marks. Never waits: a system that has none yet gives what time and place
 * it is. */
uint64_t random_word(void);

#endif
