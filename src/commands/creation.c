#include "commands/creation.h"

#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/report.h"
#include "commands/wish.h"
#include "core/number.h"
#include "filter/create.h"
#include "system/path.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* "762 MB", or with stages "762 MB, at most 889 MB": with these empty, and full. */
static void write_size(const struct store *store, char text[64])
{
    char rest[16], most[16];
    uint64_t bytes = store_file_bytes(store), stages = store_stage_bytes(store);
    report_size((double)(bytes - stages), rest);
    if (stages == 0)
        snprintf(text, 64, "%s", rest);
    else
        snprintf(text, 64, "%s, at most %s", rest, report_size((double)bytes, most));
}

static void tell_created(const struct store *store)
{
    char size[64], time[32], rate[NUMBER_TEXT], part[64] = "", lines[64];
    const char *secret = header_has_secret(store_header(store)) ? ", with a secret" : "";
    const struct filter_plan *plan = &store_header(store)->plan;
    struct shard shard = store_header(store)->shard;
    if (shard.parts != 0)
        snprintf(part, sizeof part, "part %" PRIu32 " of %" PRIu32 ", ", shard.part, shard.parts);
    if (plan->forget != 0)
        snprintf(lines, sizeof lines, "forgets lines after %s", report_time(plan->forget, time));
    else if (plan->capacity != 0)
        snprintf(lines, sizeof lines, "for %s%" PRIu64 " %s", plan->window ? "the last " : "",
                 plan->capacity, number_lines(plan->capacity));
    else
        snprintf(lines, sizeof lines, "for any number of lines");
    bool grows = plan->forget != 0 || plan->capacity == 0;
    write_size(store, size);
    number_text(plan->rate, plan->pages != 0 ? NUMBER_FOUND : NUMBER_ASKED, rate);
    message("%s: created (%s%s, %s%s, false-drop rate %s%s)", store_path(store), part, lines,
            grows ? "starts at " : "", size, rate, secret);
}

/* How much it needs, and what is missing of that. */
static void tell_space(struct fault *fault, const char *path, const struct filter_plan *plan)
{
    char needed[16], missing[16], directory[PATH_MAX];
    struct layer_plan layer;
    struct statvfs system;
    path_directory(path, directory);
    unsigned count = create_layers(plan, &layer);
    if (count == 0)
        return;
    double bytes = (double)header_asked_bytes(layer.pages, plan, count);
    report_size(bytes, needed);
    double more = statvfs(directory, &system) == 0
                      ? bytes - (double)system.f_bavail * (double)system.f_frsize
                      : 0;
    if (more > 0)
        fault_way_out(fault, "it needs %s, %s more than are free", needed,
                      report_size(more, missing));
    else
        fault_way_out(fault, "it needs %s", needed);
}

/* Makes the filter that the options describe. Nothing may be there but what `over` says
 * (filter/create.h). Returns 0; 1 if something is there; -1 after a message. */
static int make(const char *path, const struct options *options, unsigned over)
{
    struct fault fault;
    struct header header;
    int there = create_look(path, over, &fault);
    if (there == PLACE_TAKEN)
        return 1;
    if (there < 0) {
        message_fault(&fault);
        return -1;
    }
    if (wish_plan(options, true, 0, &header) != 0)
        return -1;
    int result = create_filter(path, &header, (enum create_place)there, &fault);
    if (result < 0 && fault.of == path && (fault.error == ENOSPC || fault.error == EFBIG))
        tell_space(&fault, path, &header.plan);
    if (result < 0)
        message_fault(&fault);
    return result;
}

int creation_make(const char *path, const struct options *options)
{
    struct fault fault;
    bool force = options_has(options, OPTION_FORCE);
    int result = make(path, options, OVER_EMPTY | (force ? OVER_FILTER : 0));
    /* It is made, even if it cannot be looked at. */
    struct store *store = result == 0 ? store_open(path, false, NULL, &fault) : NULL;
    if (store != NULL)
        tell_created(store);
    store_close(store);
    return result;
}

int creation_taken(const char *path, const char *ways_out)
{
    if (create_is_filter(path))
        return message("%s: File exists (%s)", path, ways_out);
    return message("%s: File exists, and is not a filter (name another file)", path);
}

/* As make, over nothing; without --create a filter that is absent is only described. */
static int make_if_absent(const char *path, const struct options *options)
{
    struct header header;
    struct inputs inputs;
    if (access(path, F_OK) == 0)
        return 1;
    if (options_has(options, OPTION_CREATE)) {
        inputs_parse(&inputs, options, 1);
        return inputs_check_readable(&inputs) == 0 ? make(path, options, 0) : -1;
    }
    if ((options->set & DESCRIBING_OPTIONS) == 0)
        return 1;
    return wish_plan(options, true, 0, &header) == 0 ? 1 : -1;
}

struct filter *creation_open(const char *path, const struct options *options, bool write)
{
    int result = make_if_absent(path, options);
    if (result < 0 || (result > 0 && wish_compare(options, path) != 0))
        return NULL;
    struct filter *filter = filter_operand_open(path, options, write);
    if (filter != NULL && result == 0)
        tell_created(filter_store(filter));
    return filter;
}
