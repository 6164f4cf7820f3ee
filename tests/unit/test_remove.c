/*
 * Taking keys out of counting filters: against counters kept one by one, with one layer and many;
 * and what is left when the process dies, at every single store.
 */
#include "filter/writer.h"

#include "chance.h"
#include "model.h"
#include "sample.h"
#include "scratch.h"
#include "tap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void add(struct writer *writer, struct key key)
{
    sample_add(writer, &key, 1);
}

static enum removal take_out(struct writer *writer, struct key key)
{
    struct fault fault;
    uint8_t removal = 99;
    ptrdiff_t removed = removal_remove(sample_filter(writer), &key, 1, &removal, &fault);
    if (removed < 0)
        sample_fault("remove", &fault);
    else
        tap_check(removed == (removal == REMOVAL_DONE), "%td removed", removed);
    return removal;
}

/* --- against the model --- */

/* A key goes into the oldest layer that has room. */
static void model_count(struct model *model, struct key key)
{
    unsigned i = 0;
    if (model_has(model, key))
        return;
    while (i < model->layers && model->keys[i] >= model->layer[i].capacity)
        i++;
    if (i == model->layers)
        model_grow(model);
    oracle_add(model->bits[i], key, model->layer[i].pages, model->layer[i].geometry);
    model->keys[i]++;
}

static enum removal model_take_out(struct model *model, struct key key)
{
    unsigned found = 0, layer = 0;
    for (unsigned i = 0; i < model->layers; i++)
        if (oracle_has(model->bits[i], key, model->layer[i].pages, model->layer[i].geometry)) {
            found++;
            layer = i;
        }
    if (found != 1)
        return found == 0 ? REMOVAL_ABSENT : REMOVAL_AMBIGUOUS;
    oracle_count(model->bits[layer], key, model->layer[layer].pages, model->layer[layer].geometry,
                 -1);
    model->keys[layer] -= model->keys[layer] > 0;
    return REMOVAL_DONE;
}

/* Keys come and go, in batches, with repeats and strangers; every verdict is the model's. Where the
 * rate is high, keys look in where they are not, in several layers too. */
static void come_and_go(double rate, uint64_t capacity, uint64_t range, unsigned seen[3])
{
    enum { BATCH = 500, ROUNDS = 80 };
    struct filter_plan plan = {.rate = rate, .capacity = capacity, .geometry = {.counting = true}};
    struct writer *writer = sample_file(scratch_path("r.bf"), &plan);
    struct model model;
    struct chance chance = {70};
    struct fault fault;
    if (writer == NULL)
        return;
    model_start(&model, &plan);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct key keys[BATCH];
        uint8_t out[BATCH] = {0};
        for (unsigned i = 0; i < BATCH; i++)
            keys[i] = sample_key(chance_below(&chance, range));
        if (round % 5 < 3) {
            for (unsigned i = 0; i < BATCH; i++) {
                add(writer, keys[i]);
                model_count(&model, keys[i]);
            }
            continue;
        }
        if (removal_remove(sample_filter(writer), keys, BATCH, out, &fault) < 0)
            sample_fault("remove", &fault);
        for (unsigned i = 0; i < BATCH; i++) {
            enum removal wanted = model_take_out(&model, keys[i]);
            seen[wanted]++;
            tap_check(out[i] == wanted, "p = %g, round %u, key %u: %u, not %u", rate, round, i,
                      out[i], wanted);
        }
    }
    model_check(&model, writer, "all removed");
    model_free(&model);
    sample_close(writer);
}

static void against_the_model(void)
{
    unsigned seen[3] = {0};
    come_and_go(0.5, 100, 5000, seen);
    come_and_go(0.1, 1000, 5000, seen);
    come_and_go(1e-3, 3000, 8000, seen);
    come_and_go(1e-6, 100000, 30000, seen);
    tap_check(seen[REMOVAL_DONE] > 1000 && seen[REMOVAL_ABSENT] > 1000 &&
                  seen[REMOVAL_AMBIGUOUS] > 100,
              "%u removed, %u absent, %u ambiguous: the test is about nothing", seen[REMOVAL_DONE],
              seen[REMOVAL_ABSENT], seen[REMOVAL_AMBIGUOUS]);
}

/* --- in flight --- */

/* In flight is not in, and no removal of others changes that. */
static void removed_while_in_flight(void)
{
    const struct filter_plan plan = {.rate = 1e-12, .capacity = 1000, .geometry.counting = true};
    struct writer *a, *b;
    struct key key = sample_key(1);
    uint8_t seen = 1;
    struct fault fault;
    if (!sample_two(scratch_path("r.bf"), &plan, &a, &b))
        return;
    tap_check(writer_claim(a, &key, 1, 1, &seen, &fault) == 1 && !seen, "claim");
    tap_check(take_out(b, key) == REMOVAL_ABSENT, "what is in flight was removed");
    tap_check(sample_settle(a, 1, &fault) == 0 && sample_has(b, key), "settle");
    tap_check(take_out(b, key) == REMOVAL_DONE && !sample_has(a, key), "remove");
    tap_check(writer_claim(a, &key, 1, 1, &seen, &fault) == 1 && !seen, "it is not new again");
    sample_close(a);
    sample_close(b);
}

/* --- killed --- */

/* A filter as bytes, in which the key `victim` is being removed. */
struct image {
    uint8_t *bytes;
    size_t length;
    size_t layer_at;
};

/* The victim is in the second layer. */
enum { STAY = 150, VICTIM = STAY, EARLIER = 1000 };

