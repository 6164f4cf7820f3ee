/* random - numbers that nobody can guess, from the operating system. */
#ifndef UNSEEN_SYSTEM_RANDOM_H
#define UNSEEN_SYSTEM_RANDOM_H

#include "system/fault.h"

#include <stdint.h>

/* 64 bits, for salts and marks. Never waits: a system that has none yet gives what time and place
 * it is. */
uint64_t random_word(void);

/* 64 bits, for secrets: waits until the system has them. Returns 0, or -1 with the fault. */
int random_secret(uint64_t *word, struct fault *fault);

#endif
