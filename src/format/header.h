/*
 * header - the format of a filter file: its fixed pages as bytes, and as numbers.
 *
 * The specification is the comment at the head of header.c. These functions turn bytes into numbers
 * and back and check every one of them; none does any I/O or allocates.
 */
#ifndef UNSEEN_FORMAT_HEADER_H
#define UNSEEN_FORMAT_HEADER_H

#include "core/growth.h"
#include "core/little.h"
#include "system/fault.h"

enum {
    HEADER_BYTES = 4096,   /* the immutable header page */
    LAYER_TABLE_AT = 4096, /* the page of layer records */
    LAYER_RECORD_BYTES = 64,
    LAYERS_MAX = 48,
    LAYER_COUNT_AT = 8128,     /* the number of valid records, in the same page */
    COUNTERS_AT = 8192,        /* the page of counters and slots */
    COUNTER_SETTLED_AT = 8192, /* how often a batch was settled */
    COUNTER_KEYS_AT = 8256,    /* keys in each layer */
    WINDOW_LAST_AT = 8640,     /* when keys were settled in each layer last */
    STAGE_EMPTIED_AT = 9024,   /* how often a stage was emptied */
    STAGE_EMPTYING_AT = 9032,  /* the layer that is a stage being emptied, from 1 on; 0: none */
    STAGE_SETTING_AT =
        9040,               /* which keys of a journal are being set: from this one on, from 1 on */
    STAGE_SET_IN_AT = 9048, /* in this stage */
    SLOTS_AT = 9216,        /* the heads of the flight slots */
    SLOT_BYTES = 16,        /* of one head: */
    SLOT_HOLDS = 4,         /* more keys are in a file beside the filter */
    SLOT_MARK = 8,          /* which file: another number for each */
    SLOTS_MAX = 128,
    WINDOW_STATES_AT = 11264, /* which generation is in each layer of a window */
    WINDOW_STATE_BYTES = 16,  /* of one: its number, then */
    WINDOW_BEGAN = 8,         /* when it began */
    FLIGHT_AT = 12288,        /* the keys in flight */
    KEY_BYTES = 16,
    SEED_BYTES = 8,
    UUID_BYTES = 16,
    JOURNAL_BYTES = 4096 /* the last page of the fixed part of counting filters */
};

/* Slots hold fewer keys from one to the next: half of all, a quarter, ... at least this many. */
enum { SLOT_KEYS_MIN = 8 };
/* So the first slot has half of flight_keys. */
enum { FLIGHT_KEYS_MIN = 32, FLIGHT_KEYS_MAX = 4096 };

#define HEADER_VERSION 1

/* Features without which a file cannot be used. */
enum { FEATURE_COUNTING = 1, FEATURE_WINDOW = 2, FEATURES_KNOWN = 3 };

/* Numbers of generations that are none: the layer is empty; it is being emptied. */
#define GENERATION_FREE UINT64_C(0)
#define GENERATION_RETIRED UINT64_MAX
/* With the time of a layer: the clock was behind it. */
#define WINDOW_BEHIND (UINT64_C(1) << 63)
/* No clock tells a later time: Linux's own ends in the year 2262, this in 2286. */
#define WINDOW_TIME_MAX UINT64_C(10000000000000)
#define HASH_XXH3_128 1

/* What is written once, at creation. */
struct header {
    uint8_t uuid[UUID_BYTES];
    int64_t created; /* seconds since 1970 */
    uint64_t seed;
    struct filter_plan plan;  /* as asked for */
    uint64_t asked;           /* which of its values were given: ASKED_... */
    uint64_t flight_keys;     /* room of the first slot times two, a power of two */
    uint64_t writer_features; /* what a writer must know: WRITER_... */
    uint64_t layers_at;       /* where the first layer may begin; the fixed part ends there */
};

enum {
    ASKED_CAPACITY = 1,
    ASKED_RATE = 2,
    ASKED_SIZE = 4,
    ASKED_BITS_PER_KEY = 8,
    ASKED_HASHES = 16,
    ASKED_SEED = 32,
    ASKED_FIXED = 64,
    ASKED_WINDOW = 128,
    ASKED_FORGET = 256,
    ASKED_SLACK = 512,
    ASKED_COUNTING = 1024,
    ASKED_STAGE = 2048,
    ASKED_ALL = 4095
};

enum {
    WRITER_QUEUE = 1, /* a queue lies beside the filter */
    WRITER_ALL = 1
};

/* One layer as the file has it. */
struct layer_record {
    struct layer_plan plan;
    uint64_t offset; /* of its first page in the file */
};

/* Bytes <-> numbers. Encoding fills the whole page or record, checksum included. */
void header_encode(const struct header *header, uint8_t bytes[HEADER_BYTES]);
void layer_encode(const struct layer_record *record, uint8_t bytes[LAYER_RECORD_BYTES]);

/* Is it a filter file at all? bytes: the first 8. */
int header_is_filter(const uint8_t *bytes);

/* Checks and decodes a private copy of the header page; file_bytes is the file's real size.
 * Returns 0, or -1 with the fault (object `path`) naming the first field that is wrong. */
int header_decode(const uint8_t bytes[HEADER_BYTES], uint64_t file_bytes, const char *path,
                  struct header *header, struct fault *fault);

/* Checks and decodes a private copy of the layer table page: records[0..*count). The same. */
int layers_decode(const uint8_t page[HEADER_BYTES], const struct header *header,
                  uint64_t file_bytes, const char *path, struct layer_record records[LAYERS_MAX],
                  unsigned *count, struct fault *fault);

/* First key and number of keys of a slot, in keys from FLIGHT_AT. */
uint64_t slot_first(const struct header *header, unsigned slot);
uint64_t slot_room(const struct header *header, unsigned slot);

/* Bytes of the whole fixed part for so many flight_keys. */
uint64_t fixed_bytes(uint64_t flight_keys, bool counting);

/* Bytes of the whole flight region for so many flight_keys, and the flight_keys that suit a first
 * layer of so many pages: the region is at most about 1/64 of it. */
uint64_t flight_bytes(uint64_t flight_keys);
uint64_t flight_keys_for(uint64_t pages, bool fixed);

/* Where a layer of so many pages begins if it may not begin before `at`; and where it ends, with the
 * journal of a stage. */
uint64_t layer_place(uint64_t at, uint64_t pages);
uint64_t layer_end(const struct layer_record *record);

/* Bytes of a file with `layers` layers of so many pages each, and a stage before it if it has one. */
uint64_t header_file_bytes(uint64_t pages, const struct filter_plan *plan, unsigned layers);

/* How many milliseconds a window by time may have: some 300 years. */
#define FORGET_MAX UINT64_C(10000000000000)

#endif
