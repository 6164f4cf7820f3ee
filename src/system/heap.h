/*
 * heap - how malloc(3) gets its memory from the system.
 */
#ifndef UNSEEN_SYSTEM_HEAP_H
#define UNSEEN_SYSTEM_HEAP_H

/* A run of one line spent a fiftieth of its time asking the system for each buffer, and giving it
 * back just before it ends. From now on only what exceeds 4 MB, a long line, comes and goes by
 * itself; where the C library can be told. */
void heap_start(void);

#endif
