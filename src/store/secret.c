#include "store/secret.h"

#include "core/little.h"
#include "store/newfile.h"
#include "system/path.h"
#include "system/random.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define WORD "unseen-secret "
enum { SECRET_BYTES = 16, WORD_LENGTH = sizeof WORD - 1, DIGITS = 2 * SECRET_BYTES };
enum { FILE_BYTES = WORD_LENGTH + DIGITS + 1 }; /* with the newline */

static struct hasher hasher_of(const uint8_t bytes[SECRET_BYTES])
{
    return (struct hasher){HASH_SIPHASH, load64(bytes), load64(bytes + 8)};
}

int secret_draw(struct hasher *hasher, struct fault *fault)
{
    uint8_t bytes[SECRET_BYTES];
    if (random_fill(bytes, sizeof bytes) != 0)
        return fault_errno(fault, "secret", "no random bytes can be had", errno);
    *hasher = hasher_of(bytes);
    return 0;
}

/* --- the text --- */

static const char digits[] = "0123456789abcdef";

static void print(const struct hasher *hasher, char text[FILE_BYTES])
{
    uint8_t bytes[SECRET_BYTES];
    store64(bytes, hasher->k0);
    store64(bytes + 8, hasher->k1);
    memcpy(text, WORD, WORD_LENGTH);
    for (unsigned i = 0; i < DIGITS; i++)
        text[WORD_LENGTH + i] = digits[bytes[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
    text[FILE_BYTES - 1] = '\n';
}

static bool scan(const char text[FILE_BYTES], struct hasher *hasher)
{
    uint8_t bytes[SECRET_BYTES] = {0};
    for (unsigned i = 0; i < DIGITS; i++) {
        const char *digit = memchr(digits, text[WORD_LENGTH + i], sizeof digits - 1);
        if (digit == NULL)
            return false;
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | (digit - digits));
    }
    *hasher = hasher_of(bytes);
    return memcmp(text, WORD, WORD_LENGTH) == 0 && text[FILE_BYTES - 1] == '\n';
}

/* --- the file --- */

static int read_open(int fd, const char *path, struct hasher *hasher, struct stat *status,
                     struct fault *fault)
{
    char text[FILE_BYTES + 1];
    if (fstat(fd, status) != 0)
        return fault_errno(fault, path, NULL, errno);
    if (S_ISDIR(status->st_mode))
        return fault_errno(fault, path, NULL, EISDIR);
    if (!S_ISREG(status->st_mode))
        return fault_set(fault, path, "is not a regular file");
    size_t length = whole_read_at(fd, text, sizeof text, 0);
    if (length <= FILE_BYTES && errno != 0)
        return fault_errno(fault, path, NULL, errno);
    if (length == FILE_BYTES && scan(text, hasher))
        return 0;
    fault_set(fault, path, "does not hold a secret");
    return fault_way_out(fault, "name a file that --secret-file has made");
}

int secret_read(const char *path, struct hasher *hasher, struct stat *status, struct fault *fault)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fault_errno(fault, path, NULL, errno);
    int result = read_open(fd, path, hasher, status, fault);
    close(fd);
    return result;
}

static int read_own(const char *path, struct hasher *hasher, struct fault *fault)
{
    struct stat status = {0};
    if (secret_read(path, hasher, &status, fault) != 0)
        return -1;
    bool own = status.st_uid == geteuid() || status.st_uid == 0;
    if (own && (status.st_mode & S_IWOTH) == 0)
        return 0;
    fault_set(fault, path,
              own ? "others can write to it, so they may know the secret in it"
                  : "belongs to another user, who knows the secret in it");
    return fault_way_out(fault, "name another file, or a copy of your own");
}

int secret_for_new(const char *path, struct hasher *hasher, struct fault *fault)
{
    if (read_own(path, hasher, fault) == 0)
        return 1;
    if (fault->error != ENOENT || path_check_directory(path, fault) != 0)
        return -1;
    return secret_draw(hasher, fault);
}

static int fill(int fd, const void *context)
{
    char text[FILE_BYTES];
    print(context, text);
    return whole_write_at(fd, text, FILE_BYTES, 0) == FILE_BYTES ? 0 : -1;
}

int secret_keep(const char *path, struct hasher *hasher, struct fault *fault)
{
    const struct newfile_plan plan = {.path = path,
                                      .secret = true,
                                      .fill = fill,
                                      .context = hasher};
    int result = newfile_make(&plan);
    if (result < 0)
        return fault_errno(fault, path, "cannot be created", errno);
    return result > 0 ? read_own(path, hasher, fault) : 0;
}
