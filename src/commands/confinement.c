#include "commands/confinement.h"

#include "commands/message.h"
#include "system/beside.h"
#include "system/confine.h"
#include "system/path.h"

#include <unistd.h>

static void allow_files(struct confine *confine, const char **paths)
{
    for (; paths != NULL && *paths != NULL; paths++)
        confine_allow(confine, *paths, CONFINE_READ);
}

static void allow_queue(struct confine *confine, const char *filter, unsigned uses)
{
    char name[BESIDE_MAX];
    beside_name(filter, ".queue", name);
    /* One that is waited for will be made later. */
    if (uses == CONFINE_READ || access(name, F_OK) == 0)
        confine_allow(confine, name, uses);
    else
        confine_allow_place(confine, name, uses);
}

/* The filters, too, of whose queues these are. */
static void allow_queues(struct confine *confine, const char **paths)
{
    allow_files(confine, paths);
    for (; paths != NULL && *paths != NULL; paths++) {
        char name[BESIDE_MAX];
        beside_name(*paths, ".failed", name);
        confine_allow(confine, name, CONFINE_READ);
        allow_queue(confine, *paths, CONFINE_READ);
    }
}

/* Their directories: of several, one may be replaced while the others are looked at. And
 * themselves: what /dev/fd leads to need not be in any of these. */
static void allow_filters(struct confine *confine, const char **paths)
{
    char directory[PATH_MAX];
    for (; paths != NULL && *paths != NULL; paths++) {
        path_directory(*paths, directory);
        confine_allow(confine, directory, CONFINE_READ);
        confine_allow_place(confine, *paths, CONFINE_READ);
        confine_allow(confine, *paths, CONFINE_READ);
    }
}

int confinement_start(const struct confinement *needed)
{
    struct fault fault;
    struct confine confine;
    confine_begin(&confine);
    if (needed->inputs != NULL)
        inputs_allow(needed->inputs, &confine);
    if (needed->filter != NULL)
        filter_allow(needed->filter, &confine);
    if (needed->queue != NULL)
        allow_queue(&confine, needed->queue, CONFINE_READ | CONFINE_WRITE);
    if (needed->pending != NULL)
        confine_allow_place(&confine, pending_target(needed->pending),
                            CONFINE_READ | CONFINE_WRITE);
    if (needed->parts != NULL)
        part_files_allow(needed->parts, &confine);
    if (needed->made != NULL)
        confine_allow_place(&confine, needed->made, CONFINE_READ | CONFINE_WRITE);
    allow_files(&confine, needed->read);
    allow_queues(&confine, needed->queues);
    allow_filters(&confine, needed->filters);
    return confine_end(&confine, &fault) == 0 ? 0 : message_fault(&fault);
}

int confinement_of_filters(const struct options *options)
{
    return confinement_start(&(struct confinement){
        .queues = options->operands,
        .filters = options->operands + 1,
    });
}
