/*
 * shared - page 2 of a filter file, which all writers change, and the keys in flight after it.
 *
 * Page 2 changes all the time and has no checksum. Nothing in it is trusted: wrong counters only
 * make the filter grow late or early, and a writer corrects those that are far below what the bits
 * say. Every word is read and written whole.
 *
 * Times are milliseconds since 1970-01-01 UTC, never less than a time written before. A time above
 * 10^13 is ignored.
 *
 * Keys in flight have 16 bytes each, lo then hi, and a table (filter/flight.h). Slot 0 holds a
 * batch of keys, slots 1 to 15 hold 8 each; more keys, and those of all other slots, are in the
 * file FILTER.flight-NUMBER (format/key_file.h). A slot counts only while its owner holds the lock
 * on byte 2^62 + 1 + slot of the file (an open file description lock; no file is that large).
 * Byte 2^62 is the lock for bits, counters and slots, byte 2^62 + 4096 the lock for layer records
 * and their number; the others are below.
 *
 * In a counting filter, the last page of the metadata is the journal. It has the blocks that
 * `remove` is changing as they were before, so that a killed `remove` can be undone
 * (filter/removal.c). It has no checksum and is not trusted: it is used only if the layer can have
 * come from it.
 *
 *        0    4  1 if the journal is in use, else 0
 *        4    4  layer, from 0
 *        8   16  the key that is being removed, lo then hi
 *       64 g*64  the key's blocks as they were
 */
#ifndef UNSEEN_FORMAT_SHARED_H
#define UNSEEN_FORMAT_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COUNTER_SETTLED_AT = 8192, /*      8 how many times keys in flight were settled */
    QUEUE_AT = 8232,           /*      1 the kind of queue, as below */
    LAYER_STATES_AT = 9216,    /*  48*64 the state of each layer */
    SLOTS_AT = 12288,          /* 128*32 slots of writers */
    FLIGHT_AT = 16384          /*        the keys in flight */
};

/* The locks of a filter file (system/lock.h); filter/internal.h says which of them covers what. */
enum {
    LOCK_CHANGE = 0,     /* bits, counters and slots */
    LOCK_SLOT = 1,       /* slot 0; the next 127 locks are those of the other slots */
    LOCK_GROW = 4096,    /* layers, stages and generations */
    LOCK_QUEUE = 4097,   /* FILTER.queue */
    LOCK_WAITING = 4098, /* the writer that waits for a slot */
    LOCK_HELD = 4099     /* settling keys that were in flight for long */
};

/* The kind of FILTER.queue. The first push sets it, holding LOCK_QUEUE (queue/queue.h). */
enum { QUEUE_NONE = 0, QUEUE_OF_LINES = 1, QUEUE_OF_NULS = 2 };

/* The state of a layer, in a cache line of its own. */
enum {
    LAYER_KEYS = 0,      /* 8 keys in the layer and its stage */
    LAYER_ERA = 8,       /* 8 era of the stage; odd: it is in use, even: its contents are void */
    WINDOW_LAST = 16,    /* 8 window by time: when the layer last got keys */
    WINDOW_NUMBER = 24,  /* 8 window: number of the generation, or one of the two below */
    WINDOW_BEGAN = 32,   /* 8 window: when the generation began */
    LAYER_HAS_BITS = 40, /* 8 with a stage: made 1 before the first bits are set in the layer */
    LAYER_EMPTYING = 48, /* 8 not 0 while the stage is emptied, or if that was interrupted */
    WINDOW_UPTIME = 56,  /* 8 window by time: the machine's uptime then; top 20 bits: which boot */
    LAYER_STATE_BYTES = 64
};

/* A slot: the record of its flight. */
enum {
    FLIGHT_COUNT = 0,   /* 8 keys in flight */
    FLIGHT_SALT = 8,    /* 8 salt of the table */
    FLIGHT_FILE = 16,   /* 8 inode number of the file that has the keys; 0: they are in the slot */
    FLIGHT_NUMBER = 24, /* 4 number in the file's name */
    FLIGHT_LEVEL = 28,  /* 4 level of the file; FLIGHT_BEGINS: it is being made */
    FLIGHT_RECORD_BYTES = 32
};

/* A file of keys in flight: its head, keys and places at level 0. Each level doubles both. */
enum {
    FLIGHT_HEAD_BYTES = 4096,
    FLIGHT_FILE_KEYS = 3072,
    FLIGHT_FILE_PLACES = 4096,
    FLIGHT_FILE_BYTES = FLIGHT_FILE_KEYS * 16 + FLIGHT_FILE_PLACES * 4,
    FLIGHT_LEVEL_MAX = 20,
    FLIGHT_BEGINS = 255
};

/* The generation with the largest number is filling; smaller numbers are older. A layer without a
 * generation is empty, or is being emptied. */
#define GENERATION_FREE UINT64_C(0)
#define GENERATION_RETIRED UINT64_MAX
/* Added to WINDOW_LAST if the clock showed an earlier time than one written before. */
#define WINDOW_BEHIND (UINT64_C(1) << 63)
/* No clock shows a later time: Linux's own ends in 2262, this is in 2286. */
#define WINDOW_TIME_MAX UINT64_C(10000000000000)

enum { KEY_BYTES = 16, SLOTS_MAX = 128, JOURNAL_BYTES = 4096 };

static inline size_t layer_state_at(unsigned layer)
{
    return LAYER_STATES_AT + (size_t)layer * LAYER_STATE_BYTES;
}

static inline size_t slot_at(unsigned slot)
{
    return SLOTS_AT + (size_t)slot * FLIGHT_RECORD_BYTES;
}

/* How many keys a slot has, and their offset; it has twice as many places. */
static inline uint64_t slot_capacity(unsigned slot)
{
    return slot == 0 ? 2048 : slot < 16 ? 8 : 0;
}

static inline size_t slot_keys_at(unsigned slot)
{
    const size_t first = 2048 * (KEY_BYTES + 8), other = 8 * (KEY_BYTES + 8);
    size_t others = slot < 16 ? slot : 16;
    return FLIGHT_AT + (slot > 0 ? first + (others - 1) * other : 0);
}

static inline uint64_t metadata_bytes(bool counting)
{
    uint64_t end = slot_keys_at(SLOTS_MAX);
    return (end + 4095) / 4096 * 4096 + (counting ? JOURNAL_BYTES : 0);
}

#endif
