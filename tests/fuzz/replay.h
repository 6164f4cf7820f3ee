/*
 * replay - a fuzz program without a fuzzer: it takes each file that it is given.
 *
 * Included once by each program. libFuzzer (-DLIBFUZZER) brings a main of its own.
 */
#ifndef UNSEEN_FUZZ_REPLAY_H
#define UNSEEN_FUZZ_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An input that breaks it is a crash, which is what fuzzers look for. */
#define INSIST(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#ifndef LIBFUZZER

/* The bytes are put into an allocation of just their size, so that a sanitizer sees a step over
 * its end. */
static bool replay(FILE *file)
{
    if (fseek(file, 0, SEEK_END) != 0 || ftell(file) < 0)
        return false;
    size_t size = (size_t)ftell(file);
    uint8_t *data = malloc(size + !size);
    rewind(file);
    bool whole = data && fread(data, 1, size, file) == size;
    if (whole)
        LLVMFuzzerTestOneInput(data, size);
    free(data);
    return whole;
}

static bool replay_file(const char *name)
{
    FILE *file = fopen(name, "rb");
    bool whole = file && replay(file);
    if (!whole)
        perror(name);
    if (file)
        fclose(file);
    return whole;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!replay_file(argv[i]))
            return 2;
    printf("%d inputs\n", argc - 1);
    return argc < 2;
}

#endif
#endif
