#include "system/network.h"

#include "system/signals.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static const char fuse[] = "FUSE";

static const struct {
    unsigned long type;
    const char *name;
} systems[] = {
    {0x6969, "NFS"},          {0x517b, "SMB"},        {0xff534d42, "SMB"},
    {0xfe534d42, "SMB"},      {0x65735546, fuse},     {0x01021997, "9p"},
    {0x0bd00bd0, "Lustre"},   {0x00c36400, "Ceph"},   {0x5346414f, "AFS"},
    {0x6b414653, "AFS"},      {0x47504653, "GPFS"},   {0x19830326, "BeeGFS"},
    {0x20030528, "OrangeFS"}, {0x73757245, "Coda"},   {0x7461636f, "OCFS2"},
    {0x01161970, "GFS2"},     {0x786f4256, "vboxsf"}, {0xbacbacbc, "vmhgfs"},
};

static bool allowed;

void network_allow(void)
{
    allowed = true;
}

/* --- the mount --- */

/* The next word of a line, cut off if it is too long. Returns what ended it: ' ', '\n' or EOF. */
static int read_word(FILE *from, char word[NETWORK_NAME])
{
    size_t length = 0;
    int byte;
    while ((byte = getc(from)) != ' ' && byte != '\n' && byte != EOF)
        if (length < NETWORK_NAME - 1)
            word[length++] = (char)byte;
    word[length] = '\0';
    return byte;
}

/* "36 35 98:0 /root /point rw tag:1 - type source rw": tags come and go, so "-" says where the type
 * is. Blanks in names are \040, and names of files begin with a slash: no other word is "-". */
bool network_mount_type(FILE *mounts, const char *number, char type[NETWORK_NAME])
{
    char word[NETWORK_NAME];
    int end = ' ';
    while (end != EOF && !signals_pending()) {
        end = read_word(mounts, word);
        bool found = strcmp(word, number) == 0, type_is_next = false;
        while (end == ' ') {
            end = read_word(mounts, word);
            if (found && type_is_next) {
                strcpy(type, word);
                return type[0] != '\0';
            }
            type_is_next = strcmp(word, "-") == 0;
        }
    }
    return false;
}

/* The number of the mount that a file was opened through. Its device would not do: several mounts
 * can have one, and what btrfs and overlay say is not in the list. */
static bool mount_number(int fd, char number[NETWORK_NAME])
{
    char line[128];
    bool found = false;
    snprintf(line, sizeof line, "/proc/self/fdinfo/%d", fd);
    FILE *facts = fopen(line, "re");
    if (facts == NULL)
        return false;
    while (!found && fgets(line, sizeof line, facts) != NULL)
        found = sscanf(line, "mnt_id: %63[0-9]", number) == 1;
    fclose(facts);
    return found;
}

static bool find_mount(int fd, char type[NETWORK_NAME])
{
    char number[NETWORK_NAME];
    FILE *mounts = mount_number(fd, number) ? fopen("/proc/self/mountinfo", "re") : NULL;
    if (mounts == NULL)
        return false;
    bool found = network_mount_type(mounts, number, type);
    fclose(mounts);
    return found;
}

/* --- what it is --- */

static bool is_local(const char *type)
{
    return strcmp(type, "fuseblk") == 0 || strncmp(type, "fuseblk.", 8) == 0 ||
           strcmp(type, "fuse.fuse-overlayfs") == 0;
}

/* NULL: none of these. */
static const char *name_of(unsigned long type)
{
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (systems[i].type == type)
            return systems[i].name;
    return NULL;
}

/* The name of such a system that the file lies on, as mount(8) has it; NULL if on none. */
static const char *find(int fd, char type[NETWORK_NAME])
{
    struct statfs status;
    /* Some servers behind FUSE have no answer, and the call fails. */
    bool told = fstatfs(fd, &status) == 0;
    const char *name = told ? name_of((unsigned long)status.f_type & 0xffffffff) : NULL;
    if (told && name != fuse)
        return name;
    if (!find_mount(fd, type))
        return name;
    return is_local(type) || (!told && strncmp(type, "fuse", 4) != 0) ? NULL : type;
}

int network_check(int fd, const char *path, struct fault *fault)
{
    char type[NETWORK_NAME];
    const char *name = allowed ? NULL : find(fd, type);
    if (name == NULL)
        return 0;
    fault_set(fault, path,
              "lies on %s, where writers on two machines, or through two mounts, would lose each "
              "other's lines",
              name);
    return fault_way_out(fault, "if only one machine writes to it, through one mount: "
                                "--allow-network");
}

int network_check_place(const char *place, const char *path, struct fault *fault)
{
    int fd = open(place, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int result = network_check(fd, path, fault);
    close(fd);
    return result;
}
