#include "format/key_file.h"

#include <string.h>

enum { VERSION = 1, UUID_AT = 16, COUNT_AT = 32, SUM_AT = 40, CHECKSUM_AT = 48 };

_Static_assert(CHECKSUM_AT + 8 == KEY_FILE_BYTES, "the checksum is the last field");

static const uint8_t magic[8] = {0x89, 'u', 'n', 's', 'k', 'e', 'y', '\n'};

void key_file_encode(const struct key_file_head *head, uint8_t bytes[KEY_FILE_BYTES])
{
    memcpy(bytes, magic, sizeof magic);
    store32(bytes + 8, VERSION);
    store32(bytes + 12, head->kind);
    memcpy(bytes + UUID_AT, head->uuid, UUID_BYTES);
    store64(bytes + COUNT_AT, head->count);
    store64(bytes + SUM_AT, head->sum);
    store64(bytes + CHECKSUM_AT, hash_checksum(bytes, CHECKSUM_AT));
}

enum key_file_is key_file_decode(const uint8_t bytes[KEY_FILE_BYTES], size_t n,
                                 struct key_file_head *head)
{
    if (n == 0)
        return KEY_FILE_EMPTY;
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return KEY_FILE_OTHER;
    if (load32(bytes + 8) != VERSION)
        return KEY_FILE_UNKNOWN;
    if (hash_checksum(bytes, CHECKSUM_AT) != load64(bytes + CHECKSUM_AT))
        return KEY_FILE_DAMAGED;
    *head = (struct key_file_head){.kind = load32(bytes + 12),
                                   .count = load64(bytes + COUNT_AT),
                                   .sum = load64(bytes + SUM_AT)};
    memcpy(head->uuid, bytes + UUID_AT, UUID_BYTES);
    return KEY_FILE_GOOD;
}
