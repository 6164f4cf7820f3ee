/*
 * queue_state - the file FILTER.queue/state, version 1.
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
 * Then two copies of the state, at 4096 and at 4096 + 45056. Each change is written over the older
 * one, and then over the other; the one that is whole and has the higher sequence number counts. So a
 * process killed in the middle of a change, and a page that did not reach the disk, leave the state
 * before it, and damage to one copy leaves the other. A copy of more than a page is on disk before the
 * other is touched. The file is never made but whole, and never shorter than both.
 *
 *   a copy:
 *        0    8  checksum of its bytes from 8 on, to the last slot
 *        8    8  sequence number
 *       16    8  front: the position of the first line that nobody has taken yet
 *       24    8  tail: the position behind the last line
 *       32    8  lines between the two
 *       40    8  oldest: where the oldest segment begins
 *       48    8  newest: where the segment that is written to begins; the tail if there is none
 *       56    4  lines end with: 0 not known yet, 1 newline, 2 NUL
 *       60    4  slots that follow, at most 1024; the others are empty
 *       64   40  each slot: begin, middle, end of its range; lines in begin..middle, in middle..end
 *
 * A slot's worker lives while somebody holds a lock on byte 2^62 + 1 + slot of the file (see
 * format/shared.h); byte 2^62 is the lock for the state and for the ends of segments.
 *
 * The lines themselves are in the files FILTER.queue/POSITION, 20 decimal digits: the position of
 * its first byte. Lines do not cross segments. Each but the newest ends where the next begins. Whole
 * lines in the newest behind the tail, and in a segment that begins at the tail, are put in by the next
 * push: they were written by one that was killed before it had changed the state, or the state is an
 * older one.
 *
 * A copy is valid if and only if its checksum is right, it has at most 1024 slots, the ending is one
 * of the three, oldest <= newest <= tail, front <= tail <= 2^62, and each slot's begin <= middle <=
 * end <= front; no position that is in use is below the oldest; no range has more lines than bytes, and
 * the slots' ranges, which do not overlap, have room before the front.
 */
#include "queue/state.h"

#include <inttypes.h>
#include <string.h>

static const uint8_t magic[8] = {0x89, 'u', 'n', 'q', 'u', 'e', 'u', '\n'};

enum { VERSION = 1 };
static const uint64_t position_max = UINT64_C(1) << 62;

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
        fault_set(fault, path, "queue format version %" PRIu32 ", and this program knows 1",
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

static size_t length_with(unsigned slots)
{
    return QUEUE_FIXED_BYTES + (size_t)slots * QUEUE_SLOT_BYTES;
}

size_t queue_state_length(const uint8_t *bytes)
{
    uint32_t slots = load32(bytes + 60);
    return length_with(slots <= QUEUE_SLOTS ? slots : QUEUE_SLOTS);
}

static unsigned slots_used(const struct queue_state *state)
{
    unsigned used = state->highest;
    while (used > 0 && queue_slot_is_empty(&state->slots[used - 1]))
        used--;
    return used;
}

size_t queue_state_encode(const struct queue_state *state, uint8_t bytes[QUEUE_COPY_BYTES])
{
    unsigned used = slots_used(state);
    size_t length = length_with(used);
    store64(bytes + 8, state->sequence);
    store64(bytes + 16, state->front);
    store64(bytes + 24, state->tail);
    store64(bytes + 32, state->lines);
    store64(bytes + 40, state->oldest);
    store64(bytes + 48, state->newest);
    store32(bytes + 56, !state->known ? 0 : state->delimiter == '\n' ? 1 : 2);
    store32(bytes + 60, used);
    for (unsigned i = 0; i < used; i++) {
        const struct queue_slot *slot = &state->slots[i];
        uint8_t *at = bytes + length_with(i);
        store64(at, slot->begin);
        store64(at + 8, slot->middle);
        store64(at + 16, slot->end);
        store64(at + 24, slot->lines_out);
        store64(at + 32, slot->lines_left);
    }
    store64(bytes, hash_checksum(bytes + 8, length - 8));
    return length;
}

uint64_t queue_state_lowest(const struct queue_state *state)
{
    uint64_t lowest = state->front;
    for (unsigned i = 0; i < state->highest; i++)
        if (!queue_slot_is_empty(&state->slots[i]) && state->slots[i].begin < lowest)
            lowest = state->slots[i].begin;
    return lowest;
}

static void load_slots(const uint8_t *bytes, struct queue_state *state)
{
    for (unsigned i = 0; i < state->highest; i++) {
        const uint8_t *at = bytes + length_with(i);
        state->slots[i] = (struct queue_slot){
            .begin = load64(at),
            .middle = load64(at + 8),
            .end = load64(at + 16),
            .lines_out = load64(at + 24),
            .lines_left = load64(at + 32),
        };
    }
}

static bool makes_sense(const struct queue_state *state)
{
    if (state->oldest > state->newest || state->newest > state->tail ||
        state->front > state->tail || state->tail > position_max ||
        state->lines > state->tail - state->front)
        return false;
    uint64_t lowest = queue_state_lowest(state), room = state->front - lowest;
    for (unsigned i = 0; i < state->highest; i++) {
        const struct queue_slot *slot = &state->slots[i];
        if (slot->begin > slot->middle || slot->middle > slot->end || slot->end > state->front ||
            slot->lines_out > slot->middle - slot->begin ||
            slot->lines_left > slot->end - slot->middle || slot->end - slot->begin > room)
            return false;
        room -= slot->end - slot->begin;
    }
    return lowest >= state->oldest;
}

bool queue_state_decode(const uint8_t *bytes, struct queue_state *state)
{
    uint32_t ending = load32(bytes + 56);
    uint32_t slots = load32(bytes + 60);
    if (slots > QUEUE_SLOTS || ending > 2 ||
        hash_checksum(bytes + 8, length_with(slots) - 8) != load64(bytes))
        return false;
    unsigned before = state->highest <= QUEUE_SLOTS ? state->highest : QUEUE_SLOTS;
    state->sequence = load64(bytes + 8);
    state->front = load64(bytes + 16);
    state->tail = load64(bytes + 24);
    state->lines = load64(bytes + 32);
    state->oldest = load64(bytes + 40);
    state->newest = load64(bytes + 48);
    state->known = ending != 0;
    state->delimiter = ending == 2 ? '\0' : '\n';
    state->highest = slots;
    load_slots(bytes, state);
    for (unsigned i = slots; i < before; i++)
        state->slots[i] = (struct queue_slot){0};
    return makes_sense(state);
}
