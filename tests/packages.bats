#!/usr/bin/env bats
# What packages are made of: the source archive, the recipes, the wheel, the manual as HTML.
# make deb and make release try by themselves what they have made.

load helper

@test "dist: an unpacked archive, without git and built in, packs the same bytes" {
    need git xz
    [[ -e $repository/.git ]] || skip "needs the commits: a clone, not an unpacked archive"
    # It need not be small here.
    mkdir bin
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

@test "what is tracked, and so what the archive holds, is source: text, but for inputs of tests" {
    need git
    [[ -e $repository/.git ]] || skip "needs the commits: a clone, not an unpacked archive"
    # The tree before the first commit: to git, all files are new, and binary ones have no lines.
    local nothing
    nothing=$(git -C "$repository" hash-object -t tree /dev/null)
    git -C "$repository" diff --numstat "$nothing" HEAD -- . ':!tests/fuzz/corpus' ':!tests/data' >lines
    [[ $(wc -l <lines) -gt 300 ]]
    run -1 grep -P '^-\t-\t' lines
}

# filled FILE: a recipe as make release makes it.
filled() {
    VERSION=1.2 HOMEPAGE=https://unseen.example MAINTAINER='Nobody <nobody@unseen.example>' SHA256=f00d \
        "$repository/src/packaging/fill.sh" "$repository/src/packaging/$1"
}

@test "recipes: nothing is left to fill in" {
    local file
    for file in PKGBUILD unseen.rb METADATA debian/control debian/copyright; do
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
        # shellcheck disable=SC1091 # made above, and it sets these
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
    need mandoc
    local page link
    NO_INSTALL=1 "$repository/src/packaging/html.sh" made/html
    for page in "$repository"/man/*.[1-8]; do
        [[ -s made/html/${page##*/}.html ]]
    done
    cd made/html
    while read -r link; do
        [[ $link == https:* || -e $link ]] || complain "a link to $link"
    done < <(sed 's/href="/\n&/g' ./*.html | sed -n 's/^href="\([^#"][^#"]*\).*/\1/p' | sort -u)
}

# a_wheel DIRECTORY: of the program under test, and a part of what else make install installs.
a_wheel() {
    mkdir -p "$1" stage/bin stage/share/man/man1 stage/share/doc/unseen
    cp "$UNSEEN" stage/bin/unseen
    cp "$repository/man/unseen.1" stage/share/man/man1
    cp "$repository/LICENSE" stage/share/doc/unseen
    echo Notices >stage/share/doc/unseen/NOTICES
    filled METADATA | VERSION=1.2 "$repository/src/packaging/wheel.py" stage "$(uname -m)" "$1"
    wheel=$1/unseen-1.2-py3-none-manylinux2014_$(uname -m).musllinux_1_1_$(uname -m).whl
}

@test "wheel: the same bytes each time, and RECORD and WHEEL are right" {
    need python3
    a_wheel one
    touch -d 2001-01-01 stage/share/man/man1/unseen.1
    chmod 700 stage/bin/unseen
    (umask 077 && a_wheel two)
    cmp "$wheel" "two/${wheel##*/}"
    python3 - "$wheel" <<'END'
import base64, csv, hashlib, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    rows = list(csv.reader(wheel.read("unseen-1.2.dist-info/RECORD").decode().splitlines()))
    assert sorted(row[0] for row in rows) == sorted(wheel.namelist())
    for name, digest, size in rows:
        content = wheel.read(name)
        sha256 = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        expected = ["", ""] if name.endswith("/RECORD") else ["sha256=" + sha256, str(len(content))]
        assert [digest, size] == expected, name
    about = wheel.read("unseen-1.2.dist-info/WHEEL").decode()
    for platform in sys.argv[1][: -len(".whl")].split("-none-")[1].split("."):
        assert "\nTag: py3-none-" + platform + "\n" in about
END
}

@test "wheel: pip installs it into a new environment, where it runs, and takes all of it away" {
    need python3 pip3
    pip() {
        python3 -m pip --disable-pip-version-check --python new/bin/python "$@"
    }
    python3 -m venv --without-pip new
    pip list >made 2>&1 || skip "needs pip 22.3 for the python3 in PATH: $(tail -n 1 made)"
    find new ! -type d | sort >before
    a_wheel made-here
    pip install --no-index "$wheel"
    cmp new/bin/unseen "$UNSEEN"
    cmp new/share/man/man1/unseen.1 "$repository/man/unseen.1"
    pip show -f unseen | grep -q '/licenses/LICENSE$'
    [[ $(printf '%s\n' a b a | new/bin/unseen --create seen.bf) == $'a\nb' ]]
    pip uninstall --yes unseen
    find new ! -type d | sort | diff before -
}
