#include "system/guard.h"

#include "system/terminal.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { GUARDS_MAX = 256 };

static struct {
    uintptr_t from, to;
    const char *name;
} guards[GUARDS_MAX];

static char handler_stack[1 << 16];

static void put(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static const char *name_at(uintptr_t at)
{
    for (size_t i = 0; i < GUARDS_MAX; i++)
        if (guards[i].name != NULL && at >= guards[i].from && at < guards[i].to)
            return guards[i].name;
    return NULL;
}

/* Only async-signal-safe calls. */
static void on_bus_error(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    const char *name = name_at((uintptr_t)info->si_addr);
    if (name == NULL && info->si_code == BUS_ADRERR)
        name = "a file in use";
    if (name != NULL) {
        terminal_make_way(STDERR_FILENO);
        put("unseen: ");
        put(name);
        put(": the mapped file failed: it was cut off, its disk is full, or its disk is "
            "broken (what was not yet remembered comes out again in the next run)\n");
        _exit(2);
    }
    /* Not ours: let it be what it would have been. */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void guard_start(void)
{
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    struct sigaction action = {
        .sa_sigaction = on_bus_error,
        .sa_flags = SA_SIGINFO | SA_ONSTACK,
    };
    if (sigaltstack(&stack, NULL) == 0)
        sigaction(SIGBUS, &action, NULL);
    /* Blocked by our parent, it would end the process by itself. */
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    sigprocmask(SIG_UNBLOCK, &bus, NULL);
}

void guard_add(const void *address, size_t length, const char *name)
{
    for (size_t i = 0; i < GUARDS_MAX; i++)
        if (guards[i].name == NULL) {
            guards[i].from = (uintptr_t)address;
            guards[i].to = (uintptr_t)address + length;
            guards[i].name = name;
            return;
        }
}

void guard_remove(const void *address)
{
    for (size_t i = 0; i < GUARDS_MAX; i++)
        if (guards[i].from == (uintptr_t)address)
            guards[i].name = NULL;
}
