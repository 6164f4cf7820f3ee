/*
 * whole - reads and writes that go on until all is done.
 *
 * read(2) and write(2) may move a part, or be interrupted before they move any. These call them
 * again. Each returns how many bytes were moved: all, or fewer with errno; a read that met the end
 * of the file returns fewer with errno 0.
 */
#ifndef UNSEEN_SYSTEM_IO_H
#define UNSEEN_SYSTEM_IO_H

#include <stddef.h>
#include <stdint.h>

/* To wherever `fd` stands. Waits where a non-blocking descriptor is full; a signal that wants the
 * program to end ends it, with EINTR. */
size_t io_write(int fd, const void *bytes, size_t length);

/* At an offset of a regular file: signals, which come to an end soon enough, do not end these. */
size_t io_write_at(int fd, const void *bytes, size_t length, uint64_t at);
size_t io_read_at(int fd, void *bytes, size_t length, uint64_t at);

/* Gives a regular file its blocks, zeros, from `at` on, so that writing to them cannot meet a full
 * disk. Returns 0, or -1 with errno: EINTR only if a signal wants the program to end. */
int io_allocate(int fd, uint64_t at, uint64_t bytes);

/* The same for a stretch to which others may be writing. On a file system that cannot allocate it
 * fails with EOPNOTSUPP, where io_allocate reads and writes a byte of each block. */
int io_reserve(int fd, uint64_t at, uint64_t bytes);

/* Gives blocks back to the file system; zeros are read there from now on. Returns 0, or -1 with
 * errno: not all file systems can, and some bytes may be as they were. */
int io_punch_hole(int fd, uint64_t at, uint64_t bytes);

/* Zeros are read there from now on, and the blocks stay, so writing there still meets no full disk.
 * Takes milliseconds. Returns 0, or -1 with errno: not all file systems can, and some bytes may
 * be as they were. */
int io_zero(int fd, uint64_t at, uint64_t bytes);

/* Of a new, empty file: where a file system writes every change to a new place, it is asked not to;
 * others do not know the question. */
void io_disable_cow(int fd);

#endif
