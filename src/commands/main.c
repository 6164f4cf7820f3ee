/*
 * main - finds and runs the command, with signals, descriptors and maps set up.
 */
#include "commands/command.h"
#include "commands/message.h"
#include "core/kernel.h"
#include "system/confine.h"
#include "system/map.h"
#include "system/path.h"
#include "system/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef UNSEEN_VERSION
#define UNSEEN_VERSION "unknown"
#endif

/* If a standard descriptor is closed, the next file that is opened would get it, and lines might be
 * written into a filter. So puts the end of a pipe there on which it will fail: the end to be
 * written to on standard input, the other one elsewhere. /dev/null may be missing (chroot). */
static int occupy_standard_descriptors(void)
{
    int ends[2]; /* the lowest that are free */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        if (pipe(ends) != 0 || (fd == STDIN_FILENO && dup2(ends[1], fd) != fd))
            return message("%s: %s", fd == STDIN_FILENO ? "standard input" : "standard output",
                           strerror(errno));
        close(ends[1]);
    }
    return 0;
}

static int print_version(void)
{
    int landlock = confine_version();
    printf("unseen %s\nhashes xxh3-128, siphash-2-4-128; vector instructions %s; ", UNSEEN_VERSION,
           kernel_best()->name);
    printf(landlock > 0 ? "Landlock %d\n" : "no Landlock\n", landlock);
    return message_finish_output();
}

static int dispatch(struct options *options)
{
    const struct command *command = &command_table[0];
    const char *word = options->operands[0];
    if (word != NULL && !options->first_is_literal && command_is_word(word)) {
        command = command_find(word);
        if (command == NULL)
            return command_unknown(word, false);
        options->operands++;
        options->operand_count--;
    }
    options->asked = command;
    if (options_has(options, OPTION_help))
        return command_print_help(command);
    if (options_has(options, OPTION_version))
        return print_version();
    if (options_check(options) != 0)
        return EXIT_TROUBLE;
    if (options->allow_network)
        network_allow();
    return command->run(options);
}

int main(int argc, char **argv)
{
    struct options options;
    signals_start();
    int status = occupy_standard_descriptors();
    map_start(message_map_failed);
    if (status == 0)
        status = options_parse(&options, argc, argv);
    if (status == 0)
        status = dispatch(&options);
    signals_raise();
    return message_exit_status(status);
}
