#include "system/moment.h"

#include "system/signals.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

/* A program that sends line after line sends the next one within microseconds; and one that looks
 * into the filter after a line came out will hardly do so within two milliseconds: to start it
 * takes one. */
enum { MOMENT_NANOSECONDS = 1000000 };

static timer_t timer;
static enum { UNKNOWN, NONE, MADE } timer_state;

static volatile sig_atomic_t ticking;
static volatile sig_atomic_t begun; /* and 2 after a tick */
static volatile sig_atomic_t waits;

static void tick_every(long nanoseconds)
{
    struct itimerspec every = {{0, nanoseconds}, {0, nanoseconds}};
    ticking = nanoseconds != 0;
    timer_settime(timer, 0, &every, NULL);
}

/* A tick just before a system call that blocks would not interrupt it, but the next one will. */
static void on_tick(int signal_number)
{
    (void)signal_number;
    if (begun)
        begun = 2;
    if (!waits)
        tick_every(0);
}

/* The signal may have been blocked, or ignored, by whoever started the program. */
static void make_timer(void)
{
    struct sigaction action = {.sa_handler = on_tick};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM};
    sigset_t set;
    timer_state = NONE;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return;
    timer_state = MADE;
    sigfillset(&action.sa_mask);
    sigaction(SIGVTALRM, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGVTALRM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

bool moment_begin(void)
{
    if (timer_state == UNKNOWN)
        make_timer();
    if (timer_state == NONE)
        return false;
    if (!waits)
        signals_hold_stop();
    if (!begun)
        begun = 1;
    waits = 1;
    /* In this order: a tick in between does not stop the timer. */
    if (!ticking)
        tick_every(MOMENT_NANOSECONDS);
    return true;
}

void moment_interrupt(void)
{
    if (waits)
        signals_release_stop();
    waits = 0;
}

void moment_end(void)
{
    begun = 0;
    moment_interrupt();
}

bool moment_is_over(void)
{
    return begun == 2 || (begun && (signals_stop_pending() || signals_pending()));
}
