#include "io/output.h"

#include "system/io.h"
#include "system/path.h"
#include "system/signals.h"
#include "system/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct output output_standard(char delimiter)
{
    return (struct output){.fd = STDOUT_FILENO, .name = "standard output", .delimiter = delimiter};
}

static bool ends_unfinished(const struct output *output)
{
    struct stat status;
    char last;
    if (fstat(output->end_fd, &status) != 0 || status.st_size == 0)
        return false;
    return pread(output->end_fd, &last, 1, status.st_size - 1) == 1 && last != output->delimiter;
}

int output_check(const char *path, struct fault *fault)
{
    struct stat status;
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return fault_errno(fault, path, NULL, EISDIR);
        return access(path, W_OK) == 0 ? 0 : fault_errno(fault, path, NULL, errno);
    }
    if (errno != ENOENT)
        return fault_errno(fault, path, NULL, errno);
    return path_check_directory(path, fault);
}

/* Opens the same regular file for reading; -1 if that is not possible. */
static int open_end(int fd, const char *path)
{
    struct stat status, end_status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return -1;
    int end_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (end_fd < 0 || (fstat(end_fd, &end_status) == 0 && path_same_file(&status, &end_status)))
        return end_fd;
    close(end_fd);
    return -1;
}

int output_open(struct output *output, const char *path, char delimiter, struct fault *fault)
{
    /* First without O_CREAT: in a directory with the sticky bit, the system refuses that for
     * another user's file. */
    int flags = O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC;
    int fd = signals_open(path, flags, 0);
    if (fd < 0 && errno == ENOENT)
        fd = signals_open(path, flags | O_CREAT, 0666);
    if (fd < 0)
        return fault_errno(fault, path, NULL, errno);
    *output = (struct output){.fd = fd, .name = path, .delimiter = delimiter};
    output->end_fd = open_end(fd, path);
    output->ends_last_line = output->end_fd >= 0;
    return 0;
}

bool output_is_file(const char *path)
{
    struct stat status;
    if ((path != NULL ? stat(path, &status) : fstat(STDOUT_FILENO, &status)) != 0)
        return path != NULL && errno == ENOENT;
    return S_ISREG(status.st_mode);
}

static size_t write_all(const struct output *output, const char *bytes, size_t length,
                        struct fault *fault)
{
    terminal_clear(output->fd);
    size_t done = io_write(output->fd, bytes, length);
    if (done != length)
        fault_errno(fault, output->name, NULL, errno);
    return done;
}

static void stop_checking(struct output *output)
{
    close(output->end_fd);
    output->ends_last_line = false;
}

/* A killed run may have left an unfinished line, which the next line would be joined to. The end of
 * the file can be checked only while no other process is writing, so all runs with -a take a lock
 * on the file. Without locks, only the check before the first write is reasonably safe. */
static size_t write_after_check(struct output *output, const char *bytes, size_t length,
                                struct fault *fault)
{
    size_t done = 0;
    bool locked = lock_take(output->fd, LOCK_OUTPUT, false, output->waits, (void *)output->name) ==
                  0;
    bool ended = !ends_unfinished(output) || write_all(output, &output->delimiter, 1, fault) == 1;
    if (ended)
        done = write_all(output, bytes, length, fault);
    if (locked)
        lock_drop(output->fd, LOCK_OUTPUT);
    else
        stop_checking(output);
    return done;
}

size_t output_write(struct output *output, const char *bytes, size_t length, struct fault *fault)
{
    if (output->append != NULL)
        return output->append(output->context, bytes, length, fault);
    if (output->ends_last_line && length > 0)
        return write_after_check(output, bytes, length, fault);
    return write_all(output, bytes, length, fault);
}

int output_sync(const struct output *output, struct fault *fault)
{
    if (output->sync != NULL)
        return output->sync(output->context, fault);
    if (fdatasync(output->fd) != 0)
        return fault_errno(fault, output->name, "cannot be flushed to disk", errno);
    return 0;
}

int output_close(struct output *output, struct fault *fault)
{
    if (output->ends_last_line)
        stop_checking(output);
    if (close(output->fd) != 0 && errno != EINTR)
        return fault_errno(fault, output->name, NULL, errno);
    return 0;
}
