#!/usr/bin/env bash
# Subject: Landlock of Linux 5.19 and later (seen on 6.18, ABI 7), and mv of coreutils 9.1
# Question: a Landlock ruleset handles one right, to execute files, and grants it beneath /. What
#     does it change for `mv a/list b/list` on one file system?
# One would guess: nothing. What it handles is granted, and what it does not handle is not
#     restricted.
# What happens: rename(2) and link(2) from one folder to another fail with EXDEV, "Invalid
#     cross-device link", as if there were two disks. mv then copies and removes, with status 0:
#     b/list goes away, and comes back as another file that grows. In one folder rename(2) works.
#     The right to move a file to another folder, REFER, is the one right that is denied if nobody
#     mentions it.
# Why it matters: lists and filters are published by a rename, so that they are there as a whole.
#     In a sandbox that seems to have nothing to do with it, readers meet no file, or half of one.
set -euo pipefail

here=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
trap 'rm -rf "$here"' EXIT
(cd "$here" && apt-get download -qq coreutils=9.1-1 2>/dev/null && dpkg -x coreutils_*.deb .) ||
    { echo "skipped: no coreutils 9.1-1 from Debian here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# sandbox.py RIGHTS COMMAND [ARGUMENT]...: runs a command under a ruleset that handles these rights
# and grants them beneath /. The system calls are landlock_create_ruleset, landlock_add_rule and
# landlock_restrict_self.
cat >"$here/sandbox.py" <<'END'
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        sys.exit("skipped: no Landlock here: " + os.strerror(ctypes.get_errno()))
    return result
if call(444, None, 0, 1) < 2:
    sys.exit("skipped: this Landlock does not have the right REFER")
rights = int(sys.argv[1])
ruleset = call(444, struct.pack("Q", rights), 8, 0)
beneath = os.open("/", os.O_PATH)
call(445, ruleset, 1, struct.pack("=Qi", rights, beneath), 0)
libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
call(446, ruleset, 0)
os.execvp(sys.argv[2], sys.argv[2:])
END
execute=1 refer=$((1 << 13))
python3 "$here/sandbox.py" $execute true 2>"$here/said" || { cat "$here/said"; exit 77; }

# moves TO COMMAND...: whether a/list is renamed to TO or copied, when COMMAND mv a/list TO is run.
moves() {
    local to=$1 inode
    shift
    rm -rf "$here/a" "$here/b"
    mkdir "$here/a" "$here/b"
    echo new >"$here/a/list"
    echo old >"$here/$to"
    inode=$(stat -c %i "$here/a/list")
    "$@" "$here/bin/mv" "$here/a/list" "$here/$to"
    [[ $(cat "$here/$to") == new && ! -e $here/a/list ]] || { echo "not moved"; return; }
    if [[ $(stat -c %i "$here/$to") == "$inode" ]]; then echo renamed; else echo copied; fi
}

uname -sr
shows "mv without a sandbox" "$(moves b/list env)" renamed
shows "mv, ruleset with the right to execute" \
    "$(moves b/list python3 "$here/sandbox.py" $execute)" copied
shows "mv in one folder" "$(moves a/other python3 "$here/sandbox.py" $execute)" renamed
shows "mv, ruleset that has REFER too" \
    "$(moves b/list python3 "$here/sandbox.py" $((execute | refer)))" renamed
cat >"$here/rename.py" <<'END'
import os, sys
try:
    print(os.rename(sys.argv[1], sys.argv[2]))
except OSError as error:
    print(error.strerror)
END
echo new >"$here/a/list"
shows "rename(2) itself" "$(python3 "$here/sandbox.py" $execute \
    python3 "$here/rename.py" "$here/a/list" "$here/b/list")" "Invalid cross-device link"
