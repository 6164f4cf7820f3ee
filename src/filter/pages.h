/*
 * pages - how a layer's pages come into memory, get their bits, and go to the disk.
 */
#ifndef UNSEEN_FILTER_PAGES_H
#define UNSEEN_FILTER_PAGES_H

#include "filter/store.h"

struct layer;

/* About so many keys will be looked for in this run: if they touch much of the filter, its pages
 * may be had in bulk. Only a hint: if it is wrong, it costs time. */
void pages_expect(struct store *store, uint64_t keys);

/* Reads ahead some more of what pages_expect found worth it. For once in a while: with a cold disk
 * it takes as long as reading 16 MB, and when all is there, nothing. */
void pages_read_slice(struct store *store);

/* Tells that `pages` pages of a layer, from `page` on, are read now, and that all of it will be,
 * front to back. Never fails. */
void pages_read_ahead(const struct store *store, unsigned layer, uint64_t page, uint64_t pages);

/* Asks for the pages of keys in all layers: the disk reads them side by side while the caller goes
 * on. A system call for each, of 0.2 us if the page is in memory. Never fails. */
void pages_prefetch(const struct store *store, const struct key *keys, size_t n);

/* --- for store and delivery --- */

/* Under LOCK_CHANGE: bits will be set in a layer: from now on everybody looks into it. */
void pages_get_bits(struct store *store, const struct layer *layer);

/* Under LOCK_CHANGE: sets the bits of keys in a layer. */
void pages_set(struct store *store, struct layer *layer, const struct key *keys, size_t n);

/* Pages from..end of a layer of a file will all be written. Returns 0, or -1 with the fault of
 * store_check_signals. */
int pages_populate_to_write(const struct store *store, const struct layer *layer, uint64_t from,
                            uint64_t end, struct fault *fault);

/* What was written to pages from..end of a layer of a file is on its way to the disk: waits until
 * the disk has begun with it. The same. */
int pages_begin_to_write(const struct store *store, const struct layer *layer, uint64_t from,
                         uint64_t end, struct fault *fault);

/* All of a layer, and what else was written to the file, is on disk. Returns 0, or -1 with the
 * fault, which begins with `doing`, or is store_check_signals'. */
int pages_flush(const struct store *store, const struct layer *layer, const char *doing,
                struct fault *fault);

/* All of a layer is zeros; in a file, on disk. The same. */
int pages_clear(const struct store *store, const struct layer *layer, const char *doing,
                struct fault *fault);

/* Whether something may have been written to a layer since it was allocated. In memory false. */
bool pages_have_data(const struct store *store, const struct layer *layer);

/* The machine's memory, in pages of 4096 bytes; 0 if that is not known. */
uint64_t pages_of_memory(void);

/* Asks for large pages. */
void pages_use_huge(struct layer *layer);
enum {
    HUGE_BYTES = 2 << 20,
    HUGE_FROM = 16384 /* keys in a layer from which on large pages pay */
};

#endif
