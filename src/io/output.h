/*
 * output - where lines are handed on.
 */
#ifndef UNSEEN_IO_OUTPUT_H
#define UNSEEN_IO_OUTPUT_H

#include "system/fault.h"
#include "system/lock.h"

#include <stdbool.h>
#include <stddef.h>

struct output {
    int fd;
    const char *name;
    char delimiter;
    /* Where lines go, if not to fd, as output_write and output_sync; NULL otherwise. */
    size_t (*append)(void *context, const char *bytes, size_t length, struct fault *fault);
    int (*sync)(void *context, struct fault *fault);
    void *context;
    /* A regular file: an unfinished last line, seen by `end_fd`, is ended before a write. */
    bool mends;
    int end_fd;
    /* Told, with `name`, when others have kept the file for five seconds; may be NULL. */
    lock_waits *waits;
};

/* Standard output. */
struct output output_standard(char delimiter);

/* A file to append to; it is made if there is none. What is not a regular file, such as a FIFO, is
 * never open for reading, so that its last reader can go away; a FIFO is waited for until it has
 * one, and a signal ends the process then. Returns 0, or -1 with the fault. */
int output_open(struct output *output, const char *path, char delimiter, struct fault *fault);

/* The same of `fd`, which is open to append to `path`, and from now on the output's. */
void output_append_to(struct output *output, int fd, const char *path, char delimiter);

/* Whether output_open is likely to succeed, without making or changing anything. */
int output_check(const char *path, struct fault *fault);

/* Writes all of it, in as many calls as it takes; waits where a non-blocking descriptor is full.
 * Returns how many bytes were accepted: all, or fewer with the fault set, or fewer with
 * fault->error == EINTR if a signal wants the program to end. */
size_t output_write(struct output *output, const char *bytes, size_t length, struct fault *fault);

/* Whether a path, or standard output if it is NULL, is a regular file, or would be made as one. */
bool output_is_file(const char *path);

/* Flushes it to disk. Returns 0 or -1. */
int output_sync(const struct output *output, struct fault *fault);

/* Closes it: errors that the system kept until now come out here. Returns 0, or -1. */
int output_close(struct output *output, struct fault *fault);

#endif
