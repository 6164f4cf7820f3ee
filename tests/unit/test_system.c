/* What stands between the program and the system: locks, whole reads and writes, paths, mapped
 * files that fail. */
#include "io/output.h"
#include "system/lock.h"
#include "system/map.h"
#include "system/path.h"
#include "system/whole.h"

#include "scratch.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_new(const char *name)
{
    int fd = open(scratch_path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        exit(1);
    return fd;
}

static void locks(void)
{
    int one = open_new("locked"), two = open_new("locked");
    tap_check(lock_take(one, LOCK_CHANGE, false, NULL, NULL) == 0, "cannot be taken");
    tap_check(lock_ask(two, LOCK_CHANGE) == 1 && lock_is_held(two, LOCK_CHANGE), "not held");
    tap_check(lock_ask(one, LOCK_CHANGE) == 0, "held by somebody else, too");
    tap_check(lock_try(two, LOCK_CHANGE) == 0, "taken twice");
    tap_check(lock_try(two, LOCK_SLOT) == 1, "another lock is not free");
    lock_drop(one, LOCK_CHANGE);
    tap_check(lock_ask(two, LOCK_CHANGE) == 0, "not dropped");
    close(two);
    tap_check(lock_ask(one, LOCK_SLOT) == 0, "a closed file holds a lock");
    close(one);
    /* When it cannot be found out, that is no answer. */
    errno = 0;
    tap_check(lock_try(one, LOCK_CHANGE) == -1 && errno == EBADF, "a closed file was locked");
    tap_check(lock_take(one, LOCK_CHANGE, false, NULL, NULL) == -1, "a closed file was locked");
    tap_check(lock_ask(one, LOCK_CHANGE) == -1, "a closed file has an answer");
    tap_check(lock_is_held(one, LOCK_CHANGE), "in doubt it is held");
}

static void whole(void)
{
    char bytes[64];
    int fd = open_new("whole");
    tap_check(whole_write_at(fd, "0123456789", 10, 5) == 10, "not written");
    tap_check(whole_read_at(fd, bytes, 10, 5) == 10 && memcmp(bytes, "0123456789", 10) == 0,
              "something else is read");
    tap_check(whole_read_at(fd, bytes, sizeof bytes, 10) == 5 && errno == 0, "read past the end");
    tap_check(whole_allocate(fd, 1000, 1000) == 0 && lseek(fd, 0, SEEK_END) == 2000, "not longer");
    tap_check(whole_write(fd, "end", 3) == 3 && lseek(fd, 0, SEEK_END) == 2003, "not at its end");
    close(fd);
    tap_check(whole_read_at(fd, bytes, 10, 0) == 0 && errno == EBADF, "read from a closed file");
    tap_check(whole_write_at(fd, bytes, 10, 0) == 0 && errno == EBADF, "written to a closed file");
    tap_check(whole_write(fd, bytes, 10) == 0 && errno == EBADF, "written to a closed file");
    tap_check(whole_allocate(fd, 0, 10) == -1 && errno == EBADF, "blocks for a closed file");
}

static void directory_of(const char *path, const char *wanted, const char *last)
{
    char directory[PATH_MAX];
    const char *rest = path_directory(path, directory);
    tap_check(strcmp(directory, wanted) == 0, "%.40s lies in %.40s", path, directory);
    tap_check(strcmp(rest, last) == 0, "%.40s ends in %.40s", path, rest);
}

static void paths(void)
{
    static char path[PATH_MAX + 10], directory[PATH_MAX];
    directory_of("file", ".", "file");
    directory_of("/file", "/", "file");
    directory_of("a/b/file", "a/b", "file");
    directory_of("/a/file", "/a", "file");
    directory_of("a/", "a", "");
    memset(path, 'x', sizeof path - 1);
    path[PATH_MAX + 5] = '/';
    tap_check(strlen(path_directory(path, directory)) == 3, "the end of a long path is cut off");
    tap_check(strlen(directory) == PATH_MAX - 1, "it is %zu bytes long", strlen(directory));
}

static void outputs(void)
{
    struct output output;
    struct fault fault;
    tap_check(output_check(scratch_directory, &fault) != 0 && fault.error == EISDIR, "a directory");
    tap_check(output_check(scratch_path("no/where"), &fault) != 0 && fault.error == ENOENT,
              "a directory that is not there");
    tap_check(output_check(scratch_path("whole/file"), &fault) != 0 && fault.error == ENOTDIR,
              "under a file");
    tap_check(output_check("/dev/null/file", &fault) != 0, "under a device");
    tap_check(output_open(&output, scratch_path("no/where"), '\n', &fault) != 0, "opened");
    tap_check(output_check(scratch_path("new"), &fault) == 0, "%s", fault.reason);
    tap_check(access(scratch_path("new"), F_OK) != 0, "looking made it");
    /* Half a line is ended, but no whole one. */
    for (unsigned round = 0; round < 2; round++) {
        tap_check(output_open(&output, scratch_path("new"), '\n', &fault) == 0, "%s", fault.reason);
        tap_check(output_write(&output, "one\nhalf", 8, &fault) == 8, "%s", fault.reason);
        tap_check(output_write(&output, "", 0, &fault) == 0, "nothing is something");
        tap_check(output_sync(&output, &fault) == 0, "%s", fault.reason);
        tap_check(output_close(&output, &fault) == 0, "%s", fault.reason);
    }
    int fd = open(scratch_path("new"), O_RDONLY | O_CLOEXEC);
    char bytes[64];
    tap_check(whole_read_at(fd, bytes, sizeof bytes, 0) == 17 &&
                  memcmp(bytes, "one\nhalf\none\nhalf", 17) == 0,
              "it holds something else");
    close(fd);
    tap_check(output_close(&output, &fault) != 0 && fault.error == EBADF, "closed twice");
    tap_check(output_sync(&output, &fault) != 0 && fault.error == EBADF, "flushed when closed");
}

/* What becomes of a child that does `act`: its exit status, or 1000 and the signal. */
static int fate(void (*act)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(quiet, STDERR_FILENO);
        map_start();
        act();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(1);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Writes to a file that is cut off, in the last of so many maps. */
static void touch(unsigned maps)
{
    struct fault fault;
    int fd = open_new("cut");
    volatile char *map = NULL;
    if (ftruncate(fd, 4096) != 0)
        exit(1);
    for (unsigned i = 0; i < maps; i++)
        map = map_file(fd, true, 0, 4096, "cut", &fault);
    if (map == NULL || ftruncate(fd, 0) != 0)
        exit(1);
    *map = 1;
}

static void touch_named(void)
{
    touch(1);
}

static void touch_one_too_many(void)
{
    touch(300);
}

static void be_sent(void)
{
    raise(SIGBUS);
}

static void guards(void)
{
    tap_check(fate(touch_named) == 2, "a named map ended it with %d", fate(touch_named));
    tap_check(fate(touch_one_too_many) == 2, "one map too many ended it with %d",
              fate(touch_one_too_many));
    /* What comes from elsewhere is what it would have been. */
    tap_check(fate(be_sent) == 1000 + SIGBUS, "sent, it ended it with %d", fate(be_sent));
}

int main(void)
{
    scratch_make();
    tap_run("locks", locks);
    tap_run("whole reads and writes", whole);
    tap_run("directories of paths", paths);
    tap_run("outputs", outputs);
    tap_run("maps that fail", guards);
    return tap_end();
}
