#!/bin/sh
# Packs the sources into DIRECTORY/unseen-VERSION.tar.xz, the same bytes each time.
#
#     src/build/dist.sh VERSION DIRECTORY [BUILD]
#
# git archive selects the committed files. They are packed again, because git's archive has modes
# from the user's configuration and the name of the commit. A changelog, made from the commits, is
# added. In an unpacked archive, without git, all files are packed except for BUILD.
set -eu

name=unseen-$1
directory=$2
build=${3:-build}
build=${build#"$PWD/"}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

mkdir -p "$directory"
if [ -e .git ]; then
    if [ -n "$(git status --porcelain)" ]; then
        echo "dist: note: there are changes that are not committed; they are left out" >&2
    fi
    git archive --format=tar --prefix="$name/" HEAD | tar -x -C "$scratch"
    src/packaging/changelog.sh "$1" >"$scratch/$name/src/packaging/CHANGELOG"
else
    mkdir "$scratch/$name"
    tar -c --exclude="./${build#./}" . | tar -x -C "$scratch/$name"
fi
src/build/tar.sh "$scratch" "$name" >"$scratch/$name.tar"
# One thread, because with more the blocks of xz, and so the bytes, depend on the machine.
xz -9 -T1 "$scratch/$name.tar"
mv "$scratch/$name.tar.xz" "$directory/$name.tar.xz"
(cd "$directory" && sha256sum "$name.tar.xz")
