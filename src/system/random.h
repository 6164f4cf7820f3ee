/* random - unpredictable numbers from the operating system. */
#ifndef UNSEEN_SYSTEM_RANDOM_H
#define UNSEEN_SYSTEM_RANDOM_H

#include "system/fault.h"

#include <stdint.h>

/* 64 bits, for salts and names. Never waits: early after boot, the time and the process number have
 * to do. */
uint64_t random_word(void);

/* 64 bits, for secrets. Waits until the system has them. Returns 0, or -1 with the fault. */
int random_secret(uint64_t *word, struct fault *fault);

#endif
