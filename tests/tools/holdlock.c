/*
 * holdlock - holds a lock on one byte of a file, or several, as a stalled writer would.
 *
 *     holdlock [-r] FILE BYTE [LENGTH]
 *
 * Takes an open file description lock on these bytes of FILE, for writing or, with -r, for reading;
 * prints a line, and holds the lock until its standard input ends. Exit: 0, or 2 with a message if
 * the lock cannot be had.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char byte;
    bool reads = argc > 1 && strcmp(argv[1], "-r") == 0;
    char **words = argv + reads;
    int count = argc - reads;
    if (count != 3 && count != 4) {
        fprintf(stderr, "usage: holdlock [-r] FILE BYTE [LENGTH]\n");
        return 2;
    }
    struct flock flock = {
        .l_type = reads ? F_RDLCK : F_WRLCK,
        .l_whence = SEEK_SET,
        .l_start = (off_t)strtoll(words[2], NULL, 10),
        .l_len = count == 4 ? (off_t)strtoll(words[3], NULL, 10) : 1,
    };
    int fd = open(words[1], reads ? O_RDONLY : O_RDWR);
    if (fd < 0 || fcntl(fd, F_OFD_SETLKW, &flock) != 0) {
        fprintf(stderr, "holdlock: %s: %s\n", words[1], strerror(errno));
        return 2;
    }
    if (puts("held") == EOF || fflush(stdout) != 0)
        return 2;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}
