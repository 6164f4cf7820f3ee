#include "core/rows.h"

#include "core/bytes.h"
#include "core/kernel.h"

#include <string.h>

enum { QUOTE_BYTE = '"', RETURN_BYTE = '\r' };

/* Where the next byte is. */
enum row_state {
    AT_ROW,    /* the first of a row */
    AT_FIELD,  /* the first of a field */
    IN_BLANKS, /* after blanks at the beginning of a field */
    IN_PLAIN,  /* in a field without quotes */
    IN_QUOTES,
    AFTER_QUOTE,  /* which closes the field, or is the first of two */
    AFTER_FIELD,  /* after blanks behind a closing quote, with `trim` */
    AFTER_RETURN, /* after CRs behind a closing quote */
    IN_DOUBT,     /* after blanks and a quote, which may have been meant to open a field */
};

void rows_begin(struct rows *rows, struct line_ends ends, bool first)
{
    *rows = (struct rows){
        .ends = ends,
        .kernel = kernel_best(),
        .state = AT_ROW,
        .first = first && ends.delimiter != '\0',
    };
}

void rows_restart(struct rows *rows, size_t at)
{
    rows->at = at;
    rows->state = AT_ROW;
    rows->kind = 0;
    rows->wrong = ROW_RIGHT;
}

void rows_leave(struct rows *rows)
{
    rows->at = 0;
    if (rows_is_amid(rows))
        rows->kind = (rows->kind & ~(uint64_t)ROW_QUOTED) | ROW_ODD;
}

bool rows_is_amid(const struct rows *rows)
{
    return rows->state != AT_ROW;
}

const char *row_wrong_text(enum row_wrong wrong)
{
    static const char *const texts[] = {
        [ROW_RIGHT] = "",
        [ROW_UNCLOSED] = "quoted field is not closed",
        [ROW_BYTES_FOLLOW] = "bytes follow the closing quote of a field",
        [ROW_BLANKS] = "blanks stand before a quoted field",
        [ROW_RETURNS] = "lines end with CR",
    };
    return texts[wrong];
}

