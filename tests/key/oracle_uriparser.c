/*
 * oracle_uriparser - answers each line, a URL, with its normal form, as uriparser makes it; with
 * "refused", if it is no URL to the library; or "-", where that has no say: about ports that are
 * empty, a scheme's own or begin with a zero, which it left alone before 0.9.9, and a scheme's own
 * to this day.
 *
 * Two of our rules are no affair of the library's, and carried out here: a fragment is dropped, and
 * an empty path becomes "/". All else is its work: letters of scheme and host, percent-encoding,
 * dot segments.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uriparser/Uri.h>

static bool port_is_plain(const UriTextRangeA *port)
{
    static const char *const others[] = {"21", "80", "443"};
    size_t length = (size_t)(port->afterLast - port->first);

    if (!port->first)
        return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (length == strlen(others[i]) && memcmp(port->first, others[i], length) == 0)
            return false;
    return length > 0 && *port->first != '0';
}

static char *text_of(const UriUriA *uri)
{
    int length;

    if (uriToStringCharsRequiredA(uri, &length) != URI_SUCCESS)
        return NULL;
    char *text = malloc((size_t)length + 1);
    if (text)
        uriToStringA(text, uri, length + 1, NULL);
    return text;
}

/* The query is kept apart: a "/" may have to come before it. */
static bool print_normal_form(UriUriA *uri)
{
    const UriTextRangeA none = {NULL, NULL};
    UriTextRangeA query = uri->query;

    uri->query = none;
    char *text = text_of(uri);
    uri->query = query;
    if (!text)
        return false;
    printf("%s%s", text, uri->pathHead ? "" : "/");
    if (query.first)
        printf("?%.*s", (int)(query.afterLast - query.first), query.first);
    putchar('\n');
    free(text);
    return true;
}

/* Returns false if memory or the output is at its end. */
static bool answer(const char *line)
{
    UriUriA uri;
    const char *error;
    bool done = true;

    if (uriParseSingleUriA(&uri, line, &error) != URI_SUCCESS)
        return puts("refused") >= 0;
    uri.fragment.first = uri.fragment.afterLast = NULL;
    if (!port_is_plain(&uri.portText))
        puts("-");
    else
        done = uriNormalizeSyntaxA(&uri) == URI_SUCCESS && print_normal_form(&uri);
    uriFreeUriMembersA(&uri);
    return done;
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    bool done = true;

    while (done && getline(&line, &size, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        done = answer(line);
    }
    free(line);
    return !done || ferror(stdin) || fflush(stdout) != 0;
}
