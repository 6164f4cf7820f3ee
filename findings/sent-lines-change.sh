#!/usr/bin/env bash
# Subject: pv 1.6.20 and BusyBox cat 1.35.0 (Debian 12: 1.6.20-1, 1:1.35.0-4+deb12u1+b1) on Linux
#     (seen on 6.18)
# Question: `pv FILE | CMD`: pv has written all lines to the pipe and has exited. FILE is changed
#     then in place, and after that CMD reads. Which lines does CMD get?
# One would guess: those that pv wrote. Bytes in a pipe are a copy; those of GNU cat are.
# What happens: CMD gets the changed lines, and NUL bytes from where FILE was cut. pv uses
#     splice(2) and BusyBox cat sendfile(2): both put the pages of the page cache themselves into
#     the pipe.
# Why it matters: files that are changed in place (a queue whose records are marked as done, a ring
#     of log records, a file that is cut back to what is not done yet) reach the next program in a
#     state that the file never had, without a word.
set -euo pipefail

here=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
trap 'rm -rf "$here"' EXIT
(cd "$here" &&
    apt-get download -qq pv=1.6.20-1 busybox=1:1.35.0-4+deb12u1+b1 coreutils=9.1-1 2>/dev/null) ||
    { echo "skipped: no pv 1.6.20, BusyBox 1.35.0 and coreutils 9.1 from Debian here"; exit 77; }
for package in "$here"/*.deb; do
    dpkg -x "$package" "$here"
done

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# wait_for FILE: until it is there, or ten seconds.
wait_for() {
    for ((i = 0; i < 100; i++)); do
        [[ ! -e $1 ]] || return 0
        sleep 0.1
    done
    return 1
}

# passes PROGRAM [OPTION]...: passes 500 lines (2000 bytes) to a pipe. When the program has exited,
# the second line is changed, and the last two are cut off. Prints the first two lines and the last
# two that are then read from the pipe.
passes() {
    rm -f "$here/sent"
    seq 100 599 >"$here/file"
    { "$@" "$here/file" && : >"$here/sent"; } | {
        wait_for "$here/sent"
        printf new | dd of="$here/file" bs=1 seek=4 conv=notrunc status=none
        truncate -s 1992 "$here/file"
        tr '\0' '@' >"$here/got"
    }
    { head -n 2 "$here/got"; tail -c 8 "$here/got" | tr '\n' ' '; } | paste -sd' ' | sed 's/ *$//'
}

"$here/usr/bin/pv" --version | sed -n 1p
"$here/bin/busybox" 2>&1 | sed -n 1p
shows "GNU cat 9.1" "$(passes "$here/bin/cat")" "100 101 598 599"
shows "pv" "$(passes "$here/usr/bin/pv" -q)" "100 new @@@@@@@@"
shows "BusyBox cat" "$(passes "$here/bin/busybox" cat)" "100 new @@@@@@@@"
