/*
 * tap - what a test program says: "ok 1 - name" or "not ok 1 - name", the reasons behind "#", and
 * in the end how many there were.
 *
 *     static void empty_line(void) { tap_check(length("") == 0, "it is %d", length("")); }
 *
 *     int main(void)
 *     {
 *         tap_run("the empty line", empty_line);
 *         return tap_end();
 *     }
 */
#ifndef UNSEEN_TESTS_TAP_H
#define UNSEEN_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAP_REASONS_MAX = 10 };

static struct {
    unsigned tests;
    unsigned failed;
    unsigned reasons;    /* against the test that runs now */
    const char *skipped; /* why it was */
} tap;

/* Counts against the running test if `holds` is false; the format says what was seen instead.
 * Returns `holds`. A test goes on after a failed check, unless it looks at the result. */
#define tap_check(...) tap_check_at(__FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 4, 5))) static inline bool
tap_check_at(const char *file, int line, bool holds, const char *format, ...)
{
    va_list args;
    if (holds)
        return true;
    if (tap.reasons++ < TAP_REASONS_MAX) {
        printf("# %s:%d: ", file, line);
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        putchar('\n');
    }
    return false;
}

/* The running test cannot be run on this machine. */
static inline void tap_skip(const char *why)
{
    tap.skipped = why;
}

static inline void tap_run(const char *name, void (*test)(void))
{
    tap.reasons = 0;
    tap.skipped = NULL;
    test();
    tap.tests++;
    tap.failed += tap.reasons != 0;
    if (tap.reasons > TAP_REASONS_MAX)
        printf("# and %u more\n", tap.reasons - TAP_REASONS_MAX);
    printf("%sok %u - %s", tap.reasons != 0 ? "not " : "", tap.tests, name);
    if (tap.skipped != NULL)
        printf(" # SKIP %s", tap.skipped);
    putchar('\n');
    /* What was found so far is told even if the next test dies. */
    fflush(stdout);
}

/* tests/cpus runs the tests under emulators, where they take fifty times as long; .ci/run runs them
 * under sanitizers, and has TEST_BRIEF=cases. */
static inline bool tap_brief(void)
{
    return getenv("TEST_BRIEF") != NULL;
}

static inline void tap_skip_long(void)
{
    tap_skip("takes too long under an emulator");
}

/* One that tests/cpus leaves out. */
static inline void tap_run_long(const char *name, void (*test)(void))
{
    const char *brief = getenv("TEST_BRIEF");
    tap_run(name, brief != NULL && strcmp(brief, "cases") != 0 ? tap_skip_long : test);
}

/* How many random cases a test takes: n, but a tenth of them if it is to be brief. */
static inline unsigned tap_cases(unsigned n)
{
    return tap_brief() ? n / 10 : n;
}

/* The plan; for main to return. */
static inline int tap_end(void)
{
    printf("1..%u\n", tap.tests);
    return tap.failed != 0 || fflush(stdout) != 0;
}

#endif
