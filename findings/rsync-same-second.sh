#!/usr/bin/env bash
# Subject: rsync 3.5.0 (Debian 12: 3.5.0+ds1-0+deb12u1)
# Question: a file of fixed length is changed twice within one second, and `rsync -a` ran in
#     between. When rsync runs again, an hour later, does it copy the file?
# One would guess: yes. It compares length and modification time, and times have nanoseconds, here
#     and on the copy; rsync itself sets those of the copy.
# What happens: no. It compares whole seconds, so the file counts as unchanged, with status 0, and
#     does so in each later run until the file changes in another second. `cp -u` copies it. So
#     does rsync with --modify-window=-1 (or -c).
# Why it matters: a filter, a database or a table of counters is changed in place and keeps its
#     length. If the last lines of a job come in the second in which its backup runs, the copy
#     lacks them for good.
set -euo pipefail

here=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
trap 'rm -rf "$here"' EXIT
version=3.5.0+ds1-0+deb12u1
(cd "$here" && apt-get download -qq "rsync=$version" libpopt0=1.19+dfsg-1 libxxhash0=0.8.1-1 \
    2>/dev/null) || { echo "skipped: no rsync $version from Debian here"; exit 77; }
for package in "$here"/*.deb; do
    dpkg -x "$package" "$here"
done
rsync() { LD_LIBRARY_PATH=$(echo "$here"/usr/lib/*-linux-gnu) "$here/usr/bin/rsync" "$@"; }
rsync --version >"$here/version" 2>&1 || { echo "skipped: rsync does not run here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# change CONTENT FRACTION: changes the file in place; its time is that of a change at this fraction
# of a second.
change() {
    printf '%s' "$1" | dd of="$here/filter" conv=notrunc status=none
    touch -d "2026-01-02 03:04:05.$2" "$here/filter"
}

# copies COMMAND...: changes the file, copies it, changes it again and copies it twice more; prints
# what the copy has at the end, and the fraction of a second that its time had after the first run.
copies() {
    local fraction
    rm -f "$here/copy"
    change old 250000000
    "$@" "$here/filter" "$here/copy"
    fraction=$(stat -c %y "$here/copy" | grep -o '\.[0-9]*')
    change new 750000000
    "$@" "$here/filter" "$here/copy"
    "$@" "$here/filter" "$here/copy"
    echo "$(cat "$here/copy") $fraction"
}

sed -n 1p "$here/version"
shows "rsync -a, content and time of the copy" "$(copies rsync -a)" "old .250000000"
shows "rsync -a --modify-window=-1" "$(copies rsync -a --modify-window=-1)" "new .250000000"
shows "rsync -a --checksum" "$(copies rsync -a --checksum)" "new .250000000"
shows "cp -u --preserve=timestamps" "$(copies cp -u --preserve=timestamps)" "new .250000000"
change new 000000000
rsync -a "$here/filter" "$here/copy"
printf 'newer' >"$here/filter"
touch -d '2026-01-02 03:04:05.5' "$here/filter"
rsync -a "$here/filter" "$here/copy"
shows "rsync -a, and the length changes too" "$(cat "$here/copy")" newer
