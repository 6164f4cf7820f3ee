/*
 * measure - runs commands in turns, and says how long they took and what they used.
 *
 *     measure [-n ROUNDS] [-k] COMMAND...
 *     measure -p LINES COMMAND...
 *
 * A COMMAND is one argument, cut at blanks; without a shell, which costs as much as what is to be
 * measured:
 *
 *     [PREPARATION ;;] [@CPU] [<FILE] PROGRAM ARGUMENT... [| PROGRAM ARGUMENT...]...
 *
 * PREPARATION is given to sh -c before each round, and not measured; ROUND in its environment is
 * the number of the round, from 1. @CPU pins all the programs to one processor. Output goes to
 * /dev/null; with -k, the keys in it are counted: a line of genlines is known by its first run of
 * digits, also in a row that begins with it, and in a member id.
 *
 * Each round runs all commands once, one after the other, so that what disturbs the machine
 * disturbs all of them. For each command prints a line: status (0, or the first other exit status),
 * then the median of microseconds, the least and the most, the largest peak of memory of one
 * program in KB, and the medians of bytes read from disk, pages dirtied in bytes, microseconds of
 * CPU, page faults, keys, and keys that came more than once.
 *
 * With -p the commands, one program each, all run at the same time on one processor, and the next
 * line is sent only after the last one came out. They take turns of BLOCK lines, in changing order,
 * so that each has the caches to itself for most of its turn, as it would have alone. Prints for
 * each the median of nanoseconds a line.
 *
 * Exit: 0, or 2 with a message.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ARGUMENTS_MAX = 64,
    PROGRAMS_MAX = 8,
    COMMANDS_MAX = 64,
    NUMBERS = 1 << 28, /* of genlines: greater ones are no keys */
    LINE_MAX_BYTES = 100,
    BLOCK = 100
};

struct command {
    char *preparation; /* or NULL */
    char *input;       /* file, or NULL: empty */
    char *arguments[ARGUMENTS_MAX];
    unsigned programs[PROGRAMS_MAX]; /* where each one's arguments begin */
    unsigned count;
    int cpu; /* or -1 */
};

enum { WALL, READ, DIRTIED, CPU, FAULTS, KEYS, TWICE, FIGURES };

struct result {
    int64_t *rounds[FIGURES];
    int64_t peak;
    int status;
};

static unsigned rounds = 1;
static bool count_keys;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
    exit(2);
}

static unsigned number(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
}

/* --- reading a command --- */

static void parse(char *text, struct command *command)
{
    unsigned n = 0;
    char *rest = strstr(text, ";; ");
    *command = (struct command){.cpu = -1};
    if (rest != NULL) {
        *rest = '\0';
        command->preparation = text;
        text = rest + 3;
    }
    command->count = 1;
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        if (n == 0 && word[0] == '<')
            command->input = word + 1;
        else if (n == 0 && word[0] == '@')
            command->cpu = (int)number(word + 1);
        else if (strcmp(word, "|") == 0 && command->count < PROGRAMS_MAX) {
            command->arguments[n++] = NULL;
            command->programs[command->count++] = n;
        } else
            command->arguments[n++] = word;
        if (n >= ARGUMENTS_MAX - 1) {
            errno = E2BIG;
            die(text);
        }
    }
    command->arguments[n] = NULL;
}

/* --- running one --- */

static int open_or_die(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        die(path);
    return fd;
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (cpu >= 0 && sched_setaffinity(0, sizeof set, &set) != 0)
        die("sched_setaffinity");
}

/* As fast as vfork(2) is. */
static pid_t spawn(char *const *arguments, int in, int out)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    if (posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) != 0)
        die("posix_spawn");
    errno = posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environ);
    if (errno != 0)
        die(arguments[0]);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* Starts all programs; returns the end of the last one's output if keys are counted, else -1. */
static int start(const struct command *command, pid_t pids[PROGRAMS_MAX])
{
    int in = open_or_die(command->input != NULL ? command->input : "/dev/null", O_RDONLY);
    int from = -1;
    for (unsigned i = 0; i < command->count; i++) {
        int ends[2] = {-1, -1};
        bool last = i + 1 == command->count;
        if (last && !count_keys)
            ends[1] = open_or_die("/dev/null", O_WRONLY);
        else if (pipe2(ends, O_CLOEXEC) != 0)
            die("pipe");
        pids[i] = spawn(command->arguments + command->programs[i], in, ends[1]);
        close(in);
        close(ends[1]);
        in = ends[0];
        if (last)
            from = ends[0];
    }
    return from;
}

/* The number of the line of genlines that is in this one, or NUMBERS. */
static unsigned long number_in(const char *line)
{
    const char *id = strstr(line, "id\":");
    line = id != NULL ? id : line;
    line += strcspn(line, "0123456789");
    return *line != '\0' ? strtoul(line, NULL, 10) : NUMBERS;
}

static void read_keys(int fd, struct result *result, unsigned round)
{
    FILE *from = fdopen(fd, "r");
    unsigned char *times = calloc(NUMBERS, 1);
    char *line = NULL;
    size_t size = 0;
    if (from == NULL || times == NULL)
        die("memory");
    while (getline(&line, &size, from) > 0) {
        unsigned long number = number_in(line);
        if (number < NUMBERS && times[number] < 2)
            result->rounds[times[number]++ == 0 ? KEYS : TWICE][round]++;
    }
    free(line);
    free(times);
    fclose(from);
}

