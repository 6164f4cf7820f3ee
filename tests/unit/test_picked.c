/* Lines that are moved together, against copying them one by one. */
#include "chance.h"
#include "pipeline/picked.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SIDE = 1 << 17, LINES_MOST = 400, ROUNDS = 4000 };

/* Memory before a page that must not be touched. */
static char *before_guard(void)
{
    char *bytes = mmap(NULL, SIDE + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED || mprotect(bytes, SIDE, PROT_READ | PROT_WRITE) != 0) {
        perror("mmap");
        exit(1);
    }
    return bytes;
}

/* Lines of at most `longest` bytes, of which one in `every` goes on, or all but one in `every`. */
struct kind {
    unsigned longest, every;
    bool most;
};

static const struct kind kinds[] = {
    {1, 2, false},   {12, 2, false},  {70, 2, false},   {127, 2, false},
    {300, 2, false}, {70, 20, false}, {70, 200, false}, {70, 20, true},
    {70, 200, true}, {70, 1, true},   {70, 1, false},
};

/* A chunk that ends at the guard, in batches, after `gap` bytes that may be written over. */
static void check_chunk(struct chance *chance, char *memory, struct kind kind)
{
    static char before[SIDE], wanted[SIDE];
    size_t starts[LINES_MOST + 1] = {chance_below(chance, 300)}, length = 0;
    uint8_t select[LINES_MOST];
    size_t n = 1 + chance_below(chance, LINES_MOST);
    for (size_t i = 0; i < n; i++)
        starts[i + 1] = starts[i] + 1 + chance_below(chance, kind.longest);
    char *bytes = memory + SIDE - starts[n];
    for (size_t i = 0; i < starts[n]; i++)
        bytes[i] = before[i] = (char)chance_next(chance);
    for (size_t i = 0; i < n; i++) {
        select[i] = (chance_below(chance, kind.every) == 0) != kind.most;
        memcpy(wanted + length, before + starts[i], select[i] ? starts[i + 1] - starts[i] : 0);
        length += select[i] ? starts[i + 1] - starts[i] : 0;
    }
    struct picked picked = {bytes, bytes};
    for (size_t i = 0, more; i < n; i += more) {
        more = 1 + chance_below(chance, n - i);
        struct batch batch = {.bytes = bytes, .starts = starts + i, .n = more};
        picked_add(&picked, &batch, select + i);
        size_t rest = starts[n] - starts[i + more];
        tap_check(memcmp(bytes + starts[i + more], before + starts[i + more], rest) == 0,
                  "lines up to %u bytes, 1 of %u: bytes of the next batch are lost", kind.longest,
                  kind.every);
    }
    tap_check((size_t)(picked.to - picked.from) == length &&
                  memcmp(picked.from, wanted, length) == 0,
              "%zu lines up to %u bytes, 1 of %u: not what one by one gives", n, kind.longest,
              kind.every);
}

static void one_by_one(void)
{
    struct chance chance = {1};
    char *memory = before_guard();
    for (size_t round = 0; round < ROUNDS; round++)
        check_chunk(&chance, memory, kinds[round % (sizeof kinds / sizeof *kinds)]);
}

int main(void)
{
    tap_run("lines that go on, in batches, against one by one", one_by_one);
    return tap_end();
}
