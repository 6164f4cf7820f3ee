/*
 * secret_option - the secret of a filter, as --secret, --secret-file and --new-secret say.
 */
#ifndef UNSEEN_COMMANDS_SECRET_OPTION_H
#define UNSEEN_COMMANDS_SECRET_OPTION_H

#include "commands/options.h"
#include "store/store.h"

/* The file of the secret of an open filter is that of --secret-file: reads it, and the filter knows
 * its secret then. If none is given, that is trouble only where keys are `made`. Returns 0, or
 * EXIT_TROUBLE after a message. */
int secret_option_open(const struct options *options, struct store *store, bool made);

/* The secret of a filter that is to be made, whose header is so far as without these options, or as
 * that of --like. Returns 0, or EXIT_TROUBLE after a message. */
int secret_option_new(const struct options *options, struct header *header);

/* The file to be made for it, before the filter has its name; NULL if there is none to be made. */
const char *secret_option_file(const struct options *options, const struct header *header);

#endif
