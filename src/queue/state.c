/*
 * state - the file FILTER.queue/state, version 1.
 *
 * All numbers are unsigned and little-endian. Checksums are XXH3, 64-bit variant, seed 0.
 *
 * The head: written once.
 *
 *   offset size meaning
 *        0    8  magic: 89 75 6e 71 75 65 75 0a  ("unqueu" between a byte that is no text and LF)
 *        8    4  version: 1
 *       12    4  zero
 *       16   16  UUID of the filter
 *       32    8  bytes from which on a segment gets no more lines
 *       40 4048  zero
 *     4088    8  checksum of bytes 0..4087
 *
 * Then two copies of the state, at 4096 and at 4096 + 28672. Each change is written over the older
 * one, and then over the other; the one that is whole and has the higher sequence number counts. So
 * a process killed in the middle of a change, and a page that did not reach the disk, leave the
 * state before it, and damage to one copy leaves the other. A copy of more than a page (more than
 * 169 ranges) is on disk before the other is touched. The file gets its name only when it is whole,
 * and it is never shorter than both copies.
 *
 *   a copy:
 *        0    8  checksum of its bytes from 8 on, to the last range
 *        8    8  sequence number
 *       16    8  oldest: where the oldest segment begins
 *       24    8  newest: where the segment that is written to begins; the tail if there is none
 *       32    4  lines end with: 0 not known yet, 1 newline, 2 NUL
 *       36    4  ranges that follow, 1 to 1025
 *       40   24  each range: begin; end; lines between the two, and 2^63 if a worker took them and
 *                has not given them back
 *
 * Range 0 is what nobody has taken yet. Its end is the tail, the position after the last line.
 * Range 1 and those after it are what workers took. The lines of a range are out while its worker
 * lives, that is, while somebody holds a lock on byte 2^62 + range of the file; otherwise they
 * wait. Byte 2^62 is the lock for the state and for the ends of segments (format/shared.h).
 *
 * The lines themselves are in the files FILTER.queue/POSITION, 20 decimal digits: the position of
 * its first byte. Lines do not cross segments. Each but the newest ends where the next begins.
 * Whole lines in the newest after the tail, and in a segment that begins at the tail, are put in by
 * the next push: they were written by one that was killed before it had changed the state, or the
 * state is an older one.
 *
 * A copy is valid if and only if its checksum is right, it has 1 to 1025 ranges, the ending is one
 * of the three, oldest <= newest <= tail <= 2^62, each range's begin <= end, and those of 1 and up
 * end at or before the begin of range 0, which nobody took; no position that is in use is below the
 * oldest; no range has more lines than bytes, and the ranges, which do not overlap, have room below
 * the tail.
 */
#include "queue/state.h"

#include <inttypes.h>
#include <string.h>

static const uint8_t magic[8] = {0x89, 'u', 'n', 'q', 'u', 'e', 'u', '\n'};

enum { VERSION = 1 };
static const uint64_t position_max = UINT64_C(1) << 62, taken_bit = UINT64_C(1) << 63;

void queue_head_encode(const struct queue_head *head, uint8_t bytes[QUEUE_HEAD_BYTES])
{
    memset(bytes, 0, QUEUE_HEAD_BYTES);
    memcpy(bytes, magic, sizeof magic);
    store32(bytes + 8, VERSION);
    memcpy(bytes + 16, head->uuid, UUID_BYTES);
    store64(bytes + 32, head->segment_bytes);
    store64(bytes + QUEUE_HEAD_BYTES - 8, hash_checksum(bytes, QUEUE_HEAD_BYTES - 8));
}

int queue_head_decode(const uint8_t bytes[QUEUE_HEAD_BYTES], const char *path,
                      struct queue_head *head, struct fault *fault)
{
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return fault_set(fault, path, "damaged queue: its state is not that of a queue");
    if (load32(bytes + 8) != VERSION) {
        fault_set(fault, path, "has queue format version %" PRIu32 "; this program knows version 1",
                  load32(bytes + 8));
        return fault_way_out(fault, "use a newer unseen");
    }
    if (hash_checksum(bytes, QUEUE_HEAD_BYTES - 8) != load64(bytes + QUEUE_HEAD_BYTES - 8) ||
        load64(bytes + 32) == 0)
        return fault_set(fault, path, "damaged queue: checksum of its head");
    memcpy(head->uuid, bytes + 16, UUID_BYTES);
    head->segment_bytes = load64(bytes + 32);
    return 0;
}

