#include "commands/wish_part.h"

#include "commands/message.h"
#include "commands/recipe_word.h"

bool wish_part_given(const struct options *options)
{
    return options_has(options, OPTION_SHARD) || options_has(options, OPTION_SHARD_BY);
}

int wish_part_against(const struct options *options, const struct header *has,
                      struct header *wanted)
{
    struct recipe *recipe = &wanted->part_recipe;
    wanted->shard = has->shard;
    *recipe = has->part_recipe;
    if (options_has(options, OPTION_SHARD) &&
        options_read_part("--shard", options->given[OPTION_SHARD], &wanted->shard) != 0)
        return EXIT_TROUBLE;
    if (!options_has(options, OPTION_SHARD_BY))
        return 0;
    if (recipe_word_read(options->given[OPTION_SHARD_BY], recipe) != 0)
        return EXIT_TROUBLE;
    if (recipe->profile == has->part_recipe.profile)
        recipe->version = has->part_recipe.version;
    return 0;
}

/* Lines that count as one must be of the same part, else both would be printed. */
static int check_parts(const struct options *options, const struct header *header)
{
    char counts[RECIPE_TEXT];
    if (recipe_decides(&header->recipe, &header->part_recipe))
        return 0;
    return message("--shard-by '%s': lines that count as one could be in different parts, as what "
                   "counts is %s (leave it out, and parts are made of what counts)",
                   options->given[OPTION_SHARD_BY], recipe_shown(&header->recipe, counts));
}

/* Parts of another number, or made otherwise, are not parts of the same list. */
static int check_like(const struct options *options, const struct header *like,
                      const struct header *wanted)
{
    char was[RECIPE_TEXT], wants[RECIPE_TEXT];
    const char *name = options->given[OPTION_LIKE];
    if (like->shard.parts != wanted->shard.parts)
        return message("--shard %s: %s is for part %u of %u (give another part of %u, or leave "
                       "--like out)",
                       options->given[OPTION_SHARD], name, like->shard.part, like->shard.parts,
                       like->shard.parts);
    if (recipe_is_same(&like->part_recipe, &wanted->part_recipe))
        return 0;
    return message("--shard-by '%s': parts of %s are made by '%s' (leave --shard-by out)",
                   recipe_word_text(&wanted->part_recipe, wants), name,
                   recipe_word_text(&like->part_recipe, was));
}

int wish_part_read(const struct options *options, struct header *header)
{
    const struct header like = *header;
    if (!wish_part_given(options))
        return 0;
    if (!options_has(options, OPTION_SHARD) && like.shard.parts == 0)
        return message("--shard-by: for which part? (add --shard I/N)");
    if (wish_part_against(options, &like, header) != 0)
        return EXIT_TROUBLE;
    if (like.shard.parts != 0)
        return check_like(options, &like, header);
    if (options_has(options, OPTION_SHARD_BY))
        return check_parts(options, header);
    header->part_recipe = header->recipe;
    return 0;
}
