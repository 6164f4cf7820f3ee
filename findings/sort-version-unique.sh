#!/usr/bin/env bash
# Subject: GNU sort 9.1 (Debian 12: coreutils 9.1-1)
# Question: which of the lines host1, host01, host and host0 does `sort -V -u` leave out?
# One would guess: none, as no two are the same. -V is an order; names that it finds equal, it
#     would still put in some order, as `sort -V` and `ls -v` do.
# What happens: host1 and host01 are one line, and so are host and host0: zeros before a number do
#     not count, nor does a number that is 0 after letters. -u compares by -V alone, and keeps the
#     first of each in the input. `sort -V | uniq` keeps all. BusyBox keeps all with -V -u, too.
# Why it matters: lists of hosts, files, tags and addresses are sorted by -V because people read
#     them, and -u is added without a thought. img1.jpg and img01.jpg are two files, 1.1 and 1.01
#     two versions, and one of them is then never fetched. With -n one expects such a thing.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
(cd "$here" && apt-get download -qq coreutils=9.1-1 busybox=1:1.35.0-4+deb12u1+b1 2>/dev/null &&
    for package in *.deb; do dpkg -x "$package" .; done) ||
    { echo "skipped: no coreutils 9.1-1 and busybox 1.35.0 from Debian here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

export LC_ALL=C
sort=$here/usr/bin/sort
"$sort" --version | sed -n 1p

# unique WORD...: of these lines, what sort -V -u prints
unique() { printf '%s\n' "$@" | "$sort" -V -u | paste -sd' ' -; }

shows "host1 host01 host001" "$(unique host1 host01 host001)" host1
shows "host001 host01 host1" "$(unique host001 host01 host1)" host001
shows "host host0" "$(unique host host0)" host
shows "img1.jpg img01.jpg img2.jpg" "$(unique img1.jpg img01.jpg img2.jpg)" 'img1.jpg img2.jpg'
shows "1.1 1.01 1.1.0" "$(unique 1.1 1.01 1.1.0)" '1.1 1.1.0'
shows "10.0.0.1 010.0.0.1" "$(unique 10.0.0.1 010.0.0.1)" 10.0.0.1
shows "v2 v2.0" "$(unique v2 v2.0)" 'v2 v2.0'
shows "host0 to host20, and host00 to host09: lines" \
    "$({ seq -f host%g 0 20; seq -f host%02g 0 9; } | "$sort" -V -u | wc -l)" 21
shows "host1 host01 host host0, sort -V | uniq" \
    "$(printf '%s\n' host1 host01 host host0 | "$sort" -V | uniq | paste -sd' ' -)" \
    'host host0 host01 host1'
shows "the same, BusyBox sort -V -u" \
    "$(printf '%s\n' host1 host01 host host0 | "$here/bin/busybox" sort -V -u | paste -sd' ' -)" \
    'host host01 host0 host1'
