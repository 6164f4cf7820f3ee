/* SipHash: what its authors publish, what libsodium makes, and every version like the plain one. */
#include "core/siphash.h"

#include "core/little.h"

#include "chance.h"
#include "scratch.h"
#include "tap.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGES = 3 << 20, GUARD = 1 << 16, LINES_MAX = 4096 };

static const struct siphash *versions[SIPHASHES_MAX];
static size_t version_count;
static const char *program;
static char *pages; /* PAGES bytes of memory between two ranges that must not be touched */
static size_t starts[LINES_MAX + 1], lengths[LINES_MAX];
static struct key keys[LINES_MAX + 1];

static void make_pages(void)
{
    pages = mmap(NULL, PAGES + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + GUARD, PAGES, PROT_READ | PROT_WRITE) != 0)
        exit(1);
    pages += GUARD;
}

/* Of the secret whose bytes are 0, 1, 2... */
static const uint64_t known_k0 = UINT64_C(0x0706050403020100),
                      known_k1 = UINT64_C(0x0f0e0d0c0b0a0908);

/* The authors' reference has the results for the first 0, 1, .. 63 of the bytes 0, 1, 2... */
enum { RESULTS = 64 };

static void check_results(const char *name, const struct key found[RESULTS])
{
    static const uint8_t none[16] = {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6,
                                     0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93};
    static const uint8_t fifteen[16] = {0x54, 0x93, 0xe9, 0x99, 0x33, 0xb0, 0xa8, 0x11,
                                        0x7e, 0x08, 0xec, 0x0f, 0x97, 0xcf, 0xc3, 0xd9};
    uint8_t results[RESULTS][16];
    for (size_t i = 0; i < RESULTS; i++)
        store_key(results[i], found[i]);
    tap_check(memcmp(results[0], none, 16) == 0, "%s: none", name);
    tap_check(memcmp(results[15], fifteen, 16) == 0, "%s: 15", name);
    uint64_t sum = hash_checksum(results, sizeof results);
    tap_check(sum == UINT64_C(0xf713621c4f29b2af), "%s: all 64: %016" PRIx64, name, sum);
}

static void published(void)
{
    for (size_t i = 0; i < RESULTS; i++) {
        starts[i + 1] = starts[i] + i + 1;
        for (size_t j = 0; j < i; j++)
            pages[starts[i] + j] = (char)j;
        keys[i] = siphash_key(pages + starts[i], i, known_k0, known_k1);
    }
    check_results("one by one", keys);
    for (size_t v = 0; v < version_count; v++) {
        memset(keys, 0, sizeof keys);
        versions[v]->lines(pages, starts, RESULTS, known_k0, known_k1, keys);
        check_results(versions[v]->name, keys);
    }
}

/* At `at`, `n` lines of the `lengths`. What is before the first of them is far from `bytes`. */
static void check_lines_at(const char *at, size_t n, struct chance *chance)
{
    const char *bytes = at - n % 7;
    const struct key untouched = {1, 2};
    uint64_t k0 = chance_next(chance), k1 = chance_next(chance);
    starts[0] = n % 7;
    for (size_t i = 0; i < n; i++)
        starts[i + 1] = starts[i] + lengths[i] + 1;
    for (size_t v = 0; v <= version_count; v++) {
        const char *name = v < version_count ? versions[v]->name : "siphash_lines";
        for (size_t i = 0; i <= n; i++)
            keys[i] = untouched;
        (v < version_count ? versions[v]->lines : siphash_lines)(bytes, starts, n, k0, k1, keys);
        for (size_t i = 0; i < n; i++) {
            struct key key = siphash_key(bytes + starts[i], lengths[i], k0, k1);
            tap_check(keys[i].lo == key.lo && keys[i].hi == key.hi,
                      "%s: line %zu of %zu, of %zu bytes", name, i, n, lengths[i]);
        }
        tap_check(keys[n].lo == 1 && keys[n].hi == 2, "%s: more than %zu keys", name, n);
    }
}

/* With nothing before the first, and with nothing after the last, not even a delimiter. */
static void check_lines(size_t n, struct chance *chance)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += lengths[i] + 1;
    check_lines_at(pages, n, chance);
    check_lines_at(pages + PAGES - size + (n > 0), n, chance);
}

static void fill_pages(void)
{
    struct chance chance = {1};
    for (size_t i = 0; i < PAGES; i += 8)
        store64((uint8_t *)pages + i, chance_next(&chance));
}

/* From lines of one length to lines of which a few are long. */
static size_t length_of(struct chance *chance, unsigned spread)
{
    size_t length = chance_below(chance, UINT64_C(1) << spread);
    return chance_below(chance, 50) == 0 ? length * 10 : length;
}

