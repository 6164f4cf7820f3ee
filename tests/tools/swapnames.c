/*
 * swapnames - makes one thing after the other under a name, as fast as it can.
 *
 *     swapnames ROUNDS NAME THING...
 *
 * A THING is file, fifo, directory, link:TARGET or hard:TARGET. Each is made and removed again, in
 * turn, ROUNDS times, for a program that looks at the name and then uses it. What cannot be made or
 * removed, since somebody else has the name just now, is left out. Prints a line before the first.
 * Exit: 0, or 2 with a message for wrong use.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void make(const char *name, const char *thing)
{
    if (strcmp(thing, "file") == 0) {
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (fd >= 0)
            close(fd);
    } else if (strcmp(thing, "fifo") == 0) {
        (void)!mkfifo(name, 0666);
    } else if (strcmp(thing, "directory") == 0) {
        (void)!mkdir(name, 0777);
    } else if (strncmp(thing, "link:", 5) == 0) {
        (void)!symlink(thing + 5, name);
    } else {
        (void)!link(thing + 5, name);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: swapnames ROUNDS NAME THING...\n");
        return 2;
    }
    umask(0);
    if (puts("ready") == EOF || fflush(stdout) != 0)
        return 2;
    for (long rounds = strtol(argv[1], NULL, 10); rounds > 0; rounds--)
        for (char **thing = argv + 3; *thing != NULL; thing++) {
            make(argv[2], *thing);
            if (unlink(argv[2]) != 0)
                (void)rmdir(argv[2]);
        }
    return 0;
}
