/* spill - see spill.h. Bytes are little-endian, since a file system may be shared. */
#include "file/spill.h"

#include "file/beside.h"
#include "file/header.h"
#include "file/map.h"
#include "io/path.h"
#include "io/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEAD_BYTES = 4096,
    FIRST_KEYS = 4096, /* of the first segment */
    SEGMENTS_MAX = 28, /* 10^12 keys */
    MARK_AT = 16
};

static const char magic[8] = "unsflt1";

struct spill {
    char *path;
    bool owned, named; /* it is ours; it loses its name with us */
    int fd;
    uint8_t *head;
    uint8_t *segment[SEGMENTS_MAX];
    unsigned segments;
    uint64_t used; /* keys in the newest segment */
    uint64_t count;
    int order_fd; /* keys in order, 16 bytes each; -1: none is kept */
    uint64_t noted;
};

static uint64_t keys_in(unsigned segment)
{
    return (uint64_t)FIRST_KEYS << segment;
}

static uint64_t offset_of(unsigned segment)
{
    return HEAD_BYTES + (keys_in(segment) - FIRST_KEYS) * KEY_BYTES;
}

/* Three quarters full is full. */
static uint64_t room_in(unsigned segment)
{
    return keys_in(segment) / 4 * 3;
}

/* Zeros mean an empty place, ones a key taken out; keys like that are stored as others. */
static struct key stored(struct key key)
{
    if (key.lo == 0 && key.hi == 0)
        key.lo = 1;
    if (key.lo == UINT64_MAX && key.hi == UINT64_MAX)
        key.lo = 1;
    return key;
}

static bool is_empty(const uint8_t *place)
{
    return load64(place) == 0 && load64(place + 8) == 0;
}

/* The place of the key, or the empty one where it would go; NULL if the segment is full, which only
 * somebody else's damaged file can be. */
static uint8_t *find(const struct spill *spill, unsigned segment, struct key key)
{
    uint64_t mask = keys_in(segment) - 1;
    for (uint64_t step = 0; step <= mask; step++) {
        uint8_t *place = spill->segment[segment] + ((key.lo + step) & mask) * KEY_BYTES;
        struct key there = load_key(place);
        if ((there.lo == key.lo && there.hi == key.hi) || (there.lo == 0 && there.hi == 0))
            return place;
    }
    return NULL;
}

static uint8_t *find_present(const struct spill *spill, struct key key)
{
    /* Newest first: it holds half of all. */
    for (unsigned i = spill->segments; i-- > 0;) {
        uint8_t *place = find(spill, i, key);
        if (place != NULL && !is_empty(place))
            return place;
    }
    return NULL;
}

static int map_segment(struct spill *spill, struct fault *fault)
{
    unsigned i = spill->segments;
    size_t bytes = (size_t)(keys_in(i) * KEY_BYTES);
    spill->segment[i] = map_file(spill->fd, spill->owned, offset_of(i), bytes, spill->path);
    if (spill->segment[i] == NULL)
        return fault_errno(fault, spill->path, "cannot be mapped", errno);
    spill->segments++;
    spill->used = 0;
    return 0;
}

static int map_head(struct spill *spill, struct fault *fault)
{
    spill->head = map_file(spill->fd, spill->owned, 0, HEAD_BYTES, spill->path);
    if (spill->head == NULL)
        return fault_errno(fault, spill->path, "cannot be mapped", errno);
    return 0;
}

static int add_segment(struct spill *spill, struct fault *fault)
{
    unsigned i = spill->segments;
    if (i == SEGMENTS_MAX)
        return fault_set(fault, spill->path, "too many lines in flight");
    if (whole_allocate(spill->fd, offset_of(i), keys_in(i) * KEY_BYTES) != 0)
        return fault_errno(fault, spill->path, "keys in flight do not fit", errno);
    if (map_segment(spill, fault) != 0)
        return -1;
    __atomic_store_n(&spill->head[8], (uint8_t)spill->segments, __ATOMIC_RELEASE);
    return 0;
}

