/* command_commit - `unseen commit FILTER FILE...`: settle what runs with --pending delivered. */
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/summary.h"
#include "filter/pending.h"

static int check(const struct filter *filter, const char *path)
{
    struct fault fault;
    if (path[0] == '\0') {
        fault_set(&fault, "''", "an empty name is not a FILE");
        fault_way_out(&fault, "is a variable empty?");
        return message_fault(&fault);
    }
    struct pending *pending = pending_open(path, filter_store(filter), &fault);
    pending_free(pending);
    return pending != NULL ? EXIT_OK : message_fault(&fault);
}

/* All files are checked before anything is changed. */
static int check_all(const struct filter *filter, const char **paths)
{
    int status = EXIT_OK;
    for (; *paths != NULL; paths++)
        if (check(filter, *paths) != EXIT_OK)
            status = EXIT_TROUBLE;
    return status;
}

/* Some may be in by now: from another file, or this one. */
static int add_all(struct filter *filter, struct pending *pending, uint64_t *total,
                   struct fault *fault)
{
    static struct key keys[BATCH_KEYS];
    static uint8_t seen[BATCH_KEYS];
    size_t n;
    for (uint64_t from = 0; from < pending_count(pending); from += n) {
        uint64_t left = pending_count(pending) - from, added;
        n = left < BATCH_KEYS ? (size_t)left : BATCH_KEYS;
        if (pending_read(pending, from, keys, n, fault) != 0 ||
            filter_add(filter, keys, n, seen, &added, fault) != (ptrdiff_t)n)
            return -1;
        *total += added;
    }
    return 0;
}

static int commit(const struct options *options, struct filter *filter, const char **paths)
{
    struct fault fault;
    uint64_t total = 0;
    if (check_all(filter, paths) != EXIT_OK)
        return EXIT_TROUBLE;
    for (; *paths != NULL; paths++) {
        struct pending *pending = pending_open(*paths, filter_store(filter), &fault);
        int result = pending != NULL ? add_all(filter, pending, &total, &fault) : -1;
        pending_free(pending);
        if (result != 0)
            return message_fault(&fault);
    }
    filter_operand_warn(filter_store(filter));
    summary_numbers(options, store_path(filter_store(filter)),
                    (struct summary_number[]){
                        {"remembered", "", total == 1 ? " line remembered" : " lines remembered",
                         (double)total},
                        {.member = NULL},
                    });
    return EXIT_OK;
}

int command_commit(const struct options *options)
{
    const char *path = filter_operand(options);
    if (path == NULL)
        return EXIT_TROUBLE;
    if (options->operand_count < 2)
        return message("commit: FILE is missing (unseen commit FILTER FILE...)");
    struct filter *filter = filter_operand_open(path, options, true);
    if (filter == NULL)
        return EXIT_TROUBLE;
    const char **files = options->operands + 1;
    int status = confinement_start(&(struct confinement){.filter = filter, .read = files});
    if (status == 0)
        status = commit(options, filter, files);
    filter_close(filter);
    return status;
}
