/*
 * oracle_sodium - the SipHash-2-4 of each line with a result of 128 bits, as libsodium makes it
 * with the bytes 0, 1, .. 15 as its key: 32 hexadecimal digits.
 */
#include "oracle.h"

#include <sodium.h>

static bool answer(const char *line)
{
    unsigned char key[crypto_shorthash_siphashx24_KEYBYTES];
    unsigned char result[crypto_shorthash_siphashx24_BYTES];

    for (unsigned i = 0; i < sizeof key; i++)
        key[i] = (unsigned char)i;
    crypto_shorthash_siphashx24(result, (const unsigned char *)line, strlen(line), key);
    for (unsigned i = 0; i < sizeof result; i++)
        printf("%02x", result[i]);
    return puts("") >= 0;
}
