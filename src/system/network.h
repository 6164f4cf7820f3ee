/*
 * network - refuses to write to file systems that several machines, or several mounts, share.
 *
 * On these, each machine, and with FUSE each mount, caches pages of a file on its own. Bits that
 * one writer sets are not seen through another mount, or are overwritten from there, and locks may
 * not be shared. Two writers would print lines that the file then lacks, without an error.
 *
 * By the type that statfs(2) reports, these are refused: network and cluster file systems; those
 * that a virtual machine or a sandbox shares with its host (9p, virtiofs, vboxsf, vmhgfs); and
 * FUSE, which can hide any of them, except for fuseblk (ntfs-3g and the like) and fuse-overlayfs.
 */
#ifndef UNSEEN_SYSTEM_NETWORK_H
#define UNSEEN_SYSTEM_NETWORK_H

#include "system/fault.h"

/* --allow-network: from now on nothing is refused in this process. */
void network_allow(void);

/* Returns 0 if an open file or directory may be written to, or -1 with a fault about `path`. Takes
 * microseconds, but with FUSE it reads the list of mounts. */
int network_check(int fd, const char *path, struct fault *fault);

/* The same for the file or directory `place`, where the file `path` will be made. Also returns 0 if
 * `place` cannot be opened: using it will fail with a better message. */
int network_check_place(const char *place, const char *path, struct fault *fault);

#endif
