#!/usr/bin/env bash
# Subject: the lzma module of Python (seen in 3.11), beside xz(1)
# Question: what does lzma.open read from an .xz file of two streams with padding between them?
# One would guess: both streams, or an error. The .xz format allows padding by NUL bytes, in
#     multiples of four, after each stream, and xz(1) skips it.
# What happens: only the first stream. The padding counts as garbage at the end, garbage is ignored
#     by design, and so all that comes after it is ignored, too. No error, no warning.
# Why it matters: lists and logs are compressed in pieces and joined; a tape or a block device pads.
#     Whoever reads them in Python (pandas does so by this module) gets the beginning of the list,
#     and compares against that.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

python3 --version
xz --version | sed -n 1p
cd "$here"
echo monday | xz >one.xz
echo tuesday | xz >two.xz
cat one.xz two.xz >joined.xz
{ cat one.xz && head -c 4 /dev/zero && cat two.xz; } >padded.xz
read='import lzma, sys; print(*lzma.open(sys.argv[1], "rt").read().split())'
shows "joined.xz, Python" "$(python3 -c "$read" joined.xz)" "monday tuesday"
shows "padded.xz, xz -dc" "$(xz -dc padded.xz | paste -sd' ' -)" "monday tuesday"
shows "padded.xz, Python" "$(python3 -c "$read" padded.xz)" monday
