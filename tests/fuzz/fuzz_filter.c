/*
 * fuzz_filter - any command over a damaged or hostile filter file (hostile.h).
 */
#include "hostile.h"

#define QUICK "-j 1 "

static const struct field fields[] = {
    {FILTER, 0, 4, 8},                   /* header: magic to features */
    {FILTER, 24, 8, 21},                 /*         all other numbers */
    {FILTER, 128, 1, 4},                 /*         bytes */
    {FILTER, 256, 4, 24},                /*         the key's recipe */
    {FILTER, 168, 4, 2},                 /*         shard, shards */
    {FILTER, 384, 4, 8},                 /*         names of columns or members */
    {FILTER, 1408, 4, 8},                /*         patterns */
    {FILTER, LAYER_TABLE_AT, 8, 40},     /* layer records */
    {FILTER, LAYER_TABLE_AT, 80, 48},    /*       offsets */
    {FILTER, LAYER_TABLE_AT + 32, 1, 5}, /*       geometries */
    {FILTER, LAYER_COUNT_AT, 4, 1},      /*       their number */
    {FILTER, COUNTER_SETTLED_AT, 8, 6},  /* counters, marks of a stage, kind of queue */
    {FILTER, LAYER_STATES_AT, 8, 128},   /* states of layers */
    {FILTER, LAYER_STATES_AT, 64, 48},   /*        their keys */
    {FILTER, SLOTS_AT, 4, 32},           /* slots */
    {FILTER, SLOTS_AT, 32, 128},         /*       their numbers of keys */
    {FILTER, FLIGHT_AT, 8, 64},          /* keys in flight */
    {FILTER, 69632, 8, 64},              /* what comes after them, such as a journal */
    {FILTER, 16384, 4096, 128},          /* pages */
    {FILTER, 69632, 64, 128},            /* lines of a page */
};
enum { FIELDS = sizeof fields / sizeof *fields };

/* `g` is another filter, which is never touched. */
static const struct run runs[] = {
    {READS, "stats f", false, NULL},
    {READS, "stats --json f ../g", false, NULL},
    {READS, "verify f", false, NULL},
    {READS, "query " QUICK "f in", false, NULL},
    {READS, "query -c " QUICK "f in", false, NULL},
    {READS, "query --tag " QUICK "f in", false, NULL},
    {WRITES, QUICK "f in", true, NULL},
    {WRITES, "-m 2 " QUICK "f in", false, NULL},
    {WRITES, "-a out --dropped dropped --summary " QUICK "f in", true, NULL},
    {WRITES, "--durable -a out " QUICK "f in", true, NULL},
    {WRITES, "add " QUICK "f in", true, NULL},
    {WRITES, "add --summary --json -j 2 f in", true, NULL},
    {WRITES, "-n 200 -p 1e-3 " QUICK "f in", false, NULL},
    {WRITES, "remove " QUICK "f in", false, NULL},
    {WRITES, "commit f ../pending", false, NULL},
    {READS, "--pending keys " QUICK "f in", false, NULL},
    {READS, "merge -o out f", false, NULL},
    {READS, "merge -o out f ../g", false, NULL},
    {READS, "merge -o out ../g f", false, NULL},
    {WRITES, "merge --summary -o f f ../g", false, NULL},
    {WRITES, "merge -o f f", false, NULL},
    {READS, "create --like f new", false, NULL},
    {REPLACES, "create --force -n 10 f", false, NULL},
    {WRITES, "push " QUICK "f in", false, NULL},
    {WRITES, "pop f", false, NULL},
    {READS, "shard " QUICK "--like f 1/2 in", false, NULL},
    {READS, "create --like f --secret new", false, NULL},
};
enum { RUNS = sizeof runs / sizeof *runs };

static void make_scene(const char *create, unsigned lines)
{
    make_filter(create);
    put_lines("../some", 0, lines);
    make("add -j 1 f in", "../some");
    keep_scene();
}

/* Small ones of each kind. */
static void make_scenes(void)
{
    enter_directory();
    make_scene("create -n 100 f", 100);
    make("--pending ../pending -j 1 f in", "../in");
    INSIST(rename("f", "../g") == 0);
    make_scene("create -n 60 --fixed f", 100);
    make_scene("create -n 20 f", 1500);
    make_scene("create -n 20 -p 0.5 f", 60);
    make_scene("create -n 40 --counting f", 100);
    make_scene("create --window 100 f", 300);
    make_scene("create --forget-after 1h -n 100 f", 100);
    make_scene("create -n 10000 f", 100);
    make_scene("create -n 100 --shard 1/1 f", 100);
    make_scene("create -n 100 -f 1- -t , -i --trim f", 100);
    make_scene("create -n 100 --by url f", 100);
    make_scene("create -n 100 --size 96K --hashes 8 --seed 7 f", 100);
    make_scene("create -n 100 --secret f", 100);
    /* The header line of all lists has this column. */
    make_scene("create -n 100 -t : -f !http f", 100);
    make_scene("create -n 100 --csv -t : -f \"http\" f", 100);
    make_scene("create -n 100 --jsonl -f \"a,b\",/c,d f", 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!set_stage(data, size, make_scenes, fields, FIELDS))
        return 0;
    repair_filter(data[3]);
    play(data, runs, RUNS);
    return 0;
}
