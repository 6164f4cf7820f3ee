/*
 * url - the normal form of a URL: `url/2`, what a browser would ask for in the form of RFC 3986
 * sections 6.2.2 and 6.2.3. Where that leaves a choice, the special schemes (http, https, ws, wss,
 * ftp) follow the WHATWG URL Standard.
 *
 *   1. Bytes up to 0x20 at both ends are removed, once; then TAB, CR and LF anywhere. In special
 *      schemes a \ before the first ? or # is a slash.
 *   2. Everything from the first # on is removed, unless it is a route: #! or #/, and what follows.
 *   3. The scheme is in lower case.
 *   4. Of user info an empty one is removed with its @, and an empty password with its colon if
 *      that is the first one. Leading zeros of a port are removed; an empty port, or the scheme's
 *      default port, is removed with its colon. A host in brackets is an address of IPv6 (ipv6.h).
 *      Of any other host %HH is decoded, and ASCII is in lower case; labels with bytes beyond ASCII
 *      become Punycode if they are UTF-8 and fit (punycode.h), without any mapping; then all but
 *      letters, digits and -._~!$&'()*+,;= becomes %HH.
 *   5. An empty path becomes "/".
 *   6. %HH is decoded if it stands for a letter, a digit or one of - . _ ~, but not where it would
 *      make a %HH of a % before it; otherwise its digits become upper case. Any other % is kept.
 *      Bytes up to 0x20, from 0x7f on and one of " < > \ ^ ` { | } become %HH; so do [ ] outside a
 *      route, and ' in the query of a special scheme.
 *   7. Dot segments of the path are removed (RFC 3986, section 5.2.4), after rule 6.
 *   8. The query is kept as rule 6 leaves it.
 *
 * A URL in normal form stays as it is. No rule could merge two different pages: the query is not
 * sorted, and no slash is removed. `host/2` is its host alone.
 */
#ifndef UNSEEN_KEY_URL_H
#define UNSEEN_KEY_URL_H

#include "key/span.h"

#include <stdbool.h>

/* The longest URL, in bytes; a longer line is not a URL (keyer.c checks). */
enum { URL_MAX = 65536 };

/* The most bytes of the normal form of n bytes. Each becomes three at most, as %HH. Beyond that,
 * one character of two bytes adds `xn--`, a dash and up to four digits to its label: with 16 bytes
 * or more that become %HH, and its dot, a label of n bytes becomes 3n + 1, and the last one,
 * without a dot, 3n + 3. A path that was empty becomes a slash. An address grows by one byte, where
 * :: is one group. */
#define URL_WRITTEN(n) (3 * (n) + (n) / 16 + 4)
enum { URL_WRITTEN_MAX = URL_WRITTEN(URL_MAX) };

/* The bytes of a buffer: for the normal form, with 96 more that steps on the way need; and for the
 * line after rule 1. */
enum { URL_ROOM = URL_WRITTEN_MAX + 96 + URL_MAX };

/* The parts of a URL, as in the line after rule 1 or in normal form. */
struct url {
    struct span scheme; /* without :// */
    struct span user;   /* without its @; empty if it is to be removed */
    struct span host;
    struct span port; /* without its : and leading zeros; empty if it is to be removed */
    struct span path;
    struct span query; /* with its ?; empty if there is none */
    struct span route; /* with its #; empty if there is none */
    bool special;      /* the scheme */
};

/* Finds the parts of a URL of at most URL_MAX bytes: in `text`, or at the end of `buffer`, which
 * has URL_ROOM bytes, if rule 1 changes more than the ends. Returns false if the text is not a URL:
 * no scheme, no host, a port that is not a number, or a bracket outside an address of IPv6. */
bool url_split(struct span text, char *buffer, struct url *url);

/* Writes `url` in normal form to `buffer`, the one of url_split, and makes the parts of `url` point
 * there. Returns the whole URL, at most URL_WRITTEN_MAX bytes. Takes time linear in the bytes. */
struct span url_write(struct url *url, char *buffer);

/* A quick test whether a line is a URL in normal form, as nearly all are: 8 ns, against about 80
 * for making the normal form. If true, url_write would change nothing; if false, it may or may not.
 * True for http:// or https://, a host of 1 to 31 bytes with none from ':' to '`', a slash, and
 * then nothing that the rules could change, and no '. */
bool url_is_normal(struct span line);

/* Reduces a URL of at most URL_MAX bytes to its host, in normal form without one dot at its end:
 * `host/2`. A text without :// before its first /, ? or # is read as [user@]host[:port][/...] after
 * rule 1. Its host, with %HH decoded, may have only letters, digits, -, _, . and bytes beyond
 * ASCII, or is an address in brackets; its port has at most 5 digits, and a host with a colon
 * behind it must not be a special scheme, mailto, tel, data or javascript. Returns false if there
 * is no host. *host points into `text`, or into `buffer`, which has URL_ROOM bytes. */
bool url_take_host(struct span text, char *buffer, struct span *host);

#endif
