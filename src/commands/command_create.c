/* command_create - `unseen create FILTER`. */
#include "commands/combinations.h"
#include "commands/command.h"
#include "commands/creation.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/wish.h"

/* Whether what is there is the filter that was asked for. */
static int agrees(const struct options *options, const char *path)
{
    struct store *store = filter_operand_look(path, options);
    if (store == NULL)
        return EXIT_TROUBLE;
    store_close(store);
    return wish_compare(options, path, options_has(options, OPTION_QUEUE));
}

int command_create(const struct options *options)
{
    const char *path = filter_operand(options);
    if (path == NULL || filter_operand_alone(options) != 0 ||
        combinations_check(options, FOR_CREATE) != 0)
        return EXIT_TROUBLE;
    int result = creation_make(path, options);
    if (result < 0)
        return EXIT_TROUBLE;
    if (result > 0 && options_has(options, OPTION_IF_MISSING))
        return agrees(options, path);
    if (result > 0)
        return creation_taken(path, "to keep it if it fits: --if-missing; to replace it: --force");
    return EXIT_OK;
}
