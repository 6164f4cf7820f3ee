#include "format/shared.h"

#include "core/geometry.h"

uint64_t slot_room(uint64_t flight_keys, unsigned slot)
{
    uint64_t room = slot < 16 ? flight_keys >> (slot + 1) : 0;
    return room > SLOT_KEYS_MIN ? room : SLOT_KEYS_MIN;
}

uint64_t slot_first(uint64_t flight_keys, unsigned slot)
{
    uint64_t first = 0;
    while (slot-- > 0)
        first += slot_room(flight_keys, slot);
    return first;
}

uint64_t fixed_bytes(uint64_t flight_keys, bool counting)
{
    uint64_t bytes = FLIGHT_AT + slot_first(flight_keys, SLOTS_MAX) * KEY_BYTES;
    bytes = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    return bytes + (counting ? JOURNAL_BYTES : 0);
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
