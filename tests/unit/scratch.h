/* scratch - a directory of the test program's own, gone when it ends: in memory where TMPDIR says
 * nothing, for most of what these tests wrote to a disk they would wait for it (some 10 MB). */
#ifndef UNSEEN_TESTS_SCRATCH_H
#define UNSEEN_TESTS_SCRATCH_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char scratch_directory[PATH_MAX / 2];
static pid_t scratch_owner;

static inline void scratch_remove(void)
{
    char command[PATH_MAX];
    /* Not by a child that was forked meanwhile. */
    if (getpid() != scratch_owner)
        return;
    snprintf(command, sizeof command, "rm -rf '%s'", scratch_directory);
    if (system(command) != 0) /* NOLINT(cert-env33-c): a fixed command */
        perror(scratch_directory);
}

static inline void scratch_make(void)
{
    const char *place = getenv("TMPDIR");
    if (place == NULL || place[0] == '\0')
        place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(scratch_directory, sizeof scratch_directory, "%s/unseen-test.XXXXXX", place);
    if (mkdtemp(scratch_directory) == NULL) {
        perror(scratch_directory);
        exit(1);
    }
    scratch_owner = getpid();
    atexit(scratch_remove);
}

/* The path of a file in it; good until the next call but three. */
static inline const char *scratch_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", scratch_directory, name);
    return path;
}

#endif
