/*
 * key_set - see key_set.h. Little-endian, since several machines may share a file system:
 *
 *   offset size meaning
 *        0    8  magic: "unsflt1" and a zero
 *        8    1  segments in use
 *       16    8  salt
 *     4096       segments: of 4096 places of 16 bytes, 8192, and so on; a place is empty (zeros),
 *                was emptied (ones), or has a key, at salt_key modulo the number of places or after
 *                that
 */
#include "delivery/key_set.h"

#include "core/salt.h"
#include "format/header.h"
#include "system/beside.h"
#include "system/map.h"
#include "system/random.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEAD_BYTES = 4096,
    FIRST_KEYS = 4096, /* of the first segment */
    SEGMENTS_MAX = 28, /* 10^12 keys */
    AHEAD = 16,        /* keys, as in core/kernel_body.h */
    SEGMENTS_AT = 8,
    SALT_AT = 16
};

static const char magic[8] = "unsflt1";

struct key_set {
    bool owned, named; /* it is ours; it loses its name with us */
    int fd;
    uint8_t *head;
    uint8_t *segment[SEGMENTS_MAX];
    unsigned lowest;       /* the first segment: what was before it has moved into it */
    unsigned mapped, ours; /* the end of those that are mapped; of our own set, in use */
    uint64_t used;         /* places in the newest of them */
    uint64_t count;
    uint64_t salt; /* as in the file */
    char path[];
};

static uint64_t keys_in(unsigned segment)
{
    return (uint64_t)FIRST_KEYS << segment;
}

static uint64_t offset_of(unsigned segment)
{
    return HEAD_BYTES + (keys_in(segment) - FIRST_KEYS) * KEY_BYTES;
}

static size_t bytes_of(unsigned segment)
{
    return (size_t)(keys_in(segment) * KEY_BYTES);
}

/* Three quarters full is full. */
static uint64_t room_in(unsigned segment)
{
    return keys_in(segment) / 4 * 3;
}

static unsigned said_in_use(const struct key_set *set)
{
    return __atomic_load_n(&set->head[SEGMENTS_AT], __ATOMIC_ACQUIRE);
}

/* How many segments are in use; of another writer's set, as far as they are mapped here. */
static unsigned in_use(const struct key_set *set)
{
    if (set->owned)
        return set->ours;
    unsigned said = said_in_use(set);
    return said < set->mapped ? said : set->mapped;
}

static void use(struct key_set *set, unsigned segments)
{
    __atomic_store_n(&set->head[SEGMENTS_AT], (uint8_t)segments, __ATOMIC_RELEASE);
    set->ours = segments;
    set->used = 0;
}

/* Zeros and ones are no keys in the file: these two are stored as others. */
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

/* The place of the key, or the empty one where it would go; NULL if the segment is full, as only a
 * damaged file of another writer can be. `at`: its salt_key. */
static uint8_t *find(const struct key_set *set, unsigned segment, struct key key, uint64_t at)
{
    uint64_t mask = keys_in(segment) - 1;
    for (uint64_t step = 0; step <= mask; step++) {
        uint8_t *place = set->segment[segment] + ((at + step) & mask) * KEY_BYTES;
        struct key there = load_key(place);
        if ((there.lo == key.lo && there.hi == key.hi) || (there.lo == 0 && there.hi == 0))
            return place;
    }
    return NULL;
}

static int map_segment(struct key_set *set, unsigned i, struct fault *fault)
{
    set->segment[i] = map_file(set->fd, set->owned, offset_of(i), bytes_of(i), set->path, fault);
    if (set->segment[i] == NULL)
        return -1;
    set->mapped = i + 1;
    return 0;
}

static int map_head(struct key_set *set, struct fault *fault)
{
    set->head = map_file(set->fd, set->owned, 0, HEAD_BYTES, set->path, fault);
    return set->head != NULL ? 0 : -1;
}

static int fault_growth(const struct key_set *set, struct fault *fault)
{
    return fault_errno(fault, set->path, "the file of lines in flight cannot grow", errno);
}

/* Begins segment `i`, the next one; in a set without a name, any later one. */
static int add_segment(struct key_set *set, unsigned i, struct fault *fault)
{
    if (i >= SEGMENTS_MAX)
        return fault_set(fault, set->path, "too many lines in flight");
    if (i < set->mapped)
        memset(set->segment[i], 0, bytes_of(i));
    else if (whole_allocate(set->fd, offset_of(i), bytes_of(i)) != 0)
        return fault_growth(set, fault);
    else if (map_segment(set, i, fault) != 0)
        return -1;
    use(set, i + 1);
    return 0;
}

