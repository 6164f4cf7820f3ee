/* random - numbers that nobody can guess, from the operating system. */
#ifndef UNSEEN_SYSTEM_RANDOM_H
#define UNSEEN_SYSTEM_RANDOM_H

#include <stdint.h>

/* 64 bits, for salts and marks. Never waits: a system that has none yet gives what time and place
 * it is. */
uint64_t random_word(void);

#endif
