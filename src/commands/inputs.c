#include "commands/inputs.h"

#include "commands/command.h"
#include "commands/key_options.h"
#include "commands/message.h"
#include "format/key_file.h"
#include "pipeline/batches.h"
#include "system/signals.h"
#include "text/number.h"
#include "text/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINE = 1 << 30 }; /* the default */

static const char *standard_input[] = {"-", NULL};

void inputs_parse(struct inputs *inputs, const struct options *options, size_t first)
{
    bool none = first >= options->operand_count;
    *inputs = (struct inputs){
        .names = none ? standard_input : options->operands + first,
        .ends.delimiter = options->zero_terminated ? '\0' : '\n',
        .header = options->header,
        .max_line = options->max_line != 0 ? options->max_line : MAX_LINE,
        .threads = options->threads != 0 ? (unsigned)options->threads : batches_threads(),
        .options = options,
    };
}

bool inputs_is_standard(const char *name)
{
    return strcmp(name, "-") == 0;
}

static const char standard_name[] = "standard input";

/* `unseen seen.bf stats` reads a file called stats, which usually does not exist. A file that was
 * made after the start may be readable for the user, but not for this process
 * (system/confine.h). */
static void cannot_open(const struct inputs *inputs, const char *name, struct fault *fault)
{
    char word[QUOTE_MAX];
    const struct command *command = command_find(name), *asked = inputs->options->asked;
    bool after_filter = asked->operands == OPERANDS_FILTER_FILES && asked->bit != FOR_COMMIT;
    fault_errno(fault, inputs_is_standard(name) ? standard_name : name, NULL, errno);
    if (fault->error == ENOENT && command != NULL)
        fault_way_out(fault, "a command comes first: %s", command->synopsis);
    else if (fault->error == ENOENT && asked->bit == FOR_PLAN &&
             !isnan(number_parse(name, NUMBER_COUNT)))
        fault_way_out(fault, "for that many lines: unseen plan -n %s", name);
    else if (fault->error == ENOENT && after_filter && inputs->ends.delimiter == '\n') {
        char *reader = options_command(inputs->options, 1);
        if (reader != NULL)
            fault_way_out(fault, "if that is a line: printf '%%s\\n' %s | %s",
                          quote_word(name, word), reader);
        free(reader);
    }
    if (fault->error == EACCES && access(name, R_OK) == 0)
        fault_way_out(fault, "if it was made or replaced during this run: run unseen again");
}

