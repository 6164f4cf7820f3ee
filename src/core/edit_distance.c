#include "core/edit_distance.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned edit_distance(const char *word, const char *name)
{
    unsigned row[EDIT_LONGEST + 1];
    size_t columns = strlen(name);
    for (size_t j = 0; j <= columns; j++)
        row[j] = (unsigned)j;
    for (size_t i = 0; word[i] != '\0'; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < columns; j++) {
            unsigned same = diagonal + (word[i] != name[j]);
            diagonal = row[j + 1];
            row[j + 1] = least(same, least(row[j], row[j + 1]) + 1);
        }
    }
    return row[columns];
}
