/*
 * path - what a file's name leads to: its directory, whether two names are the same file, and file
 * systems that may not be written to.
 */
#ifndef UNSEEN_SYSTEM_PATH_H
#define UNSEEN_SYSTEM_PATH_H

#include "system/fault.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Stores the directory of `path`, "." if it names none, and returns the last component, within
 * `path`. Neither need exist. If `path` is longer than PATH_MAX, the directory is truncated; any
 * system call with such a path fails anyway. */
const char *path_directory(const char *path, char directory[PATH_MAX]);

/* Flushes the directory of `path`, so that a new name in it survives a power cut. Not all file
 * systems can do this. */
void path_sync_directory(const char *path);

/* Whether a missing file could be created in its directory. Returns 0, or -1 with a fault that
 * names the directory. */
int path_check_directory(const char *path, struct fault *fault);

/* Whether a new file may replace `file`, which `path` leads to. In a directory with the sticky bit,
 * root and the directory's owner are able to replace any file, but this refuses: another user may
 * have prepared the file, and the new one would get its owner and mode. A symbolic link of another
 * user is refused there, too, because it can lead to any file. Returns 0, or -1 with the fault. */
int path_check_replaceable(const char *path, const struct stat *file, struct fault *fault);

static inline bool path_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether a name itself, if it is a link not its target, is an open file. */
bool path_leads_to(const char *name, int fd);

/* Whether an open file is on an overlay, as the root of a container is. */
bool path_is_overlaid(int fd);

/* When the file that a path leads to was made, in nanoseconds since 1970; 0 if nobody knows. On an
 * overlay this moves when the file is copied for its first writer, although device and inode
 * number stay the same. */
uint64_t path_birth(const char *path);

/* Whether both names exist and are the same file. */
bool path_is_same(const char *a, const char *b);

/* Whether both are the same name in the same directory; neither need exist. */
bool path_is_same_name(const char *a, const char *b);

/*
 * Refuses to write to file systems that several machines, or several mounts, share.
 *
 * On these, each machine, and with FUSE each mount, caches pages of a file on its own. Bits that
 * one writer sets are not seen through another mount, or are overwritten from there, and locks may
 * not be shared. Two writers would print lines that the file then lacks, without an error.
 *
 * By the type that statfs(2) reports, these are refused: network and cluster file systems; those
 * that a virtual machine or a sandbox shares with its host (9p, virtiofs, vboxsf, vmhgfs); and
 * FUSE, which can hide any of them, except for fuseblk (ntfs-3g and the like) and fuse-overlayfs.
 */

/* --allow-network: from now on nothing is refused in this process. */
void network_allow(void);

/* Returns 0 if an open file or directory may be written to, or -1 with a fault about `path`. Takes
 * microseconds, but with FUSE it reads the list of mounts. */
int network_check(int fd, const char *path, struct fault *fault);

/* Asks this of the file or directory `place`, where the file `path` will be made. Also returns 0 if
 * `place` cannot be opened: using it will fail with a better message. */
int network_check_place(const char *place, const char *path, struct fault *fault);

#endif
