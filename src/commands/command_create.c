/* command_create - `unseen create FILTER`. */
#include "commands/combinations.h"
#include "commands/command.h"
#include "commands/creation.h"
#include "commands/filter_operand.h"
#include "commands/message.h"

int command_create(const struct options *options)
{
    const char *path = filter_operand(options);
    if (path == NULL || filter_operand_alone(options) != 0 ||
        combinations_check(options, FOR_CREATE) != 0)
        return EXIT_TROUBLE;
    int result = creation_make(path, options);
    if (result < 0)
        return EXIT_TROUBLE;
    if (result > 0)
        return creation_taken(path, "to replace it: --force");
    return EXIT_OK;
}
