#include "commands/part_name.h"

#include "commands/message.h"
#include "core/quote.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 10 };

/* What is after the number's place that begins at `at`, and how wide that is; NULL if none does. */
static const char *number_end(const char *at, int *width)
{
    *width = 0;
    if (at[1] == '0' && at[2] >= '1' && at[2] <= '9' && at[3] == 'd') {
        *width = at[2] - '0';
        return at + 4;
    }
    return at[1] == 'd' ? at + 2 : NULL;
}

static bool ends_in_point(const char *pattern)
{
    return pattern[strlen(pattern) - 1] == '.';
}

int part_name_check(const char *pattern)
{
    char quoted[QUOTE_MAX];
    unsigned numbers = 0;
    int width;
    if (strlen(pattern) >= PATH_MAX - DIGITS_MAX)
        return message("--files %s: the name is too long", pattern);
    for (const char *at = strchr(pattern, '%'); at != NULL; at = strchr(at, '%')) {
        const char *end = at[1] == '%' ? at + 2 : number_end(at, &width);
        if (end == NULL)
            return message("--files %s: '%.*s' is not %%d (%%d or %%03d is the part; for a percent "
                           "sign: %%%%)",
                           quote_word(pattern, quoted), 1 + (int)quote_character(at + 1), at);
        numbers += at[1] != '%';
        at = end;
    }
    if (numbers == 0 && strchr(pattern, '%') == NULL &&
        strcmp(quote_word(pattern, quoted), pattern) == 0)
        return message("--files %s: has no place for the part (--files %s%s%%d)", pattern, pattern,
                       ends_in_point(pattern) ? "" : ".");
    if (numbers > 1)
        return message("--files %s: has %u places for the part, and one is enough (--files "
                       "part.%%d)",
                       quote_word(pattern, quoted), numbers);
    if (numbers == 0)
        return message("--files %s: needs one place for the part (--files part.%%d)",
                       quote_word(pattern, quoted));
    return 0;
}

void part_name_write(const char *pattern, uint32_t part, char name[PATH_MAX])
{
    size_t length = 0;
    for (const char *at = pattern; *at != '\0' && length < PATH_MAX - 1;) {
        int width;
        const char *end = *at == '%' ? number_end(at, &width) : NULL;
        if (end != NULL)
            length += (size_t)snprintf(name + length, PATH_MAX - length, "%0*u", width, part);
        else
            name[length++] = *at;
        at = end != NULL ? end : at + (*at == '%' ? 2 : 1);
    }
    name[length] = '\0';
}
