/*
 * oracle_curl - URLs in normal form, as libcurl makes it.
 *
 * It has no say (oracle.h) about
 *
 *   - lines with a percent sign: what becomes of it has changed from version to version
 *   - schemes other than http and https: which of them have a port is a matter of how it was built
 *
 * One of our rules is carried out here, since the library has left the letters of the host as they
 * are: they become lower case. All else is its work: the letters of the scheme, ports, empty paths,
 * dot segments, fragments.
 */
#include "oracle.h"

#include <curl/curl.h>
#include <strings.h>

static bool lower_host(CURLU *url)
{
    char *host;

    if (curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK)
        return false;
    for (char *c = host; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    bool done = curl_url_set(url, CURLUPART_HOST, host, 0) == CURLUE_OK;
    curl_free(host);
    return done;
}

static bool print_normal_form(CURLU *url)
{
    char *text;

    if (!lower_host(url) || curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_URL, &text, CURLU_NO_DEFAULT_PORT) != CURLUE_OK)
        return false;
    puts(text);
    curl_free(text);
    return true;
}

static bool answer(const char *line)
{
    bool done = true;

    if (strchr(line, '%') || strncasecmp(line, "http", 4) != 0)
        return puts("-") >= 0;
    CURLU *url = curl_url();
    if (!url)
        return false;
    if (curl_url_set(url, CURLUPART_URL, line, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        puts("refused");
    else
        done = print_normal_form(url);
    curl_url_cleanup(url);
    return done;
}
