/*
 * swap - for LD_PRELOAD: before the process opens SWAP_NAME for the SWAP_AT-th time, the file SWAP_WITH
 * takes that name.
 *
 * fcntl.h is not included, because it may make one name of two of these functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int open(const char *path, int flags, unsigned mode);
int open64(const char *path, int flags, unsigned mode);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

enum { HERE = -100 /* AT_FDCWD */ };

static int swap_and_open(const char *path, int flags, unsigned mode)
{
    static int opened;
    const char *name = getenv("SWAP_NAME");
    if (name != NULL && strcmp(path, name) == 0 && ++opened == atoi(getenv("SWAP_AT")))
        (void)rename(getenv("SWAP_WITH"), name);
    return (int)syscall(SYS_openat, HERE, path, flags, mode);
}

int open(const char *path, int flags, unsigned mode)
{
    return swap_and_open(path, flags, mode);
}

int open64(const char *path, int flags, unsigned mode)
{
    return swap_and_open(path, flags, mode);
}

int __open_2(const char *path, int flags)
{
    return swap_and_open(path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
    return swap_and_open(path, flags, 0);
}
