#include "key/without.h"

#include <stdlib.h>

struct without {
    struct recipe recipe;
    char text[WITHOUT_MAX];
};

struct without *without_new(const struct recipe *recipe)
{
    struct without *without = malloc(sizeof *without);
    if (without != NULL)
        without->recipe = *recipe;
    return without;
}

void without_free(struct without *without)
{
    free(without);
}

bool without_apply(struct without *without, struct span *value)
{
    if (value->length > WITHOUT_MAX)
        return false;
    if (without->recipe.fold) {
        for (size_t i = 0; i < value->length; i++)
            without->text[i] = ascii_lower(value->bytes[i]);
        value->bytes = without->text;
    }
    return true;
}
