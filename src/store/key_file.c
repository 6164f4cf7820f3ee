#include "store/key_file.h"

#include "format/header.h"
#include "system/whole.h"

/* Keys in the buffer, which is on the stack. */
enum { PIECE = 512 };

bool key_file_write(struct key_file file, uint64_t from, const struct key *keys, size_t n)
{
    uint8_t bytes[PIECE * KEY_BYTES];
    for (size_t count; n > 0; from += count, keys += count, n -= count) {
        count = n < PIECE ? n : PIECE;
        size_t length = count * KEY_BYTES;
        for (size_t i = 0; i < count; i++)
            store_key(bytes + i * KEY_BYTES, keys[i]);
        if (whole_write_at(file.fd, bytes, length, file.at + from * KEY_BYTES) != length)
            return false;
    }
    return true;
}

bool key_file_read(struct key_file file, uint64_t from, struct key *keys, size_t n)
{
    uint8_t bytes[PIECE * KEY_BYTES];
    for (size_t count; n > 0; from += count, keys += count, n -= count) {
        count = n < PIECE ? n : PIECE;
        size_t length = count * KEY_BYTES;
        if (whole_read_at(file.fd, bytes, length, file.at + from * KEY_BYTES) != length)
            return false;
        for (size_t i = 0; i < count; i++)
            keys[i] = load_key(bytes + i * KEY_BYTES);
    }
    return true;
}
