#!/bin/sh
# Packs the committed tree into DIRECTORY/unseen-VERSION.tar.xz, the same bytes each time.
#
#     src/build/dist.sh VERSION DIRECTORY
#
# git archive says what belongs in. It is packed anew, because git's own archive takes modes from
# the user's configuration and the commit's name along.
set -eu

name=unseen-$1
directory=$2

if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "dist: packs what is committed, and this is no git repository" >&2
    exit 1
fi
if [ -n "$(git status --porcelain)" ]; then
    echo "dist: note: there are changes that are not committed; they are left out" >&2
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

mkdir -p "$directory"
git archive --format=tar --prefix="$name/" HEAD | tar -x -C "$scratch"
tar -c -C "$scratch" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
    --mode=u+rw,go+r,go-w,a-s --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" \
    -f "$scratch/$name.tar" "$name"
# One thread: with more, the blocks, and so the bytes, depend on the machine.
xz -9 -T1 "$scratch/$name.tar"
mv "$scratch/$name.tar.xz" "$directory/$name.tar.xz"
(cd "$directory" && sha256sum "$name.tar.xz")
