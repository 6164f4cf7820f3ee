/* Distinct keys, estimated: the error is what the theory says, from none to many millions. */
#include "core/hyperloglog.h"

#include "tap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static struct hyperloglog sketch;

/* Takes the keys of the numbers from..to - 1. */
static void add_numbers(uint64_t from, uint64_t to, uint64_t seed)
{
    enum { BATCH = 1000 };
    struct key keys[BATCH];
    while (from < to) {
        size_t n = 0;
        for (; n < BATCH && from < to; n++, from++)
            keys[n] = hash_key(&from, sizeof from, hasher_xxh3(seed));
        hyperloglog_add(&sketch, keys, n);
    }
}

static double estimate_of(uint64_t n, uint64_t seed)
{
    memset(&sketch, 0, sizeof sketch);
    add_numbers(0, n, seed);
    return hyperloglog_estimate(&sketch);
}

static void few(void)
{
    tap_check(estimate_of(0, 0) == 0, "no keys: %f", hyperloglog_estimate(&sketch));
    for (uint64_t seed = 0; seed < 5; seed++)
        for (uint64_t n = 1; n <= 10; n++)
            tap_check(round(estimate_of(n, seed)) == (double)n, "%" PRIu64 " keys: %f", n,
                      hyperloglog_estimate(&sketch));
}

/* Around 2.5 m, where other formulas change over, the mean of many estimates shows a bias that each
 * of them would hide. */
static void no_bias(void)
{
    enum { RUNS = 40 };
    static const uint64_t numbers[] = {100000, 200000, 330000};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double n = (double)numbers[i], sum = 0, squares = 0;
        for (uint64_t seed = 0; seed < RUNS; seed++) {
            double off = estimate_of(numbers[i], seed) / n - 1;
            sum += off;
            squares += off * off;
        }
        tap_check(fabs(sum / RUNS) < 6 * HYPERLOGLOG_ERROR / sqrt(RUNS), "%.0f keys: bias %g", n,
                  sum / RUNS);
        double error = sqrt(squares / RUNS);
        tap_check(error < 1.6 * HYPERLOGLOG_ERROR, "%.0f keys: error %g", n, error);
    }
}

/* The registers as they would be after n keys, in the proportions of the theory: of all, the share
 * exp(-n / m 2^-r) is at most r. No run of this program could make as many keys. */
static void set_registers(double n)
{
    const double m = HYPERLOGLOG_REGISTERS;
    size_t i = 0;
    for (uint8_t rank = 0; rank <= 47; rank++) {
        size_t end = (size_t)round(m * exp(-n / m * pow(2, -rank)));
        while (i < end)
            sketch.registers[i++] = rank;
    }
    while (i < HYPERLOGLOG_REGISTERS)
        sketch.registers[i++] = 48;
}

static void very_many(void)
{
    for (double n = 1e6; n < 2e15; n *= 10) {
        set_registers(n);
        double got = hyperloglog_estimate(&sketch);
        tap_check(fabs(got / n - 1) < 0.0005, "%g keys: %g", n, got);
    }
}

/* A key without any bit after those that choose the register has the longest run. */
static void longest_run(void)
{
    static const struct {
        uint64_t lo;
        size_t at;
        uint8_t rank;
    } known[] = {
        {0, 0, 48},
        {1, 0, 47},
        {UINT64_C(1) << 46, 0, 1},
        {UINT64_C(1) << 45, 0, 2},
        {UINT64_C(1) << 47, 1, 48},
        {UINT64_MAX, HYPERLOGLOG_REGISTERS - 1, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct key key = {.lo = known[i].lo, .hi = UINT64_MAX};
        memset(&sketch, 0, sizeof sketch);
        hyperloglog_add(&sketch, &key, 1);
        tap_check(sketch.registers[known[i].at] == known[i].rank, "%016" PRIx64 ": %u", known[i].lo,
                  sketch.registers[known[i].at]);
    }
}

int main(void)
{
    tap_run("the register of a key, and its rank", longest_run);
    tap_run("few keys are counted exactly", few);
    tap_run_long("no bias where other formulas change over", no_bias);
    tap_run("up to 10^15 keys", very_many);
    return tap_end();
}
