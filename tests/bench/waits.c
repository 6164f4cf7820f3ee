/*
 * waits - how long a writer waits while another one works, and how long that takes to end.
 *
 *     waits meanwhile COMMAND OTHER <INPUT
 *     waits interrupted MILLISECONDS COMMAND <INPUT
 *
 * A COMMAND is one argument, cut at blanks. The first runs COMMAND with INPUT, and OTHER beside it,
 * which gets a new line each 10 ms, once the one before has come out. Prints how long COMMAND took,
 * and the longest time that a line of OTHER did. The second sends SIGINT to COMMAND after so many
 * MILLISECONDS, and prints how long that took to end it, and its status. All in milliseconds.
 * Exit: 0, or 2 with a message.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64, LINE_BYTES_MAX = 100, PAUSE_MILLISECONDS = 10 };

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "waits: %s: %s\n", what, strerror(errno));
    exit(2);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void pause_for(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {
    }
}

/* Its standard input and output are `in` and `out`. */
static pid_t start(char *text, int in, int out)
{
    char *arguments[ARGUMENTS_MAX] = {0};
    unsigned n = 0;
    for (char *word = strtok(text, " "); word != NULL && n < ARGUMENTS_MAX - 1;
         word = strtok(NULL, " "))
        arguments[n++] = word;
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        if (n > 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
            execvp(arguments[0], arguments);
        die(text);
    }
    return pid;
}

/* Sends a line, and waits until it has come out. Returns how long that took. */
static double send_line(int to, int from)
{
    static unsigned number;
    char line[LINE_BYTES_MAX], back[LINE_BYTES_MAX];
    int length = snprintf(line, sizeof line, "a line of %ld, number %u\n", (long)getpid(),
                          number++);
    double begin = now();
    if (write(to, line, (size_t)length) != length)
        die("cannot send a line");
    for (ssize_t done = 0, n; done < length; done += n)
        if ((n = read(from, back, sizeof back)) <= 0)
            die("a line has not come out");
    return now() - begin;
}

static int meanwhile(char *command, char *other)
{
    int in[2], out[2], null = open("/dev/null", O_WRONLY | O_CLOEXEC), status;
    double longest = 0;
    if (null < 0 || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        die("pipe");
    pid_t writer = start(other, in[0], out[1]);
    close(out[1]);
    (void)send_line(in[1], out[0]); /* it is there */
    double begin = now();
    pid_t worker = start(command, STDIN_FILENO, null);
    while (waitpid(worker, &status, WNOHANG) == 0) {
        double wait = send_line(in[1], out[0]);
        if (wait > longest)
            longest = wait;
        pause_for(PAUSE_MILLISECONDS);
    }
    printf("%.0f %.0f\n", now() - begin, longest);
    close(in[1]);
    waitpid(writer, NULL, 0);
    return 0;
}

static int interrupted(long milliseconds, char *command)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), status;
    pid_t pid = start(command, STDIN_FILENO, null);
    pause_for(milliseconds);
    double begin = now();
    kill(pid, SIGINT);
    waitpid(pid, &status, 0);
    printf("%.0f %s\n", now() - begin, WIFSIGNALED(status) ? "interrupted" : "ended");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "meanwhile") == 0)
        return meanwhile(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "interrupted") == 0)
        return interrupted(strtol(argv[2], NULL, 10), argv[3]);
    fprintf(stderr, "usage: waits meanwhile COMMAND OTHER\n"
                    "       waits interrupted MILLISECONDS COMMAND\n");
    return 2;
}
