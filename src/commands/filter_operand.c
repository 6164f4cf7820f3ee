/* filter_operand - see filter_operand.h. */
#include "commands/filter_operand.h"

#include "commands/message.h"

#include <string.h>

const char *filter_operand(const struct options *options)
{
    const char *name = options->operands[0];
    if (name == NULL)
        message("FILTER is missing (see unseen --help)");
    else if (name[0] == '\0')
        message("'': an empty name is not a FILTER (is a variable empty?)");
    else if (strcmp(name, "-") == 0)
        message("-: standard input is not a FILTER (FILTER comes first, then what to read)");
    else
        return name;
    return NULL;
}

int filter_operand_alone(const struct options *options)
{
    if (options->operand_count > 1)
        return message("%s: one operand too many (FILTER is all that is read here)",
                       options->operands[1]);
    return 0;
}
