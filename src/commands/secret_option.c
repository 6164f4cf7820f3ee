#include "commands/secret_option.h"

#include "commands/message.h"
#include "core/quote.h"
#include "store/secret.h"

#include <stdio.h>
#include <string.h>

/* --- filters that exist --- */

/* Once in a process, whatever is opened with it. */
static int read_file(const char *path, struct hasher *hasher)
{
    static struct hasher known;
    static bool is_known;
    struct fault fault;
    struct stat status;
    char quoted[QUOTE_MAX];
    if (!is_known && secret_read(path, &known, &status, &fault) != 0)
        return message_fault(&fault);
    if (!is_known && (status.st_mode & S_IROTH) != 0)
        message("%s: others can read this secret, and choose lines with it (chmod o-r %s)", path,
                quote_file(path, quoted));
    is_known = true;
    *hasher = known;
    return 0;
}

int secret_option_open(const struct options *options, struct store *store, bool made)
{
    const struct header *header = store_header(store);
    const char *name = store_path(store), *path = options->given[OPTION_SECRET_FILE];
    struct hasher hasher = {.k0 = 0};
    if (path == NULL && (!made || !header_lacks_secret(header)))
        return 0;
    if (path == NULL)
        return message("%s: its secret is in another file (name it: --secret-file FILE)", name);
    if (!header_lacks_secret(header))
        return message("%s: %s (leave --secret-file out)", name,
                       header_has_secret(header) ? "holds its own secret"
                                                 : "was made without a secret");
    if (read_file(path, &hasher) != 0)
        return EXIT_TROUBLE;
    if (header_check(header, hasher) != header->hash_check)
        return message(
            "%s: its secret is not the one in %s (name the right file: --secret-file FILE)", name,
            path);
    store_know_secret(store, hasher);
    return 0;
}

/* --- filters to be made --- */

static int draw(struct header *header)
{
    struct fault fault;
    header->hash_check = 0;
    return secret_draw(&header->hasher, &fault) == 0 ? 0 : message_fault(&fault);
}

/* Such a file is removed when it seems to be left over, or is in the way. */
static bool is_kept_for_filter(const char *path, const char *filter)
{
    size_t length = filter != NULL ? strlen(filter) : 0;
    return length != 0 && strncmp(path, filter, length) == 0 &&
           (strncmp(path + length, ".flight-", 8) == 0 || strncmp(path + length, ".queue", 6) == 0);
}

/* `like` has another secret, or is NULL. */
static int take(const char *path, const char *like, struct header *header)
{
    struct fault fault;
    struct hasher hasher;
    int there = secret_for_new(path, &hasher, &fault);
    if (there < 0)
        return message_fault(&fault);
    if (like != NULL && header_check(header, hasher) == header->hash_check)
        return message("%s: has the secret of %s, not a new one (name another file)", path, like);
    if (there > 0)
        message("%s: exists, and the new filter gets the secret in it", path);
    header->hasher = hasher;
    header->hash_check = 1; /* until the filter has its UUID */
    return 0;
}

int secret_option_new(const struct options *options, struct header *header)
{
    const char *path = options->given[OPTION_SECRET_FILE], *like = options->given[OPTION_LIKE];
    if (options_has(options, OPTION_SECRET))
        return draw(header);
    if (path != NULL && is_kept_for_filter(path, options->operands[0]))
        return message("%s: is a name for files of the filter itself (name another file)", path);
    if (like == NULL)
        return path != NULL ? take(path, NULL, header) : 0;
    if (!options_has(options, OPTION_NEW_SECRET))
        return 0;
    if (!header_has_secret(header))
        return message("%s: was made without a secret (leave --new-secret out; for other false "
                       "drops: --seed 1)",
                       like);
    if (header_lacks_secret(header) && path == NULL)
        return message("--new-secret: the secret of %s is in another file (name a file for the "
                       "new one: --secret-file FILE)",
                       like);
    if (header_tells_secret(header) && path != NULL)
        return message("%s: holds its own secret (leave --secret-file out)", like);
    return path != NULL ? take(path, like, header) : draw(header);
}

const char *secret_option_file(const struct options *options, const struct header *header)
{
    bool shared = options_has(options, OPTION_LIKE) && !options_has(options, OPTION_NEW_SECRET);
    return header_lacks_secret(header) && !shared ? options->given[OPTION_SECRET_FILE] : NULL;
}
