#include "store/newfile.h"

#include "store/store.h"
#include "system/beside.h"
#include "system/network.h"
#include "system/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct newfile {
    struct newfile_plan plan;
    char target[PATH_MAX]; /* the path, symbolic links followed if it exists */
    char directory[PATH_MAX];
    char temporary[NEWFILE_NAME_MAX]; /* empty: the file has no name yet */
    int fd;
};

static int find_directory(struct newfile *file)
{
    const char *path = file->plan.path;
    if (realpath(path, file->target) == NULL) {
        if (errno != ENOENT && errno != ENOTDIR)
            return -1;
        snprintf(file->target, sizeof file->target, "%s", path);
    }
    /* With a temporary name, too. */
    if (strlen(file->target) >= sizeof file->target - 16) {
        errno = ENAMETOOLONG;
        return -1;
    }
    path_directory(file->target, file->directory);
    return 0;
}

void newfile_temporary_name(const char *target, const char *suffix, char name[NEWFILE_NAME_MAX])
{
    const char *slash = strrchr(target, '/');
    const char *last = slash != NULL ? slash + 1 : target;
    snprintf(name, NEWFILE_NAME_MAX, "%.*s.%.*s%s", (int)(last - target), target,
             (int)(NAME_MAX - 1 - strlen(suffix)), last, suffix);
}

static mode_t creation_mode(const struct newfile *file)
{
    mode_t mask = umask(0);
    mode_t mode = file->plan.secret ? 0600 : 0666;
    struct stat old;
    umask(mask);
    if (file->plan.over && stat(file->target, &old) == 0)
        mode &= old.st_mode | 0600;
    return mode & ~mask;
}

