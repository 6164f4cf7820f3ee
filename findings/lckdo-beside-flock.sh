#!/usr/bin/env bash
# Subject: lckdo of moreutils 0.67 (Debian 12: 0.67-1), beside flock(1) of util-linux
# Question: if one job runs under `flock FILE` and another under `lckdo FILE`, do they exclude each
#     other?
# One would guess: yes. Both are small tools that run a command while they hold a lock on a file.
# What happens: no. Both commands run at once. lckdo takes a POSIX lock, flock(1) one of flock(2),
#     and on a local file Linux never compares the two kinds.
# Why it matters: whoever guards a list or a filter with a lock has to know which kind the other
#     program takes. Nothing fails; the lock is simply not there.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
version=0.67-1
(cd "$here" && apt-get download -qq "moreutils=$version" 2>/dev/null &&
    dpkg -x moreutils_*.deb .) ||
    { echo "skipped: no moreutils $version from Debian here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

lckdo=$here/usr/bin/lckdo
lock=$here/lock
echo "moreutils $version, $(flock --version)"
shows "lckdo while flock holds the file" "$(flock "$lock" "$lckdo" "$lock" echo runs 2>&1)" runs
shows "flock -n while lckdo holds the file" "$("$lckdo" "$lock" flock -n "$lock" echo runs)" runs
shows "flock -n while flock holds the file" \
    "$(flock "$lock" flock -n "$lock" echo runs || echo refused)" refused
shows "lckdo while lckdo holds the file" \
    "$("$lckdo" "$lock" "$lckdo" "$lock" echo runs 2>/dev/null || echo refused)" refused
