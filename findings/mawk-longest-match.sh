#!/usr/bin/env bash
# Subject: mawk 1.3.4-20200120 (Debian 12: 1.3.4.20200120-3.1), the `awk` of Debian
# Question: what does `sub(/.*\/+/, "")` leave of http://a.example/b/c?
# One would guess: c. `.*` takes all it can, and POSIX wants the longest match. sed, Perl, gawk,
#     BusyBox awk and original-awk agree.
# What happens: a.example/b/c is left, as the match is `http://`. Where `.*` is followed by `X+`,
#     and two X stand side by side, the match ends there, though X comes again later. So it is with
#     slashes, blanks, `&` and digits, in sub, gsub, match and split. What only tests
#     (`$0 ~ /^.* +c$/`) is right.
# Why it matters: this is how one strips a prefix before the lines are compared: a time stamp, a
#     host, a number. Lines with two blanks (days 1 to 9 of syslog) keep their time, so no two of
#     them are equal; the others lose it.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mawk_version=1.3.4.20200120-3.1 gawk_version=1:5.2.1-2
(cd "$here" && apt-get download -qq "mawk=$mawk_version" "gawk=$gawk_version" 2>/dev/null &&
    dpkg -x mawk_*.deb . && dpkg -x gawk_*.deb .) ||
    { echo "skipped: no mawk $mawk_version and gawk $gawk_version from Debian here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# left AWK LINE REGEX: what is left of LINE.
left() { printf '%s\n' "$2" | "$1" "{ sub(/$3/, \"\"); print }"; }

mawk=$here/usr/bin/mawk gawk=$here/usr/bin/gawk
"$gawk" --version >"$here/log" 2>&1 ||
    { echo "skipped: gawk $gawk_version lacks a library here"; exit 77; }
"$mawk" -W version 2>&1 | sed -n 1p
url='http://a.example/b/c' slashes='.*\/+'
shows "gawk, slashes" "$(left "$gawk" "$url" "$slashes")" c
shows "sed, slashes" "$(sed -E "s/$slashes//" <<<"$url")" c
shows "mawk, slashes" "$(left "$mawk" "$url" "$slashes")" a.example/b/c
for day in ' 9' 10; do
    shows "gawk, blanks, day $day" "$(left "$gawk" "Nov $day 10:00:00 started" '^.* +')" started
done
shows "mawk, blanks, day 10" "$(left "$mawk" 'Nov 10 10:00:00 started' '^.* +')" started
shows "mawk, blanks, day 9" "$(left "$mawk" 'Nov  9 10:00:00 started' '^.* +')" '9 10:00:00 started'
shows "gawk, digits" "$(left "$gawk" a22b3c '.*[0-9]+')" c
shows "mawk, digits" "$(left "$mawk" a22b3c '.*[0-9]+')" b3c
# shellcheck disable=SC2016 # an awk program
shows "mawk, a test" "$(echo 'a  b c' | "$mawk" '{ print $0 ~ /^.* +c$/ }')" 1
