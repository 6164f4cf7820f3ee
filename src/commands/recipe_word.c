#include "commands/recipe_word.h"

#include "commands/message.h"
#include "commands/wish_recipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How messages name what is wrong in it. */
static const char *const shown[OPTIONS] = {
    [OPTION_FIELDS] = "--shard-by: -f",   [OPTION_SEPARATOR] = "--shard-by: -t",
    [OPTION_BY] = "--shard-by: --by",     [OPTION_IGNORE_CASE] = "--shard-by: -i",
    [OPTION_TRIM] = "--shard-by: --trim",
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word at *at, which is moved after it; unquoted in place, which makes it no longer. NULL
 * if there is none, or a quote is left open: then *at is still at something. */
static const char *take_word(char **at)
{
    char *from = *at;
    while (is_blank(*from))
        from++;
    char *word = from, *to = from, quote = '\0';
    for (; *from != '\0' && (quote != '\0' || !is_blank(*from)); from++)
        if (quote == '\0' && (*from == '\'' || *from == '"'))
            quote = *from;
        else if (quote != '\0' && *from == quote)
            quote = '\0';
        else if (quote == '\0' && from[0] == '\\' && from[1] == '\'')
            *to++ = *++from; /* as quote_word writes one */
        else
            *to++ = *from;
    bool none = from == word || quote != '\0';
    *at = none ? word : from + (*from != '\0');
    if (none)
        return NULL;
    *to = '\0';
    return word;
}

/* Which option of a recipe the word is, and the value in it, or NULL; OPTIONS if none. */
static enum option_id find(const char *word, const char **value)
{
    for (enum option_id id = 0; id < OPTIONS; id++) {
        const struct option_entry *entry = &option_table[id];
        for (size_t i = 0; i < OPTION_SPELLINGS && entry->spellings[i] != NULL; i++) {
            const char *spelling = entry->spellings[i], *after = word + strlen(spelling);
            if ((RECIPE_OPTIONS & OPTION_BIT(id)) == 0 ||
                strncmp(word, spelling, strlen(spelling)) != 0)
                continue;
            *value = NULL;
            if (*after == '\0')
                return id;
            *value = after + option_is_long(spelling);
            if (entry->kind != TAKES_NOTHING && (!option_is_long(spelling) || *after == '='))
                return id;
        }
    }
    return OPTIONS;
}

/* Fills in `options` from a copy of the text, which stays theirs. Returns whether they are all
 * options of a recipe. */
static bool parse(char *text, struct options *options)
{
    const char *word, *value;
    while ((word = take_word(&text)) != NULL) {
        enum option_id id = find(word, &value);
        if (id != OPTIONS && value == NULL && option_table[id].kind != TAKES_NOTHING)
            value = take_word(&text);
        if (id == OPTIONS || (value == NULL && option_table[id].kind != TAKES_NOTHING))
            return false;
        options->set |= OPTION_BIT(id);
        options->given[id] = value;
        options->spelled[id] = shown[id];
    }
    return *text == '\0' && options->set != 0;
}

static int no_recipe(const char *text)
{
    if (text[0] == '\0')
        return message("--shard-by '': what makes the parts? (is a variable empty?)");
    return message("--shard-by '%s': not a recipe (a profile, as in --shard-by host; or options in "
                   "quotes, as in --shard-by '-f 2 -t ,')",
                   text);
}

int recipe_word_read(const char *text, struct recipe *recipe)
{
    struct options options = {.set = 0};
    char *copy = strdup(text);
    if (copy == NULL)
        return message("%s", strerror(ENOMEM));
    bool profile = text[0] != '\0' && strpbrk(text, "- \t'\"") == NULL;
    if (profile) {
        options.set = OPTION_BIT(OPTION_BY);
        options.given[OPTION_BY] = text;
        options.spelled[OPTION_BY] = "--shard-by";
    }
    int status = profile || parse(copy, &options) ? wish_recipe_read(&options, recipe)
                                                  : no_recipe(text);
    free(copy);
    return status;
}

char *recipe_word_text(const struct recipe *recipe, char *text)
{
    struct recipe rest = *recipe;
    rest.profile = PROFILE_LINE;
    return recipe_is_whole_line(&rest) ? strcpy(text, profile_names[recipe->profile])
                                       : recipe_text(recipe, text);
}
