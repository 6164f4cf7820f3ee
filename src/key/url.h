/*
 * url - the normal form of a URL: `url/1`, RFC 3986 sections 6.2.2 and 6.2.3, with the repairs that
 * real lists need.
 *
 *   1. Bytes up to 0x20 at both ends are removed, and then everything from the first # on.
 *   2. Scheme and host become lower case. Leading zeros of a port are removed; an empty port, or
 *      the scheme's default port, is removed with its colon. An empty path becomes "/".
 *   3. %HH is decoded if it stands for a letter, a digit or one of - . _ ~; otherwise its digits
 *      become upper case. Any other % becomes %25, and bytes that are illegal in a URL become %HH.
 *   4. Dot segments of the path are removed (RFC 3986, section 5.2.4), after step 3.
 *
 * A URL in normal form stays as it is. No rule could merge two different pages: the query is not
 * sorted, and no slash is removed. `host/1` is its host alone.
 */
#ifndef UNSEEN_KEY_URL_H
#define UNSEEN_KEY_URL_H

#include "key/span.h"

#include <stdbool.h>

/* The longest URL, in bytes; a longer line is not a URL (keyer.c checks). */
enum { URL_MAX = 65536 };

/* The parts of a URL, as in the line or in normal form. */
struct url {
    struct span scheme; /* without :// */
    struct span user;   /* with its @; empty if there is none */
    struct span host;
    struct span port; /* without its : and leading zeros; empty if it is to be removed */
    struct span path;
    struct span query; /* with its ?; empty if there is none */
};

/* Finds the parts of a URL, after step 1. Returns false if the text is not a URL: no scheme, no
 * host, a port that is not a number, or a bracket outside a host in brackets. */
bool url_split(struct span text, struct url *url);

/* Writes `url` in normal form to `buffer`, which has three times the URL's bytes and 32 more, and
 * makes the parts of `url` point there. Returns the whole URL. */
struct span url_write(struct url *url, char *buffer);

/* A quick test whether a line is a URL in normal form, as nearly all are: 8 ns, against about 80
 * for making the normal form. If true, url_write would change nothing; if false, it may or may not.
 * True for http:// or https://, a host of 1 to 31 bytes with none from ':' to '`', a slash, and
 * then nothing that steps 1, 3 and 4 would change. */
bool url_is_normal(struct span line);

/* Reduces a URL to its host, in normal form: `host/1`. A text without :// before its first /, ? or
 * # is read as [user@]host[:port][/...], without bytes up to 0x20 at both ends. Its host may have
 * only letters, digits, -, _ and ., and becomes lower case. Returns false if there is no host.
 * *host points into `text`, or into `buffer`, which has three times the bytes of `text` and 32
 * more. */
bool url_take_host(struct span text, char *buffer, struct span *host);

#endif
