#!/bin/sh
# Prints the changelog: for each release, newest first, the subjects of the commits that changed the
# program or its manual. Releases are the tags v*; commits after the last tag belong to VERSION.
#
#     src/packaging/changelog.sh VERSION
#
# An unpacked archive has no commits, but a changelog that was made from them.
set -eu

if [ ! -e .git ]; then
    exec cat src/packaging/CHANGELOG
fi

# release NAME LAST COMMITS
release() {
    subjects=$(git log --no-merges --format=%s "$3" -- src man)
    [ -n "$subjects" ] || return 0
    echo "unseen $1 ($(TZ=UTC git log -1 --format=%cd --date=short-local "$2"))"
    echo
    echo "$subjects" | while IFS= read -r subject; do
        echo "$subject" | fold -s -w 72 | sed 's/ *$//; s/^/    /; 1s/^   /  */'
    done
    echo
}

name=$1
last=HEAD
for tag in $(git tag --list 'v*' --merged HEAD --sort=-version:refname); do
    release "$name" "$last" "$tag..$last"
    name=${tag#v}
    last=$tag
done
release "$name" "$last" "$last"
