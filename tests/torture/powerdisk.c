/*
 * powerdisk - a disk that remembers in which order it was written, so that its power can be cut
 * afterwards, at any moment, as often as wanted.
 *
 *     powerdisk serve DIRECTORY MEGABYTES LOG    mounts DIRECTORY (FUSE); in it is the file "disk"
 *     powerdisk cut LOG BYTES SEED IMAGE         the disk after a power cut
 *
 * serve keeps the disk in memory, appends each write and each flush to LOG, and ends when DIRECTORY
 * is unmounted. A file system is made in "disk" and mounted by a loop device, which turns the file
 * system's flushes into fsync: so LOG is what a real disk would get, block by block.
 *
 * cut takes the first BYTES of LOG (its records are whole: a last one that is not is left out) and
 * writes IMAGE: all that was written up to the last flush, and of what came after it each block of
 * 4096 bytes or not, by chance (SEED). Every seventh SEED all of it, every seventh none.
 *
 * What this models: a disk with a write cache that loses any part of what was not flushed, in any
 * order. What it does not: sectors torn inside, a disk that lies about flushes, and writes that
 * were under way while another processor asked for the flush: they count as flushed if they came
 * first.
 *
 * It needs /dev/fuse and the right to mount. Exit: 0, 2 with a message, 77 if it may not mount.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BLOCK = 4096, MOST_WRITE = 128 * 1024, REQUEST = MOST_WRITE + 2 * BLOCK };
enum { DISK_NODE = 2 };

/* A record of the log; length bytes follow. A flush has length 0. */
struct record {
    uint64_t offset;
    uint64_t length;
};

struct disk {
    int fuse, log;
    uint64_t bytes;
    uint8_t *data;
};

static int fail(const char *what)
{
    fprintf(stderr, "powerdisk: %s: %s\n", what, strerror(errno));
    return 2;
}

static int note(const struct disk *disk, uint64_t offset, const void *bytes, uint64_t length)
{
    struct record record = {offset, length};
    struct iovec parts[2] = {{&record, sizeof record}, {(void *)(uintptr_t)bytes, length}};
    ssize_t all = (ssize_t)(sizeof record + length);
    return writev(disk->log, parts, length > 0 ? 2 : 1) == all ? 0 : -1;
}

static void reply(const struct disk *disk, uint64_t unique, int error, const void *bytes,
                  size_t length)
{
    struct fuse_out_header head = {.len = (uint32_t)(sizeof head + length),
                                   .error = -error,
                                   .unique = unique};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)(uintptr_t)bytes, length}};
    (void)!writev(disk->fuse, parts, 2);
}

static struct fuse_attr attributes(const struct disk *disk, uint64_t node)
{
    bool file = node == DISK_NODE;
    return (struct fuse_attr){
        .ino = node,
        .size = file ? disk->bytes : 0,
        .blocks = file ? disk->bytes / 512 : 0,
        .mode = file ? S_IFREG | 0600 : S_IFDIR | 0700,
        .nlink = 1,
        .blksize = BLOCK,
    };
}

static void answer_init(const struct disk *disk, const struct fuse_in_header *in, const void *body)
{
    const struct fuse_init_in *asked = body;
    struct fuse_init_out out = {
        .major = FUSE_KERNEL_VERSION,
        .minor = asked->minor < FUSE_KERNEL_MINOR_VERSION ? asked->minor
                                                          : FUSE_KERNEL_MINOR_VERSION,
        .max_readahead = asked->max_readahead,
        .flags = asked->flags & (FUSE_BIG_WRITES | FUSE_ASYNC_READ | FUSE_ASYNC_DIO),
        .max_write = MOST_WRITE,
        .max_background = 16,
        .congestion_threshold = 12,
    };
    reply(disk, in->unique, 0, &out, sizeof out);
}

static void answer_lookup(const struct disk *disk, const struct fuse_in_header *in,
                          const char *name)
{
    struct fuse_entry_out out = {.nodeid = DISK_NODE, .entry_valid = 1000, .attr_valid = 1000};
    if (strcmp(name, "disk") != 0) {
        reply(disk, in->unique, ENOENT, NULL, 0);
        return;
    }
    out.attr = attributes(disk, out.nodeid);
    reply(disk, in->unique, 0, &out, sizeof out);
}

static void answer_attributes(const struct disk *disk, const struct fuse_in_header *in)
{
    struct fuse_attr_out out = {.attr_valid = 1000, .attr = attributes(disk, in->nodeid)};
    reply(disk, in->unique, 0, &out, sizeof out);
}

static void answer_read(const struct disk *disk, const struct fuse_in_header *in, const void *body)
{
    const struct fuse_read_in *asked = body;
    uint64_t offset = asked->offset < disk->bytes ? asked->offset : disk->bytes;
    uint64_t left = disk->bytes - offset;
    reply(disk, in->unique, 0, disk->data + offset, asked->size < left ? asked->size : left);
}

static void answer_write(const struct disk *disk, const struct fuse_in_header *in, const void *body)
{
    const struct fuse_write_in *asked = body;
    const uint8_t *bytes = (const uint8_t *)body + sizeof *asked;
    struct fuse_write_out out = {.size = asked->size};
    if (asked->offset > disk->bytes || asked->size > disk->bytes - asked->offset) {
        reply(disk, in->unique, ENOSPC, NULL, 0);
        return;
    }
    memcpy(disk->data + asked->offset, bytes, asked->size);
    int error = note(disk, asked->offset, bytes, asked->size) == 0 ? 0 : EIO;
    reply(disk, in->unique, error, &out, error == 0 ? sizeof out : 0);
}