static int open_nameless(const char *path)
{
#ifdef O_TMPFILE
    char directory[PATH_MAX];
    path_directory(path, directory);
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
#endif
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s.XXXXXX", path);
    int named = mkostemp(name, O_CLOEXEC);
    if (named >= 0)
        unlink(name);
    return named;
}

static struct spill *spill_alloc(const char *path, struct fault *fault)
{
    struct spill *spill = calloc(1, sizeof *spill);
    if (spill != NULL)
        spill->path = strdup(path);
    if (spill == NULL || spill->path == NULL) {
        free(spill);
        fault_errno(fault, path, NULL, ENOMEM);
        return NULL;
    }
    spill->fd = spill->order_fd = -1;
    return spill;
}

/* An empty set in the new file `fd`, or, if that is not one, the fault with errno. */
static struct spill *start(const char *path, int fd, bool named, struct fault *fault)
{
    int error = fd < 0 || whole_allocate(fd, 0, HEAD_BYTES) != 0 ? errno : 0;
    struct spill *spill = spill_alloc(path, fault);
    if (spill == NULL) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    spill->owned = true;
    spill->named = named && fd >= 0;
    spill->fd = fd;
    if (error != 0) {
        fault_errno(fault, path, "keys in flight need a file", error);
    } else if (map_head(spill, fault) == 0 && add_segment(spill, fault) == 0) {
        memcpy(spill->head, magic, sizeof magic);
        return spill;
    }
    spill_free(spill);
    return NULL;
}

struct spill *spill_nameless(const char *path, struct fault *fault)
{
    return start(path, open_nameless(path), false, fault);
}

struct spill *spill_new(const char *path, int like, uint64_t mark, struct fault *fault)
{
    struct stat status;
    unlink(path); /* never through somebody's link */
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0 && fstat(like, &status) == 0)
        beside_take_after(fd, &status);
    struct spill *spill = start(path, fd, true, fault);
    if (spill != NULL)
        store64(spill->head + MARK_AT, mark);
    return spill;
}

void spill_leave(struct spill *spill)
{
    spill->named = false;
}

/* The filter says that there is a set, and it is not there: its owner knows the filter by a name in
 * another directory, as hard links and bind mounts make them. */
static int fault_elsewhere(const char *path, struct fault *fault)
{
    fault_set(fault, path,
              "keys in flight are not here: their writer uses the filter by another name");
    return fault_way_out(fault, "use that name, or wait until it ends");
}

struct spill *spill_attach(const char *path, uint64_t mark, struct fault *fault)
{
    struct stat status;
    struct spill *spill = spill_alloc(path, fault);
    if (spill == NULL)
        return NULL;
    spill->fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (spill->fd < 0 && errno == ENOENT) {
        fault_elsewhere(path, fault);
    } else if (spill->fd < 0 || fstat(spill->fd, &status) != 0) {
        fault_errno(fault, path, NULL, errno);
    } else if (!S_ISREG(status.st_mode) || status.st_size < HEAD_BYTES) {
        fault_set(fault, path, "not a file of keys in flight");
    } else if (map_head(spill, fault) == 0) {
        if (memcmp(spill->head, magic, sizeof magic) != 0)
            fault_set(fault, path, "not a file of keys in flight");
        else if (load64(spill->head + MARK_AT) != mark)
            fault_elsewhere(path, fault);
        else if (spill_refresh(spill, fault) == 0)
            return spill;
    }
    spill_free(spill);
    return NULL;
}

void spill_free(struct spill *spill)
{
    if (spill == NULL)
        return;
    for (unsigned i = 0; i < spill->segments; i++)
        map_drop(spill->segment[i], (size_t)(keys_in(i) * KEY_BYTES));
    if (spill->head != NULL)
        map_drop(spill->head, HEAD_BYTES);
    if (spill->named)
        unlink(spill->path);
    if (spill->fd >= 0)
        close(spill->fd);
    if (spill->order_fd >= 0)
        close(spill->order_fd);
    free(spill->path);
    free(spill);
}

