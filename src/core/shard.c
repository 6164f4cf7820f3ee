#include "core/shard.h"

#include "core/number.h"

bool shard_parse(const char *text, bool all, struct shard *shard)
{
    *shard = (struct shard){0};
    if (!all) {
        text = number_digits(text, &shard->number);
        if (text == NULL || *text++ != '/')
            return false;
    }
    text = number_digits(text, &shard->count);
    return text != NULL && *text == '\0';
}

uint32_t shard_of_key(struct key key, uint32_t shards)
{
    uint64_t k = key.lo, bucket = 0, next = 0;
    while (next < shards) {
        bucket = next;
        k = k * UINT64_C(2862933555777941757) + 1;
        next = ((bucket + 1) << 31) / ((k >> 33) + 1);
    }
    return (uint32_t)bucket + 1;
}

void shards_of_keys(const struct key *keys, size_t n, uint32_t shards, uint32_t *shard)
{
    for (size_t i = 0; i < n; i++)
        shard[i] = shard_of_key(keys[i], shards);
}
