/* command_commit - `unseen commit FILTER FILE...`: settle what runs with --pending delivered. */
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/summary.h"
#include "delivery/pending.h"
#include "store/probe.h"

enum { CHUNK = 2048 };

static int check(const struct filter *filter, const char *path)
{
    struct fault fault;
    if (path[0] == '\0') {
        fault_set(&fault, "''", "an empty name is not a FILE");
        fault_way_out(&fault, "is a variable empty?");
        return message_fault(&fault);
    }
    struct pending *pending = pending_open(path, store_header(filter_store(filter))->uuid, &fault);
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

/* As long as nothing was settled since the run began, its lines are as new as they were then. Else
 * some may be in by now: from another file, or this one. */
static int settle_all(struct filter *filter, struct pending *pending, uint64_t *total,
                      struct fault *fault)
{
    static struct key keys[CHUNK];
    static uint8_t seen[CHUNK];
    filter_set_claimed(filter, pending_settlings(pending));
    for (;;) {
        ptrdiff_t n = pending_next(pending, keys, CHUNK, fault);
        uint64_t added;
        if (n <= 0)
            return (int)n;
        /* This brings the pages into memory before the lock is taken. */
        if (probe(filter_store(filter), keys, (size_t)n, seen, fault) != 0)
            return -1;
        ptrdiff_t new = filter_settle_alone(filter, keys, (size_t)n, fault);
        if (new < 0 ||
            filter_add(filter, keys + new, (size_t)(n - new), seen, &added, fault) != n - new)
            return -1;
        *total += (uint64_t) new + added;
    }
}

static int commit(const struct options *options, struct filter *filter, const char **paths)
{
    struct fault fault;
    uint64_t total = 0;
    if (check_all(filter, paths) != EXIT_OK)
        return EXIT_TROUBLE;
    for (; *paths != NULL; paths++) {
        struct pending *pending = pending_open(*paths, store_header(filter_store(filter))->uuid,
                                               &fault);
        int result = pending != NULL ? settle_all(filter, pending, &total, &fault) : -1;
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
