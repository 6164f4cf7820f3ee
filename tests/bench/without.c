/*
 * without - how long --without takes for a value of 65,536 bytes, at worst: patterns that are
 * hostile to some matcher, each with values that are hostile to it.
 *
 *     without [PATTERN...]
 *
 * Each pattern is measured in a process of its own. Prints for each the milliseconds to make it,
 * those of the slowest value, the name of that value, the peak of memory in KB, and the pattern,
 * cut; with PATTERNs, for these together. Last, the slowest. Exit: 0, or 1 if something fails.
 */
#include "key/without.h"
#include "key/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- patterns --- */

/* `text`, `count` times `more` with `between` between them, `tail`, `count` times `close`. The next
 * pattern begins after a newline. WORD is a word, always another one. */
static const struct hostile {
    const char *text, *more;
    unsigned count;
    const char *between, *tail, *close;
} hostile[] = {
    {"(a|b)*a(a|b){255}", "", 0, "", "", NULL},
    {"(a|b)*a(a|b){255}(?:c|dd)", "", 0, "", "", NULL},
    {"[ab]*a[ab]{255}[^ab]", "", 0, "", "", NULL},
    {"a[ab]{255}c", "", 0, "", "", NULL},
    {"a.{255}", ".{255}", 6, "", "b", NULL},
    {"a.{0,255}", ".{0,255}", 6, "", "b\\d", NULL},
    {"(a*)*b", "", 0, "", "", NULL},
    {"(a*)*c", "", 0, "", "", NULL},
    {"(a|a)*c", "", 0, "", "", NULL},
    {"(a|b|ab)*c", "", 0, "", "", NULL},
    {"(.*)*.*c\\d", "", 0, "", "", NULL},
    {"(x+x+)+y", "", 0, "", "", NULL},
    {"(a+a+)+c", "", 0, "", "", NULL},
    {"(.?){255}a", "", 0, "", "", NULL},
    {"(a?){255}a{255}", "", 0, "", "", NULL},
    {"", ".{0,255}", 16, "", "", NULL},
    {"", ".{0,255}?", 15, "", "c", NULL},
    {"", "(?:a|bb){255}", 5, "", "", NULL},
    {"", "(?:bb|a){0,255}", 5, "", "c", NULL},
    {"(?:[ab]|[ab]{3}c){100}", "", 0, "", "", NULL},
    {"(?:[ab]|[ab]{3}c){100}d", "", 0, "", "", NULL},
    {"(?:a[ab]{7}|b[ab]{5}a){200}", "", 0, "", "", NULL},
    {"", "(", 60, "", "a*", ")*"},
    {"", "(?:a|", 60, "", "b", ")*"},
    {"(?:a(?:b(?:a(?:b)*)*)*)*c", "", 0, "", "", NULL},
    {"(?:(?:(?:(?:a?b?)*a?)*b?)*a?)*c", "", 0, "", "", NULL},
    {"", "a", 1000, "", "", NULL},
    {"", "ab", 490, "", "c", NULL},
    {"", "[ab]", 240, "", "c", NULL},
    {"", "[^c]?", 190, "", "c", NULL},
    {"", "a.{255}b", 15, "\n", "", NULL},
    {"", "[ab]*a[ab]{200}c", 15, "\n", "", NULL},
    {"", "(?:a|bb){255}c", 15, "\n", "", NULL},
    {"", "WORD", 300, "|", "", NULL},
    {"(?:", "WORD", 240, "|", "){2}", NULL},
    {"(?:", "WORD", 190, "|", ")*c", NULL},
    {"", "\\b", 490, "", "a", NULL},
    {"", "a\\b", 320, "|", "", NULL},
    {"(?:", "\\b|\\B|", 150, "", "a)*c", NULL},
    {"(?:(?<=a)b|(?<=b)a|(?<!a)c|a){255}", "", 0, "", "", NULL},
    {"(?:(?<=a)b|(?=b)a|\\bc|a){255}(?=c|$)", "", 0, "", "", NULL},
    {"", "(?<=^|a)[ab]*?(?=a|$)", 40, "", "c", NULL},
    {"", "a*", 400, "", "c", NULL},
    {"", "a*?", 300, "", "c", NULL},
    {"", "(a*)*", 100, "", "c", NULL},
    {"", "(?:a|b)*", 100, "", "c", NULL},
    {"", "|(?:a|)", 100, "", "c", NULL},
    {"(?:a|b){1,255}?", "(?:a|b){1,255}?", 2, "", "c", NULL},
    {"[0-9]+", "", 0, "", "", NULL},
    {"^.*a(.*)a(.*)c$", "", 0, "", "", NULL},
    {".*?a.*?b.*?c", "", 0, "", "", NULL},
    {"\\w+@\\w+\\.com", "", 0, "", "", NULL},
    {"(?:\\w+\\s*)+:", "", 0, "", "", NULL},
    {"(?:[\\x00-\\x0f]|[\\x10-\\x1f].|[^a].a){200}", "", 0, "", "", NULL},
    {"(?:(?:a.{9}|b.{7}|[^ab].{11}){9}|a){9}", "", 0, "", "", NULL},
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

/* As recipe.patterns has them. What would be too long is left out, if there are several branches or
 * patterns. */
static void write_patterns(const struct hostile *from, char patterns[RECIPE_PATTERNS_ROOM])
{
    char text[RECIPE_PATTERNS_BYTES + 64], word[4] = "", *end = stpcpy(text, from->text);
    const bool words = strcmp(from->more, "WORD") == 0, groups = from->close != NULL;
    for (unsigned i = 0; i < from->count; i++) {
        word[0] = "abc"[i % 3];
        word[1] = "abde"[i / 3 % 4];
        word[2] = (char)('a' + i % 23);
        if (end - text + 16 > RECIPE_PATTERNS_BYTES)
            break;
        end = stpcpy(stpcpy(end, i > 0 ? from->between : ""), words ? word : from->more);
    }
    end = stpcpy(end, from->tail);
    for (unsigned i = 0; groups && i < from->count; i++)
        end = stpcpy(end, from->close);
    memset(patterns, 0, RECIPE_PATTERNS_ROOM);
    for (size_t i = 0; text + i < end; i++)
        patterns[i] = (char)(text[i] != '\n' ? text[i] : '\0');
}

/* --- values --- */

static uint64_t draw_state = 1;

static uint64_t draw(void)
{
    uint64_t x = draw_state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* By what is in them. */
static const char *const value_names[] = {"a",         "b",   "ab",     "random ab",
                                          "de Bruijn", "abc", "any",    "words",
                                          "mostly a",  "a*c", "blocks", "digits"};
enum { VALUES = sizeof value_names / sizeof *value_names };

static void write_value(unsigned kind, char *value)
{
    unsigned shift = 1; /* of a register of 16 bits that takes all states but 0 */
    for (size_t i = 0; i < WITHOUT_MAX; i++) {
        const uint64_t dice = draw();
        shift = shift >> 1 ^ ((shift & 1) != 0 ? 0xb400U : 0);
        value[i] = kind == 0    ? 'a'
                   : kind == 1  ? 'b'
                   : kind == 2  ? "ab"[i % 2]
                   : kind == 3  ? "ab"[dice & 1]
                   : kind == 4  ? "ab"[shift & 1]
                   : kind == 5  ? "abc"[dice % 3]
                   : kind == 6  ? (char)dice
                   : kind == 7  ? "abcd e"[dice % 6]
                   : kind == 8  ? (dice % 200 == 0 ? 'b' : 'a')
                   : kind == 9  ? (i + 1 == WITHOUT_MAX ? 'c' : 'a')
                   : kind == 10 ? "ab"[(i * i / 257 + i / 511) & 1]
                                : (char)('0' + dice % 10);
    }
}

/* --- measuring --- */

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

struct figures {
    double made, slowest;
    unsigned kind;
};

static void measure(const struct recipe *recipe, struct figures *figures)
{
    static char value[WITHOUT_MAX];
    const double from = milliseconds();
    struct without *without = without_new(recipe);
    if (without == NULL)
        exit(1);
    figures->made = milliseconds() - from;
    for (unsigned kind = 0; kind < VALUES; kind++) {
        write_value(kind, value);
        struct span span = {value, sizeof value};
        const double start = milliseconds();
        if (!without_apply(without, &span))
            exit(1);
        const double took = milliseconds() - start;
        if (took > figures->slowest) {
            figures->slowest = took;
            figures->kind = kind;
        }
    }
    exit(0);
}

/* Returns the milliseconds of the slowest value, or -1. */
static double report(const struct recipe *recipe)
{
    const char *wanted, *reason = NULL;
    size_t place;
    unsigned n = 0;
    for (const char *at = recipe->patterns; *at != '\0' && reason == NULL;
         at += strlen(at) + 1, n++)
        reason = pattern_check(at, &place, &wanted);
    if (reason != NULL) {
        printf("%s: %.60s\n", reason, recipe->patterns);
        return -1;
    }
    struct figures *figures = mmap(NULL, sizeof *figures, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct rusage used;
    int status;
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0)
        measure(recipe, figures);
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status != 0)
        return -1;
    printf("%8.2f %8.2f  %-9s %8ld  %u  %.60s\n", figures->made, figures->slowest,
           value_names[figures->kind], used.ru_maxrss, n, recipe->patterns);
    return figures->slowest;
}

int main(int argc, char **argv)
{
    double slowest = 0;
    bool failed = false;
    printf("  made ms   worst  value     peak KB  n  pattern\n");
    for (unsigned i = 0; i < (argc > 1 ? 1 : HOSTILE); i++) {
        struct recipe recipe = {.patterns = ""};
        char *end = recipe.patterns;
        for (int j = 1; j < argc; j++)
            end = stpcpy(end, argv[j]) + 1;
        if (argc == 1)
            write_patterns(&hostile[i], recipe.patterns);
        const double took = report(&recipe);
        failed |= took < 0;
        slowest = took > slowest ? took : slowest;
    }
    printf("%.2f ms at most\n", slowest);
    return failed;
}
