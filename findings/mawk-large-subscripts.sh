#!/usr/bin/env bash
# Subject: mawk 1.3.4-20200120 (Debian 12: 1.3.4.20200120-3.1), the `awk` of Debian
# Question: does `awk '!seen[$1 + 0]++'` keep 12345678901 and 12345678902 apart?
# One would guess: yes. awk's numbers are doubles, exact up to 2^53, and POSIX has a whole number
#     become its digits when it is a subscript. gawk and BusyBox awk do so.
# What happens: the second one is dropped. Whole numbers beyond 2^31 become a subscript by CONVFMT,
#     %.6g, so both are 1.23457e+10.
# Why it matters: `$1 + 0` is how awk users make 007 and 7 one key. With ids or times in
#     milliseconds, about one line in a hundred thousand is left, and nothing says so.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
version=1.3.4.20200120-3.1
(cd "$here" && apt-get download -qq "mawk=$version" 2>/dev/null && dpkg -x mawk_*.deb .) ||
    { echo "skipped: no mawk $version from Debian here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

mawk=$here/usr/bin/mawk
"$mawk" -W version 2>&1 | sed -n 1p
# shellcheck disable=SC2016 # an awk program
program='!seen[$1 + 0]++'
shows "12345678901 and 12345678902, by number" \
    "$(printf '%s\n' 12345678901 12345678902 | "$mawk" "$program" | paste -sd' ' -)" 12345678901
# shellcheck disable=SC2016
shows "the same, as text" \
    "$(printf '%s\n' 12345678901 12345678902 | "$mawk" '!seen[$1]++' | paste -sd' ' -)" \
    '12345678901 12345678902'
shows "2147483646 and 2147483647, by number" \
    "$(printf '%s\n' 2147483646 2147483647 | "$mawk" "$program" | paste -sd' ' -)" \
    '2147483646 2147483647'
shows "a million ids from 12345000000 on, by number: lines left" \
    "$(seq 12345000000 12345999999 | "$mawk" "$program" | wc -l)" 11
