/*
 * network - the file system that several machines, or several mounts, write to, if a file lies on
 * one.
 *
 * There each machine, and with FUSE each mount, keeps pages of a file for itself. Bits that one
 * writer sets are not seen through the other mount, or are overwritten from there, and locks may
 * not be shared: two writers print lines that the file then lacks, and nobody notices.
 *
 * The kernel's file systems tell what they are. Behind FUSE can be anything, so the mount is asked:
 *
 *   let through  fuseblk (ntfs-3g and the like, which have a disk to themselves) and
 *                fuse.fuse-overlayfs (the files of a container without root). overlay, too, which
 *                is not FUSE: it writes only to its upper layer, for which the kernel takes nothing
 *                that another machine can change.
 *   refused      all other FUSE, since its server may read and write anywhere: sshfs, GlusterFS and
 *                s3fs do it elsewhere, and of mergerfs or bindfs nobody can tell. And what a
 *                virtual machine or a sandbox shares with its host, as both write there: virtiofs,
 *                9p (as WSL has the disks of Windows, and gVisor what lies outside of it; its root
 *                is an overlay), the shared folders of VirtualBox and VMware.
 *   in doubt     FUSE is refused if the mount cannot be found: without /proc, or if it lies outside
 *                of this process's root.
 */
#ifndef UNSEEN_SYSTEM_NETWORK_H
#define UNSEEN_SYSTEM_NETWORK_H

#include "system/fault.h"

#include <stdbool.h>
#include <stdio.h>

enum { NETWORK_NAME = 64 };

/* The user takes care of it: from now on nothing is refused in this process. */
void network_allow(void);

/* Refuses to write to an open file or directory, called `path` in the fault, which lies on such a
 * file system. Returns 0, or -1 with the fault. Some microseconds; with FUSE it reads the list of
 * mounts. */
int network_check(int fd, const char *path, struct fault *fault);

/* The same of what a path stands for, which becomes the `place` of another file that the fault is
 * about. 0, too, if there is nothing, or it cannot be asked: whoever uses it will say so. */
int network_check_place(const char *place, const char *path, struct fault *fault);

/* The type of the mount with this number, digits, in a list as /proc/self/mountinfo is one; cut off
 * if it is longer. Returns whether it is in there. Takes no memory, however long lines are. */
bool network_mount_type(FILE *mounts, const char *number, char type[NETWORK_NAME]);

#endif
