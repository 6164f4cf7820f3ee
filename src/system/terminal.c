#include "system/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_LEAST = 20, WIDTH_DEFAULT = 80, WIDTH_MOST = 1000 };

unsigned terminal_width(int fd)
{
    struct winsize size = {0};
    unsigned width = WIDTH_DEFAULT;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
        width = size.ws_col;
    if (width < WIDTH_LEAST)
        return WIDTH_LEAST;
    return width < WIDTH_MOST ? width : WIDTH_MOST;
}

#define CLEAR "\r\033[K"

static bool drawn;

void terminal_draw(const char *line, bool stays)
{
    pid_t group = tcgetpgrp(STDERR_FILENO);
    if (group >= 0 && group != getpgrp())
        return;
    fprintf(stderr, CLEAR "%s%s", line, stays ? "\n" : "");
    drawn = !stays;
}

void terminal_clear(int fd)
{
    int error = errno;
    if (drawn && isatty(fd)) {
        (void)!write(STDERR_FILENO, CLEAR, sizeof CLEAR - 1);
        drawn = false;
    }
    errno = error;
}

/* As in setlocale(3), the first variable that is not empty counts. */
bool terminal_shows_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        locale = getenv(names[i]);
        if (locale != NULL && locale[0] != '\0')
            break;
    }
    const char *charset = locale != NULL ? strchr(locale, '.') : NULL;
    return charset != NULL &&
           (strncasecmp(charset, ".utf-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0);
}
