/*
 * part_text - a part of a list as it is written: I/N, such as 1/4; or only how many parts: N.
 */
#ifndef UNSEEN_COMMANDS_PART_TEXT_H
#define UNSEEN_COMMANDS_PART_TEXT_H

#include "core/shard.h"

/* Reads I/N, of which both are decimal digits alone, or after zeros (seq -w). `taker` is what was
 * given the text: "shard", "--shard". Returns 0, or EXIT_TROUBLE after a message. */
int part_text_read(const char *taker, const char *text, struct shard *shard);

/* The same of N, how many parts: shard->part is 0. */
int part_text_read_parts(const char *taker, const char *text, struct shard *shard);

#endif