static int open_named(struct newfile *file)
{
    file->fd = -1;
    if (file->plan.suffix != NULL) {
        newfile_temporary_name(file->target, file->plan.suffix, file->temporary);
        file->fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    if (file->fd < 0) {
        newfile_temporary_name(file->target, ".XXXXXX", file->temporary);
        file->fd = mkostemp(file->temporary, O_CLOEXEC);
    }
    if (file->fd < 0) {
        file->temporary[0] = '\0';
        return -1;
    }
    if (file->plan.like == NULL)
        return fchmod(file->fd, creation_mode(file));
    beside_take_after(file->fd, file->plan.like);
    return 0;
}

static int open_nameless(struct newfile *file)
{
    file->fd = open(file->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, creation_mode(file));
    if (file->fd >= 0 && file->plan.like != NULL)
        beside_take_after(file->fd, file->plan.like);
    return file->fd < 0 ? -1 : 0;
}

/* Gives the nameless file the name `name`. */
static int give_name(struct newfile *file, const char *name)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* A name for a moment, for a rename over what is there. */
static int give_temporary_name(struct newfile *file)
{
    if (file->temporary[0] != '\0')
        return 0;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        unsigned number = 0;
        char any[8];
        if (getrandom(&number, sizeof number, 0) < 0)
            return -1;
        snprintf(any, sizeof any, ".%06x", number & 0xffffff);
        if (attempt == 0 && file->plan.suffix != NULL)
            newfile_temporary_name(file->target, file->plan.suffix, file->temporary);
        else
            newfile_temporary_name(file->target, any, file->temporary);
        if (give_name(file, file->temporary) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    file->temporary[0] = '\0';
    return -1;
}

int newfile_name(struct newfile *file)
{
    if (file->plan.over && file->plan.may_be_absent && file->temporary[0] == '\0') {
        if (unlink(file->target) != 0 || give_name(file, file->target) != 0)
            return errno == EEXIST ? 1 : -1;
    } else if (file->plan.over) {
        if (give_temporary_name(file) != 0 || rename(file->temporary, file->target) != 0)
            return -1;
        file->temporary[0] = '\0';
    } else if (file->temporary[0] != '\0') {
        if (link(file->temporary, file->target) != 0)
            return errno == EEXIST ? 1 : -1;
        unlink(file->temporary);
        file->temporary[0] = '\0';
    } else if (give_name(file, file->target) != 0) {
        return errno == EEXIST ? 1 : -1;
    }
    return 0;
}

/* What is left is to make the name last. Not all file systems can. */
void newfile_flush_name(const struct newfile *file, const struct newfile *before)
{
    if (before != NULL && path_is_same(file->directory, before->directory))
        return;
    int directory = open(file->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        fsync(directory);
        close(directory);
    }
}

static void drop(struct newfile *file)
{
    if (file->temporary[0] != '\0')
        unlink(file->temporary);
    if (file->fd >= 0)
        close(file->fd);
}

int newfile_flush(struct newfile *file)
{
    return fsync(file->fd);
}

int newfile_end(struct newfile *file)
{
    int named = newfile_flush(file) == 0 ? newfile_name(file) : -1;
    if (named == 0)
        newfile_flush_name(file, NULL);
    return named;
}

/* One attempt, with or without a name from the start. */
static int attempt(struct newfile *file, bool named)
{
    file->fd = -1;
    file->temporary[0] = '\0';
    bool whole = (named ? open_named(file) : open_nameless(file)) == 0 &&
                 file->plan.fill(file->fd, file->plan.context) == 0;
    int result = whole ? newfile_end(file) : -1;
    int error = errno;
    drop(file);
    errno = error;
    return result;
}

/* Errors that a temporary name would not help against. */
static bool is_final(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EINTR;
}

int newfile_make(const struct newfile_plan *plan)
{
    struct newfile file = {.plan = *plan};
    if (find_directory(&file) != 0)
        return -1;
    int result = attempt(&file, false);
    return result < 0 && !is_final(errno) ? attempt(&file, true) : result;
}

/* Whether a nameless file can get its name, which goes through /proc. */
static bool can_be_named(const struct newfile *file)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
    return access(link, F_OK) == 0;
}

struct newfile *newfile_begin(const struct newfile_plan *plan, int *fd)
{
    struct newfile *file = calloc(1, sizeof *file);
    if (file == NULL)
        return NULL;
    file->plan = *plan;
    file->fd = -1;
    bool begun = find_directory(file) == 0;
    if (begun && (open_nameless(file) != 0 || !can_be_named(file))) {
        drop(file);
        begun = open_named(file) == 0;
    }
    *fd = file->fd;
    if (begun)
        return file;
    int error = errno;
    newfile_free(file);
    errno = error;
    return NULL;
}

void newfile_allow(const struct newfile *file, const struct newfile *before,
                   struct confine *confine)
{
    if (before == NULL || strcmp(file->directory, before->directory) != 0)
        confine_allow(confine, file->directory, CONFINE_READ | CONFINE_WRITE);
}

void newfile_free(struct newfile *file)
{
    if (file != NULL)
        drop(file);
    free(file);
}

bool newfile_is_filter(const char *path)
{
    struct stat status;
    /* A FIFO would be waited for, and who writes to it would take this for its reader; nor is one
     * waited for that takes the name just now. */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is = store_begins(fd);
    close(fd);
    return is;
}

/* What stands there, without a look at the file system that it stands on. */
static int look(const char *path, bool replace, struct fault *fault)
{
    struct stat status;
    while (stat(path, &status) != 0) {
        if (errno != ENOENT)
            return fault_errno(fault, path, NULL, errno);
        if (lstat(path, &status) != 0)
            return PLACE_FREE;
        /* Else it was made just now. */
        if (S_ISLNK(status.st_mode)) {
            fault_set(fault, path, "is a symbolic link to a file that does not exist");
            return fault_way_out(fault, "name the file itself");
        }
    }
    if (S_ISDIR(status.st_mode))
        return fault_errno(fault, path, NULL, EISDIR);
    if (!S_ISREG(status.st_mode))
        return fault_set(fault, path, "is not a regular file");
    if (status.st_size == 0)
        return PLACE_REPLACEABLE;
    if (!replace)
        return PLACE_TAKEN;
    if (newfile_is_filter(path))
        return PLACE_REPLACEABLE;
    fault_set(fault, path, "is not a filter, and --force replaces only filters");
    return fault_way_out(fault, "remove it first, or name another file");
}

int newfile_look(const char *path, bool replace, struct fault *fault)
{
    struct stat status;
    char directory[PATH_MAX];
    int there = look(path, replace, fault);
    if (there < 0 || there == PLACE_TAKEN)
        return there;
    if (there == PLACE_FREE && path_check_directory(path, fault) != 0)
        return -1;
    if (there == PLACE_REPLACEABLE && stat(path, &status) != 0)
        return fault_errno(fault, path, NULL, errno);
    if (there == PLACE_REPLACEABLE && path_check_replaceable(path, &status, fault) != 0)
        return -1;
    path_directory(path, directory);
    const char *place = there == PLACE_FREE ? directory : path;
    return network_check_place(place, path, fault) == 0 ? there : -1;
}
