#include "system/confine.h"

#include "system/path.h"
#include "system/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Constants are defined here, because <linux/landlock.h> may be an older kernel's. If the C library
 * does not know the system calls, the kernel of its time did not either. */
#ifdef SYS_landlock_create_ruleset
enum {
    CREATE_RULESET = SYS_landlock_create_ruleset,
    ADD_RULE = SYS_landlock_add_rule,
    RESTRICT_SELF = SYS_landlock_restrict_self,
};
#else
enum { CREATE_RULESET = -1, ADD_RULE = -1, RESTRICT_SELF = -1 };
#endif

enum { ASK_VERSION = 1, RULE_PATH_BENEATH = 1 };

enum {
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_FILE = 1 << 5,
    MAKE_REG = 1 << 8,
    TRUNCATE = 1 << 14,
};

/* The rights for each use of a file, and of a directory and what is below it. */
static const struct {
    unsigned use;
    uint64_t of_file, of_directory;
} uses_of[] = {
    {CONFINE_OPEN, READ_FILE, READ_DIR},
    {CONFINE_READ, READ_FILE, READ_FILE},
    {CONFINE_LIST, 0, READ_DIR},
    {CONFINE_REMOVE, 0, REMOVE_FILE},
    {CONFINE_RENAME, 0, MAKE_REG | REMOVE_FILE | READ_DIR},
    {CONFINE_WRITE, WRITE_FILE | TRUNCATE, WRITE_FILE | TRUNCATE | MAKE_REG | REMOVE_FILE},
};

struct ruleset {
    uint64_t files, tcp, scopes; /* denied unless a rule allows it */
};

struct rule {
    uint64_t rights;
    int32_t path;
} __attribute__((packed));

/* The rights of each version. TCP: bind and connect; scopes: abstract sockets and signals. Version
 * 2 added the right to move files between directories, which version 1 always denies. */
static const struct ruleset versions[] = {
    {0, 0, 0},      {0x1fff, 0, 0}, {0x3fff, 0, 0}, {0x7fff, 0, 0},
    {0x7fff, 3, 0}, {0xffff, 3, 0}, {0xffff, 3, 3},
};

enum { VERSIONS = sizeof versions / sizeof *versions };

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

int confine_version(void)
{
    if (IS_SANITIZED)
        return 0;
    long version = syscall(CREATE_RULESET, NULL, (size_t)0, ASK_VERSION);
    /* Kernels without Landlock, kernels where it is disabled, and containers that block the
     * call. */
    bool absent = version < 0 && (errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM);
    return absent ? 0 : (int)version;
}

static void note_error(struct confine *confine)
{
    if (confine->error == 0)
        confine->error = errno;
}

void confine_begin(struct confine *confine)
{
    struct rlimit limit = {.rlim_cur = 0};
    int version = confine_version();
    *confine = (struct confine){.ruleset = -1};
    if (version > 0) {
        struct ruleset all = versions[version < VERSIONS ? version : VERSIONS - 1];
        confine->rights = all.files;
        confine->ruleset = (int)syscall(CREATE_RULESET, &all, sizeof all, 0);
    }
    if (version < 0 || (version > 0 && confine->ruleset < 0))
        note_error(confine);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    confine->descriptors = limit.rlim_cur;
}

void confine_allow(struct confine *confine, const char *path, unsigned uses)
{
    if (confine->ruleset < 0)
        return;
    int fd = signals_open(path, O_PATH | O_CLOEXEC, 0);
    if (fd < 0) {
        /* With any other error the file cannot be opened later, either; that will be reported. */
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
            note_error(confine);
        return;
    }
    struct stat status;
    struct rule rule = {.path = fd};
    bool directory = fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
    for (size_t i = 0; i < sizeof uses_of / sizeof *uses_of; i++)
        if (uses & uses_of[i].use)
            rule.rights |= directory ? uses_of[i].of_directory : uses_of[i].of_file;
    rule.rights &= confine->rights;
    /* A pipe or a socket, opened through /dev/fd, needs no rule and can have none: EBADFD. */
    if (syscall(ADD_RULE, confine->ruleset, RULE_PATH_BENEATH, &rule, 0) != 0 && errno != EBADFD)
        note_error(confine);
    /* Files that are still to be opened need descriptors, too. */
    if ((uint64_t)fd >= confine->descriptors / 2)
        close(fd);
}

void confine_allow_place(struct confine *confine, const char *path, unsigned uses)
{
    char real[PATH_MAX], directory[PATH_MAX];
    if (confine->ruleset < 0)
        return;
    path_directory(realpath(path, real) != NULL ? real : path, directory);
    confine_allow(confine, directory, uses);
}

int confine_end(struct confine *confine, struct fault *fault)
{
    bool there = confine->ruleset >= 0;
    if (!IS_SANITIZED && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 && there)
        note_error(confine);
    if (there && confine->error == 0 && syscall(RESTRICT_SELF, confine->ruleset, 0) != 0)
        note_error(confine);
    if (there)
        close(confine->ruleset);
    confine->ruleset = -1;
    if (confine->error == 0)
        return 0;
    fault_errno(fault, "Landlock", "cannot restrict this process", confine->error);
    return confine->error == E2BIG
               ? fault_way_out(fault, "too many nested sandboxes: run it in fewer")
               : -1;
}
