/*
 * oracle - a program that answers each line with one of its own: of the oracles of a library, what
 * they share.
 *
 * Included once by each program. The line is the normal form; "refused", if it is no URL to the
 * library; or "-", where the library has no say: the head of each program tells where.
 */
#ifndef UNSEEN_KEY_ORACLE_H
#define UNSEEN_KEY_ORACLE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the answer. Returns false if memory or the output is at its end. */
static bool answer(const char *line);

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    bool done = true;

    while (done && getline(&line, &size, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        done = answer(line);
    }
    free(line);
    return !done || ferror(stdin) || fflush(stdout) != 0;
}

#endif
