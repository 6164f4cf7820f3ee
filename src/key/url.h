/*
 * url - the normal form of a URL: `url/1`, RFC 3986 sections 6.2.2 and 6.2.3, with the repairs that
 * real lists need.
 *
 *   1. Bytes up to 0x20 at both ends are removed; from the first # on all is dropped.
 *   2. Scheme and host in lower case. Leading zeros of a port are dropped; an empty port, or the
 *      scheme's own one, goes with its colon. An empty path becomes "/".
 *   3. %HH is decoded if it stands for a letter, a digit or one of - . _ ~, and has upper-case
 *      digits otherwise; any other % becomes %25; bytes that no URL may have become %HH.
 *   4. Dot segments of the path are removed (RFC 3986, section 5.2.4), after step 3.
 *
 * Doing it twice gives the same as once. Nothing that could merge two different pages is done: the
 * query is not sorted, no slash is removed.
 */
#ifndef UNSEEN_KEY_URL_H
#define UNSEEN_KEY_URL_H

#include "key/span.h"

#include <stdbool.h>

/* The most bytes of a URL; anything longer is not one (keyer.c checks). */
enum { URL_MAX = 65536 };

/* A URL's parts: as they were written, or in normal form. */
struct url {
    struct span scheme; /* without :// */
    struct span user;   /* with its @; empty if there is none */
    struct span host;
    struct span port; /* without its : and leading zeros; empty if it does not matter */
    struct span path;
    struct span query; /* with its ?; empty if there is none */
};

/* The parts of a URL as it was written, after step 1. Returns false if it is no URL: no scheme,
 * no host, a port that is no number, a bracket where none may be. */
bool url_split(struct span text, struct url *url);

/* Writes the parts of `url` in normal form to `room`, which has 3 bytes for each of the URL and 32
 * more, and makes them those of what was written. Returns all of it. */
struct span url_write(struct url *url, char *room);

/* The same for the host alone, which mostly is in normal form, and stays where it is then. */
void url_write_host(struct url *url, char *room);

/* Whether a line is a URL in normal form already, as nearly all are: 8 ns, where to make that form
 * is some 80. Yes means that url_write would change nothing; no decides nothing. It is yes if the
 * line has http:// or https://, a host of 1 to 31 bytes, none of them between 9 and a, a slash, and
 * then nothing that rules 3 and 4 would change. */
bool url_is_normal(struct span line);

/* Without the bytes up to 0x20 at both ends. */
struct span url_strip(struct span text);

#endif
