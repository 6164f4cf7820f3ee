#include "system/network.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

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

/* The name of the shared file system that has the file, or NULL. The call fails if a FUSE server
 * does not support it. */
static const char *find(int fd)
{
    struct statfs status;
    const char *name = fuse;
    if (fstatfs(fd, &status) == 0) {
        name = NULL;
        for (size_t i = 0; name == NULL && i < sizeof systems / sizeof *systems; i++)
            if (systems[i].type == ((unsigned long)status.f_type & 0xffffffff))
                name = systems[i].name;
    }
    return name == fuse && is_local_fuse(fd) ? NULL : name;
}

int network_check(int fd, const char *path, struct fault *fault)
{
    const char *name = allowed ? NULL : find(fd);
    if (name == NULL)
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
