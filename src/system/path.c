#include "system/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

const char *path_directory(const char *path, char directory[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        strcpy(directory, ".");
        return path;
    }
    /* The root keeps its slash. */
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    snprintf(directory, PATH_MAX, "%.*s", length < PATH_MAX ? (int)length : PATH_MAX - 1, path);
    return slash + 1;
}

void path_sync_directory(const char *path)
{
    char directory[PATH_MAX];
    path_directory(path, directory);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
}

int path_check_directory(const char *path, struct fault *fault)
{
    char directory[PATH_MAX];
    path_directory(path, directory);
    if (access(directory, W_OK | X_OK) == 0)
        return 0;
    fault_errno(fault, path, NULL, errno);
    return fault_way_out(fault,
                         fault->error == ENOENT ? "there is no directory %s"
                                                : "no files can be created in the directory %s",
                         directory);
}

static int stat_around(const char *path, struct stat *around)
{
    char directory[PATH_MAX];
    path_directory(path, directory);
    return stat(directory, around);
}

int path_check_replaceable(const char *path, const struct stat *file, struct fault *fault)
{
    struct stat named, around, target, around_target;
    char real[PATH_MAX];
    if (lstat(path, &named) != 0 || stat_around(path, &around) != 0 ||
        realpath(path, real) == NULL || lstat(real, &target) != 0 ||
        stat_around(real, &around_target) != 0)
        return fault_errno(fault, path, NULL, errno);
    if (!path_same_file(&target, file)) {
        fault_set(fault, path, "was replaced during this run");
        return fault_temporary(fault);
    }
    uid_t user = geteuid();
    /* The owner of a link decides where it leads. In a directory with the sticky bit, only the
     * directory's owner is trusted besides this user, because he can replace the link anyway. */
    if (S_ISLNK(named.st_mode) && (around.st_mode & S_ISVTX) != 0 && named.st_uid != user &&
        named.st_uid != around.st_uid) {
        fault_set(fault, path,
                  "is a symbolic link that another user may have made, and is not followed in a "
                  "directory with the sticky bit");
        return fault_way_out(fault, "name the file itself");
    }
    if ((around_target.st_mode & S_ISVTX) == 0 || user == file->st_uid ||
        (user == 0 && file->st_uid == around_target.st_uid))
        return 0;
    fault_set(fault, path,
              "belongs to another user, and is not replaced in a directory with the sticky bit");
    return fault_way_out(fault, "name another file");
}

bool path_leads_to(const char *name, int fd)
{
    struct stat named, status;
    return lstat(name, &named) == 0 && fstat(fd, &status) == 0 && path_same_file(&named, &status);
}

bool path_is_overlaid(int fd)
{
    struct statfs status;
    return fstatfs(fd, &status) == 0 && status.f_type == 0x794c7630;
}

/* Called directly, because not every libc has it; so <linux/stat.h> cannot be used, either. */
uint64_t path_birth(const char *path)
{
    enum { BIRTH = 0x800 };
    struct {
        uint32_t mask, before[19];
        int64_t seconds;
        uint32_t nanoseconds, after[41];
    } facts = {.mask = 0};
    _Static_assert(sizeof facts == 256, "struct statx");
    _Static_assert(offsetof(__typeof__(facts), seconds) == 80, "stx_btime");
    if (syscall(SYS_statx, AT_FDCWD, path, 0, BIRTH, &facts) != 0 || (facts.mask & BIRTH) == 0)
        return 0;
    return (uint64_t)facts.seconds * 1000000000 + facts.nanoseconds;
}

bool path_is_same(const char *a, const char *b)
{
    struct stat status_a, status_b;
    return stat(a, &status_a) == 0 && stat(b, &status_b) == 0 &&
           path_same_file(&status_a, &status_b);
}

bool path_is_same_name(const char *a, const char *b)
{
    char directory_a[PATH_MAX], directory_b[PATH_MAX];
    const char *last_a = path_directory(a, directory_a);
    const char *last_b = path_directory(b, directory_b);
    return strcmp(last_a, last_b) == 0 && path_is_same(directory_a, directory_b);
}

/* --- file systems that are shared --- */

static const char fuse[] = "FUSE";

static const struct {
    unsigned long type;
    const char *name;
} systems[] = {
    {0x6969, "NFS"},          {0x517b, "SMB"},        {0xff534d42, "SMB"},
    {0xfe534d42, "SMB"},      {0x65735546, fuse},     {0x01021997, "9p"},
    {0x0bd00bd0, "Lustre"},   {0x00c36400, "Ceph"},   {0x5346414f, "AFS"},
    {0x6b414653, "AFS"},      {0x47504653, "GPFS"},   {0x19830326, "BeeGFS"},
    {0x20030528, "OrangeFS"}, {0x73757245, "Coda"},   {0x7461636f, "OCFS2"},
    {0x01161970, "GFS2"},     {0x786f4256, "vboxsf"}, {0xbacbacbc, "vmhgfs"},
};

static bool allowed;

void network_allow(void)
{
    allowed = true;
}

/* fuseblk has a disk of its own, and fuse-overlayfs is for containers without root. Only the list
 * of mounts tells them from other FUSE: "36 35 0:42 /root /point rw tag:1 - type source rw". It has
 * blanks in names as \040. */
static bool is_local_fuse(int fd)
{
    struct stat status;
    char device[32], *line = NULL;
    size_t size = 0;
    bool found = false;
    FILE *mounts = fstat(fd, &status) == 0 ? fopen("/proc/self/mountinfo", "re") : NULL;
    if (mounts == NULL)
        return false;
    snprintf(device, sizeof device, " %u:%u /", major(status.st_dev), minor(status.st_dev));
    while (!found && getline(&line, &size, mounts) > 0)
        found = strstr(line, device) != NULL &&
                (strstr(line, " - fuseblk ") != NULL || strstr(line, " - fuseblk.") != NULL ||
                 strstr(line, " - fuse.fuse-overlayfs ") != NULL);
    free(line);
    fclose(mounts);
    return found;
}

int network_check(int fd, const char *path, struct fault *fault)
{
    if (allowed)
        return 0;
    struct statfs status;
    const char *name = fuse; /* if fstatfs fails: some FUSE servers do not support it */
    if (fstatfs(fd, &status) == 0) {
        name = NULL;
        for (size_t i = 0; name == NULL && i < sizeof systems / sizeof *systems; i++)
            if (systems[i].type == ((unsigned long)status.f_type & 0xffffffff))
                name = systems[i].name;
    }
    if (name == NULL || (name == fuse && is_local_fuse(fd)))
        return 0;
    fault_set(fault, path, "is on %s, which other machines may share", name);
    return fault_way_out(fault, "if only this machine writes to it: --allow-network");
}

int network_check_place(const char *place, const char *path, struct fault *fault)
{
    int fd = open(place, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int result = network_check(fd, path, fault);
    close(fd);
    return result;
}
