#!/bin/bash
# Makes a release in BUILD/release, the same bytes each time: the source archive; for each processor
# a static program with manual and completions, as an archive and as a wheel for pip; CHANGELOG;
# recipes for the AUR and Homebrew; SHA256SUMS. Or only the wheels, in BUILD/wheel.
#
#     VERSION=... HOMEPAGE=... MAINTAINER=... src/packaging/release.sh BUILD [wheel]
#
# MACHINES names the processors (x86_64 aarch64).
# The C library is musl if PATH has a compiler for it, otherwise the compiler's own.
set -euo pipefail

build=$1
out=$build/${2:-release}
export LC_ALL=C
unset CC CPPFLAGS CFLAGS LDFLAGS LDLIBS

# compiler_for MACHINE: prints the first compiler found.
compiler_for() {
    local candidate candidates=("$1-linux-musl-gcc")
    [[ $(uname -m) != "$1" ]] || candidates+=(musl-gcc)
    candidates+=("$1-linux-gnu-gcc")
    [[ $(uname -m) != "$1" ]] || candidates+=(gcc)
    for candidate in "${candidates[@]}"; do
        command -v "$candidate" && return
    done
    echo "release: no compiler for $1: looked for ${candidates[*]}" >&2
    return 1
}

# emulator_for MACHINE: prints the emulator that its programs need here, if any.
emulator_for() {
    [[ $(uname -m) == "$1" ]] || command -v "qemu-$1-static" || command -v "qemu-$1" ||
        { echo "release: no qemu-$1: this program is not tried" >&2 && echo true; }
}

# try COMMAND...: checks that the program starts and deduplicates lines, with and without a file.
try() {
    local scratch
    scratch=$(mktemp -d)
    printf '%s\n' one two one >"$scratch/lines"
    "$@" --version
    [[ $1 == true ]] || { "$@" <"$scratch/lines" && "$@" --create -n 10 "$scratch/f.bf" "$scratch/lines"; } |
        cmp - <(printf '%s\n' one two one two)
    rm -r "$scratch"
}

# notices COMPILER: prints the licences of the libraries in a static program, which require it.
notices() {
    local file
    echo "The program contains xxHash and the C library it was linked with. Their licences:"
    sed '/\*\//q' /usr/include/xxhash.h
    case ${1##*/} in
    *musl*) file=/usr/share/doc/musl/copyright ;;
    *) file=/usr/share/doc/libc6/copyright ;;
    esac
    [[ -e $file ]] && cat "$file" || echo "release: note: no $file for the notices" >&2
}

# make_for MACHINE GOAL [VARIABLE=VALUE...]
make_for() {
    local compiler completer=()
    compiler=$(compiler_for "$1")
    # The program that prints the completions must run on this machine.
    [[ $1 == "$(uname -m)" ]] || completer=(COMPLETER="$out/$(uname -m)/completions/generate")
    make --no-print-directory -j"$(getconf _NPROCESSORS_ONLN)" BUILD="$out/$1" CC="$compiler" \
        CFLAGS=-O2 LDFLAGS="-static -s" LDLIBS= \
        "${completer[@]}" "${@:2}"
}

# wheel MACHINE STAGE: packs it, and says what those who know wheels say, where they are installed.
wheel() {
    local check
    src/packaging/fill.sh src/packaging/METADATA | src/packaging/wheel.py "$2" "$1" "$out"
    for check in "twine check --strict" "auditwheel show"; do
        ! command -v "${check%% *}" >/dev/null || $check "$out"/*_"$1".whl
    done
}

# pack MACHINE: packs the files that make install puts below a prefix.
pack() {
    local name=unseen-$VERSION-linux-$1 stage=$out/stage
    make_for "$1" all
    # shellcheck disable=SC2046  # no emulator is no word
    try $(emulator_for "$1") "$out/$1/unseen"
    make_for "$1" install DESTDIR="$stage/$name" prefix= >/dev/null
    cp "$out/CHANGELOG" "$stage/$name/share/doc/unseen"
    notices "$(compiler_for "$1")" >"$stage/$name/share/doc/unseen/NOTICES"
    wheel "$1" "$stage/$name"
    [[ $out == */wheel ]] || src/build/tar.sh "$stage" "$name" | gzip -9 -n >"$out/$name.tar.gz"
}

# recipes: fills in the checksum of the source archive, which the recipes build from.
recipes() {
    local recipe
    for recipe in PKGBUILD unseen.rb; do
        SHA256=$(sha256sum <"$out/unseen-$VERSION.tar.xz" | cut -d ' ' -f 1) \
            src/packaging/fill.sh "src/packaging/$recipe" >"$out/$recipe"
    done
}

mkdir -p "$out"
rm -rf "$out"/stage "$out"/unseen-* "$out"/SHA256SUMS
src/packaging/changelog.sh "$VERSION" >"$out/CHANGELOG"
make_for "$(uname -m)" all
for machine in ${MACHINES:-x86_64 aarch64}; do
    pack "$machine"
done
rm -r "$out/stage"
[[ $out != */wheel ]] || { ls -l "$out"/*.whl && exit; }
src/build/dist.sh "$VERSION" "$out" "$build" >/dev/null
recipes
(cd "$out" && sha256sum unseen-*.tar.* unseen-*.whl CHANGELOG PKGBUILD unseen.rb | tee SHA256SUMS)
