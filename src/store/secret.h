/*
 * secret - what nobody may know who chooses lines, and the file that it is kept in.
 *
 * A filter may have its secret in itself. Or that is in a file of its own, so that all may read the
 * filter. The file is one line of text: the word "unseen-secret", a space, and the 16 bytes as 32
 * hexadecimal digits, a to f in lower case. It is made once, for its owner alone, and nothing is
 * ever written over it: without its secret a filter is worth nothing.
 */
#ifndef UNSEEN_STORE_SECRET_H
#define UNSEEN_STORE_SECRET_H

#include "core/hash.h"
#include "system/fault.h"

#include <stdbool.h>
#include <sys/stat.h>

/* A new one, at random. Returns 0, or -1 with the fault. */
int secret_draw(struct hasher *hasher, struct fault *fault);

/* Reads a file. Returns 0; or -1 with the fault, whose error is ENOENT if there is none. A FIFO of
 * that name is not waited for. */
int secret_read(const char *path, struct hasher *hasher, struct stat *status, struct fault *fault);

/* The secret for a new filter: returns 1 if it is in the file; 0 if there is none, and *hasher was
 * drawn; -1 with the fault. A file that others could have put there is refused. */
int secret_for_new(const char *path, struct hasher *hasher, struct fault *fault);

/* Makes the file for that, unless another process has made it since: then *hasher is what is in it.
 * It is on disk then, with its name. Returns 0, or -1 with the fault. */
int secret_keep(const char *path, struct hasher *hasher, struct fault *fault);

#endif
