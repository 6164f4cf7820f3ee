#include "system/map.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- bus errors --- */

enum { NAMES_MAX = 256 };

static struct {
    uintptr_t from, to;
    const char *name;
} names[NAMES_MAX];

static char handler_stack[1 << 16];

static map_failed *tell_failure;

/* Makes only async-signal-safe calls. */
static void on_bus_error(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    uintptr_t at = (uintptr_t)info->si_addr;
    for (size_t i = 0; i < NAMES_MAX; i++)
        if (names[i].name != NULL && at >= names[i].from && at < names[i].to)
            tell_failure(names[i].name);
    if (info->si_code == BUS_ADRERR)
        tell_failure(NULL);
    /* Not in one of our maps: restore the default and raise the signal again. */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void map_start(map_failed *failed)
{
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    struct sigaction action = {
        .sa_sigaction = on_bus_error,
        .sa_flags = SA_SIGINFO | SA_ONSTACK,
    };
    tell_failure = failed;
    if (sigaltstack(&stack, NULL) == 0)
        sigaction(SIGBUS, &action, NULL);
    /* If the parent had blocked it, it would kill the process without a message. */
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    sigprocmask(SIG_UNBLOCK, &bus, NULL);
}

/* --- mapping --- */

/* How far a number is from the start of its page. */
static size_t past(uint64_t number)
{
    return (size_t)(number & ((uint64_t)sysconf(_SC_PAGESIZE) - 1));
}

void *map_file(int fd, bool write, uint64_t offset, size_t bytes, const char *name,
               struct fault *fault)
{
    size_t before = past(offset);
    int access = write ? PROT_READ | PROT_WRITE : PROT_READ;
    void *map = mmap(NULL, before + bytes, access, MAP_SHARED, fd, (off_t)(offset - before));
    if (map == MAP_FAILED) {
        fault_errno(fault, name, "cannot be mapped", errno);
        return NULL;
    }
    for (size_t i = 0; i < NAMES_MAX; i++)
        if (names[i].name == NULL) {
            names[i].from = (uintptr_t)map;
            names[i].to = (uintptr_t)map + before + bytes;
            names[i].name = name;
            break;
        }
    return (uint8_t *)map + before;
}

void map_drop(void *address, size_t bytes)
{
    size_t before = past((uintptr_t)address);
    void *map = (uint8_t *)address - before;
    for (size_t i = 0; i < NAMES_MAX; i++)
        if (names[i].from == (uintptr_t)map)
            names[i].name = NULL;
    munmap(map, before + bytes);
}

void map_advise(void *address, size_t bytes, int advice)
{
    size_t before = past((uintptr_t)address);
    madvise((uint8_t *)address - before, before + bytes, advice);
}
