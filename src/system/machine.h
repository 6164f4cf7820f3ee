/*
 * machine - how much memory there is.
 */
#ifndef UNSEEN_SYSTEM_MACHINE_H
#define UNSEEN_SYSTEM_MACHINE_H

#include <stdint.h>

/* The bytes of memory that this process may use: the machine's, or if that is less, the limit of
 * its control group (version 2) or of one around that. 0 if unknown. The first call takes 20 us,
 * and must come before the process is confined. */
uint64_t machine_memory(void);

#endif
