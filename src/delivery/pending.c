/*
 * pending - the file of a run with --pending, format version 1.
 *
 * Little-endian:
 *
 *   offset size meaning
 *        0    8  magic: 89 75 6e 73 70 6e 64 0a  ("unspnd" between a byte that is no text and LF)
 *        8    4  format version: 1
 *       12    4  1 if the run that wrote it came to its end, else 0
 *       16   16  UUID of the filter
 *       32    8  number of keys
 *       40    8  checksum of the keys: s = 0, then for each key s = XXH3-64 of its 16 bytes, seed s
 *       48    8  how often keys had been settled in the filter when the run began
 *       56    8  checksum: XXH3-64, seed 0, of bytes 0..55
 *       64  16*n keys, lo then hi
 *
 * It is valid if and only if all of that holds and the file ends after the last key.
 */
#include "delivery/pending.h"

#include "store/key_file.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 64, PIECE = 512 };

static const uint8_t magic[8] = {0x89, 'u', 'n', 's', 'p', 'n', 'd', '\n'};

struct pending {
    const char *path;
    struct key_file file;
    uint8_t uuid[UUID_BYTES];
    uint64_t count, sum, settlings;
    uint64_t done; /* keys written, or given out */
    struct key buffer[PIECE];
};

static struct pending *pending_alloc(const char *path, const uint8_t uuid[UUID_BYTES],
                                     struct fault *fault)
{
    struct pending *pending = calloc(1, sizeof *pending);
    if (pending == NULL) {
        fault_errno(fault, path, NULL, ENOMEM);
        return NULL;
    }
    pending->path = path;
    pending->file = (struct key_file){.fd = -1, .at = HEAD};
    memcpy(pending->uuid, uuid, UUID_BYTES);
    return pending;
}

void pending_free(struct pending *pending)
{
    if (pending == NULL)
        return;
    if (pending->file.fd >= 0)
        close(pending->file.fd);
    free(pending);
}

static int write_head(const struct pending *pending, bool finished, struct fault *fault)
{
    uint8_t head[HEAD] = {0};
    memcpy(head, magic, sizeof magic);
    store32(head + 8, 1);
    store32(head + 12, finished);
    memcpy(head + 16, pending->uuid, UUID_BYTES);
    store64(head + 32, pending->count);
    store64(head + 40, pending->sum);
    store64(head + 48, pending->settlings);
    store64(head + HEAD - 8, hash_checksum(head, HEAD - 8));
    if (whole_write_at(pending->file.fd, head, sizeof head, 0) != sizeof head)
        return fault_errno(fault, pending->path, NULL, errno);
    return 0;
}

/* Cuts off what is at `path`, but not a list named by mistake. */
static int start_anew(const struct pending *pending, struct fault *fault)
{
    uint8_t found[sizeof magic];
    struct stat status;
    if (fstat(pending->file.fd, &status) != 0)
        return fault_errno(fault, pending->path, NULL, errno);
    if (!S_ISREG(status.st_mode))
        return fault_set(fault, pending->path, "is not a regular file");
    if (status.st_size == 0 ||
        (whole_read_at(pending->file.fd, found, sizeof found, 0) == sizeof found &&
         memcmp(found, magic, sizeof magic) == 0))
        return ftruncate(pending->file.fd, 0) == 0 ? write_head(pending, false, fault)
                                                   : fault_errno(fault, pending->path, NULL, errno);
    fault_set(fault, pending->path, "exists, and is not a file of pending keys");
    return fault_way_out(fault, "name a new file");
}

struct pending *pending_create(const char *path, const uint8_t uuid[UUID_BYTES], uint64_t settlings,
                               struct fault *fault)
{
    struct pending *pending = pending_alloc(path, uuid, fault);
    if (pending == NULL)
        return NULL;
    pending->settlings = settlings;
    /* O_CREAT only if it is absent: in a sticky directory it is refused for another user's file. */
    pending->file.fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (pending->file.fd < 0 && errno == ENOENT)
        pending->file.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (pending->file.fd < 0)
        fault_errno(fault, path, NULL, errno);
    else if (start_anew(pending, fault) == 0)
        return pending;
    pending_free(pending);
    return NULL;
}

static int flush(struct pending *pending, struct fault *fault)
{
    uint64_t from = pending->done;
    pending->done = pending->count; /* even if it fails: the buffer must not overflow */
    if (!key_file_write(pending->file, from, pending->buffer, (size_t)(pending->count - from)))
        return fault_errno(fault, pending->path, NULL, errno);
    return 0;
}

