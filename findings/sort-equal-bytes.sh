#!/usr/bin/env bash
# Subject: GNU sort, comm and join 9.1 with glibc 2.36 (Debian 12: coreutils 9.1-1,
#     libc6 2.36-9+deb12u14), in the locale en_US.UTF-8
# Question: which of two different lines does `sort -u` leave out, if both are Latin-1?
# One would guess: neither. A locale decides the order of lines, and lines of which not one is a
#     copy of another all stay, whatever their bytes.
# What happens: all bytes that are not UTF-8 have the same weight. `sort -u` takes lines that
#     differ only in these for copies, and prints one: of 128 lines with one byte each, one. comm
#     and join take them for equal, too. Without -u, such lines keep the order of the input, so
#     `sort | uniq` prints a line twice if another stood in between, and `uniq -c` counts it twice.
#     In C and C.UTF-8 all is well.
# Why it matters: en_US.UTF-8 and its like are what most people's shells have, and lists from
#     elsewhere are not always UTF-8. Lines are lost, or duplicates stay, without a word; a script
#     that was tried in a container, where the locale is C, works there.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
version=2.36-9+deb12u14
(cd "$here" && apt-get download -qq coreutils=9.1-1 {libc6,libc-bin,locales}=$version 2>/dev/null &&
    for package in *.deb; do dpkg -x "$package" .; done) ||
    { echo "skipped: no coreutils 9.1-1 with glibc $version from Debian here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# program NAME ARGUMENT...: one of these packages, with their C library.
loader=$(echo "$here"/lib/*/ld-linux-*.so.*)
program() { "$loader" --library-path "${loader%/*}" "$here/usr/bin/$1" "${@:2}"; }

# text: standard input as Python writes bytes, without quotes, on one line
text() { LC_ALL=C sed -n 'l' | sed 's/\$$//' | paste -sd' ' -; }

export LOCPATH=$here/locales
mkdir "$LOCPATH"
I18NPATH=$here/usr/share/i18n program localedef -i en_US -f UTF-8 "$LOCPATH/en_US.UTF-8"
program sort --version | sed -n 1p
cd "$here"
for byte in {128..255}; do
    # shellcheck disable=SC2059 # the format is an octal escape
    printf "\\$(printf %o "$byte")\n"
done >bytes
printf 'caf\351\n' >one
printf 'caf\350\n' >two
cat one two one >three

for locale in C C.UTF-8 en_US.UTF-8; do
    export LC_ALL=$locale
    case $locale in
    C | C.UTF-8) lines=128 unique='caf\350 caf\351' counts='1 caf\350 2 caf\351' new='caf\350' ;;
    *) lines=1 unique='caf\351' counts='1 caf\351 1 caf\350 1 caf\351' new='' ;;
    esac
    shows "$locale, 128 lines of one byte, sort -u: lines" "$(program sort -u bytes | wc -l)" "$lines"
    shows "$locale, sort -u" "$(program sort -u three | text)" "$unique"
    shows "$locale, sort | uniq -c" \
        "$(program sort three | program uniq -c | sed 's/^ *//' | text)" "$counts"
    shows "$locale, comm -13 one two" "$(program comm -13 one two | text)" "$new"
done
shows "en_US.UTF-8, join one two" "$(program join one two | text)" 'caf\351'
