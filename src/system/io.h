/*
 * io - reads and writes that are complete, and blocks of files.
 *
 * read(2) and write(2) may move only some of the bytes, or be interrupted first. These functions
 * repeat them. Each returns how many bytes were moved: all, or fewer with errno; errno is 0 if a
 * read met the end of the file.
 */
#ifndef UNSEEN_SYSTEM_IO_H
#define UNSEEN_SYSTEM_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes at the file offset of `fd`. Waits if a non-blocking descriptor is full; unless
 * `to_the_end`, fails with EINTR if a signal told the program to end. */
size_t io_write(int fd, const void *bytes, size_t length, bool to_the_end);

/* Write and read at an offset of a regular file. They are short, so signals do not end them. */
size_t io_write_at(int fd, const void *bytes, size_t length, uint64_t at);
size_t io_read_at(int fd, void *bytes, size_t length, uint64_t at);

/* Reads the beginning of a small file as a string, "" if that is not possible. For signal handlers,
 * too; and not with stdio, which would be a twentieth of a run of one line. */
void io_read_text(const char *path, char *text, size_t size);

/* Allocates blocks of a regular file, so that writing to them cannot meet a full disk. New blocks
 * are zeros. Returns 0, or -1 with errno: EINTR if a signal told the program to end. */
int io_allocate(int fd, uint64_t at, uint64_t bytes);

/* Asks the system to read bytes of a file into the page cache, in the background: single pages, not
 * large folios. Waits only while the disk has too much to do; 1 us per page that is not in memory.
 * Never fails. */
void io_read_ahead(int fd, uint64_t at, uint64_t bytes);

/* What the file system can do with blocks within a file that others may be writing to. */
enum io_change {
    /* Allocates them. Where io_allocate would read and write a byte of each, this fails. */
    IO_RESERVE,
    IO_FREE, /* frees them; they then read as zeros */
    IO_ZERO, /* clears them in milliseconds; they stay allocated */
};

/* Returns 0, or -1 with errno, and some bytes may be changed then. Not all file systems can do
 * this. */
int io_change(int fd, enum io_change change, uint64_t at, uint64_t bytes);

#endif
