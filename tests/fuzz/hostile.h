/*
 * hostile - a directory of files as the program made them, changed as an input says; and commands
 * that run over it in this process.
 *
 * An input is short: it names a scene (the files of one small filter, made once at the start), then
 * the commands, then edits, five bytes each. Numbers come from a list of those that break programs.
 * Checksums are put right after that, unless the input says not to: else nothing would get in.
 *
 *        0    1  scene
 *        1    2  commands: the first, and one after it; 0 for none
 *        3    1  flags: FLAG_...
 *        4  n*5  edits: operation and width; which field (fields[], by the target); which element
 *                of it; number; what is added to it
 *
 * Everything lies in a directory of its own in TMPDIR, which should be in memory; inputs are named
 * by whole paths, as the program changes into it. No file grows past GROWTH_MAX, as on a full disk.
 *
 * What must hold of each command: its exit status is one of those documented; each line it says on
 * standard error begins with the program's name, and is printable; with a filter that cannot be
 * opened it fails, says why, prints nothing and changes nothing; if it only reads, it changes
 * nothing.
 */
#ifndef UNSEEN_FUZZ_HOSTILE_H
#define UNSEEN_FUZZ_HOSTILE_H

#include "commands/command.h"
#include "commands/message.h"
#include "core/bytes.h"
#include "filter/filter.h"
#include "format/header.h"
#include "replay.h"
#include "system/confine.h"

#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_MAX = 1 << 20,      /* of a scene */
    EXTENSION_MAX = 1 << 22, /* zeros after it */
    GROWTH_MAX = 8 << 20,
    SCENES_MAX = 32,
    HEAD = 4, /* of an input */
    EDIT_BYTES = 5,
    EDITS_MAX = 24,
    WORDS_MAX = 24,
    SAID_MAX = 1 << 17
};

enum {
    FLAG_KEEP_CHECKSUMS = 1, /* of what is written once */
    FLAG_KEEP_RECORDS = 2,   /* of what may be written again */
    FLAG_LIVE = 4,           /* another writer holds the first slots */
    FLAG_MORE = 8,           /* a longer list of lines */
    FLAG_NONE = 16,          /* an empty one; or, with FLAG_MORE, one of more than a batch */
};

/* The files of a scene, as far as it has them. */
enum which { FILTER, PENDING, FLIGHT_0, FLIGHT_1, FILES };
static const char *const names[FILES] = {"f", "pending", "f.flight-0", "f.flight-1"};

struct file {
    bool there;
    uint8_t *bytes;
    size_t size;
    size_t zeros; /* after them */
};

/* Numbers at start, start + step, and so on. */
struct field {
    enum which file;
    size_t start, step, count;
};

/* What a command does to the filter `f`. */
enum manner {
    READS,
    WRITES,
    REPLACES /* whatever is there */
};

struct run {
    enum manner manner;
    const char *words; /* "in" is replaced by the list of lines */
    bool tells;        /* it prints lines of its input; and says 0 only if all are in */
    const char *keeps; /* the files whose names begin so stay as they are; NULL: only what a failed
                          or reading command leaves */
};

static struct file scenes[SCENES_MAX][FILES], stage[FILES];
static size_t scene_count;
static char said[SAID_MAX], told[SAID_MAX]; /* on standard error; on standard output */
static const char *asked;                   /* the words of the last command */
static int errors_fd, output_fd, errors_before, output_before;
static char top[4096];

/* As INSIST, of the last command. */
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        bool holds = (condition);                                                                  \
        if (!holds)                                                                                \
            fprintf(stderr, "of unseen %s: %s: it said:\n%s%.400s", asked, #condition, said,       \
                    told);                                                                         \
        INSIST(holds);                                                                             \
    } while (0)

/* --- files --- */

