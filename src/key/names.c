#include "key/names.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* So few are sorted by insertion; names that end and those of each next byte are a pile. */
enum { FEW = 32, PILES = 257 };

/* Names in a row that share `same` bytes; `spare` has room for as many. */

struct run {
    struct span *names, *spare;
    size_t n, same;
};

int names_compare(struct span a, struct span b)
{
    int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

enum { WORD = 8 };

/* Its bytes from `at` on, eight at most: names compare as these do, unless they are equal. */
static uint64_t word_of(struct span name, size_t at)
{
    size_t n = name.length - at < WORD ? name.length - at : WORD;
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)(unsigned char)name.bytes[at + i] << (56 - 8 * i);
    return word;
}

/* Of names whose words are equal: those that end in these differ in nothing but zeros. */
static bool is_after(struct span a, struct span b, size_t same)
{
    bool ended = a.length <= same + WORD && b.length <= same + WORD;
    return ended ? a.length > b.length : names_compare(a, b) > 0;
}

/* A run of a few. */
static void insert_all(struct run run)
{
    uint64_t words[FEW];
    for (size_t i = 0; i < run.n; i++) {
        struct span name = run.names[i];
        uint64_t word = word_of(name, run.same);
        size_t at = i;
        for (; at > 0 && words[at - 1] >= word; at--) {
            if (words[at - 1] == word && !is_after(run.names[at - 1], name, run.same))
                break;
            words[at] = words[at - 1];
            run.names[at] = run.names[at - 1];
        }
        words[at] = word;
        run.names[at] = name;
    }
}

/* Which pile it goes to: the first is of names that end here. */
static unsigned pile_of(struct span name, size_t at)
{
    return at == name.length ? 0 : (unsigned char)name.bytes[at] + 1U;
}

/* A deal: pile i ends at ends[i]; none below `low` or above `high` has a name. */
struct deal {
    unsigned low, high;
    uint16_t ends[PILES];
};

static void count_piles(struct run run, struct deal *deal, uint16_t at[PILES])
{
    deal->low = PILES - 1;
    deal->high = 0;
    memset(at, 0, PILES * sizeof *at);
    for (size_t i = 0; i < run.n; i++) {
        unsigned pile = pile_of(run.names[i], run.same);
        at[pile]++;
        deal->low = pile < deal->low ? pile : deal->low;
        deal->high = pile > deal->high ? pile : deal->high;
    }
    for (unsigned pile = deal->low, end = 0; pile <= deal->high; pile++) {
        unsigned count = at[pile];
        at[pile] = (uint16_t)end;
        end += count;
        deal->ends[pile] = (uint16_t)end;
    }
}

static void deal_out(struct run run, struct deal *deal)
{
    uint16_t at[PILES];
    count_piles(run, deal, at);
    for (size_t i = 0; i < run.n; i++)
        run.spare[at[pile_of(run.names[i], run.same)]++] = run.names[i];
    memcpy(run.names, run.spare, run.n * sizeof *run.names);
}

/* Each pile is sorted but that of names that ended, the largest last and in this loop: so the
 * others have half of the names at most, and no more than 11 calls lie within each other. */
static void sort(struct run run)
{
    while (run.n > FEW) {
        struct deal deal;
        struct run largest = {run.names, run.spare, 0, 0};
        deal_out(run, &deal);
        for (unsigned pile = deal.low, from = 0; pile <= deal.high; from = deal.ends[pile++]) {
            struct run this = {run.names + from, run.spare, deal.ends[pile] - from, run.same + 1};
            if (pile == 0)
                continue;
            if (this.n > largest.n) {
                struct run before = largest;
                largest = this;
                this = before;
            }
            if (this.n > 1)
                sort(this);
        }
        run = largest;
    }
    insert_all(run);
}

void names_sort(struct span *names, size_t n, struct span *spare)
{
    sort((struct run){names, spare, n, 0});
}
