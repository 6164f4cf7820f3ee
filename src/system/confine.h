/*
 * confine - least privilege: once its files are open, a process gives up what it no longer needs.
 *
 * Lines and filters come from strangers. Should one of them ever take over this process, it finds
 * that it can open nothing but what was allowed here, can start no program that has more rights,
 * and, as far as the kernel can, neither reach the network over TCP nor signal other processes.
 * What is open already stays as it was. Names can still be asked for (stat, access, readlink).
 *
 * This is Landlock, as much of it as the kernel says that it has: each version of its interface
 * (ABI) adds rights. Without Landlock nothing is restricted, and nobody hears of it. Where it is
 * there and fails, that is a fault: whoever relies on it must not be wrong.
 *
 * Threads and processes that are started later are confined, too, for ever: so it comes before
 * the first thread, and never before a CMD of the user. Not in a build with a sanitizer, which
 * opens files of its own at the end.
 */
#ifndef UNSEEN_SYSTEM_CONFINE_H
#define UNSEEN_SYSTEM_CONFINE_H

#include "system/fault.h"

#include <stdint.h>

enum confine_use {
    CONFINE_READ = 1,   /* read files, list directories */
    CONFINE_REMOVE = 2, /* remove files */
    CONFINE_WRITE = 4,  /* write, make, rename and remove files; directories stay */
};

/* What is allowed so far. */
struct confine {
    int ruleset; /* a descriptor; -1: there is no Landlock, or it fails */
    uint64_t rights;
    uint64_t descriptors; /* so many may be open */
    int error;            /* errno of the first failure */
};

/* The kernel's version of Landlock; 0 if it has none, or this build does without; -1 with errno. */
int confine_version(void);

/* Begins with nothing allowed. */
void confine_begin(struct confine *confine);

/* Allows these uses (enum confine_use) of what a path leads to now: a file; or a directory, and
 * then of all that is or ever will be below it. A path that leads nowhere is passed over. What is
 * put in a file's place later is not allowed. Some microseconds, and a descriptor that stays open:
 * a few file systems (9p) have another inode for a file once nobody has it open. */
void confine_allow(struct confine *confine, const char *path, unsigned uses);

/* The same for the directory of the file that a path leads to, or would lead to. */
void confine_allow_place(struct confine *confine, const char *path, unsigned uses);

/* Confines this process. Returns 0, also without Landlock, or -1 with the fault. */
int confine_end(struct confine *confine, struct fault *fault);

#endif
