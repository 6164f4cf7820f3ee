#include "text/edit_distance.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned edit_distance(const char *word, const char *name)
{
    /* rows[i % 3][j]: from the first i bytes of the word to the first j of the name. */
    unsigned rows[3][EDIT_LONGEST + 1];
    size_t letters = strlen(word), columns = strlen(name);
    for (size_t i = 0; i <= letters; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= columns; j++) {
            row[j] = row[j - 1] + 1;
            if (i == 0)
                continue;
            row[j] = least(row[j], above[j] + 1);
            row[j] = least(row[j], above[j - 1] + (word[i - 1] != name[j - 1]));
            if (i > 1 && j > 1 && word[i - 1] == name[j - 2] && word[i - 2] == name[j - 1])
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return rows[letters % 3][columns];
}