/* In nanoseconds. */
static int64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t microseconds(struct timeval time)
{
    return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

static void collect(pid_t pid, struct result *result, unsigned round)
{
    struct rusage usage;
    int status;
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            die("wait4");
    result->rounds[READ][round] += usage.ru_inblock * 512;
    result->rounds[DIRTIED][round] += usage.ru_oublock * 512;
    result->rounds[CPU][round] += microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
    result->rounds[FAULTS][round] += usage.ru_minflt + usage.ru_majflt;
    if (usage.ru_maxrss > result->peak)
        result->peak = usage.ru_maxrss;
    if (result->status == 0)
        result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void run(const struct command *command, struct result *result, unsigned round)
{
    pid_t pids[PROGRAMS_MAX] = {0};
    siginfo_t info;
    char name[16];
    snprintf(name, sizeof name, "%u", round + 1);
    setenv("ROUND", name, 1);
    if (command->preparation != NULL && system(command->preparation) != 0) { // NOLINT(cert-env33-c)
        fprintf(stderr, "measure: failed: %s\n", command->preparation);
        exit(2);
    }
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    pin(command->cpu);
    int64_t started = clock_now();
    int from = start(command, pids);
    if (from >= 0)
        read_keys(from, result, round);
    /* The clock stops when the last of the pipe ends; only then is anything else looked at. */
    if (waitid(P_PID, (id_t)pids[command->count - 1], &info, WEXITED | WNOWAIT) != 0)
        die("waitid");
    result->rounds[WALL][round] = (clock_now() - started) / 1000;
    for (unsigned i = 0; i < command->count; i++)
        collect(pids[i], result, round);
    sched_setaffinity(0, sizeof before, &before);
}

/* --- telling --- */

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void tell(struct result *result)
{
    for (unsigned i = 0; i < FIGURES; i++)
        qsort(result->rounds[i], rounds, sizeof *result->rounds[i], compare);
    const int64_t *wall = result->rounds[WALL];
    printf("%d %lld %lld %lld %lld", result->status, (long long)wall[rounds / 2],
           (long long)wall[0], (long long)wall[rounds - 1], (long long)result->peak);
    for (unsigned i = WALL + 1; i < FIGURES; i++)
        printf(" %lld", (long long)result->rounds[i][rounds / 2]);
    printf("\n");
}

/* --- a line in, a line out --- */

struct player {
    int to, from;
    pid_t pid;
    int64_t *times;
};

static struct player enter(char *const *arguments)
{
    struct player player = {.times = calloc(rounds, sizeof(int64_t))};
    int in[2], out[2];
    if (player.times == NULL || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        die("memory or pipe");
    player.pid = spawn(arguments, in[0], out[1]);
    player.to = in[1];
    player.from = out[0];
    close(in[0]);
    close(out[1]);
    return player;
}

/* Line n there and back. */
static int64_t play(const struct player *player, unsigned n)
{
    char line[LINE_MAX_BYTES], back[LINE_MAX_BYTES];
    size_t have = 0;
    size_t length = (size_t)snprintf(line, sizeof line, "https://www.example.org/%ld/%u.html\n",
                                     (long)getpid(), n);
    int64_t started = clock_now();
    if (write(player->to, line, length) != (ssize_t)length)
        die("write");
    while (have < length) {
        ssize_t got = read(player->from, back + have, sizeof back - have);
        if (got <= 0)
            die("a line did not come back");
        have += (size_t)got;
    }
    int64_t time = clock_now() - started;
    if (have != length || memcmp(back, line, length) != 0)
        die("another line came back");
    return time;
}

static void play_all(const struct command *commands, unsigned count)
{
    static struct player players[COMMANDS_MAX];
    pin(0);
    for (unsigned i = 0; i < count; i++)
        players[i] = enter(commands[i].arguments);
    for (unsigned n = 0; n < rounds; n += BLOCK)
        for (unsigned i = 0; i < count; i++) {
            struct player *player = &players[(n / BLOCK + i) % count];
            for (unsigned k = n; k < n + BLOCK && k < rounds; k++)
                player->times[k] = play(player, k);
        }
    for (unsigned i = 0; i < count; i++) {
        int status;
        close(players[i].to);
        if (waitpid(players[i].pid, &status, 0) < 0 || status != 0)
            die("a command failed");
        qsort(players[i].times, rounds, sizeof(int64_t), compare);
        printf("%lld\n", (long long)players[i].times[rounds / 2]);
    }
}

int main(int argc, char **argv)
{
    static struct command commands[COMMANDS_MAX];
    static struct result results[COMMANDS_MAX];
    bool there_and_back = false;
    for (int option; (option = getopt(argc, argv, "n:kp:")) != -1;)
        if (option == 'k')
            count_keys = true;
        else if (option != '?') {
            rounds = number(optarg);
            there_and_back = option == 'p';
        }
    unsigned count = (unsigned)(argc - optind);
    if (rounds == 0 || count == 0 || count > COMMANDS_MAX) {
        fprintf(stderr, "usage: measure [-n ROUNDS] [-k] | -p LINES COMMAND...\n");
        return 2;
    }
    for (unsigned i = 0; i < count; i++) {
        parse(argv[optind + (int)i], &commands[i]);
        for (unsigned j = 0; j < FIGURES; j++)
            if ((results[i].rounds[j] = calloc(rounds, sizeof(int64_t))) == NULL)
                die("memory");
    }
    if (there_and_back) {
        play_all(commands, count);
        return 0;
    }
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < count; i++)
            run(&commands[i], &results[i], round);
    for (unsigned i = 0; i < count; i++)
        tell(&results[i]);
    return 0;
}