/* Moves what is in the first segment into the last one. */
static void move_keys(struct key_set *set, unsigned from, unsigned to)
{
    for (uint64_t i = 0; i < keys_in(from); i++) {
        struct key key = load_key(set->segment[from] + i * KEY_BYTES);
        if ((key.lo == 0 && key.hi == 0) || (key.lo == UINT64_MAX && key.hi == UINT64_MAX))
            continue;
        store_key(find(set, to, key, salt_key(key, set->salt)), key);
        set->used++;
    }
    map_drop(set->segment[from], bytes_of(from));
    set->lowest = to;
}

/* A set without a name: one segment with room for `n` more keys, in a file of its own, for the disk
 * to have the old one's back. */
static int enlarge(struct key_set *set, uint64_t n, struct fault *fault)
{
    unsigned from = set->lowest, to = from;
    while (to < SEGMENTS_MAX && (to == from || room_in(to) < set->count + n))
        to++;
    int fd = beside_nameless(set->path);
    if (fd < 0)
        return fault_growth(set, fault);
    close(set->fd);
    set->fd = fd;
    if (add_segment(set, to, fault) != 0)
        return -1;
    move_keys(set, from, to);
    return 0;
}

static struct key_set *key_set_alloc(const char *path, struct fault *fault)
{
    struct key_set *set = calloc(1, sizeof *set + strlen(path) + 1);
    if (set == NULL) {
        fault_errno(fault, path, NULL, ENOMEM);
        return NULL;
    }
    strcpy(set->path, path);
    set->fd = -1;
    return set;
}

/* An empty set in the new file `fd`. If that is -1, the fault with errno. */
static struct key_set *start(const char *path, int fd, bool named, struct fault *fault)
{
    int error = fd < 0 || whole_allocate(fd, 0, HEAD_BYTES) != 0 ? errno : 0;
    struct key_set *set = key_set_alloc(path, fault);
    if (set == NULL) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    set->owned = true;
    set->named = named && fd >= 0;
    set->fd = fd;
    if (error != 0) {
        fault_errno(fault, path,
                    named ? "lines in flight need a file beside the filter"
                          : "no new file can be made beside it",
                    error);
    } else if (map_head(set, fault) == 0 && add_segment(set, 0, fault) == 0) {
        memcpy(set->head, magic, sizeof magic);
        set->salt = random_word();
        store64(set->head + SALT_AT, set->salt);
        return set;
    }
    key_set_free(set);
    return NULL;
}

struct key_set *key_set_nameless(const char *path, struct fault *fault)
{
    return start(path, beside_nameless(path), false, fault);
}

struct key_set *key_set_new(const char *path, int like, struct fault *fault)
{
    struct stat status;
    unlink(path); /* never through somebody's link */
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0 && fstat(like, &status) == 0)
        beside_take_after(fd, &status);
    struct key_set *set = start(path, fd, true, fault);
    if (set == NULL && fault->error == EEXIST && lstat(path, &status) == 0)
        fault_way_out(fault, "it belongs to user %ju, who can remove it", (uintmax_t)status.st_uid);
    return set;
}