int inputs_check_readable(const struct inputs *inputs)
{
    for (const char **name = inputs->names; *name != NULL; name++) {
        struct fault fault = FAULT_UNSET;
        struct stat status;
        bool standard = inputs_is_standard(*name);
        bool there = standard ? fstat(STDIN_FILENO, &status) == 0
                              : stat(*name, &status) == 0 && access(*name, R_OK) == 0;
        /* A closed standard input was replaced by a write-only descriptor (main.c). */
        bool closed = standard && (fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY;
        if (there && !closed && !S_ISDIR(status.st_mode))
            continue;
        errno = closed ? EBADF : there ? EISDIR : errno;
        cannot_open(inputs, *name, &fault);
        return message_fault(&fault);
    }
    return 0;
}

/* --- input that is no text --- */

/* What begins with these bytes, of which ? is any of 1 to 9, and what makes lines of it. No magic
 * has a newline: with the first line, all of it is there. */
static const struct kind {
    const char *magic;
    size_t length;
    const char *name, *reader;
} kinds[] = {
#define BYTES(text) (text), sizeof(text) - 1
    {BYTES("\x1f\x8b\x08"), "gzip data", "zcat"},
    {BYTES("\x28\xb5\x2f\xfd"), "zstd data", "zstdcat"},
    {BYTES("\3757zXZ\0"), "xz data", "xzcat"},
    {BYTES("BZh?1AY&SY"), "bzip2 data", "bzcat"},
    {BYTES("BZh?\x17\x72\x45\x38\x50\x90"), "bzip2 data", "bzcat"},
    {BYTES("PK\3\4"), "a zip archive", "unzip -p"},
    {BYTES("\x04\x22\x4d\x18"), "lz4 data", "lz4cat"},
    {BYTES("\xff\xfe\0\0"), "UTF-32", "iconv -f UTF-32 -t UTF-8"},
    {BYTES("\0\0\xfe\xff"), "UTF-32", "iconv -f UTF-32 -t UTF-8"},
    {BYTES("\xff\xfe"), "UTF-16", "iconv -f UTF-16 -t UTF-8"},
    {BYTES("\xfe\xff"), "UTF-16", "iconv -f UTF-16 -t UTF-8"},
#undef BYTES
};

/* The kind of what begins with these bytes, or NULL. */
static const struct kind *kind_of(const char *bytes, size_t length)
{
    for (const struct kind *kind = kinds; kind < kinds + sizeof kinds / sizeof *kinds; kind++) {
        size_t i = 0;
        while (i < kind->length && i < length &&
               (kind->magic[i] == '?' ? bytes[i] >= '1' && bytes[i] <= '9'
                                      : bytes[i] == kind->magic[i]))
            i++;
        if (i == kind->length)
            return kind;
    }
    return NULL;
}

const char *inputs_reader(const char *path)
{
    char head[16];
    struct stat status;
    /* What is read of a FIFO would be lost. */
    bool is_file = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    int fd = is_file ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    ssize_t length = fd >= 0 ? read(fd, head, sizeof head) : -1;
    if (fd >= 0)
        close(fd);
    const struct kind *kind = length > 0 ? kind_of(head, (size_t)length) : NULL;
    return kind != NULL ? kind->reader : NULL;
}

/* Sets the way out: this command, after `reader`, which makes lines of the input. */
static int suggest_reader(const struct inputs *inputs, const char *reader, struct fault *fault)
{
    const struct options *options = inputs->options;
    char quoted[QUOTE_MAX], *command;
    command = options_command(options, inputs->names == standard_input
                                           ? options->operand_count
                                           : (size_t)(inputs->names - options->operands));
    if (command != NULL)
        fault_way_out(fault, "%s %s | %s", reader,
                      inputs->fd == STDIN_FILENO ? "FILE" : quote_file(inputs->shown, quoted),
                      command);
    free(command);
    return -1;
}

static int judge_text(void *context, const struct input *input, const struct chunk *first,
                      struct fault *fault)
{
    struct inputs *inputs = context;
    const char *end = first->bytes + first->length, *one;
    uint8_t head[KEY_FILE_BYTES] = {0};
    struct key_file_head keys;
    const struct kind *kind = kind_of(first->bytes, first->length);
    if (kind != NULL) {
        fault_set(fault, inputs->shown, "%s", kind->name);
        return suggest_reader(inputs, kind->reader, fault);
    }
    /* A filter of another program may have newlines there. */
    uint64_t read = input_bytes(input);
    memcpy(head, first->bytes, read < sizeof head ? read : sizeof head);
    if (header_is_filter(head)) {
        fault_set(fault, inputs->shown, "is a filter, not a file of lines");
        return fault_way_out(fault, "FILTER comes first, then the files to read");
    }
    if (header_is_of_other(head, inputs->shown, fault))
        return -1;
    if (key_file_decode(head, sizeof head, &keys) != KEY_FILE_OTHER) {
        fault_set(fault, inputs->shown, "is a file of pending keys, not a file of lines");
        return fault_way_out(fault, "to remember its lines: unseen commit FILTER FILE");
    }
    if (inputs->jq == NULL && first->length > 2 && first->bytes[0] == '[')
        inputs->jq = "jq -c '.[]'";
    else if (inputs->jq == NULL && first->length > 2 && first->bytes[0] == '{' &&
             (first->bytes[1] == '\n' || first->bytes[1] == '\r'))
        inputs->jq = "jq -c .";
    /* If the last newline was added, this is all of the input. */
    bool one_line = input_bytes(input) < first->length;
    inputs->ends_nul = one_line && first->length > 1 && end[-2] == '\0';
    inputs->has_returns = one_line && (one = memchr(first->bytes, '\r', first->length)) != NULL &&
                          memchr(one + 1, '\r', (size_t)(end - one - 1)) != NULL;
    return 0;
}

/* --- one after the other --- */

struct input *inputs_open(struct inputs *inputs, const char *name, struct fault *fault)
{
    bool standard = inputs_is_standard(name);
    inputs->shown = standard ? standard_name : name;
    inputs->has_returns = inputs->ends_nul = false;
    inputs->fd = standard ? STDIN_FILENO : signals_open(name, O_RDONLY | O_CLOEXEC, 0);
    if (inputs->fd < 0) {
        cannot_open(inputs, name, fault);
        return NULL;
    }
    struct input *input = input_new(inputs->fd, inputs->shown, inputs->ends.delimiter, INPUT_BYTES,
                                    (size_t)inputs->max_line);
    if (input == NULL)
        fault_errno(fault, inputs->shown, NULL, ENOMEM);
    else if (inputs->ends.delimiter == '\n')
        input_set_judge(input, judge_text, inputs);
    return input;
}

void inputs_close(struct inputs *inputs, struct input *input, bool sound)
{
    struct fault fault = FAULT_UNSET;
    input_free(input);
    if (sound && inputs->ends_nul) {
        message("%s: one line, with NULs and no newline (%s)", inputs->shown,
                habit_find("--null", FOR_ALL));
    } else if (sound && inputs->has_returns && !inputs->ends.rows) {
        fault_set(&fault, inputs->shown, "one line, with carriage returns and no newline");
        suggest_reader(inputs, "tr '\\r' '\\n' <", &fault);
        message_fault(&fault);
    }
    if (inputs->fd > STDIN_FILENO)
        close(inputs->fd);
}