int spill_refresh(struct spill *spill, struct fault *fault)
{
    struct stat status;
    unsigned segments = __atomic_load_n(&spill->head[8], __ATOMIC_ACQUIRE);
    if (segments <= spill->segments)
        return 0;
    if (segments > SEGMENTS_MAX || fstat(spill->fd, &status) != 0 ||
        (uint64_t)status.st_size < offset_of(segments))
        return fault_set(fault, spill->path, "damaged file of keys in flight");
    while (spill->segments < segments)
        if (map_segment(spill, fault) != 0)
            return -1;
    return 0;
}

int spill_reserve(struct spill *spill, uint64_t n, struct fault *fault)
{
    while (room_in(spill->segments - 1) - spill->used < n)
        if (add_segment(spill, fault) != 0)
            return -1;
    return 0;
}

bool spill_has(const struct spill *spill, struct key key)
{
    return find_present(spill, stored(key)) != NULL;
}

bool spill_add(struct spill *spill, struct key key)
{
    key = stored(key);
    if (find_present(spill, key) != NULL)
        return false;
    store_key(find(spill, spill->segments - 1, key), key);
    spill->used++;
    spill->count++;
    return true;
}

void spill_remove(struct spill *spill, struct key key)
{
    uint8_t *place = find_present(spill, stored(key));
    if (place != NULL) {
        store_key(place, (struct key){.lo = UINT64_MAX, .hi = UINT64_MAX});
        spill->count--;
    }
}

uint64_t spill_count(const struct spill *spill)
{
    return spill->count;
}

/* Only what was used is cleared: the pages of a segment that is filled again are kept. */
void spill_clear(struct spill *spill)
{
    for (unsigned i = 0; i < spill->segments; i++)
        memset(spill->segment[i], 0, (size_t)(keys_in(i) * KEY_BYTES));
    spill->used = 0;
    spill->count = 0;
    spill->noted = 0;
}

/* --- order --- */

enum { NOTE_KEYS = 256 }; /* moved at once */

int spill_keep_order(struct spill *spill, struct fault *fault)
{
    spill->order_fd = open_nameless(spill->path);
    return spill->order_fd >= 0
               ? 0
               : fault_errno(fault, spill->path, "keys in flight need a file", errno);
}

int spill_note(struct spill *spill, const struct key *keys, size_t n, struct fault *fault)
{
    uint8_t bytes[NOTE_KEYS * KEY_BYTES];
    if (spill->order_fd < 0)
        return 0;
    while (n > 0) {
        size_t count = n < NOTE_KEYS ? n : NOTE_KEYS;
        size_t length = count * KEY_BYTES;
        for (size_t i = 0; i < count; i++)
            store_key(bytes + i * KEY_BYTES, keys[i]);
        if (whole_write_at(spill->order_fd, bytes, length, spill->noted * KEY_BYTES) != length)
            return fault_errno(fault, spill->path, "keys in flight do not fit", errno);
        spill->noted += count;
        keys += count;
        n -= count;
    }
    return 0;
}

void spill_drop_noted(struct spill *spill, uint64_t n)
{
    spill->noted -= n < spill->noted ? n : spill->noted;
}

ptrdiff_t spill_next(const struct spill *spill, uint64_t *at, struct key *keys, size_t most,
                     struct fault *fault)
{
    uint8_t bytes[NOTE_KEYS * KEY_BYTES];
    uint64_t left = spill->noted - *at;
    size_t n = left < most ? (size_t)left : most;
    if (n > NOTE_KEYS)
        n = NOTE_KEYS;
    size_t length = n * KEY_BYTES;
    if (whole_read_at(spill->order_fd, bytes, length, *at * KEY_BYTES) != length)
        return fault_errno(fault, spill->path, "keys in flight cannot be read", errno);
    for (size_t i = 0; i < n; i++)
        keys[i] = load_key(bytes + i * KEY_BYTES);
    *at += n;
    return (ptrdiff_t)n;
}
