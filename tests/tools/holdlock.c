/*
 * holdlock - holds a lock on one byte of a file, or several, as a stalled writer would.
 *
 *     holdlock FILE BYTE [LENGTH]
 *
 * Takes an open file description lock on these bytes of FILE, prints a line, and holds the lock until
 * its standard input ends. Exit: 0, or 2 with a message if the lock cannot be had.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char byte;
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: holdlock FILE BYTE [LENGTH]\n");
        return 2;
    }
    struct flock flock = {
        .l_type = F_WRLCK,
        .l_whence = SEEK_SET,
        .l_start = (off_t)strtoll(argv[2], NULL, 10),
        .l_len = argc == 4 ? (off_t)strtoll(argv[3], NULL, 10) : 1,
    };
    int fd = open(argv[1], O_RDWR);
    if (fd < 0 || fcntl(fd, F_OFD_SETLK, &flock) != 0) {
        fprintf(stderr, "holdlock: %s: %s\n", argv[1], strerror(errno));
        return 2;
    }
    if (puts("held") == EOF || fflush(stdout) != 0)
        return 2;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}
