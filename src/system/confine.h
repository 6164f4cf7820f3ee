/*
 * confine - least privilege: once its files are open, a process gives up access it does not need.
 *
 * Lines and filters come from strangers. If crafted input took over this process, it could open
 * only the files allowed here, could start no program with more rights and, as far as the kernel
 * supports it, could neither use TCP nor signal other processes. Files that are already open are
 * not affected, and names can still be looked up (stat, access, readlink).
 *
 * This uses Landlock, with all rights that the kernel's version (ABI) of it supports. Without
 * Landlock nothing is restricted, silently. But if the kernel has Landlock and a call fails, that
 * is a fault, because the user may rely on it.
 *
 * Threads and processes that are started later are confined, too, until they end. So a process is
 * confined before its first thread starts, and not at all if it runs a CMD. Builds with a sanitizer
 * are never confined, because the sanitizer opens files of its own at the end.
 */
#ifndef UNSEEN_SYSTEM_CONFINE_H
#define UNSEEN_SYSTEM_CONFINE_H

#include "system/fault.h"

#include <stdint.h>

enum confine_use {
    CONFINE_OPEN = 1,   /* read the file, or list the directory, but read nothing below it */
    CONFINE_READ = 2,   /* read files */
    CONFINE_LIST = 4,   /* list directories */
    CONFINE_REMOVE = 8, /* remove files */
    /* give an open file another name and flush that; not read or write others */
    CONFINE_RENAME = 16,
    CONFINE_WRITE = 32, /* write, make, rename and remove files; directories stay */
};

/* The rules so far. */
struct confine {
    int ruleset; /* a descriptor; -1: no Landlock, or it failed */
    uint64_t rights;
    uint64_t descriptors; /* how many may be open */
    int error;            /* errno of the first failure */
};

/* The kernel's version of Landlock; 0 if it has none, or in this build; -1 with errno. */
int confine_version(void);

/* Begins with nothing allowed. */
void confine_begin(struct confine *confine);

/* Allows these uses (enum confine_use) of the file that `path` leads to now, or of the directory
 * and of everything that is or will be below it. A path that leads nowhere is ignored. A file that
 * is replaced later is not allowed. Takes microseconds, and leaves a descriptor open, because on a
 * few file systems (9p) a file's inode changes when nobody has the file open. */
void confine_allow(struct confine *confine, const char *path, unsigned uses);

/* Allows these uses of the directory of the file that a path leads to, or would lead to. */
void confine_allow_place(struct confine *confine, const char *path, unsigned uses);

/* Confines this process. Returns 0, even without Landlock, or -1 with the fault. */
int confine_end(struct confine *confine, struct fault *fault);

#endif
