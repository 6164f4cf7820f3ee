/* command_create - `unseen create FILTER`. */
#include "commands/command.h"
#include "commands/creation.h"
#include "commands/filter_operand.h"
#include "commands/message.h"

int command_create(const struct options *options)
{
    const char *path = filter_operand(options);
    if (path == NULL || filter_operand_alone(options) != 0)
        return EXIT_TROUBLE;
    int result = creation_make(path, options, options_has(options, OPTION_QUEUE),
                               options_has(options, OPTION_FORCE));
    if (result < 0)
        return EXIT_TROUBLE;
    if (result > 0)
        return message("%s: File exists (to replace it: unseen create --force %s)", path, path);
    if (options_has(options, OPTION_VERBOSE))
        message("%s: created", path);
    return EXIT_OK;
}
