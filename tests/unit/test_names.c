/* Names in order: against the library's sort, whatever they have in common. */
#include "key/names.h"

#include "chance.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES = 32768, BYTES = 65535 };

static int by_bytes(const void *a, const void *b)
{
    return names_compare(*(const struct span *)a, *(const struct span *)b);
}

/* Names of `least` to `most` bytes, out of so many letters, after a common beginning. */
struct kind {
    const char *what;
    size_t count, least, most, letters, common;
};

static size_t make_names(struct chance *chance, const struct kind *kind, char *bytes,
                         struct span *names)
{
    size_t n = 0, used = 0;
    while (n < kind->count && used + kind->common + kind->most <= BYTES) {
        size_t length = kind->common + kind->least;
        length += chance_below(chance, kind->most - kind->least + 1);
        for (size_t i = 0; i < length; i++)
            bytes[used + i] = (char)(i < kind->common ? 'x'
                                                      : 256 - kind->letters +
                                                            chance_below(chance, kind->letters));
        names[n++] = (struct span){bytes + used, length};
        used += length;
    }
    return n;
}

static void against_the_library(void)
{
    static const struct kind kinds[] = {
        {"none", 0, 1, 1, 2, 0},        {"one", 1, 1, 5, 5, 0},
        {"a few", 32, 1, 3, 3, 0},      {"one more", 33, 1, 3, 3, 0},
        {"equal", 5000, 3, 3, 1, 0},    {"one byte", NAMES, 1, 1, 256, 0},
        {"short", NAMES, 0, 3, 256, 0}, {"of two letters", NAMES, 0, 12, 2, 0},
        {"long", NAMES, 1, 900, 3, 0},  {"with one beginning", NAMES, 0, 4, 9, 200},
        {"alike", 200, 0, 1, 2, 300},
    };
    static char bytes[BYTES];
    static struct span names[NAMES], spare[NAMES], expected[NAMES];
    struct chance chance = {50};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = make_names(&chance, &kinds[i], bytes, names), wrong = 0;
        memcpy(expected, names, n * sizeof *names);
        qsort(expected, n, sizeof *expected, by_bytes);
        names_sort(names, n, spare);
        for (size_t j = 0; j < n; j++)
            wrong += names_compare(names[j], expected[j]) != 0;
        tap_check(wrong == 0, "%s: %zu of %zu are elsewhere", kinds[i].what, wrong, n);
    }
}

int main(void)
{
    tap_run("against the library's sort", against_the_library);
    return tap_end();
}
