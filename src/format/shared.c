/* shared - see shared.h. */
#include "format/shared.h"

#include "core/geometry.h"
#include "format/header.h"

static uint64_t room_of(uint64_t flight_keys, unsigned slot)
{
    uint64_t room = slot < 16 ? flight_keys >> (slot + 1) : 0;
    return room > SLOT_KEYS_MIN ? room : SLOT_KEYS_MIN;
}

static uint64_t room_before(uint64_t flight_keys, unsigned slot)
{
    uint64_t keys = 0;
    while (slot-- > 0)
        keys += room_of(flight_keys, slot);
    return keys;
}

uint64_t slot_room(const struct header *header, unsigned slot)
{
    return room_of(header->flight_keys, slot);
}

uint64_t slot_first(const struct header *header, unsigned slot)
{
    return room_before(header->flight_keys, slot);
}

uint64_t flight_bytes(uint64_t flight_keys)
{
    uint64_t bytes = room_before(flight_keys, SLOTS_MAX) * KEY_BYTES;
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

uint64_t fixed_bytes(uint64_t flight_keys, bool counting)
{
    return FLIGHT_AT + flight_bytes(flight_keys) + (counting ? JOURNAL_BYTES : 0);
}

uint64_t flight_keys_for(uint64_t pages, bool fixed)
{
    /* A sixty-fourth of the layer is 64 bytes a page, four keys; a filter that grows has larger
     * layers to come. */
    uint64_t most = fixed ? pages * 4 : pages * 8;
    uint64_t keys = FLIGHT_KEYS_MIN;
    while (keys < FLIGHT_KEYS_MAX && keys * 2 <= most)
        keys *= 2;
    return keys;
}
