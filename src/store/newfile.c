#include "store/newfile.h"

#include "store/store.h"
#include "system/beside.h"
#include "system/network.h"
#include "system/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

struct newfile {
    struct newfile_plan plan;
    char target[PATH_MAX]; /* the path, symbolic links followed if it exists */
    char directory[PATH_MAX];
    char temporary[NEWFILE_NAME_MAX]; /* empty: the file has its own name, or none */
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
    mode_t mode = file->plan.secret || file->plan.like != NULL ? 0600 : 0666;
    struct stat old;
    if (file->plan.over && stat(file->target, &old) == 0)
        mode &= old.st_mode | 0600;
    return mode;
}

/* Opens it under a temporary name: that of the suffix, if there must be one and it is free. */
static int open_temporary(struct newfile *file)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    char any[8];
    const char *suffix = file->plan.suffix;
    for (unsigned attempt = 0; file->fd < 0 && attempt < 100; attempt++) {
        unsigned number = 0;
        if (suffix == NULL && getrandom(&number, sizeof number, 0) < 0)
            break;
        if (suffix == NULL)
            snprintf(any, sizeof any, ".%06x", number & 0xffffff);
        newfile_temporary_name(file->target, suffix != NULL ? suffix : any, file->temporary);
        file->fd = open(file->temporary, flags, creation_mode(file));
        if (file->fd < 0 && errno != EEXIST)
            break;
        suffix = NULL;
    }
    if (file->fd < 0)
        file->temporary[0] = '\0';
    else if (file->plan.like != NULL)
        beside_take_after(file->fd, file->plan.like);
    return file->fd < 0 ? -1 : 0;
}

/* Gives the file its name if nothing has that. renameat2(2) is asked of the system itself, since
 * not every libc has it; NFS and some others do without, but have links. */
static int rename_to_free(const struct newfile *file)
{
    if (syscall(SYS_renameat2, AT_FDCWD, file->temporary, AT_FDCWD, file->target,
                RENAME_NOREPLACE) == 0)
        return 0;
    if ((errno != EINVAL && errno != ENOSYS) || link(file->temporary, file->target) != 0)
        return -1;
    unlink(file->temporary);
    return 0;
}

static int give_name(struct newfile *file)
{
    int result = file->plan.over ? rename(file->temporary, file->target) : rename_to_free(file);
    if (result != 0)
        return errno == EEXIST ? 1 : -1;
    file->temporary[0] = '\0';
    return 0;
}

int newfile_end(struct newfile *file)
{
    int named = fsync(file->fd) == 0 ? give_name(file) : -1;
    if (named == 0)
        path_sync_directory(file->target);
    return named;
}

int newfile_make(const struct newfile_plan *plan)
{
    int fd;
    struct newfile *file = newfile_begin(plan, &fd);
    if (file == NULL)
        return -1;
    int result = plan->fill(fd, plan->context) == 0 ? newfile_end(file) : -1;
    int error = errno;
    newfile_free(file);
    errno = error;
    return result;
}

struct newfile *newfile_begin(const struct newfile_plan *plan, int *fd)
{
    struct newfile *file = calloc(1, sizeof *file);
    if (file == NULL)
        return NULL;
    file->plan = *plan;
    file->fd = -1;
    bool begun = find_directory(file) == 0 && open_temporary(file) == 0;
    *fd = file->fd;
    if (begun)
        return file;
    int error = errno;
    free(file);
    errno = error;
    return NULL;
}

void newfile_free(struct newfile *file)
{
    if (file == NULL)
        return;
    if (file->temporary[0] != '\0')
        unlink(file->temporary);
    close(file->fd);
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
static int look(const char *path, unsigned over, struct fault *fault)
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
    if (status.st_size == 0 && (over & OVER_EMPTY) != 0)
        return PLACE_REPLACEABLE;
    if ((over & OVER_FILTER) == 0)
        return PLACE_TAKEN;
    if (newfile_is_filter(path))
        return PLACE_REPLACEABLE;
    if (access(path, R_OK) != 0)
        return fault_errno(fault, path, NULL, errno);
    fault_set(fault, path, "is not a filter, and --force replaces only filters");
    return fault_way_out(fault, "remove it first, or name another file");
}

int newfile_look(const char *path, unsigned over, struct fault *fault)
{
    struct stat status;
    char directory[PATH_MAX];
    int there = look(path, over, fault);
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
