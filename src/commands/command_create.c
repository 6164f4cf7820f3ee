/* command_create - `unseen create FILTER`. */
#include "commands/command.h"
#include "commands/creation.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/wish.h"

int command_create(const struct options *options)
{
    struct header header;
    struct fault fault;
    const char *path = filter_operand(options);
    if (path == NULL || filter_operand_alone(options) != 0 || wish_plan(options, 0, &header) != 0)
        return EXIT_TROUBLE;
    header.writer_features = options_has(options, OPTION_QUEUE) ? WRITER_QUEUE : 0;
    int result = creation_make(path, &header, options_has(options, OPTION_FORCE), &fault);
    if (result < 0)
        return message_fault(&fault);
    if (result > 0)
        return message("%s: File exists (to replace it: unseen create --force %s)", path, path);
    if (options_has(options, OPTION_VERBOSE))
        message("%s: created", path);
    return EXIT_OK;
}
