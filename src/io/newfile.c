#include "io/newfile.h"

#include "io/side_file.h"
#include "system/io.h"
#include "system/lock.h"
#include "system/machine.h"
#include "system/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DIGITS = 6 }; /* of the number in a temporary name */

struct newfile {
    const struct newfile_plan *plan;
    char target[PATH_MAX]; /* the path, symbolic links followed if it exists */
    char temporary[PATH_MAX + 16];
    int fd;
};

/* Removes temporary files with this prefix that dead processes left. */
static void remove_leftovers(const struct newfile *file, const char *prefix)
{
    char directory[PATH_MAX], path[PATH_MAX + 16];
    const struct newfile_plan *plan = file->plan;
    const char *name = path_directory(file->target, directory);
    size_t length = strlen(prefix);
    DIR *entries = opendir(directory);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        uint8_t begin[16];
        struct stat status;
        const char *found = entry->d_name;
        if (strncmp(found, prefix, length) != 0 || strlen(found) != length + DIGITS ||
            strspn(found + length, "0123456789abcdef") != DIGITS)
            continue;
        snprintf(path, sizeof path, "%.*s%s", (int)(name - file->target), file->target, found);
        int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
            continue;
        /* While this process holds the lock, nobody can begin to fill the file. */
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && lock_try(fd, LOCK_MAKING) > 0 &&
            (status.st_size == 0 ||
             (io_read_at(fd, begin, plan->mark_bytes, 0) == plan->mark_bytes &&
              memcmp(begin, plan->mark, plan->mark_bytes) == 0)) &&
            path_leads_to(path, fd))
            unlink(path);
        close(fd);
    }
    if (entries != NULL)
        closedir(entries);
}

/* The temporary name is a dot, which hides it from a shell's *, the name of the file, truncated if
 * need be, the program's and a number. The file is locked before it has any bytes, so a file
 * without a lock was left; unless it is so new that who removes it has the lock, or had it. */
static int open_temporary(struct newfile *file)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    char prefix[NAME_MAX + 1];
    const struct newfile_plan *plan = file->plan;
    struct stat old = {.st_mode = 0};
    bool like = plan->like != NULL || (plan->over && stat(file->target, &old) == 0);
    if (plan->secret)
        old.st_mode &= 0700;
    const char *name = strrchr(file->target, '/');
    name = name != NULL ? name + 1 : file->target;
    snprintf(prefix, sizeof prefix, ".%.*s.unseen-", NAME_MAX - 9 - DIGITS, name);
    remove_leftovers(file, prefix);
    file->fd = -1;
    for (unsigned attempt = 0; attempt < 100 && file->fd < 0; attempt++) {
        unsigned number = (unsigned)random_word() & 0xffffff;
        snprintf(file->temporary, sizeof file->temporary, "%.*s%s%06x", (int)(name - file->target),
                 file->target, prefix, number);
        file->fd = open(file->temporary, flags, like || plan->secret ? 0600 : 0666);
        if (file->fd < 0 && errno != EEXIST)
            break;
        if (file->fd >= 0 &&
            (lock_try(file->fd, LOCK_MAKING) == 0 || !path_leads_to(file->temporary, file->fd))) {
            close(file->fd);
            file->fd = -1;
            errno = EEXIST;
        }
    }
    if (file->fd >= 0 && like)
        side_file_copy_owner(file->fd, plan->like != NULL ? plan->like : &old);
    return file->fd < 0 ? -1 : 0;
}

/* Gives the file its name if no file has it. renameat2(2) is called directly, because not every
 * libc has it. NFS and some other file systems do not support it, but have hard links. */
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

int newfile_make(const struct newfile_plan *plan)
{
    struct newfile file = {.plan = plan};
    if (realpath(plan->path, file.target) == NULL) {
        if (errno != ENOENT && errno != ENOTDIR)
            return -1;
        snprintf(file.target, sizeof file.target, "%s", plan->path);
    }
    /* The temporary name must fit, too. */
    if (strlen(file.target) >= sizeof file.target - 16) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (open_temporary(&file) != 0)
        return -1;
    int result = -1;
    if (io_write_at(file.fd, plan->mark, plan->mark_bytes, 0) == plan->mark_bytes &&
        plan->fill(file.fd, plan->context) == 0 && fsync(file.fd) == 0) {
        result = plan->over ? rename(file.temporary, file.target) : rename_to_free(&file);
        if (result != 0 && errno == EEXIST)
            result = 1;
    }
    int error = errno;
    if (result == 0)
        path_sync_directory(file.target);
    else
        unlink(file.temporary);
    close(file.fd);
    errno = error;
    return result;
}
