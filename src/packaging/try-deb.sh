#!/bin/sh
# Installs, upgrades and purges the package in DIRECTORY, and runs its autopkgtest. It is for a
# machine that can be thrown away:
#
#     tests/fresh-root 'make deb && src/packaging/try-deb.sh build/deb'
set -eu

export DEBIAN_FRONTEND=noninteractive LC_ALL=C
package=$(echo "$1"/unseen_*.deb)
changes=$(echo "$1"/unseen_*.changes)

say() {
    echo "try-deb: $*"
}

fail() {
    say "$@" >&2
    exit 1
}

# Lists all files except for those that any installation changes.
files() {
    find / -xdev \( -path /proc -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt \
        -o -path /var/cache -o -path /var/log -o -path /usr/src \) -prune -o -print | sort
}

# newer DIRECTORY: makes the same package with a later version there, and prints its name.
newer() {
    dpkg-deb -R "$package" "$1/tree"
    sed -i 's/^Version: .*/&+later/' "$1/tree/DEBIAN/control"
    dpkg-deb -b "$1/tree" "$1" >&2
    echo "$1"/unseen_*.deb
}

version() {
    dpkg-query -W -f '${Version}' unseen
}

scratch=$(mktemp -d)
apt-get -qq update
apt-get -qq install -y --no-install-recommends autopkgtest >/dev/null
files >"$scratch/before"

apt-get -qq install -y "$(realpath "$package")" >/dev/null
say "installed: $(version), $(unseen --version | head -n 1)"
[ "$(printf '%s\n' a b a | unseen | tr '\n' ' ')" = 'a b ' ] || fail "it does not do its work"
dpkg -L unseen | while read -r file; do [ -e "$file" ] || echo "not unpacked here: $file"; done
printf '%s\n' a | unseen --create "$scratch/seen.bf" >/dev/null

apt-get -qq install -y "$(newer "$scratch")" >/dev/null
case $(version) in
*+later) say "upgraded: $(version)" ;;
*) fail "not upgraded: $(version)" ;;
esac
[ -z "$(printf '%s\n' a | unseen "$scratch/seen.bf")" ] || fail "a filter does not outlive it"

apt-get -qq purge -y unseen >/dev/null
files | diff "$scratch/before" - || fail "purging left or took these"
say "purged: nothing is left"

autopkgtest "$changes" -- null || fail "autopkgtest: status $?"