uint64_t key_set_mark(const struct key_set *set)
{
    struct stat status;
    return fstat(set->fd, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

void key_set_leave(struct key_set *set)
{
    set->named = false;
}

/* The filter says that there is a set, and it is not there: its owner knows the filter by a name in
 * another directory, as hard links and bind mounts make them. Here may be anybody's file. */
static int fault_elsewhere(const char *path, struct fault *fault)
{
    fault_set(fault, path,
              "another process uses it by another name, where its lines in flight are");
    fault_way_out(fault, "use that name, or wait until it ends");
    return fault_may_pass(fault);
}

/* Opens what has the name. Returns 1 if it is the file with the mark, 0 if not, -1 with errno. */
static int open_marked(struct key_set *set, int like, uint64_t mark, struct stat *status)
{
    struct stat filter;
    set->fd = open(set->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (set->fd < 0)
        return errno == ENOENT || errno == ELOOP || errno == ENXIO ? 0 : -1;
    if (fstat(set->fd, status) != 0 || fstat(like, &filter) != 0)
        return -1;
    return status->st_dev == filter.st_dev && (uint64_t)status->st_ino == mark;
}

struct key_set *key_set_attach(const char *path, int like, uint64_t mark, struct fault *fault)
{
    struct stat status;
    struct key_set *set = key_set_alloc(path, fault);
    if (set == NULL)
        return NULL;
    int opened = open_marked(set, like, mark, &status);
    if (opened < 0) {
        fault_errno(fault, path, NULL, errno);
    } else if (opened == 0) {
        fault_elsewhere(path, fault);
    } else if (!S_ISREG(status.st_mode) || status.st_size < HEAD_BYTES) {
        fault_set(fault, path, "is not a file of lines in flight");
    } else if (map_head(set, fault) == 0) {
        set->salt = load64(set->head + SALT_AT);
        if (memcmp(set->head, magic, sizeof magic) != 0)
            fault_set(fault, path, "is not a file of lines in flight");
        else if (key_set_refresh(set, fault) == 0)
            return set;
    }
    key_set_free(set);
    return NULL;
}

void key_set_free(struct key_set *set)
{
    if (set == NULL)
        return;
    for (unsigned i = set->lowest; i < set->mapped; i++)
        map_drop(set->segment[i], bytes_of(i));
    if (set->head != NULL)
        map_drop(set->head, HEAD_BYTES);
    if (set->named)
        unlink(set->path);
    if (set->fd >= 0)
        close(set->fd);
    free(set);
}

int key_set_refresh(struct key_set *set, struct fault *fault)
{
    struct stat status;
    unsigned segments = said_in_use(set);
    if (segments <= set->mapped)
        return 0;
    if (segments > SEGMENTS_MAX || fstat(set->fd, &status) != 0 ||
        (uint64_t)status.st_size < offset_of(segments))
        return fault_set(fault, set->path, "damaged file of lines in flight");
    while (set->mapped < segments)
        if (map_segment(set, set->mapped, fault) != 0)
            return -1;
    return 0;
}

int key_set_reserve(struct key_set *set, uint64_t n, struct fault *fault)
{
    while (set->ours == 0 || room_in(set->ours - 1) - set->used < n)
        if ((set->named ? add_segment(set, set->ours, fault) : enlarge(set, n, fault)) != 0)
            return -1;
    return 0;
}

static void prefetch(const struct key_set *set, struct key key)
{
    uint64_t at = salt_key(key, set->salt);
    for (unsigned i = in_use(set); i-- > set->lowest;)
        __builtin_prefetch(set->segment[i] + (at & (keys_in(i) - 1)) * KEY_BYTES);
}

/* Flattened: in a retry a tenth of all instructions went into the calls. */
__attribute__((flatten)) void key_set_look(const struct key_set *set, const struct key *keys,
                                           size_t n, uint8_t *seen)
{
    for (size_t i = 0; i < n && i < AHEAD; i++)
        prefetch(set, keys[i]);
    for (size_t i = 0; i < n; i++) {
        if (n - i > AHEAD)
            prefetch(set, keys[i + AHEAD]);
        if (!seen[i])
            seen[i] = key_set_has(set, keys[i]);
    }
}

/* The place of a key that is in, or NULL. */
static uint8_t *find_present(const struct key_set *set, struct key key)
{
    uint64_t at = salt_key(key, set->salt);
    for (unsigned i = in_use(set); i-- > set->lowest;) {
        uint8_t *place = find(set, i, key, at);
        if (place != NULL && !is_empty(place))
            return place;
    }
    return NULL;
}

bool key_set_has(const struct key_set *set, struct key key)
{
    return find_present(set, stored(key)) != NULL;
}

bool key_set_add(struct key_set *set, struct key key)
{
    key = stored(key);
    uint8_t *place = find(set, set->ours - 1, key, salt_key(key, set->salt));
    if (!is_empty(place))
        return false;
    store_key(place, key);
    set->used++;
    set->count++;
    return true;
}

void key_set_remove(struct key_set *set, struct key key)
{
    uint8_t *place = find_present(set, stored(key));
    if (place != NULL) {
        store_key(place, (struct key){.lo = UINT64_MAX, .hi = UINT64_MAX});
        set->count--;
    }
}

uint64_t key_set_count(const struct key_set *set)
{
    return set->count;
}

const char *key_set_path(const struct key_set *set)
{
    return set->path;
}

void key_set_clear(struct key_set *set)
{
    use(set, 0);
    set->count = 0;
}