static void like_the_plain_one(void)
{
    struct chance chance = {2};
    for (unsigned round = 0; round < tap_cases(2000); round++) {
        size_t n = chance_below(&chance, round % 50 == 0 ? LINES_MAX : 150);
        size_t least = chance_below(&chance, 100);
        for (size_t i = 0; i < n; i++)
            lengths[i] = round % 50 == 0 ? chance_below(&chance, 100)
                                         : least + length_of(&chance, round % 11);
        check_lines(n, &chance);
    }
}

/* Alone, and among others of all lengths. */
static void every_length(void)
{
    enum { LENGTHS = 700 };
    struct chance chance = {3};
    for (size_t length = 0; length < LENGTHS; length++) {
        lengths[0] = length;
        check_lines(1, &chance);
        for (size_t i = 0; i < 40; i++)
            lengths[i] = length;
        check_lines(40, &chance);
    }
    for (size_t i = 0; i < LENGTHS; i++)
        lengths[i] = i * 421 % LENGTHS;
    check_lines(LENGTHS, &chance);
    for (size_t i = 0; i < LINES_MAX; i++)
        lengths[i] = i % 3;
    check_lines(LINES_MAX, &chance);
}

static void long_lines(void)
{
    struct chance chance = {4};
    for (size_t i = 0; i < 40; i++)
        lengths[i] = i * 37 % 100;
    for (size_t i = 0; i < 8; i++) {
        lengths[0] = lengths[20] = (1 << 20) + i;
        check_lines(1, &chance);
        check_lines(40, &chance);
    }
    for (size_t i = 0; i < 40; i++)
        lengths[i] = 10000 + chance_below(&chance, 50000);
    check_lines(40, &chance);
}

/* --- libsodium --- */

/* Writes lines that a program can read as text: of any bytes but NUL and the delimiter. */
static size_t write_lines(const char *path)
{
    struct chance chance = {5};
    size_t n;
    FILE *file = fopen(path, "w");
    for (n = 0; n < LINES_MAX; n++) {
        size_t length = n % 3 == 0 ? n % 200 : length_of(&chance, 8);
        for (size_t i = 0; i < length; i++) {
            char *byte = &pages[starts[n] + i];
            *byte = (char)chance_next(&chance);
            *byte = (char)(*byte == '\0' || *byte == '\n' ? ' ' : *byte);
        }
        starts[n + 1] = starts[n] + length + 1;
        pages[starts[n + 1] - 1] = '\n';
    }
    if (file == NULL || fwrite(pages, 1, starts[n], file) != starts[n] || fclose(file) != 0)
        exit(1);
    return n;
}

static void like_libsodium(void)
{
    char oracle[PATH_MAX], command[3 * PATH_MAX], answer[64];
    const char *path = scratch_path("lines");
    starts[0] = 0;
    snprintf(oracle, sizeof oracle, "%.*s/../key/oracle_sodium",
             (int)(strrchr(program, '/') - program), program);
    if (access(oracle, X_OK) != 0) {
        tap_skip("was built without libsodium (src/build/deps.sh check installs it)");
        return;
    }
    size_t n = write_lines(path), answers = 0;
    siphash_lines(pages, starts, n, known_k0, known_k1, keys);
    snprintf(command, sizeof command, "'%s' <'%s'", oracle, path);
    FILE *from = popen(command, "r"); /* NOLINT(cert-env33-c): a fixed command */
    while (from != NULL && answers < n && fgets(answer, sizeof answer, from) != NULL) {
        char wanted[64];
        uint8_t result[16];
        store_key(result, keys[answers]);
        for (unsigned i = 0; i < sizeof result; i++)
            snprintf(wanted + 2 * (size_t)i, 4, "%02x\n", result[i]);
        tap_check(strcmp(answer, wanted) == 0, "line %zu: %s", answers, answer);
        answers++;
    }
    tap_check(from != NULL && pclose(from) == 0 && answers == n, "%zu answers", answers);
}

int main(int argc, char **argv)
{
    program = argv[argc - 1];
    version_count = siphash_all(versions);
    make_pages();
    scratch_make();
    printf("# versions:");
    for (size_t i = 0; i < version_count; i++)
        printf(" %s", versions[i]->name);
    putchar('\n');
    tap_run("all published results", published);
    fill_pages();
    tap_run("versions: batches of lines of all kinds", like_the_plain_one);
    tap_run_long("versions: lines of every length", every_length);
    tap_run_long("versions: long lines", long_lines);
    tap_run("what libsodium makes", like_libsodium);
    return tap_end();
}
