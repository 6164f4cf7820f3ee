#!/usr/bin/env bash
# Subject: BusyBox sort 1.35.0 (Debian 12: 1:1.35.0-4+deb12u1+b1)
# Question: does `sort -s -u` leave out duplicates?
# One would guess: yes. -s only says that equal lines keep their order, and with -u GNU sort needs
#     it for nothing.
# What happens: with -s no line is left out, neither whole lines that are equal nor those with equal
#     keys (-k). -u alone works; but of lines with equal keys it leaves the one that sorts first as
#     a whole, where GNU sort leaves the first one of the input.
# Why it matters: `sort -s -u -k1,1` is how one writes "the first line of each id" with care. In a
#     container with BusyBox it exits 0, and every duplicate is still there.
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

# sorted SORT [OPTION]...: its output on one line.
sorted() { printf '%s\n' 'k z' 'k y' 'a' 'k y' | "$@" | paste -sd, -; }

export LC_ALL=C
busybox=$here/bin/busybox
"$busybox" 2>&1 | sed -n 1p
shows "GNU sort -s -u" "$(sorted sort -s -u)" 'a,k y,k z'
shows "BusyBox sort -u" "$(sorted "$busybox" sort -u)" 'a,k y,k z'
shows "BusyBox sort -s -u" "$(sorted "$busybox" sort -s -u)" 'a,k y,k y,k z'
shows "GNU sort -s -u -k1,1" "$(sorted sort -s -u -k1,1)" 'a,k z'
shows "BusyBox sort -u -k1,1" "$(sorted "$busybox" sort -u -k1,1)" 'a,k y'
shows "BusyBox sort -s -u -k1,1" "$(sorted "$busybox" sort -s -u -k1,1)" 'a,k z,k y,k y'
