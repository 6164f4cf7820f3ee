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

int main(int argc, char **argv)
{
    struct options options;
    const struct command *command = NULL;
    int status = EXIT_TROUBLE, ends[2]; /* the lowest descriptors that are free */
    bool ready = true;
    signals_start();
    map_start(message_map_failed);
    /* 1. If a standard descriptor is closed, the next file that is opened would get it, and lines
     * might be written into a filter. So puts the end of a pipe there on which it will fail: the
     * end to be written to on standard input, the other one elsewhere. /dev/null may be missing
     * (chroot). */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && ready; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        ready = pipe(ends) == 0 && (fd != STDIN_FILENO || dup2(ends[1], fd) == fd);
        if (ready)
            close(ends[1]);
        else
            message("%s: %s", fd == STDIN_FILENO ? "standard input" : "standard output",
                    strerror(errno));
    }
    /* 2. Which command? The first operand, if it has the form of one; else the plain form. */
    if (ready && options_parse(&options, argc, argv) == 0) {
        const char *word = options.operands[0];
        command = &command_table[0];
        if (word != NULL && !options.first_is_literal && command_is_word(word)) {
            options.operands++;
            options.operand_count--;
            command = command_find(word);
            if (command == NULL)
                command_unknown(word, options.operands);
        }
        options.asked = command;
    }
    /* 3. Run it. */
    if (command != NULL && options_has(&options, OPTION_help)) {
        status = command_print_help(command);
    } else if (command != NULL && options_has(&options, OPTION_version)) {
        int landlock = confine_version();
        printf("unseen %s\nhashes xxh3-128, siphash-2-4-128; vector instructions %s; ",
               UNSEEN_VERSION, kernel_best()->name);
        printf(landlock > 0 ? "Landlock %d\n" : "no Landlock\n", landlock);
        status = message_finish_output();
    } else if (command != NULL && options_check(&options) == 0) {
        if (options.allow_network)
            network_allow();
        status = command->run(&options);
    }
    /* 4. A signal that came meanwhile ends the process now. */
    signals_raise();
    return message_exit_status(status);
}
