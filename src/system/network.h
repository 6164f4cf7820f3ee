/*
 * network - the file system that several machines, or several mounts, write to, if a file lies on
 * one.
 *
 * There each machine, and with FUSE each mount, keeps pages of a file for itself. Bits that one
 * writer sets are not seen through the other mount, or are overwritten from there, and locks may
 * not be shared: two writers print lines that the file then lacks, and nobody notices.
 *
 * Refused is what statfs(2) says is one: what several machines mount, what a virtual machine or a
 * sandbox shares with its host, as both write there (9p, virtiofs, vboxsf, vmhgfs), and FUSE,
 * behind which can be anything; but not fuseblk (ntfs-3g and the like) and fuse-overlayfs.
 */
#ifndef UNSEEN_SYSTEM_NETWORK_H
#define UNSEEN_SYSTEM_NETWORK_H

#include "system/fault.h"

/* The user takes care of it: from now on nothing is refused in this process. */
void network_allow(void);

/* Refuses to write to an open file or directory, called `path` in the fault, which lies on such a
 * file system. Returns 0, or -1 with the fault. Some microseconds; with FUSE it reads the list of
 * mounts. */
int network_check(int fd, const char *path, struct fault *fault);

/* The same of what a path stands for, which becomes the `place` of another file that the fault is
 * about. 0, too, if there is nothing, or it cannot be asked: whoever uses it will say so. */
int network_check_place(const char *place, const char *path, struct fault *fault);

#endif