/* The next link of the checksum of the keys. */
static uint64_t chain(uint64_t sum, struct key key)
{
    uint8_t bytes[KEY_BYTES];
    store_key(bytes, key);
    return hash_chain(sum, bytes, sizeof bytes);
}

int pending_append(struct pending *pending, struct key key, struct fault *fault)
{
    pending->buffer[pending->count++ - pending->done] = key;
    pending->sum = chain(pending->sum, key);
    return pending->count - pending->done == PIECE ? flush(pending, fault) : 0;
}

/* The keys must be on disk before the header that vouches for them. */
int pending_finish(struct pending *pending, struct fault *fault)
{
    if (flush(pending, fault) != 0)
        return -1;
    if (fsync(pending->file.fd) != 0)
        return fault_errno(fault, pending->path, NULL, errno);
    if (write_head(pending, true, fault) != 0)
        return -1;
    if (fsync(pending->file.fd) != 0)
        return fault_errno(fault, pending->path, NULL, errno);
    return 0;
}

static int damaged(const struct pending *pending, const char *what, struct fault *fault)
{
    fault_set(fault, pending->path, "damaged file of pending keys: %s", what);
    return fault_way_out(fault, "run the job that wrote it again");
}

static int check_head(struct pending *pending, const uint8_t head[HEAD], struct fault *fault)
{
    if (memcmp(head, magic, sizeof magic) != 0)
        return fault_set(fault, pending->path, "is not a file of pending keys");
    if (load32(head + 8) != 1) {
        fault_set(fault, pending->path,
                  "has format version %" PRIu32 "; this program knows version 1", load32(head + 8));
        return fault_way_out(fault, "use a newer unseen");
    }
    if (hash_checksum(head, HEAD - 8) != load64(head + HEAD - 8) || load32(head + 12) > 1)
        return damaged(pending, "header", fault);
    if (load32(head + 12) == 0) {
        fault_set(fault, pending->path, "is unfinished: the run that wrote it failed");
        return fault_way_out(fault, "run it again");
    }
    if (memcmp(head + 16, pending->uuid, UUID_BYTES) != 0) {
        fault_set(fault, pending->path, "belongs to another filter");
        return fault_way_out(fault, "commit it to the filter that its run named");
    }
    pending->count = load64(head + 32);
    pending->sum = load64(head + 40);
    pending->settlings = load64(head + 48);
    return 0;
}

static int check_size(const struct pending *pending, struct fault *fault)
{
    struct stat status;
    if (fstat(pending->file.fd, &status) != 0)
        return fault_errno(fault, pending->path, NULL, errno);
    uint64_t bytes = (uint64_t)status.st_size;
    if (bytes < HEAD || (bytes - HEAD) % KEY_BYTES != 0 ||
        (bytes - HEAD) / KEY_BYTES != pending->count)
        return damaged(pending, "size", fault);
    return 0;
}

static int check_keys(struct pending *pending, struct fault *fault)
{
    uint64_t sum = 0;
    ptrdiff_t n;
    while ((n = pending_next(pending, pending->buffer, PIECE, fault)) > 0)
        for (ptrdiff_t i = 0; i < n; i++)
            sum = chain(sum, pending->buffer[i]);
    pending->done = 0;
    if (n == 0 && sum != pending->sum)
        return damaged(pending, "checksum of the keys", fault);
    return (int)n;
}

struct pending *pending_open(const char *path, const uint8_t uuid[UUID_BYTES], struct fault *fault)
{
    uint8_t head[HEAD] = {0};
    struct pending *pending = pending_alloc(path, uuid, fault);
    if (pending == NULL)
        return NULL;
    pending->file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (pending->file.fd < 0 ||
        (whole_read_at(pending->file.fd, head, sizeof head, 0) < sizeof head && errno != 0))
        fault_errno(fault, path, NULL, errno);
    else if (check_head(pending, head, fault) == 0 && check_size(pending, fault) == 0 &&
             check_keys(pending, fault) == 0)
        return pending;
    pending_free(pending);
    return NULL;
}

uint64_t pending_settlings(const struct pending *pending)
{
    return pending->settlings;
}

ptrdiff_t pending_next(struct pending *pending, struct key *keys, size_t most, struct fault *fault)
{
    uint64_t left = pending->count - pending->done;
    size_t n = left < most ? (size_t)left : most;
    if (!key_file_read(pending->file, pending->done, keys, n))
        return errno != 0 ? fault_errno(fault, pending->path, NULL, errno)
                          : damaged(pending, "size", fault);
    pending->done += n;
    return (ptrdiff_t)n;
}