static bool is_row_blank(const struct line_ends *ends, char c)
{
    return (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') && c != ends->separator;
}

static bool is_special(const struct line_ends *ends, char c)
{
    return c == ends->separator || c == ends->delimiter || c == QUOTE_BYTE || c == RETURN_BYTE;
}

/* Looks at the bytes from rows->at on, one by one, up to the end of a row. Returns the offset after
 * it; or 0 if there is none, and all bytes were looked at or the row is wrong. */
static size_t find_end(struct rows *rows, const char *bytes, size_t length)
{
    const struct line_ends ends = rows->ends;
    unsigned state = rows->state;
    uint64_t kind = rows->kind;
    enum row_wrong wrong = ROW_RIGHT;
    size_t at = rows->at, found = 0;
    const size_t mark = state == AT_ROW ? mark_length(bytes + at, length - at) : 0;
    if (mark > 0) {
        at += mark;
        state = AT_FIELD;
    }
    while (at < length && found == 0 && wrong == ROW_RIGHT) {
        /* Most bytes mean nothing, in quotes or not. */
        if (state == IN_QUOTES || state == IN_PLAIN) {
            while (at < length && !is_special(&ends, bytes[at]))
                at++;
            if (at == length)
                break;
        }
        char c = bytes[at++];
        bool blank = is_row_blank(&ends, c), ended = c == ends.delimiter;
        if (c == QUOTE_BYTE)
            kind |= ROW_ODD;
        switch (state) {
        case IN_QUOTES:
            if (ended && c == '\0')
                wrong = ROW_UNCLOSED;
            else if (ended)
                kind += ROW_SEVERAL;
            else if (c == QUOTE_BYTE)
                state = AFTER_QUOTE;
            continue;
        case AFTER_QUOTE:
        case AFTER_FIELD:
        case AFTER_RETURN:
            if (c == QUOTE_BYTE && state == AFTER_QUOTE)
                state = IN_QUOTES;
            else if (ended)
                found = at;
            else if (c == ends.separator && state != AFTER_RETURN)
                state = AT_FIELD;
            else if (c == RETURN_BYTE)
                state = ends.trim && !rows->first ? AFTER_FIELD : AFTER_RETURN;
            else if (ends.trim && blank && state != AFTER_RETURN)
                state = AFTER_FIELD;
            else
                wrong = state == AFTER_RETURN && rows->first ? ROW_RETURNS : ROW_BYTES_FOLLOW;
            continue;
        case IN_DOUBT:
            if (ended || c == ends.separator)
                wrong = ROW_BLANKS;
            else if (c == QUOTE_BYTE)
                state = IN_PLAIN;
            continue;
        default:
            break;
        }
        /* In the first row, a CR is the last byte. */
        if (c == RETURN_BYTE && rows->first && at < length && bytes[at] != RETURN_BYTE &&
            bytes[at] != ends.delimiter)
            wrong = ROW_RETURNS;
        else if (ended)
            found = at;
        else if (c == ends.separator)
            state = AT_FIELD;
        else if (state == IN_PLAIN)
            continue;
        else if (c == QUOTE_BYTE && (state != IN_BLANKS || ends.trim))
            state = IN_QUOTES;
        else if (c == QUOTE_BYTE)
            state = IN_DOUBT;
        else
            state = blank ? IN_BLANKS : IN_PLAIN;
    }
    rows->at = at;
    rows->kind = kind;
    rows->state = found > 0 ? AT_ROW : state;
    rows->wrong = wrong;
    return found;
}

/* Whether the kernel can go on: it is not for the first row, and not for one whose beginning was
 * looked at byte by byte. */
static bool is_usual(const struct rows *rows)
{
    return !rows->first &&
           (rows->state == AT_ROW || (rows->state == IN_QUOTES && (rows->kind & ROW_ODD) == 0));
}

/* Finds rows as rows_find does, up to one that only find_end understands, and goes to the beginning
 * of that; if there is one, *odd is set. */
static size_t find_usual(struct rows *rows, const char *bytes, size_t length, size_t *starts,
                         uint8_t *kinds, size_t most, bool *odd)
{
    struct row_scan scan = {
        .delimiter = rows->ends.delimiter,
        .separator = rows->ends.separator,
        .at = rows->at,
        .kind = rows->kind,
        .inside = rows->state == IN_QUOTES,
    };
    size_t n = rows->kernel->rows(bytes, length, &scan, starts, kinds, most);
    rows->at = scan.at;
    rows->kind = scan.kind;
    rows->state = scan.inside ? IN_QUOTES : AT_ROW;
    *odd = scan.odd;
    return n;
}

size_t rows_find(struct rows *rows, const char *bytes, size_t length, size_t *starts,
                 uint8_t *kinds, size_t most)
{
    size_t n = 0, end;
    if (!rows->ends.rows) {
        n = rows->kernel->split(bytes, length, rows->ends.delimiter, starts, most);
        rows->at = starts[n];
        return n;
    }
    while (n < most && rows->wrong == ROW_RIGHT && rows->at < length) {
        bool odd = true;
        if (is_usual(rows))
            n += find_usual(rows, bytes, length, starts + n, kinds + n, most - n, &odd);
        if (!odd || (end = find_end(rows, bytes, length)) == 0)
            break;
        kinds[n++] = row_kind(rows->kind);
        starts[n] = end;
        rows->kind = 0;
        rows->first = false;
    }
    return n;
}

/* --- rows that lie end to end --- */

/* Counts the rows in the first `length` bytes, up to `most`, into *count. Returns their bytes. */
static size_t pass_rows(struct line_ends ends, const char *bytes, size_t length, uint64_t most,
                        uint64_t *count)
{
    enum { SOME = 256 };
    size_t starts[SOME + 1] = {0}, n = SOME;
    uint8_t kinds[SOME];
    struct rows rows;
    rows_begin(&rows, ends, false);
    for (*count = 0; n == SOME && *count < most; *count += n) {
        n = rows_find(&rows, bytes, length, starts, kinds,
                      most - *count < SOME ? (size_t)(most - *count) : SOME);
        starts[0] = starts[n];
    }
    return starts[0];
}

size_t rows_whole(struct line_ends ends, const char *bytes, size_t length)
{
    uint64_t count;
    return ends.rows ? pass_rows(ends, bytes, length, UINT64_MAX, &count)
                     : whole_lines(bytes, length, ends.delimiter);
}

size_t rows_first(struct line_ends ends, const char *bytes, size_t length)
{
    uint64_t count;
    return ends.rows ? pass_rows(ends, bytes, length, 1, &count)
                     : first_line(bytes, length, ends.delimiter);
}

size_t rows_fitting(struct line_ends ends, const char *bytes, size_t length, size_t most)
{
    size_t fit = rows_whole(ends, bytes, length < most ? length : most);
    return fit > 0 ? fit : rows_first(ends, bytes, length);
}

uint64_t rows_count(struct line_ends ends, const char *bytes, size_t length)
{
    uint64_t count;
    if (!ends.rows)
        return lines_in(bytes, length, ends.delimiter);
    (void)pass_rows(ends, bytes, length, UINT64_MAX, &count);
    return count;
}