static void answer(struct disk *disk, const struct fuse_in_header *in, const void *body)
{
    static const struct fuse_open_out opened = {.open_flags = FOPEN_KEEP_CACHE};
    static const struct fuse_statfs_out numbers = {.st = {.bsize = BLOCK, .namelen = 255}};
    switch (in->opcode) {
    case FUSE_INIT:
        answer_init(disk, in, body);
        break;
    case FUSE_LOOKUP:
        answer_lookup(disk, in, body);
        break;
    case FUSE_GETATTR:
    case FUSE_SETATTR:
        answer_attributes(disk, in);
        break;
    case FUSE_OPEN:
    case FUSE_OPENDIR:
        reply(disk, in->unique, 0, &opened, sizeof opened);
        break;
    case FUSE_READ:
        answer_read(disk, in, body);
        break;
    case FUSE_WRITE:
        answer_write(disk, in, body);
        break;
    case FUSE_FSYNC:
        reply(disk, in->unique, note(disk, 0, NULL, 0) == 0 ? 0 : EIO, NULL, 0);
        break;
    case FUSE_STATFS:
        reply(disk, in->unique, 0, &numbers, sizeof numbers);
        break;
    case FUSE_FLUSH:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_DESTROY:
        reply(disk, in->unique, 0, NULL, 0);
        break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break; /* no answer is wanted */
    default:
        reply(disk, in->unique, ENOSYS, NULL, 0);
    }
}

static int mount_fuse(struct disk *disk, const char *directory)
{
    char options[128];
    disk->fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (disk->fuse < 0)
        return -1;
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", disk->fuse,
             (unsigned)getuid(), (unsigned)getgid());
    return mount("powerdisk", directory, "fuse", MS_NOSUID | MS_NODEV, options);
}

static int serve(const char *directory, const char *megabytes, const char *log)
{
    static _Alignas(8) uint8_t request[REQUEST];
    static struct disk disk;
    disk.bytes = strtoull(megabytes, NULL, 10) << 20;
    disk.data = mmap(NULL, disk.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (disk.data == MAP_FAILED)
        return fail("memory");
    disk.log = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (disk.log < 0)
        return fail(log);
    if (mount_fuse(&disk, directory) != 0) {
        fail(directory);
        return 77;
    }
    if (daemon(1, 0) != 0)
        return fail("daemon");
    for (;;) {
        ssize_t n = read(disk.fuse, request, sizeof request);
        if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
            continue;
        if (n < (ssize_t)sizeof(struct fuse_in_header))
            return n < 0 && errno == ENODEV ? 0 : 2;
        answer(&disk, (const struct fuse_in_header *)request,
               request + sizeof(struct fuse_in_header));
    }
}

/* xorshift64*: any seed but 0. */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* The record at `at`, and where the next one is; 0 if there is none that is whole. */
static uint64_t record_at(const uint8_t *log, uint64_t bytes, uint64_t at, struct record *record)
{
    if (bytes - at < sizeof *record)
        return 0;
    memcpy(record, log + at, sizeof *record);
    uint64_t next = at + sizeof *record + record->length;
    return next <= bytes ? next : 0;
}

/* Writes a record to the image, each block of it if `keep` says so. */
static int apply(int image, const struct record *record, const uint8_t *bytes, uint64_t *state,
                 unsigned keep_in_four)
{
    for (uint64_t at = 0; at < record->length;) {
        uint64_t length = BLOCK - (record->offset + at) % BLOCK;
        if (length > record->length - at)
            length = record->length - at;
        if ((keep_in_four == 4 || random_next(state) >> 62 < keep_in_four) &&
            pwrite(image, bytes + at, length, (off_t)(record->offset + at)) != (ssize_t)length)
            return -1;
        at += length;
    }
    return 0;
}

static int cut_image(const uint8_t *log, uint64_t bytes, uint64_t seed, int image)
{
    struct record record;
    uint64_t flushed = 0, next;
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    unsigned keep = seed % 7 == 0 ? 0 : seed % 7 == 1 ? 4 : 1 + (unsigned)(seed % 3);
    for (uint64_t at = 0; (next = record_at(log, bytes, at, &record)) != 0; at = next)
        if (record.length == 0)
            flushed = next;
    for (uint64_t at = 0; (next = record_at(log, bytes, at, &record)) != 0; at = next)
        if (apply(image, &record, log + at + sizeof record, &state, at < flushed ? 4 : keep) != 0)
            return -1;
    return 0;
}

static int cut(const char *log_name, const char *bytes, const char *seed, const char *image_name)
{
    struct stat status;
    int log = open(log_name, O_RDONLY | O_CLOEXEC);
    if (log < 0 || fstat(log, &status) != 0)
        return fail(log_name);
    uint64_t length = strtoull(bytes, NULL, 10);
    if (length > (uint64_t)status.st_size)
        length = (uint64_t)status.st_size;
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, log, 0);
    int image = open(image_name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (map == MAP_FAILED || image < 0 ||
        cut_image(map, length, strtoull(seed, NULL, 10), image) != 0 || close(image) != 0)
        return fail(image_name);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "serve") == 0)
        return serve(argv[2], argv[3], argv[4]);
    if (argc == 6 && strcmp(argv[1], "cut") == 0)
        return cut(argv[2], argv[3], argv[4], argv[5]);
    fprintf(stderr, "usage: powerdisk serve DIRECTORY MEGABYTES LOG\n"
                    "       powerdisk cut LOG BYTES SEED IMAGE\n");
    return 2;
}
