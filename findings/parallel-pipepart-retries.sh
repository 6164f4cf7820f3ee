#!/usr/bin/env bash
# Subject: GNU parallel 20221122 (Debian 12: 20221122+ds-2), --pipepart with --retries
# Question: `parallel -a lines --pipepart --retries 3 CMD` passes blocks of lines to CMD. CMD fails
#     once, as when a server is away for a moment. What does its second run get?
# One would guess: the same block. It is a part of a file, which can be read again. With --pipe,
#     where it cannot, parallel keeps the block for that.
# What happens: nothing. The second run has an empty input, so it does nothing and exits with 0.
#     The block is lost, parallel exits with 0, and the job log says Exitval 0. --pipe passes the
#     block again.
# Why it matters: --pipepart is the faster form for a file, and --retries is there so that no line
#     is lost. A file that is smaller than a block is lost as a whole.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
version=20221122+ds-2
(cd "$here" && apt-get download -qq "parallel=$version" 2>/dev/null && dpkg -x parallel_*.deb .) ||
    { echo "skipped: no parallel $version from Debian here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# CMD: takes its input whole, and prints it; but its first run of all fails, and prints nothing.
cat >"$here/cmd" <<'END'
#!/bin/sh
lines=$(cat)
printf '%s' "$lines" | wc -c >>runs
mkdir once 2>/dev/null && exit 1
[ -z "$lines" ] || printf '%s\n' "$lines"
END
chmod +x "$here/cmd"
seq 100000 >"$here/lines"

# runs OPTION...: runs CMD over the lines, in a folder of its own; prints the status and how many
# lines CMD printed.
runs() {
    local status=0
    rm -rf "$here/run"
    mkdir "$here/run"
    (cd "$here/run" && HOME=$here "$here/usr/bin/parallel" --will-cite -j1 --joblog log "$@" \
        "$here/cmd" >out) || status=$?
    echo "status $status, $(wc -l <"$here/run/out") lines"
}

HOME=$here "$here/usr/bin/parallel" --version | sed -n 1p
shows "--pipe --retries 3, small blocks" \
    "$(runs --pipe --block 100k --retries 3 <"$here/lines")" "status 0, 100000 lines"
shows "--pipepart, no --retries" \
    "$(runs -a "$here/lines" --pipepart --block 100k)" "status 1, 81482 lines"
shows "--pipepart --retries 3, small blocks" \
    "$(runs -a "$here/lines" --pipepart --block 100k --retries 3)" "status 0, 81482 lines"
shows "runs of CMD, and those whose input was empty" \
    "$(wc -l <"$here/run/runs"), $(grep -cx 0 "$here/run/runs")" "7, 1"
shows "--pipepart --retries 3, one block" \
    "$(runs -a "$here/lines" --pipepart --block 1M --retries 3)" "status 0, 0 lines"
shows "Exitval in the job log" "$(sed 1d "$here/run/log" | cut -f 7)" 0
