#!/usr/bin/env bats
# What packages are made of: the source archive, the recipes, the manual as HTML.
# make deb and make release try by themselves what they have made.

# shellcheck disable=SC2154 # repository, out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # a PATH of their own
load helper

@test "dist: an unpacked archive, without git and built in, packs the same bytes" {
    need git xz
    [[ -e $repository/.git ]] || skip "needs the commits: a clone, not an unpacked archive"
    # It need not be small here.
    mkdir bin
    # shellcheck disable=SC2016 # for the other shell
    printf '#!/bin/sh\n[ "$1" != -9 ] || { shift && set -- -0 "$@"; }\nexec %s "$@"\n' "$(type -P xz)" >bin/xz
    chmod +x bin/xz
    PATH=$PWD/bin:$PATH
    (cd "$repository" && src/build/dist.sh 1.2 "$BATS_TEST_TMPDIR/work/one")
    tar -xJf one/unseen-1.2.tar.xz
    cd unseen-1.2
    [[ ! -e .git ]]
    mkdir made
    echo built >made/file
    src/build/dist.sh 1.2 ../two made
    cmp ../one/unseen-1.2.tar.xz ../two/unseen-1.2.tar.xz
    echo new >src/new
    src/build/dist.sh 1.2 ../three "$PWD/made"
    tar -tJf ../three/unseen-1.2.tar.xz >list
    grep -qx unseen-1.2/src/new list
    run -1 grep -F unseen-1.2/made list
}

# filled FILE: a recipe as make release makes it.
filled() {
    VERSION=1.2 HOMEPAGE=https://unseen.example MAINTAINER='Nobody <nobody@unseen.example>' SHA256=f00d \
        "$repository/src/packaging/fill.sh" "$repository/src/packaging/$1"
}

@test "recipes: nothing is left to fill in" {
    local file
    for file in PKGBUILD unseen.rb debian/control debian/copyright; do
        filled "$file" >made
        run -1 grep -n '@[A-Z]' made
    done
}

@test "PKGBUILD: bash reads it, and it packs what make install installs" {
    filled PKGBUILD >recipe
    mkdir -p bin pkg
    # A make that says what it was told, and leaves a licence.
    printf '%s\n' '#!/bin/sh' 'echo "$@" >>told' 'mkdir -p pkg/usr/share/doc/unseen' \
        ': >pkg/usr/share/doc/unseen/LICENSE' >bin/make
    chmod +x bin/make
    (
        set -eu
        # shellcheck disable=SC2034 # the recipe reads it
        pkgdir=$PWD/pkg
        PATH=$PWD/bin:$PATH
        # shellcheck disable=SC1091,SC2154 # made above, and it sets these
        source ./recipe
        [[ $pkgver == 1.2 && ${sha256sums[0]} == f00d && ${source[0]} == */unseen-1.2.tar.xz ]]
        build
        check
        package
    )
    printf '%s\n' "-C unseen-1.2" "-C unseen-1.2 NO_INSTALL=1 check" \
        "-C unseen-1.2 DESTDIR=$PWD/pkg prefix=/usr install" | diff - told
    [[ -e pkg/usr/share/licenses/unseen/LICENSE ]]
}

@test "html: every page, and each of its links leads to one" {
    need mandoc make
    local page link
    make -s -C "$repository" BUILD="$PWD/made" NO_INSTALL=1 html
    for page in "$repository"/man/*.[1-8]; do
        [[ -s made/html/${page##*/}.html ]]
    done
    cd made/html
    while read -r link; do
        [[ $link == https:* || -e $link ]] || complain "a link to $link"
    done < <(sed 's/href="/\n&/g' ./*.html | sed -n 's/^href="\([^#"][^#"]*\).*/\1/p' | sort -u)
}
