/* What a list of mounts says of one of them. */
#include "system/network.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static FILE *begin(void)
{
    FILE *file = tmpfile();
    if (file == NULL)
        exit(1);
    return file;
}

/* The type in what was written, as the list ends there; "" if it is not in there. */
static const char *type_in(FILE *mounts, const char *number)
{
    static char type[NETWORK_NAME];
    rewind(mounts);
    if (!network_mount_type(mounts, number, type))
        type[0] = '\0';
    fclose(mounts);
    return type;
}

static void expect(const char *list, const char *number, const char *wanted)
{
    FILE *mounts = begin();
    fputs(list, mounts);
    const char *type = type_in(mounts, number);
    tap_check(strcmp(type, wanted) == 0, "mount %s is of type '%s', not '%s'", number, type,
              wanted);
}

static void usual(void)
{
    static const char list[] = "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
                               "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n"
                               "4 27 0:39 / /a rw master:1 propagate_from:2 - fuse.sshfs h:/d rw\n"
                               "42 27 0:39 /b /a rw unbindable - fuse /dev/fuse rw,user_id=0\n"
                               "421 42 8:1 / /a/b rw - fuseblk /dev/sda1 rw\n";
    expect(list, "22", "proc");
    expect(list, "27", "ext4");
    expect(list, "4", "fuse.sshfs");
    expect(list, "42", "fuse");
    expect(list, "421", "fuseblk");
    expect(list, "1", "");
    expect(list, "2", "");
    expect(list, "4211", "");
    expect(list, "rw", "");
    expect(list, "-", "");
}

/* Names with blanks, line ends and hyphens, as the kernel writes them. */
static void names(void)
{
    static const char list[] =
        "50 27 0:40 / /a\\040-\\040fuseblk rw - fuse.sshfs h:/d\\040-\\040ext4 rw\n"
        "51 27 0:41 /- /- rw - fuse.s3fs - rw\n"
        "52 27 0:42 / /a\\01253\\04027\\0120:1 rw - fuse.b\\040c x rw\n";
    expect(list, "50", "fuse.sshfs");
    expect(list, "51", "fuse.s3fs");
    expect(list, "52", "fuse.b\\040c");
    expect(list, "53", "");
}

static void cut_off(void)
{
    expect("", "42", "");
    expect("\n\n42 27 0:39 / /a rw - fuse x rw", "42", "fuse");
    expect("42 27 0:39 / /a rw - fuse", "42", "fuse");
    expect("42 27 0:39 / /a rw - ", "42", "");
    expect("42 27 0:39 / /a rw -", "42", "");
    expect("42 27 0:39 / /a rw -\n43 27 0:39 / /b rw - fuse x rw\n", "42", "");
    expect("42 27 0:39 / /a rw\n43 27 0:39 / /b rw - fuse x rw\n", "42", "");
    expect("42", "42", "");
    expect("42\n42 27 0:39 / /a rw - fuse x rw\n", "42", "fuse");
}

static void fill(FILE *to, size_t bytes)
{
    while (bytes-- > 0)
        putc('x', to);
}

static void lengths(void)
{
    enum { MEGABYTE = 1 << 20 };
    char longest[NETWORK_NAME];
    FILE *mounts = begin();
    fputs("41 27 0:38 / /a rw - overlay none lowerdir=", mounts);
    fill(mounts, MEGABYTE);
    fputs("\n42 27 0:39 / /", mounts);
    fill(mounts, MEGABYTE);
    fputs(" rw - fuse.sshfs x rw\n", mounts);
    const char *type = type_in(mounts, "42");
    tap_check(strcmp(type, "fuse.sshfs") == 0, "of long lines: '%s'", type);

    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    mounts = begin();
    fputs("42 27 0:39 / /a rw - ", mounts);
    fill(mounts, MEGABYTE);
    type = type_in(mounts, "42");
    tap_check(strcmp(type, longest) == 0, "a long type is cut off to '%s'", type);
}

static void many(void)
{
    FILE *mounts = begin();
    for (unsigned i = 1; i <= 100000; i++)
        fprintf(mounts, "%u 1 0:%u / /m/%u rw - %s x rw\n", i, i, i, i < 99999 ? "nfs" : "fuse");
    const char *type = type_in(mounts, "99999");
    tap_check(strcmp(type, "fuse") == 0, "of many: '%s'", type);
}

int main(void)
{
    tap_run("a usual list", usual);
    tap_run("names that look like the list", names);
    tap_run("a list that is cut off", cut_off);
    tap_run("long lines and types", lengths);
    tap_run("a hundred thousand mounts", many);
    return tap_end();
}
