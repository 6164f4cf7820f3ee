#!/usr/bin/env bash
# Subject: fio 3.33 (Debian 12: 3.33-3), a job that only reads: --rw=read or --rw=randread
# Question: what does such a job do with a file that is there, and shorter than --size says?
# One would guess: it reads what is there, or says that the file is too short. The job reads, so
#     the file stays as it is.
# What happens: fio writes the whole file anew, to the length of --size, with random bytes, and
#     then reads that. The inode is the old one; what was in the file is gone. The status is 0, and
#     all that fio says is "Laying out IO file". Without --size, or with one that the file has, the
#     file is left alone. With --readonly fio refuses, with status 1.
# Why it matters: this is how one asks how fast pages of a filter, an index or a database come from
#     its disk: --filename=FILTER --rw=randread, with a --size from another run. Nobody copies a
#     file before it is read.
set -euo pipefail

here=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
trap 'rm -rf "$here"' EXIT
version=3.33-3
# The libraries that fio is linked with, of the versions of this Debian.
libraries() {
    apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
        --no-replaces --no-enhances "fio=$version" | grep '^lib' | grep -vx 'libc6\|.*:.*' | sort -u
}
(cd "$here" && apt-get download -qq "fio=$version" 2>/dev/null &&
    libraries | xargs apt-get download -qq 2>/dev/null) ||
    { echo "skipped: no fio $version from Debian here"; exit 77; }
for package in "$here"/*.deb; do
    dpkg -x "$package" "$here"
done

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# reads OPTION...: runs a job over a file of 1000 numbers (3893 bytes); prints status, length of
# the file, whether it has the same inode, and whether its first 3893 bytes are the old ones.
reads() {
    local before status=0 kept=kept
    rm -f "$here/file"
    seq 1000 >"$here/file"
    before=$(stat -c %i "$here/file")
    (cd "$here" && LD_LIBRARY_PATH=$(echo "$here"/{usr/,}lib/*-linux-gnu | tr ' ' :) \
        "$here/usr/bin/fio" --name=job --filename="$here/file" --bs=512 "$@" >"$here/said" 2>&1) ||
        status=$?
    head -c 3893 "$here/file" | cmp -s - <(seq 1000) || kept=lost
    echo "$status $(stat -c %s "$here/file")" \
        "$([[ $(stat -c %i "$here/file") == "$before" ]] && echo same || echo other) $kept"
}

echo "fio $version"
for rw in read randread; do
    shows "--rw=$rw --size=64k: status, length, inode, old lines" \
        "$(reads --rw=$rw --size=64k)" "0 65536 same lost"
done
shows "what it says of that" "$(grep -o 'Laying out IO file' "$here/said")" "Laying out IO file"
shows "--size=3584, which is there" "$(reads --rw=read --size=3584)" "0 3893 same kept"
shows "no --size" "$(reads --rw=read)" "0 3893 same kept"
shows "--readonly --size=64k" "$(reads --rw=read --readonly --size=64k)" "1 3893 same kept"
