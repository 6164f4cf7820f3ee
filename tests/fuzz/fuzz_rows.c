/*
 * fuzz_rows - where rows of CSV end.
 *
 *        0    1  FLAG_...; above: which separator
 *        1    1  how the text is cut: chance from that on; 0: not at all
 *        2    1  how many rows are found at a time, less one
 *        3       the text; a delimiter is put after it
 *
 * Each kernel must find the same rows as a look at each byte, of the same kind, and the same one
 * wrong. What it takes for usual has an even number of quotes.
 */
#include "core/kernel.h"
#include "core/rows.h"
#include "replay.h"

#include <string.h>

enum { FLAG_NUL = 1, FLAG_TRIM = 2, FLAG_FIRST = 4, SEPARATOR_AT = 3 };

enum { HEAD = 3, SIZE_MAX_HERE = 1 << 14 };

/* NOLINTBEGIN(readability-non-const-parameter): as kernel.h has them */
static size_t find_nothing(const char *bytes, size_t length, struct row_scan *scan, size_t *starts,
                           uint8_t *kinds, size_t most)
{
    (void)bytes, (void)length, (void)kinds, (void)most;
    scan->at = starts[0];
    scan->odd = true;
    return 0;
}
/* NOLINTEND(readability-non-const-parameter) */

static const struct kernel byte_by_byte = {.name = "byte by byte", .rows = find_nothing};

struct result {
    size_t starts[SIZE_MAX_HERE + 2];
    uint8_t kinds[SIZE_MAX_HERE + 1];
    size_t n;
    enum row_wrong wrong;
    bool amid;
};

/* Finds all rows up to one that is none. The bytes up to each cut are in memory of just their
 * size. */
static void find(const struct kernel *kernel, const uint8_t *data, const char *text, size_t length,
                 struct result *result)
{
    struct rows rows;
    const struct line_ends ends = {.delimiter = (data[0] & FLAG_NUL) != 0 ? '\0' : '\n',
                                   .rows = true,
                                   .separator = ",;\t |:ax"[data[0] >> SEPARATOR_AT & 7],
                                   .trim = (data[0] & FLAG_TRIM) != 0};
    uint64_t chance = data[1];
    rows_begin(&rows, ends, (data[0] & FLAG_FIRST) != 0);
    rows.kernel = kernel;
    result->n = 0;
    result->starts[0] = 0;
    for (size_t cut = 0, base = 0; cut < length && rows.wrong == ROW_RIGHT;) {
        chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t least = data[1] == 0 ? length : cut + (size_t)(chance >> 33) % 300;
        const char *end = least < length ? memchr(text + least, ends.delimiter, length - least)
                                         : NULL;
        cut = end != NULL ? (size_t)(end - text) + 1 : length;
        rows_move(&rows, result->starts[result->n] - base);
        base = result->starts[result->n];
        char *piece = malloc(cut - base);
        INSIST(piece != NULL);
        memcpy(piece, text + base, cut - base);
        size_t n, most = 1U + data[2];
        do {
            size_t starts[257] = {result->starts[result->n] - base};
            n = rows_find(&rows, piece, cut - base, starts, result->kinds + result->n, most);
            INSIST(n <= most);
            for (size_t i = 1; i <= n; i++)
                result->starts[result->n + i] = base + starts[i];
            result->n += n;
            INSIST(rows.wrong != ROW_RIGHT || rows.at == (n == most ? starts[n] : cut - base));
        } while (n == most && rows.at < cut - base);
        free(piece);
    }
    result->wrong = rows.wrong;
    result->amid = rows_is_amid(&rows);
}

static void check_rows(const uint8_t *data, size_t size)
{
    static struct result wanted, got;
    static char text[SIZE_MAX_HERE + 1];
    const struct kernel *kernels[KERNELS_MAX];
    size_t length = size - HEAD;
    memcpy(text, data + HEAD, length);
    text[length++] = (data[0] & FLAG_NUL) != 0 ? '\0' : '\n';
    find(&byte_by_byte, (const uint8_t[]){data[0], 0, 255}, text, length, &wanted);
    for (size_t k = kernel_all(kernels); k-- > 0;) {
        find(kernels[k], data, text, length, &got);
        INSIST(got.n == wanted.n && got.wrong == wanted.wrong);
        INSIST(got.wrong != ROW_RIGHT || got.amid == wanted.amid);
        INSIST(memcmp(got.starts, wanted.starts, (got.n + 1) * sizeof *got.starts) == 0);
        for (size_t i = 0; i < got.n; i++) {
            unsigned quotes = 0;
            for (size_t at = got.starts[i]; at < got.starts[i + 1]; at++)
                quotes += text[at] == '"';
            INSIST(got.kinds[i] / ROW_SEVERAL == wanted.kinds[i] / ROW_SEVERAL);
            INSIST(got.kinds[i] % ROW_SEVERAL == ROW_ODD ||
                   got.kinds[i] % ROW_SEVERAL == (quotes > 0 ? ROW_QUOTED : 0));
            INSIST((got.kinds[i] & ROW_QUOTED) == 0 || quotes % 2 == 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= HEAD && size <= SIZE_MAX_HERE)
        check_rows(data, size);
    return 0;
}
