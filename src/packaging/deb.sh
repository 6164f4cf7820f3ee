#!/bin/sh
# Makes a Debian package from the source archive, in BUILD/deb, and checks it with lintian, whose
# warnings are errors here.
#
#     VERSION=... HOMEPAGE=... MAINTAINER=... src/packaging/deb.sh BUILD
set -eu

out=$1/deb
tree=$out/unseen-$VERSION
# The package is built without the flags of this make.
unset CC CPPFLAGS CFLAGS LDFLAGS LDLIBS MAKEFLAGS MFLAGS MAKELEVEL
export LC_ALL=C

# Converts the changelog on standard input to Debian's format.
debian_changelog() {
    trailer=
    while IFS= read -r line; do
        case $line in
        'unseen '*)
            [ -z "$trailer" ] || printf '%s\n\n' "$trailer"
            day=${line##*\(}
            trailer=" -- $MAINTAINER  $(date -u -R -d "${day%)}")"
            line=${line#unseen }
            echo "unseen (${line%% *}) unstable; urgency=medium"
            ;;
        *) echo "$line" ;;
        esac
    done
    echo "$trailer"
}

# The licence, as a field of debian/copyright.
licence() {
    sed -n '/^Redistribution/,$ { s/^$/./; s/^/ /; p; }' LICENSE
}

rm -rf "$out"
src/build/dist.sh "$VERSION" "$out" "$1" >/dev/null
tar -xJf "$out/unseen-$VERSION.tar.xz" -C "$out"
rm "$out/unseen-$VERSION.tar.xz"
mv "$tree/src/packaging/debian" "$tree/debian"
src/packaging/changelog.sh "$VERSION" | debian_changelog >"$tree/debian/changelog"
src/packaging/fill.sh src/packaging/debian/control >"$tree/debian/control"
{ src/packaging/fill.sh src/packaging/debian/copyright && licence; } >"$tree/debian/copyright"

(cd "$tree" && dpkg-buildpackage --no-sign)
rm -r "$tree"
cd "$out"
lintian --version
lintian --fail-on error,warning ./*.changes && echo "lintian: no errors, no warnings"
ls -l ./*.deb
