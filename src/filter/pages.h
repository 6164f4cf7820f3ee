/*
 * pages - how pages of layers are read, written, flushed and cleared.
 */
#ifndef UNSEEN_FILTER_PAGES_H
#define UNSEEN_FILTER_PAGES_H

#include "filter/filter.h"

struct layer;

/* A hint that this run will test about so many keys: if they touch much of the filter, its pages
 * are read in bulk. A wrong hint costs only time. */
void pages_expect(struct filter *filter, uint64_t keys);

/* Reads ahead the next slice of layers that pages_expect chose. To be called now and then: takes as
 * long as reading 16 MB from the disk, and nothing once all is read. */
void pages_read_slice(struct filter *filter);

/* Reads `pages` pages of a layer, from `page` on, in a run that reads all of it from front to back.
 * Never fails. */
void pages_read_ahead(const struct filter *filter, unsigned layer, uint64_t page, uint64_t pages);

/* One page of a layer: where it is in memory, or `page` after it was read from the file (not its
 * map, where a page fault would map the neighbours, too). NULL if it cannot be read. */
const uint8_t *pages_get(const struct filter *filter, unsigned layer, uint64_t number,
                         uint8_t page[PAGE_BYTES]);

/* Asks the system to read the pages of these keys in all layers, in parallel, in the background.
 * One system call per key and layer, 0.2 us if the page is in memory. Never fails. */
void pages_prefetch(const struct filter *filter, const struct key *keys, size_t n);

/* --- for the files of this directory --- */

/* Under LOCK_CHANGE, before bits are set in a layer: from now on tests read the layer. */
void pages_get_bits(struct filter *filter, const struct layer *layer);

/* Under LOCK_CHANGE: sets the bits of keys in a layer. */
void pages_set(struct filter *filter, struct layer *layer, const struct key *keys, size_t n);

/* Maps pages from..end of a layer of a file for writing. Returns 0, or -1 with the fault of
 * filter_check_signals. */
int pages_populate_to_write(const struct filter *filter, const struct layer *layer, uint64_t from,
                            uint64_t end, struct fault *fault);

/* Begins to write pages from..end of a layer to the disk; waits until the disk has begun. Returns
 * as above. */
int pages_begin_to_write(const struct filter *filter, const struct layer *layer, uint64_t from,
                         uint64_t end, struct fault *fault);

/* Flushes a layer, and the rest of the file. Returns 0, or -1 with the fault: that of
 * filter_check_signals, or one that begins with `doing`. */
int pages_flush(const struct filter *filter, const struct layer *layer, const char *doing,
                struct fault *fault);

/* Clears a layer; in a file, with `flush`, also flushes it. Returns as above. */
int pages_clear(const struct filter *filter, const struct layer *layer, bool flush,
                const char *doing, struct fault *fault);

/* Whether a layer may have been written to since it was allocated. In memory: false. */
bool pages_have_data(const struct filter *filter, const struct layer *layer);

/* Asks for huge pages. */
void pages_use_huge(struct layer *layer);
enum {
    HUGE_BYTES = 2 << 20,
    HUGE_FROM = 16384 /* keys in a layer from which huge pages pay off */
};

#endif
