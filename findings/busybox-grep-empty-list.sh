#!/usr/bin/env bash
# Subject: BusyBox grep 1.35.0 (Debian 12: 1:1.35.0-4+deb12u1+b1)
# Question: what does `grep -vxFf seen new` print while `seen` is still empty?
# One would guess: every line of `new`. An empty list has no patterns, so nothing is left out.
#     GNU grep does that.
# What happens: nothing is printed. With -x and -F together, an empty list matches every line. With
#     only one of the two it matches none, as it should, and all lines are printed.
# Why it matters: this is the usual one-line deduplicator against a list, and small containers have
#     BusyBox. The first run, whose list is empty, drops all of its input, with the status of a
#     normal run without new lines.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
version=1:1.35.0-4+deb12u1+b1
(cd "$here" && apt-get download -qq "busybox=$version" 2>/dev/null && dpkg -x busybox_*.deb .) ||
    { echo "skipped: no busybox $version from Debian here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

busybox=$here/bin/busybox
"$busybox" 2>&1 | sed -n 1p
: >"$here/seen"
printf '%s\n' apple pear >"$here/new"
status=0
lines=$(grep -cvxFf "$here/seen" "$here/new")
shows "GNU grep -vxFf seen new, lines printed" "$lines" 2
"$busybox" grep -vxFf "$here/seen" "$here/new" >"$here/out" || status=$?
shows "BusyBox grep -vxFf seen new, lines printed" "$(wc -l <"$here/out")" 0
shows "its status" "$status" 1
for options in -vFf -vxf; do
    lines=$("$busybox" grep "$options" "$here/seen" "$here/new" | wc -l)
    shows "BusyBox grep $options seen new, lines printed" "$lines" 2
done
