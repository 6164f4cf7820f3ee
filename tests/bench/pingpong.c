/*
 * pingpong - how long a line takes through a filter when the next one is sent only after it came
 * out.
 *
 *     pingpong LINES COMMAND...
 *
 * A COMMAND is one argument, cut at blanks. All run at the same time and take turns of BLOCK lines,
 * so that what disturbs the machine disturbs all of them, and each has the caches to itself for
 * most of its turn, as it would have alone. Their order changes from turn to turn. All are on one
 * processor, or it is measured whether the scheduler wakes another one for each line. The lines
 * differ, and each must come out of its command before the next is sent. Prints for each command
 * the median of nanoseconds a line. Exit: 0, or 2 with a message.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS_MAX = 16, ARGUMENTS_MAX = 64, LINE_MAX_BYTES = 100, BLOCK = 100 };

struct player {
    int to, from;
    pid_t pid;
    int64_t *times;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "pingpong: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void start(struct player *player, char *text)
{
    char *arguments[ARGUMENTS_MAX] = {0};
    unsigned n = 0;
    int in[2], out[2];
    for (char *word = strtok(text, " "); word != NULL && n < ARGUMENTS_MAX - 1;
         word = strtok(NULL, " "))
        arguments[n++] = word;
    errno = EINVAL;
    if (n == 0)
        die("an empty command");
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        die("pipe");
    player->pid = fork();
    if (player->pid < 0)
        die("fork");
    if (player->pid == 0) {
        if (dup2(in[0], STDIN_FILENO) >= 0 && dup2(out[1], STDOUT_FILENO) >= 0)
            execvp(arguments[0], arguments);
        die(arguments[0]);
    }
    close(in[0]);
    close(out[1]);
    player->to = in[1];
    player->from = out[0];
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Line n there and back. */
static int64_t play(const struct player *player, long n)
{
    char line[LINE_MAX_BYTES], back[LINE_MAX_BYTES];
    size_t have = 0;
    size_t length = (size_t)snprintf(line, sizeof line, "https://www.example.org/%ld/%ld.html\n",
                                     (long)getpid(), n);
    int64_t started = now();
    if (write(player->to, line, length) != (ssize_t)length)
        die("write");
    while (have < length) {
        ssize_t got = read(player->from, back + have, sizeof back - have);
        if (got <= 0)
            die("a line did not come back");
        have += (size_t)got;
    }
    int64_t time = now() - started;
    if (have != length || memcmp(back, line, length) != 0) {
        fprintf(stderr, "pingpong: another line came back\n");
        exit(2);
    }
    return time;
}

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

int main(int argc, char **argv)
{
    static struct player players[COMMANDS_MAX];
    int count = argc - 2;
    long lines = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    if (lines <= 0 || count > COMMANDS_MAX) {
        fprintf(stderr, "usage: pingpong LINES COMMAND...\n");
        return 2;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        die("sched_setaffinity");
    for (int i = 0; i < count; i++) {
        start(&players[i], argv[i + 2]);
        players[i].times = calloc((size_t)lines, sizeof *players[i].times);
        if (players[i].times == NULL)
            die("memory");
    }
    for (long n = 0; n < lines; n += BLOCK)
        for (int i = 0; i < count; i++) {
            struct player *player = &players[(n / BLOCK + i) % count];
            for (long k = n; k < n + BLOCK && k < lines; k++)
                player->times[k] = play(player, k);
        }
    for (int i = 0; i < count; i++) {
        int status;
        close(players[i].to);
        qsort(players[i].times, (size_t)lines, sizeof *players[i].times, compare);
        printf("%lld\n", (long long)players[i].times[lines / 2]);
        if (waitpid(players[i].pid, &status, 0) < 0 || status != 0) {
            fprintf(stderr, "pingpong: command %d failed\n", i + 1);
            return 2;
        }
    }
    return 0;
}
