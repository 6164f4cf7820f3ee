/* command_create - `unseen create FILTER`. */
#include "commands/command.h"
#include "commands/filter_operand.h"
#include "commands/message.h"

int command_create(const struct options *options)
{
    const char *path = filter_operand(options);
    if (path == NULL || filter_operand_alone(options) != 0)
        return EXIT_TROUBLE;
    return filter_operand_create(path, options);
}