static size_t length_with(unsigned ranges)
{
    return QUEUE_FIXED_BYTES + (size_t)ranges * QUEUE_RANGE_BYTES;
}

size_t queue_state_length(const uint8_t *bytes)
{
    uint32_t ranges = load32(bytes + 36);
    return length_with(ranges <= QUEUE_RANGES ? ranges : QUEUE_RANGES);
}

size_t queue_state_encode(const struct queue_state *state, uint8_t bytes[QUEUE_COPY_BYTES])
{
    unsigned used = state->used;
    while (used > 1 && queue_range_is_empty(&state->ranges[used - 1]))
        used--;
    size_t length = length_with(used);
    store64(bytes + 8, state->sequence);
    store64(bytes + 16, state->oldest);
    store64(bytes + 24, state->newest);
    store32(bytes + 32, !state->known ? 0 : state->delimiter == '\n' ? 1 : 2);
    store32(bytes + 36, used);
    for (unsigned i = 0; i < used; i++) {
        uint8_t *at = bytes + length_with(i);
        store64(at, state->ranges[i].begin);
        store64(at + 8, state->ranges[i].end);
        store64(at + 16, state->ranges[i].lines | (state->ranges[i].taken ? taken_bit : 0));
    }
    store64(bytes, hash_checksum(bytes + 8, length - 8));
    return length;
}

uint64_t queue_state_lowest(const struct queue_state *state)
{
    uint64_t lowest = queue_state_tail(state);
    for (unsigned i = 0; i < state->used; i++)
        if (!queue_range_is_empty(&state->ranges[i]) && state->ranges[i].begin < lowest)
            lowest = state->ranges[i].begin;
    return lowest;
}

uint64_t queue_state_lines(const struct queue_state *state)
{
    uint64_t lines = 0;
    for (unsigned i = 0; i < state->used; i++)
        lines += state->ranges[i].lines;
    return lines;
}

bool queue_state_is_sound(const struct queue_state *state)
{
    uint64_t front = state->ranges[0].begin, tail = queue_state_tail(state);
    uint64_t lowest = queue_state_lowest(state), room = tail - lowest;
    for (unsigned i = 0; i < state->used; i++) {
        const struct queue_range *range = &state->ranges[i];
        uint64_t length = range->end - range->begin;
        if (range->begin > range->end || (i > 0 && range->end > front) || range->lines > length ||
            length > room)
            return false;
        room -= length;
    }
    return !state->ranges[0].taken && state->oldest <= state->newest && state->newest <= tail &&
           tail <= position_max && state->oldest <= lowest;
}

bool queue_state_decode(const uint8_t *bytes, struct queue_state *state)
{
    uint32_t ending = load32(bytes + 32);
    uint32_t used = load32(bytes + 36);
    if (used < 1 || used > QUEUE_RANGES || ending > 2 ||
        hash_checksum(bytes + 8, length_with(used) - 8) != load64(bytes))
        return false;
    state->sequence = load64(bytes + 8);
    state->oldest = load64(bytes + 16);
    state->newest = load64(bytes + 24);
    state->known = ending != 0;
    if (state->known)
        state->delimiter = ending == 2 ? '\0' : '\n';
    state->used = used;
    for (unsigned i = 0; i < used; i++) {
        const uint8_t *at = bytes + length_with(i);
        uint64_t lines = load64(at + 16);
        state->ranges[i] = (struct queue_range){load64(at), load64(at + 8), lines & ~taken_bit,
                                                (lines & taken_bit) != 0};
    }
    memset(&state->ranges[used], 0, (QUEUE_RANGES - used) * sizeof *state->ranges);
    return queue_state_is_sound(state);
}