static inline void put_file(const char *name, const struct file *file)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    INSIST(fd >= 0 && write(fd, file->bytes, file->size) == (ssize_t)file->size);
    INSIST(file->zeros == 0 || ftruncate(fd, (off_t)(file->size + file->zeros)) == 0);
    close(fd);
}

/* Its first bytes; returns how many, or SIZE_MAX if there is none. */
static inline size_t get_file(const char *name, void *bytes, size_t most)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return SIZE_MAX;
    ssize_t size = pread(fd, bytes, most, 0);
    INSIST(size >= 0);
    close(fd);
    return (size_t)size;
}

static inline void put_lines(const char *name, unsigned from, unsigned to)
{
    FILE *file = fopen(name, "w");
    INSIST(file);
    for (unsigned i = from; i < to; i++)
        fprintf(file, "http://host%u.example/a,%u b\n", i % 3, i);
    INSIST(fclose(file) == 0);
}

/* For nftw(3): of each file and directory below the working directory. */
static inline int remove_one(const char *name, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    INSIST(at->level == 0 || remove(name) == 0);
    return 0;
}

static inline void clear_directory(void)
{
    INSIST(nftw(".", remove_one, 4, FTW_DEPTH | FTW_PHYS) == 0);
}

/* How large files may get: what a command makes. */
static inline void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    INSIST(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    INSIST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static inline void remove_all(void)
{
    limit_files(RLIM_INFINITY);
    clear_directory();
    if (chdir(top) == 0)
        clear_directory();
    (void)!rmdir(top);
}

/* Faults are to end up where they always do, not in the file that a command's words go to. */
__attribute__((weak)) void __sanitizer_set_report_fd(void *fd); // NOLINT: its name

/* Where everything happens. The signals are those that the program itself takes. */
static inline void enter_directory(void)
{
    const char *place = getenv("TMPDIR");
    snprintf(top, sizeof top, "%s/unseen-fuzz.XXXXXX", place != NULL ? place : "/tmp");
    INSIST(mkdtemp(top) && chdir(top) == 0 && atexit(remove_all) == 0);
    errors_before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    output_before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    errors_fd = open("errors", O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
    output_fd = open("output", O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
    INSIST(errors_fd >= 0 && output_fd >= 0);
    put_lines("in", 80, 140);
    put_lines("in.more", 50, 400);
    put_lines("in.none", 0, 0);
    put_lines("in.most", 0, 3000);
    INSIST(mkdir("work", 0700) == 0 && chdir("work") == 0);
    signal(SIGXFSZ, SIG_IGN);
    limit_files(GROWTH_MAX);
    if (__sanitizer_set_report_fd != NULL)
        __sanitizer_set_report_fd((void *)(intptr_t)errors_before); // NOLINT
}

/* --- commands --- */

/* Words are separated by blanks; `in` is a list of lines. */
static inline int split_words(char *words, const char *in, char *argv[WORDS_MAX])
{
    static char name[] = "unseen";
    int argc = 1;
    argv[0] = name;
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        INSIST(argc < WORDS_MAX - 1);
        argv[argc++] = strcmp(word, "in") == 0 ? (char *)in : word;
    }
    argv[argc] = NULL;
    return argc;
}

/* As main.c does; but getopt_long has read other lines of words before, and a fault that has just
 * been said is not said again: so each command has one before it. */
static inline int dispatch(int argc, char **argv)
{
    struct options options;
    struct fault fault;
    const struct command *command = &command_table[0];
    char *alone[] = {argv[0], NULL};
    fault_set(&fault, "fuzz", "next");
    message_fault(&fault);
    INSIST(ftruncate(errors_fd, 0) == 0 && ftruncate(output_fd, 0) == 0);
    optind = 0; /* anew, for glibc and musl */
    INSIST(getopt(1, alone, "-") == -1);
    optind = 1;
    INSIST(options_parse(&options, argc, argv) == 0);
    if (command_find(options.operands[0]) != NULL) {
        command = command_find(options.operands[0]);
        options.operands++;
        options.operand_count--;
    }
    options.asked = command;
    return options_check(&options) != 0 ? EXIT_TROUBLE : command->run(&options);
}

static inline void redirect(int errors, int output)
{
    INSIST(dup2(errors, STDERR_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0);
}

static inline void read_log(int fd, char text[SAID_MAX])
{
    ssize_t length = pread(fd, text, SAID_MAX - 1, 0);
    INSIST(length >= 0);
    text[length] = '\0';
}

/* Runs one command; `said` and `told` are what it said and printed. Returns its exit status. */
static inline int run_words(const char *words, const char *in)
{
    char room[512], *argv[WORDS_MAX];
    INSIST(strlen(words) < sizeof room);
    strcpy(room, words);
    asked = words;
    int argc = split_words(room, in, argv);
    fflush(stdout);
    redirect(errors_fd, output_fd);
    int status = dispatch(argc, argv);
    fflush(stdout);
    clearerr(stdout);
    redirect(errors_before, output_before);
    read_log(errors_fd, said);
    read_log(output_fd, told);
    return status;
}

/* --- scenes --- */

/* A command that makes a scene must succeed. */
static inline void make(const char *words, const char *in)
{
    HOLDS(run_words(words, in) == EXIT_OK);
}

/* So that one input does one thing, today and tomorrow: the same UUID in all. */
static inline void make_filter(const char *words)
{
    enum { UUID_AT = 32, SUM_AT = HEADER_BYTES - 8 };
    static uint8_t page[HEADER_BYTES];
    clear_directory();
    make(words, NULL);
    INSIST(get_file("f", page, sizeof page) == sizeof page);
    memcpy(page + UUID_AT, "fuzz\0\0\x40\0\x80\0\0\0\0\0\0", UUID_BYTES);
    store64(page + SUM_AT, hash_checksum(page, SUM_AT));
    int fd = open("f", O_WRONLY | O_CLOEXEC);
    INSIST(fd >= 0 && pwrite(fd, page, sizeof page, 0) == (ssize_t)sizeof page);
    close(fd);
}

/* What is in the directory now is one. */
static inline void keep_scene(void)
{
    static uint8_t bytes[FILE_MAX];
    INSIST(scene_count < SCENES_MAX);
    for (size_t i = 0; i < FILES; i++) {
        struct file *file = &scenes[scene_count][i];
        size_t size = get_file(names[i], bytes, sizeof bytes);
        *file = (struct file){.there = size != SIZE_MAX, .size = size};
        if (!file->there)
            continue;
        file->bytes = malloc(size + 1);
        INSIST(file->bytes && size < FILE_MAX);
        memcpy(file->bytes, bytes, size);
    }
    scene_count++;
}

/* Sets `stage` to one. */
static inline void choose_scene(uint8_t number)
{
    for (size_t i = 0; i < FILES; i++) {
        const struct file *from = &scenes[number % scene_count][i];
        uint8_t *bytes = stage[i].bytes != NULL ? stage[i].bytes : malloc(FILE_MAX);
        INSIST(bytes);
        stage[i] = *from;
        stage[i].bytes = bytes;
        if (from->there)
            memcpy(bytes, from->bytes, from->size);
    }
}

/* --- edits --- */

/* Past the end of what a number may be, and just within. */
/* clang-format off */
static const uint64_t numbers[] = {
    0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 47, 48, 49, 63, 64, 100, 127, 128, 255, 256, 511,
    512, 1024, 1025, 4095, 4096, 4097, 8191, 8192, 12288, 14336, 16384, 20480, 28672, 32768,
    36864, 65535, 65536, 1 << 20, 2 << 20, INT32_MAX, UINT64_C(1) << 31, UINT32_MAX,
    UINT64_C(1) << 32, UINT64_C(1) << 38, (UINT64_C(1) << 38) + 1, 1000000000000,
    1000000000001, UINT64_C(1) << 40, 10000000000000, 10000000000001, UINT64_C(1) << 52,
    UINT64_C(1) << 53, UINT64_C(1) << 61, (UINT64_C(1) << 62) - 1, UINT64_C(1) << 62,
    (UINT64_C(1) << 62) + 1, INT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1,
    UINT64_MAX - 4095, UINT64_MAX - 1, UINT64_MAX,
    /* Doubles: 0.5, 1, just below, 1e-6, 1e-12, 1e-3, 5e-324, 2e-308, the largest, infinite, not a
     * number, -1, -0, 1e11; and one of no kind. */
    0x3fe0000000000000, 0x3ff0000000000000, 0x3fefffffffffffff, 0x3eb0c6f7a0b5ed8d,
    0x3d719799812dea11, 0x3f50624dd2f1a9fc, 0x0000000000000001, 0x0010000000000000,
    0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000, 0xbff0000000000000,
    0x8000000000000000, 0x42374876e8000000, 0x7573e47573e47573,
};
/* clang-format on */
enum { NUMBERS = sizeof numbers / sizeof *numbers };

enum operation {
    SET_64,
    SET_32,
    SET_16,
    SET_8,
    ADD_64,
    FLIP,
    MOVE,  /* a page, or half of one, to another place; or zeros */
    RESIZE /* the file ends elsewhere */
};

/* Of the five bytes. */
struct edit {
    enum operation operation;
    unsigned width; /* what MOVE and RESIZE mean exactly; of SET_8, which byte */
    const struct field *field;
    size_t element;
    uint64_t number;
    uint8_t which; /* of the number */
    int8_t more;
};

static inline struct edit read_edit(const uint8_t *bytes, const struct field *fields, size_t count)
{
    return (struct edit){
        .operation = (enum operation)(bytes[0] & 7),
        .width = bytes[0] >> 3 & 7,
        .field = &fields[bytes[1] % count],
        .element = bytes[2],
        .number = numbers[bytes[3] % NUMBERS],
        .which = bytes[3],
        .more = (int8_t)bytes[4],
    };
}

static inline void edit_number(struct file *file, const struct edit *edit, size_t at)
{
    uint8_t *bytes = file->bytes + at;
    uint64_t number = edit->number + (uint64_t)(int64_t)edit->more;
    if (edit->operation == SET_8)
        bytes[edit->width] = (uint8_t)edit->more;
    else if (edit->operation == SET_16)
        store16(bytes, (uint16_t)number);
    else if (edit->operation == SET_32)
        store32(bytes, (uint32_t)number);
    else if (edit->operation == SET_64)
        store64(bytes, number);
    else if (edit->operation == ADD_64)
        store64(bytes, load64(bytes) + ((uint64_t)(int64_t)edit->more << edit->which % 64));
    else
        bytes[edit->width] ^= (uint8_t)(1 << (edit->more & 7));
}

/* From `at` to page `which`, or to as many eights of bytes after its beginning. */
static inline void move_bytes(struct file *file, const struct edit *edit, size_t at)
{
    size_t length = edit->width & 1 ? 16 : 4096, to = (size_t)edit->which * 4096;
    if (edit->width & 2)
        to = at + 16 * (size_t)edit->which;
    if (at + length > file->size || to + length > file->size)
        return;
    if (edit->width & 4)
        memset(file->bytes + to, edit->more, length);
    else
        memmove(file->bytes + to, file->bytes + at, length);
}

static inline void resize_file(struct file *file, const struct edit *edit, size_t at)
{
    uint64_t more = (uint64_t)(int64_t)edit->more;
    uint64_t to = edit->width & 1   ? edit->number + more
                  : edit->width & 2 ? file->size + more
                  : edit->width & 4 ? file->size + 4096 * more
                                    : at + more;
    if (to > file->size + EXTENSION_MAX)
        return;
    file->zeros = to > file->size ? (size_t)(to - file->size) : 0;
    if (to < file->size)
        file->size = (size_t)to;
}

static inline void apply_edit(const struct edit *edit)
{
    const struct field *field = edit->field;
    struct file *file = &stage[field->file];
    size_t at = field->start + edit->element % field->count * field->step;
    if (!file->there)
        return;
    if (edit->operation == RESIZE)
        resize_file(file, edit, at);
    else if (edit->operation == MOVE)
        move_bytes(file, edit, at);
    else if (at + 8 <= file->size)
        edit_number(file, edit, at);
}

/* Makes the stage that an input describes, and the scenes before the first. Returns false if the
 * input is too short to be one. */
static inline bool set_stage(const uint8_t *data, size_t size, void make_scenes(void),
                             const struct field *fields, size_t count)
{
    if (scene_count == 0)
        make_scenes();
    if (size < HEAD)
        return false;
    choose_scene(data[0]);
    for (size_t i = 0; i < EDITS_MAX && HEAD + (i + 1) * EDIT_BYTES <= size; i++) {
        struct edit edit = read_edit(data + HEAD + i * EDIT_BYTES, fields, count);
        apply_edit(&edit);
    }
    return true;
}

/* --- checksums --- */

/* Of the header, and of the layers' records. */
static inline void repair_filter(uint8_t flags)
{
    enum { RECORD_SUM_AT = LAYER_RECORD_BYTES - 8 };
    struct file *file = &stage[FILTER];
    if (!(flags & FLAG_KEEP_CHECKSUMS) && file->size >= HEADER_BYTES)
        store64(file->bytes + HEADER_BYTES - 8, hash_checksum(file->bytes, HEADER_BYTES - 8));
    if (flags & FLAG_KEEP_RECORDS || file->size < LAYER_COUNT_AT)
        return;
    for (size_t i = 0; i < LAYERS_MAX; i++) {
        uint8_t *record = file->bytes + LAYER_TABLE_AT + i * LAYER_RECORD_BYTES;
        store64(record + RECORD_SUM_AT, hash_checksum(record, RECORD_SUM_AT));
    }
}

/* --- what must hold --- */

/* Each line is a message, or an object of --summary --json. */
static inline void check_said(void)
{
    static const char name[] = "unseen: ";
    for (const char *line = said; *line != '\0'; line++) {
        const char *end = strchr(line, '\n');
        HOLDS(end && (*line == '{' || strncmp(line, name, sizeof name - 1) == 0));
        for (; line < end; line++)
            HOLDS((uint8_t)*line >= ' ' && *line != 0x7f);
    }
}

/* Whether `f` can be opened, and is a window. */
static inline bool opens(bool *window)
{
    struct fault fault;
    struct filter *filter = filter_open("f", false, NULL, &fault);
    *window = filter != NULL && filter_header(filter)->plan.window;
    filter_close(filter);
    return filter != NULL;
}

static inline const char *lines_for(uint8_t flags)
{
    static const char *const lists[] = {"../in", "../in.more", "../in.none", "../in.most"};
    return lists[flags / FLAG_MORE % 4];
}

/* What the last command printed are lines of its input, in their order. */
static inline void check_printed(const char *in)
{
    static char lines[FILE_MAX];
    const char *at = lines;
    lines[get_file(in, lines, sizeof lines - 1)] = '\0';
    for (const char *line = told; *line != '\0';) {
        size_t length = strcspn(line, "\n") + 1;
        while (*at != '\0' && strncmp(at, line, length) != 0)
            at += strcspn(at, "\n") + 1;
        HOLDS(*at != '\0');
        at += length;
        line += length;
    }
}

/* Every line that the last command took is in. */
static inline void check_remembered(uint8_t flags)
{
    bool window;
    if (flags & FLAG_LIVE || !opens(&window) || window)
        return;
    int status = run_words("query -v -j 1 f in", lines_for(flags));
    HOLDS(status == EXIT_NOTHING && told[0] == '\0');
}

/* The files whose names begin so are as they were put there. */
static inline void check_unchanged(const char *begin)
{
    static uint8_t now[FILE_MAX + 1];
    for (size_t i = 0; i < FILES; i++) {
        const struct file *file = &stage[i];
        struct stat status;
        if (file->there && strncmp(names[i], begin, strlen(begin)) == 0)
            HOLDS(stat(names[i], &status) == 0 &&
                  (size_t)status.st_size == file->size + file->zeros &&
                  get_file(names[i], now, file->size) == file->size &&
                  memcmp(now, file->bytes, file->size) == 0);
    }
}

/* `untouched`: no command before this one has changed anything. */
static inline void check_run(const struct run *run, uint8_t flags, bool untouched)
{
    /* An empty file is one that may be made a filter. */
    bool window, empty = stage[FILTER].size + stage[FILTER].zeros == 0;
    bool refused = !opens(&window) && !empty && run->manner != REPLACES;
    int status = run_words(run->words, lines_for(flags));
    check_said();
    HOLDS(status == EXIT_OK || status == EXIT_NOTHING || status == EXIT_TROUBLE ||
          (status == EXIT_COMMAND && strstr(asked, "-x") != NULL));
    HOLDS(status != EXIT_TROUBLE || said[0] != '\0');
    HOLDS(status == EXIT_TROUBLE || !refused);
    if (untouched && (refused || (run->manner == READS && !empty)))
        check_unchanged(run->keeps != NULL ? run->keeps : "");
    else if (untouched && run->keeps != NULL)
        check_unchanged(run->keeps);
    if (run->tells)
        check_printed(lines_for(flags));
    if (status == EXIT_OK && run->tells)
        check_remembered(flags);
}

/* --- an input --- */

/* Holds the locks of slots 0 and 1 of the filter, until the descriptor is closed. -1 if there is no
 * such file. */
static inline int hold_slots(void)
{
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = (INT64_C(1) << 62) + 1, /* format/shared.h */
                         .l_len = 2};
    int fd = open("f", O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        (void)!fcntl(fd, F_OFD_SETLK, &lock);
    return fd;
}

/* A slot tells the file of its flight by the number of the inode, which is another one each time:
 * where it has this number plus its own, it gets that. */
enum { FLIGHT_MARK = 77 };

static inline void put_stage(void)
{
    struct file *writer = &stage[FILTER];
    clear_directory();
    for (size_t i = FILES; i-- > 0;) {
        struct stat status;
        if (stage[i].there)
            put_file(names[i], &stage[i]);
        if (i < FLIGHT_0 || !stage[i].there)
            continue;
        size_t at = slot_at((unsigned)i - FLIGHT_0) + FLIGHT_FILE;
        if (writer->size >= at + 8 && load64(writer->bytes + at) == FLIGHT_MARK + i - FLIGHT_0 &&
            stat(names[i], &status) == 0)
            store64(writer->bytes + at, status.st_ino);
    }
}

/* The stage is set, and the commands that it names run over it. */
static inline void play(const uint8_t *data, const struct run *runs, size_t count)
{
    put_stage();
    int other = data[3] & FLAG_LIVE ? hold_slots() : -1;
    const struct run *first = &runs[data[1] % count];
    check_run(first, data[3], true);
    if (data[2] != 0)
        check_run(&runs[data[2] % count], data[3], first->manner == READS && first->keeps == NULL);
    if (other >= 0)
        close(other);
}

/* --- in the place of the program's own (the linker puts them there: programs.mk) --- */

/* Commands give up rights that the next one needs. */
void __wrap_confine_begin(struct confine *confine); // NOLINT
void __wrap_confine_begin(struct confine *confine)  // NOLINT
{
    *confine = (struct confine){.ruleset = -1};
}

#endif
