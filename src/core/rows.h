/*
 * rows - finds where lines end, and where rows of CSV do: a row may have several lines, because a
 * delimiter within a quoted field is data.
 *
 * A quote as the first byte of a field opens it; inside, two quotes are one. After the closing
 * quote only the separator, CRs and the end of the row may follow. Elsewhere a quote is a byte like
 * others. A byte order mark at the beginning of a row is not part of its first field. If lines end
 * with NUL, so do rows, in quotes or not.
 *
 * Most rows are found by the kernel, 64 bytes at a time: it knows where quotes are in their usual
 * places (kernel_body.h). At a row where they are not, it stops, and the row is read again from its
 * beginning, byte by byte: only this decides what is wrong. So each byte is looked at once or
 * twice, however a row is cut: the state is kept from call to call.
 */
#ifndef UNSEEN_CORE_ROWS_H
#define UNSEEN_CORE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of UTF-8. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* The bytes of such a mark at the beginning; 0 without one. */
static inline size_t mark_length(const char *bytes, size_t length)
{
    enum { MARK = sizeof BYTE_ORDER_MARK - 1 };
    return length >= MARK && memcmp(bytes, BYTE_ORDER_MARK, MARK) == 0 ? MARK : 0;
}

/* How lines end. With a delimiter alone, at each one. */
struct line_ends {
    char delimiter;
    bool rows;      /* lines are rows of CSV */
    char separator; /* of their fields: no quote, CR or delimiter */
    bool trim;      /* blanks around a quoted field are not data */
};

enum row_wrong {
    ROW_RIGHT,
    ROW_UNCLOSED,     /* so far, or at its NUL: a quoted field is not closed */
    ROW_BYTES_FOLLOW, /* a closing quote */
    ROW_BLANKS,       /* stand before a quote, and before the next one a separator or delimiter */
    ROW_RETURNS,      /* the first row has a CR outside quotes, and more bytes after it */
};

/* What is known of a row when its end was found. 0: it has no quote; its fields are what lies
 * between separators.
 *
 * ROW_QUOTED: it has quotes, and each of them opens or closes a field, or is one of two for one in
 * a field that a quote has opened. One that opens is the first byte of its field, and in the first
 * field of the row: no byte order mark or blank is before it. One that closes is followed by the
 * separator, by the delimiter, or by a single CR and then the delimiter. So a byte is within quotes
 * if an odd number of quotes is before it in the row, and a field is a quoted one if its first byte
 * is a quote. Whether blanks are trimmed makes no difference to what a field is.
 *
 * ROW_ODD: it has quotes that may be of another kind; it is right, but must be read byte by byte.
 * This is never said together with ROW_QUOTED. The first row of an input is ROW_ODD if it has
 * quotes, whatever they are. */
enum {
    ROW_QUOTED = 1,
    ROW_ODD = 2,
    /* Times the delimiters within quotes, that is, the lines beyond the first; at most 63 are
     * counted. Together with one of the others. */
    ROW_SEVERAL = 4,
};

static inline uint8_t row_kind(uint64_t uncut)
{
    return (uint8_t)(uncut <= UINT8_MAX ? uncut : (uncut | (UINT8_MAX & ~(ROW_SEVERAL - 1))));
}

static inline bool row_has_several_lines(uint8_t kind)
{
    return kind >= ROW_SEVERAL;
}

struct kernel;

/* The state between two calls. */
struct rows {
    struct line_ends ends;
    const struct kernel *kernel;
    size_t at;      /* bytes before this offset were looked at; */
    unsigned state; /* of the row that was not at its end there */
    uint64_t kind;  /* of it, so far; uncut */
    bool first;     /* it is the first row of an input */
    enum row_wrong wrong;
};

/* Begins with an input, or at the start of any row. */
void rows_begin(struct rows *rows, struct line_ends ends, bool first);

/* Finds the rows in `length` bytes, of which the first begins at offset starts[0]. Stores the
 * offset after each row in starts[1], starts[2] ..., and for rows of CSV in kinds[0], kinds[1] ...
 * what is known of them. Returns the number of whole rows, at most `most`; `starts` has most + 1
 * entries. If rows->wrong is set, the row that begins at the last offset is none; nothing is found
 * after it. Otherwise the next call goes on, with starts[0] as the last offset. Preconditions:
 * `most` is not 0; `length` is at the end of a line, unless no call goes on from there. */
size_t rows_find(struct rows *rows, const char *bytes, size_t length, size_t *starts,
                 uint8_t *kinds, size_t most);

/* The bytes have moved to the front by `by`, which is at most the start of the row at hand. */
static inline void rows_move(struct rows *rows, size_t by)
{
    rows->at -= by;
}

/* All bytes that were looked at are gone, and the next call gets those after them, from offset 0
 * on. What is left of a row is then looked at byte by byte. */
void rows_leave(struct rows *rows);

/* Goes on with the row that begins at `at`, whatever was found after it. */
void rows_restart(struct rows *rows, size_t at);

/* Whether a row has begun that is not at its end: then it has an open field. */
bool rows_is_amid(const struct rows *rows);

/* The reason in words, for a fault. */
const char *row_wrong_text(enum row_wrong wrong);

/* --- rows that lie end to end, from the start of one on; what is not a row counts as none --- */

/* The bytes of all whole rows; 0 if none is whole. */
size_t rows_whole(struct line_ends ends, const char *bytes, size_t length);

/* The bytes of the first one; 0 if it is not whole. */
size_t rows_first(struct line_ends ends, const char *bytes, size_t length);

/* The bytes of the whole rows that fit into `most` bytes; of the first row, if that is longer; 0 if
 * it is not whole. */
size_t rows_fitting(struct line_ends ends, const char *bytes, size_t length, size_t most);

/* How many rows end in `bytes`. */
uint64_t rows_count(struct line_ends ends, const char *bytes, size_t length);

#endif
