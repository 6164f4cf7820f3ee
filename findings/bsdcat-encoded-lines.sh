#!/usr/bin/env bash
# Subject: bsdcat of libarchive 3.6.2 (Debian 12: 3.6.2-1+deb12u5)
# Question: bsdcat prints files, compressed or not. What does it print of a plain text in which
#     some lines are uuencoded, or in base64 as `uuencode -m` writes it, such as a mailbox?
# One would guess: the text as it is. It is not compressed; zcat -f prints it so.
# What happens: only what the encoded lines stand for. Each line before, between and after them is
#     gone, and the status is 0. Such a "begin" counts if it is near the start; with 30,000 other
#     lines before it the same text is printed whole. A lines.gz is unpacked, and then decoded too.
# Why it matters: bsdcat is the one reader for lists that come as .gz, .xz, .zst or plain. A list
#     of lines from mail, from a forum or from the log of a mail server shrinks to an old
#     attachment.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
version=3.6.2-1+deb12u5
(cd "$here" &&
    apt-get download -qq "libarchive-tools=$version" "libarchive13=$version" 2>/dev/null) ||
    { echo "skipped: no bsdcat $version from Debian here"; exit 77; }
for package in "$here"/*.deb; do
    dpkg -x "$package" "$here"
done
bsdcat() { LD_LIBRARY_PATH=$(echo "$here"/usr/lib/*-linux-gnu) "$here/usr/bin/bsdcat" "$@"; }
bsdcat --version >"$here/version" 2>&1 || { echo "skipped: bsdcat does not run here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# prints COMMAND FILE: the status, and the output on one line.
prints() {
    local status=0
    "$@" >"$here/out" || status=$?
    echo "$status $(paste -sd, "$here/out")"
}

# The bytes "abc", between lines of a mail.
printf '%s\n' 'To: all' 'begin 644 x' '#86)C' '`' 'end' 'regards' >"$here/uu"
printf '%s\n' 'To: all' 'begin-base64 644 x' 'YWJj' '====' 'regards' >"$here/base64"
printf '%s\n' 'To: all' 'begin 644 x' 'of the list' 'end' 'regards' >"$here/other"
gzip -k "$here/uu"
{ seq 30000; cat "$here/uu"; } >"$here/long"

cat "$here/version"
whole='To: all,begin 644 x,#86)C,`,end,regards'
shows "zcat -f, uuencoded" "$(prints zcat -f "$here/uu")" "0 $whole"
shows "bsdcat, uuencoded" "$(prints bsdcat "$here/uu")" "0 abc"
shows "bsdcat, base64" "$(prints bsdcat "$here/base64")" "0 abc"
shows "bsdcat, gzip of uuencoded" "$(prints bsdcat "$here/uu.gz")" "0 abc"
shows "bsdcat, two texts after one another" \
    "$(cat "$here/uu" "$here/uu" | prints bsdcat -)" "0 abcabc"
shows "bsdcat, 'begin' before a line that is not encoded" \
    "$(prints bsdcat "$here/other")" "0 To: all,begin 644 x,of the list,end,regards"
shows "bsdcat, 30000 numbers before it, lines" "$(bsdcat "$here/long" | wc -l)" 30006
