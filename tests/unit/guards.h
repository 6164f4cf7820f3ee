/*
 * guards - memory between pages that must not be touched: a read or write beside it is a signal.
 */
#ifndef UNSEEN_TESTS_GUARDS_H
#define UNSEEN_TESTS_GUARDS_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* As many as the largest pages have. */
enum { GUARD_BYTES = 1 << 16 };

/* Returns so many bytes, a multiple of a page's, between guards; ends the program if memory is
 * short. */
static inline char *guarded(size_t bytes)
{
    char *pages = mmap(NULL, bytes + (size_t)2 * GUARD_BYTES, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + GUARD_BYTES, bytes, PROT_READ | PROT_WRITE) != 0) {
        perror("mmap");
        exit(1);
    }
    return pages + GUARD_BYTES;
}

#endif
