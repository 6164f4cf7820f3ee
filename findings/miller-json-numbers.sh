#!/usr/bin/env bash
# Subject: Miller 6.6.0 (Debian 12: 6.6.0-2+b3)
# Question: is what `mlr --icsv --ojsonl cat` prints always JSON?
# One would guess: yes. A cell is a number as JSON has them, or else a string in quotes.
# What happens: a cell that Miller takes for a number is printed as it was written, without quotes:
#     0x1F, 0b11, .5 and 5. with a bare dot. Strict JSON parsers refuse such a line.
# Why it matters: hashes, colours and device ids in a CSV rarely look like this, so it is one line
#     in many that fails. A tool that compares a member of each line finds none in it. Quotes around
#     the cell do not help (in this version); `mlr -S`, which takes no cell for a number, does.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
version=6.6.0-2+b3
(cd "$here" && apt-get download -qq "miller=$version" 2>/dev/null && dpkg -x miller_*.deb .) ||
    { echo "skipped: no miller $version from Debian here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

"$here/usr/bin/mlr" --version
json() {
    python3 -c 'import json, sys; json.loads(sys.argv[1])' "$1" 2>/dev/null && echo yes || echo no
}
for cell in 31 0x1F 0b11 .5 5. 1e5 0x1G; do
    line=$(printf 'id\n%s\n' "$cell" | "$here/usr/bin/mlr" --icsv --ojsonl cat)
    case $cell in
    31 | 1e5) shows "$line, JSON" "$(json "$line")" yes ;;
    0x1G) shows "$line" "$line" '{"id": "0x1G"}' ;;
    *) shows "$line, JSON" "$(json "$line")" no ;;
    esac
done
shows "0x1F in quotes" "$(printf 'id\n"0x1F"\n' | "$here/usr/bin/mlr" --icsv --ojsonl cat)" \
    '{"id": 0x1F}'
shows "0x1F with -S" "$(printf 'id\n0x1F\n' | "$here/usr/bin/mlr" -S --icsv --ojsonl cat)" \
    '{"id": "0x1F"}'
