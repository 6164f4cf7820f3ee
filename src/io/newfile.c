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

/* Removes temporary files with this prefix that dead processes left. */
static void remove_leftovers(const struct newfile_plan *plan, const char *target,
                             const char *prefix)
{
    char directory[PATH_MAX], path[PATH_MAX + 16];
    const char *name = path_directory(target, directory);
    size_t length = strlen(prefix);
    DIR *entries = opendir(directory);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        uint8_t begin[16];
        struct stat status;
        const char *found = entry->d_name;
        if (strncmp(found, prefix, length) != 0 || strlen(found) != length + DIGITS ||
            strspn(found + length, "0123456789abcdef") != DIGITS)
            continue;
        snprintf(path, sizeof path, "%.*s%s", (int)(name - target), target, found);
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

int newfile_make(const struct newfile_plan *plan)
{
    char target[PATH_MAX], temporary[PATH_MAX + 16], prefix[NAME_MAX + 1];
    struct stat old = {.st_mode = 0};
    int fd = -1, result = -1, error;
    /* 1. Symbolic links are followed. The temporary name must fit, too. */
    if (realpath(plan->path, target) == NULL) {
        if (errno != ENOENT && errno != ENOTDIR)
            return -1;
        snprintf(target, sizeof target, "%s", plan->path);
    }
    if (strlen(target) >= sizeof target - 16) {
        errno = ENAMETOOLONG;
        return -1;
    }
    bool like = plan->like != NULL || (plan->over && stat(target, &old) == 0);
    if (plan->secret)
        old.st_mode &= 0700;

    /* 2. The temporary name is a dot, which hides it from a shell's *, the name of the file,
     * truncated if need be, the program's and a number. The file is locked before it has any bytes,
     * so a file without a lock was left; unless it is so new that who removes it has the lock, or
     * had it. */
    const char *name = strrchr(target, '/');
    name = name != NULL ? name + 1 : target;
    snprintf(prefix, sizeof prefix, ".%.*s.unseen-", NAME_MAX - 9 - DIGITS, name);
    remove_leftovers(plan, target, prefix);
    for (unsigned attempt = 0; attempt < 100 && fd < 0; attempt++) {
        snprintf(temporary, sizeof temporary, "%.*s%s%06x", (int)(name - target), target, prefix,
                 (unsigned)random_word() & 0xffffff);
        fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                  like || plan->secret ? 0600 : 0666);
        if (fd < 0 && errno != EEXIST)
            break;
        if (fd >= 0 && (lock_try(fd, LOCK_MAKING) == 0 || !path_leads_to(temporary, fd))) {
            close(fd);
            fd = -1;
            errno = EEXIST;
        }
    }
    if (fd < 0)
        return -1;
    if (like)
        side_file_copy_owner(fd, plan->like != NULL ? plan->like : &old);

    /* 3. It is filled, flushed and renamed: to replace a file, or only if no file has the name.
     * renameat2(2) is called directly, because not every libc has it. NFS and some other file
     * systems do not support it, but have hard links. */
    if (io_write_at(fd, plan->mark, plan->mark_bytes, 0) == plan->mark_bytes &&
        plan->fill(fd, plan->context) == 0 && fsync(fd) == 0) {
        if (plan->over)
            result = rename(temporary, target);
        else
            result = (int)syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, target,
                                  RENAME_NOREPLACE);
        if (result != 0 && !plan->over && (errno == EINVAL || errno == ENOSYS)) {
            result = link(temporary, target);
            if (result == 0)
                unlink(temporary);
        }
        if (result != 0 && errno == EEXIST)
            result = 1;
    }
    error = errno;
    if (result == 0)
        path_sync_directory(target);
    else
        unlink(temporary);
    close(fd);
    errno = error;
    return result;
}
