#include "commands/part_text.h"

#include "commands/message.h"

#include <stdbool.h>
#include <stddef.h>

/* Too many digits give a number that is too large. Returns what comes after them; NULL if there are
 * none. */
static const char *read_digits(const char *text, uint32_t *number)
{
    enum { LARGE = 1000000000 };
    const char *at = text;
    *number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t more = *number * UINT64_C(10) + (uint64_t)(*at - '0');
        *number = more < LARGE ? (uint32_t)more : LARGE;
    }
    return at > text ? at : NULL;
}

/* What stands before a taker that is no option, where it can be typed. */
static const char *program(const char *taker)
{
    return taker[0] == '-' ? "" : "unseen ";
}

static int check_parts(const char *taker, const char *text, uint32_t parts)
{
    if (parts == 0)
        return message("%s %s: a list has at least 1 part", taker, text);
    if (parts > SHARD_PARTS_MAX)
        return message("%s %s: a list has at most %d parts", taker, text, SHARD_PARTS_MAX);
    return 0;
}

static int check_part(const char *taker, const char *text, struct shard shard)
{
    if (check_parts(taker, text, shard.parts) != 0)
        return EXIT_TROUBLE;
    if (shard.part == 0)
        return message("%s %s: parts count from 1 (where ranks count from 0: %s%s $((RANK+1))/%u)",
                       taker, text, program(taker), taker, shard.parts);
    if (shard.part > shard.parts)
        return message("%s %s: the part is above the number of parts (part 1 of 4 is 1/4; "
                       "give the number of all parts, even if fewer tasks run)",
                       taker, text);
    return 0;
}

int part_text_read(const char *taker, const char *text, struct shard *shard)
{
    const char *at = read_digits(text, &shard->part);
    const char *end = at != NULL && *at == '/' ? read_digits(at + 1, &shard->parts) : NULL;
    if (end != NULL && *end == '\0')
        return check_part(taker, text, *shard);
    bool empty = text[0] == '\0' || text[0] == '/' || (at != NULL && at[0] == '/' && at[1] == '\0');
    if (empty)
        return message("%s '%s': a number is missing (is a variable empty? %s%s I/N, such as 1/4)",
                       taker, text, program(taker), taker);
    return message("%s '%s': not a part, which is I/N (%s%s 1/4)", taker, text, program(taker),
                   taker);
}

int part_text_read_parts(const char *taker, const char *text, struct shard *shard)
{
    const char *end = read_digits(text, &shard->parts);
    shard->part = 0;
    if (end != NULL && *end == '\0')
        return check_parts(taker, text, shard->parts);
    if (text[0] == '\0')
        return message("%s '': a number is missing (is a variable empty? %s%s 4)", taker,
                       program(taker), taker);
    return message("%s '%s': not a number of parts (%s%s 4; for one part: %s%s 1/4)", taker, text,
                   program(taker), taker, program(taker), taker);
}
