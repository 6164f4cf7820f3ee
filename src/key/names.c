#include "key/names.h"

#include <stdint.h>
#include <string.h>

/* So few are sorted by insertion; and names in a row that share `same` bytes are a run. */
enum { FEW = 32, PILES = 257 };

struct run {
    struct span *names;
    size_t n, same;
};

int names_compare(struct span a, struct span b)
{
    int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* Up to eight of its bytes from `at` on: names compare as these do, unless they are equal. */
static uint64_t word_of(struct span name, size_t at)
{
    uint64_t word = 0;
    for (size_t end = at + 8; at < end; at++)
        word = word << 8 | (at < name.length ? (unsigned char)name.bytes[at] : 0U);
    return word;
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
            if (words[at - 1] == word && names_compare(run.names[at - 1], name) <= 0)
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

/* In place: a name takes the place of one that goes on, until one has come home. */
static void deal_out(struct run run, struct deal *deal)
{
    uint16_t at[PILES];
    count_piles(run, deal, at);
    for (unsigned pile = deal->low; pile <= deal->high; pile++)
        while (at[pile] < deal->ends[pile]) {
            struct span name = run.names[at[pile]];
            for (unsigned to; (to = pile_of(name, run.same)) != pile;) {
                struct span there = run.names[at[to]];
                run.names[at[to]++] = name;
                name = there;
            }
            run.names[at[pile]++] = name;
        }
}

/* Each pile is sorted but that of names that ended, the largest last and in this loop: so the
 * others have half of the names at most, and no more than 11 calls lie within each other. */
static void sort(struct run run)
{
    while (run.n > FEW) {
        struct deal deal;
        struct run largest = {run.names, 0, 0};
        deal_out(run, &deal);
        for (unsigned pile = deal.low, from = 0; pile <= deal.high; from = deal.ends[pile++]) {
            struct run this = {run.names + from, deal.ends[pile] - from, run.same + 1};
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

void names_sort(struct span *names, size_t n)
{
    sort((struct run){names, n, 0});
}