static struct image image_read(const char *path, size_t layer_at)
{
    struct image image = {.layer_at = layer_at};
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0)
        exit(1);
    image.length = (size_t)status.st_size;
    image.bytes = mmap(NULL, image.length, PROT_READ, MAP_SHARED, fd, 0);
    if (image.bytes == MAP_FAILED)
        exit(1);
    close(fd);
    return image;
}

static uint8_t *copy_of(const struct image *image)
{
    uint8_t *copy = malloc(image->length);
    if (copy == NULL)
        exit(1);
    memcpy(copy, image->bytes, image->length);
    return copy;
}

/* The same file, if there is one. */
static void write_file(const char *path, const uint8_t *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
        exit(1);
    close(fd);
}

/* What a kill left is opened by the next writer: its cells are those with the victim, or those
 * without. */
struct verdict {
    unsigned whole, gone; /* so often */
    unsigned half;        /* it was half out before it was opened */
};

static void judge(const uint8_t *bytes, const struct image *image, const uint8_t *with,
                  const uint8_t *without, unsigned step, struct verdict *verdict)
{
    const char *path = scratch_path("killed.bf");
    size_t at = image->layer_at, length = image->length - image->layer_at;
    verdict->half += memcmp(bytes + at, with + at, length) != 0 &&
                     memcmp(bytes + at, without + at, length) != 0;
    write_file(path, bytes, image->length);
    struct writer *writer = sample_open(path, true);
    if (writer == NULL)
        return;
    const uint8_t *now = filter_bits(sample_filter(writer), 1)->bytes;
    bool whole = memcmp(now, with + at, length) == 0;
    bool gone = memcmp(now, without + at, length) == 0;
    tap_check(whole || gone, "killed at step %u: the key is neither in nor out", step);
    tap_check(sample_has(writer, sample_key(VICTIM)) == whole, "killed at step %u: other verdict",
              step);
    for (unsigned i = 0; i < STAY; i++)
        tap_check(sample_has(writer, sample_key(i)), "killed at step %u: key %u is lost", step, i);
    tap_check(filter_keys(sample_filter(writer)) >= STAY &&
                  filter_keys(sample_filter(writer)) <= STAY + 1,
              "killed at step %u: counts %" PRIu64 " keys", step,
              filter_keys(sample_filter(writer)));
    tap_check(!removal_is_unfinished(sample_filter(writer)),
              "killed at step %u: the journal is still open", step);
    verdict->whole += whole;
    verdict->gone += gone;
    sample_close(writer);
}

/* Removes the victim between two stops. */
static void remove_and_stop(const char *path)
{
    struct fault fault;
    struct key key = sample_key(VICTIM);
    uint8_t removal = 99;
    struct writer *writer = sample_writer(filter_open(path, true, NULL, &fault), &fault);
    if (writer == NULL || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(3);
    raise(SIGSTOP);
    ptrdiff_t removed = removal_remove(sample_filter(writer), &key, 1, &removal, &fault);
    raise(SIGSTOP);
    _exit(removed != 1);
}

/* Single steps, and after each that changed the file: what if it died here? */
static void step_through(pid_t child, const struct image *image, const uint8_t *with,
                         const uint8_t *without, struct verdict *verdict)
{
    enum { STEPS_MAX = 2000000 };
    uint8_t *last = copy_of(image);
    int status = 0;
    for (unsigned step = 0; step < STEPS_MAX; step++) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) < 0 ||
            !WIFSTOPPED(status) || WSTOPSIG(status) == SIGSTOP)
            break;
        if (memcmp(last, image->bytes, image->length) == 0)
            continue;
        memcpy(last, image->bytes, image->length);
        judge(last, image, with, without, step, verdict);
    }
    free(last);
}

static void killed_at_every_store(void)
{
    char path[PATH_MAX];
    int status = 0;
    snprintf(path, sizeof path, "%s", scratch_path("r.bf"));
    struct filter_plan plan = {.rate = 1e-9, .capacity = STAY / 2, .geometry = {.counting = true}};
    struct writer *writer = sample_file(path, &plan);
    if (writer == NULL)
        return;
    for (unsigned i = 0; i < STAY; i++)
        add(writer, sample_key(i));
    tap_check(filter_layers(sample_filter(writer)) == 2, "one layer");
    size_t layer_at = (size_t)filter_end(sample_filter(writer)) -
                      filter_bits(sample_filter(writer), 1)->pages * PAGE_BYTES;
    /* So the journal is not empty before. */
    add(writer, sample_key(EARLIER));
    tap_check(take_out(writer, sample_key(EARLIER)) == REMOVAL_DONE, "remove");
    struct image image = image_read(path, layer_at);
    uint8_t *without = copy_of(&image);
    add(writer, sample_key(VICTIM));
    uint8_t *with = copy_of(&image);
    sample_close(writer);
    struct verdict verdict = {0};
    pid_t child = fork();
    if (child == 0)
        remove_and_stop(path);
    if (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        step_through(child, &image, with, without, &verdict);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        printf("# %u states with the key in, %u without, %u of all half out before\n",
               verdict.whole, verdict.gone, verdict.half);
        tap_check(verdict.whole > 10 && verdict.gone > 0 && verdict.half > 10,
                  "the test is about nothing");
    } else {
        tap_skip("a process cannot be traced here (in a container: --cap-add SYS_PTRACE)");
    }
    munmap(image.bytes, image.length);
    free(with);
    free(without);
}

int main(void)
{
    scratch_make();
    tap_run("keys come and go: the model's verdicts and cells, in one layer and in many",
            against_the_model);
    tap_run("in flight is not in", removed_while_in_flight);
    tap_run("killed at every store: the key is whole in or whole out", killed_at_every_store);
    return tap_end();
}
