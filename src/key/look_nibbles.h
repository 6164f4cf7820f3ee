/*
 * look_nibbles - the bytes that a URL may have, as two tables of 16 entries, since a vector looks
 * up 16 entries for all its bytes at once: a byte may be there if the entry of its low half and
 * that of its high half have a bit in common. The entry of a high half is a bit of its own, or
 * none if no such byte may be there; that of a low half has the bits of all high halves with which
 * it makes one that may.
 *
 *   bit   2 to 7 are its high half's own; so bytes from 0x80 on have none
 *   0x20  ! $ % & ' ( ) * + , - . /     and bit 1 for %
 *   0x30  0-9 : ; = ?                   and bit 0 for : and ?
 *   0x40  @ A-O
 *   0x50  P-Z _
 *   0x60  a-o
 *   0x70  p-z ~
 *
 * So the bits in common also say what is not in a host: LOOK_UNFIT. That is one operation, for the
 * price of the _ that some hosts have.
 */
#ifndef UNSEEN_KEY_LOOK_NIBBLES_H
#define UNSEEN_KEY_LOOK_NIBBLES_H

#include <stdint.h>

static const uint8_t look_high_nibbles[16] = {0, 0, 6, 9, 16, 32, 64, 128};
static const uint8_t look_low_nibbles[16] = {184, 252, 248, 248, 252, 254, 252, 252,
                                             252, 252, 253, 92,  84,  92,  212, 125};

/* The same for %HH that stay: 0-9 and A-F are entries 0 to 15, and the two digits have a bit in
 * common if they do not stand for one of these.
 *
 *   first digit  stays with
 *   2            all but D and E (- .)
 *   3            A-F
 *   4 and 6      0
 *   5            B-E
 *   7            B C D F
 *   others       all
 */
static const uint8_t look_first_digits[16] = {32, 32, 1,  2,  4,  8,  4,  16,
                                              32, 32, 32, 32, 32, 32, 32, 32};
static const uint8_t look_second_digits[16] = {37, 33, 33, 33, 33, 33, 33, 33,
                                               33, 33, 35, 59, 59, 58, 42, 51};

enum { LOOK_PERCENT = 2, LOOK_UNFIT = 1 | LOOK_PERCENT | 16 | 32 };

#endif
