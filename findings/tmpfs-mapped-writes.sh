#!/usr/bin/env bash
# Subject: tmpfs of Linux (seen on 6.18), a file that is written through mmap(2)
# Question: does the file's modification time move when a page that was read before is written to?
# One would guess: yes, at the write, or at msync(2) at the latest. POSIX asks for that, and ext4
#     does it.
# What happens: it never moves, not at msync, munmap or close either. It moves only if a mapping
#     touches a page for the first time by a write. A page that was read first, as every look-up
#     does, or that was written to once, is writable from then on, and the kernel is not told of
#     later writes.
# Why it matters: filters, databases and counters that change in place are read before they are
#     written. In /dev/shm, or a /tmp that is a tmpfs, rsync, make, backups and `find -newer` go by
#     size and time, and take such a file for unchanged.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here" "${there-}"' EXIT
[[ $(stat -f -c %T /dev/shm 2>/dev/null) == tmpfs && -w /dev/shm ]] ||
    { echo "skipped: /dev/shm is no tmpfs that can be written to"; exit 77; }
there=$(mktemp -d -p /dev/shm)

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# times FILE: whether its time moved when a page was written to first, and when it was read first.
times() {
    python3 - "$1" <<'PYTHON'
import mmap, os, sys

path = sys.argv[1]

def change(read_first, value):
    os.utime(path, (10**9, 10**9))
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 4096) as view:
        if read_first:
            view[0]
        view[0] = value
        view.flush()
    with open(path, "rb") as file:
        assert file.read(1)[0] == value, "the write is not in the file"
    return "moved" if os.stat(path).st_mtime != 10**9 else "stayed"

with open(path, "wb") as file:
    file.write(bytes(4096))
print(change(False, 1), change(True, 2))
PYTHON
}

echo "Linux $(uname -r | grep -o '^[0-9.]*')"
shows "tmpfs, written to at once; read first" "$(times "$there/file")" "moved stayed"
if [[ $(stat -f -c %T "$here") == ext2/ext3 ]]; then
    shows "ext4, the same" "$(times "$here/file")" "moved moved"
fi
