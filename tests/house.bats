#!/usr/bin/env bats
# The house itself: what installs what is missing, and the Makefile.

load helper

# --- src/build/deps.sh -------------------------------------------------------

# a_bare_machine [user]: bin/ holds what every system has.
a_bare_machine() {
    local command
    mkdir bin
    for command in sh bash awk cat env grep id sed timeout; do
        ln -s "$(command -v "$command")" bin/
    done
    # Whoever runs the tests: it is root's, but where a user is what is tested.
    [[ ${1-} == user ]] || { rm bin/id; printf '#!/bin/sh\necho 0\n' >bin/id; chmod +x bin/id; }
}

# a_manager NAME [SCRIPT]: a package manager that notes how it was called.
a_manager() {
    printf '#!/bin/sh\necho "%s $*" >>%q\n%s\n' "$1" "$PWD/called" "${2-}" >"bin/$1"
    chmod +x "bin/$1"
}

# deps LEVEL [VARIABLE=VALUE...]: on that machine; as_user: what changes the user, if any.
deps() {
    local level=$1
    shift
    env -u DEB_BUILD_OPTIONS -u NO_INSTALL -u CC -u CPPFLAGS -u CFLAGS ${as_user-} \
        env PATH="$PWD/bin" "$@" sh "$repository/src/build/deps.sh" "$level"
}

@test "deps: NO_INSTALL and DEB_BUILD_OPTIONS forbid installing, and it says how" {
    local variable
    for variable in NO_INSTALL=1 DEB_BUILD_OPTIONS= DEB_BUILD_OPTIONS=nocheck; do
        rm -rf bin called
        a_bare_machine
        a_manager apt-get
        exits 2 deps build "$variable"
        [[ ! -e called ]] || complain "called in spite of $variable: $(cat called)"
        grep -q "${variable%%=*} is set" "$err"
        grep -q 'apt-get install .*libxxhash-dev' "$err"
    done
}

@test "deps: root is told what will be installed, before it is" {
    a_bare_machine
    # The manager brings nothing.
    a_manager apt-get "! grep -q '^deps: installing .*libxxhash-dev' '$err' || : >told"
    exits 2 deps build
    [[ -s called && -e told ]] || complain "installed before it was told"
    [[ $(grep -c '^deps: installing ' "$err") -eq 1 ]]
}

@test "deps: who is not root is asked on a terminal, and only told elsewhere; all goes through sudo" {
    local answer
    need script
    [[ $(id -u) -ne 0 ]] || need setpriv
    if [[ $(id -u) -eq 0 ]]; then
        as_user="setpriv --reuid 65534 --regid 65534 --clear-groups"
        chmod 755 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR"
        chmod 777 .
        $as_user test -x "$PWD" -a -r "$repository/src/build/deps.sh" ||
            skip "another user cannot read these directories (TMPDIR, or a clone, elsewhere)"
    fi
    a_bare_machine user
    a_manager apk
    exits 2 deps build
    grep -q 'not root, and there is no sudo' "$err"
    a_manager sudo "exit 0"
    exits 2 deps build
    grep -q 'sudo apk add .*xxhash-dev' "$err"
    [[ ! -e called ]] || complain "called without a terminal: $(cat called)"
    export as_user repository
    for answer in '' n y; do
        exits 2 script -qec "env -u DEB_BUILD_OPTIONS -u NO_INSTALL -u CC $as_user env PATH='$PWD/bin' sh '$repository/src/build/deps.sh' build" /dev/null <<<"$answer"
        grep -q 'Run it? \[y/N\]' "$out" || complain "not asked"
        [[ $answer == y || ! -e called ]] || complain "called after '$answer': $(cat called)"
    done
    [[ $(cat called) == 'sudo apk add '* ]] || complain "$(cat called)"
}

# --- Makefile ----------------------------------------------------------------

# make as from a shell: these tests may run under make themselves.
clean_make() {
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u CFLAGS -u CPPFLAGS -u LDFLAGS -u prefix -u PREFIX \
        make "$@"
}

@test "make: build, install and uninstall with the user's places and flags" {
    need make "${CC:-cc}"
    local root="$BATS_TEST_TMPDIR/it's \"theirs\"; touch pwned"
    # No shell may read the name of a directory as more than a name.
    project=$PWD/"it's "'"a" $(touch pwned) `touch pwned`; touch pwned; é'
    mkdir "$project"
    tar -C "$repository" -cf - Makefile LICENSE man/examples src/build src/completions src/packaging |
        tar -C "$project" -xf -
    cd "$project" || return 1
    # For what make does, few sources and pages are as good as many.
    mkdir src/commands src/core
    echo 'int main(void) { return 0; }' | tee src/commands/main.c >src/completions/generate.c
    echo 'int part; /* of the program */' >src/core/part.c
    touch man/unseen.1 man/unseen.5
    TMPDIR=$PWD exits 0 clean_make -j2 BUILD=made CFLAGS='-O0 -g' WERROR= all
    [[ -x made/unseen && ! -e build ]]
    ! grep -Faq "$BATS_TEST_TMPDIR" made/unseen || complain "it depends on where it was built"
    exits 0 made/unseen --version
    exits 0 clean_make BUILD=made CFLAGS='-O0 -g' WERROR= DESTDIR="$root" PREFIX=/opt/x install
    [[ -x $root/opt/x/bin/unseen && -e $root/opt/x/share/man/man1/unseen.1 ]]
    [[ -e $root/opt/x/share/man/man5/unseen.5 && -s $root/opt/x/share/doc/unseen/LICENSE ]]
    diff -r man/examples "$root/opt/x/share/doc/unseen/examples"
    touch "$root/opt/x/bin/theirs"
    exits 0 clean_make BUILD=made CFLAGS='-O0 -g' WERROR= DESTDIR="$root" prefix=/opt/x uninstall
    [[ $(find "$root" -type f) == "$root/opt/x/bin/theirs" ]] || complain "left: $(find "$root" -type f)"
    [[ -z $(find "$BATS_TEST_TMPDIR" -name 'pwned*') ]]
    exits 0 clean_make BUILD=made clean
    [[ ! -e made ]]
}

@test "make without xxhash.h: names the package, compiles and installs nothing" {
    need make "${CC:-cc}"
    mkdir bin include project
    a_manager apt-get
    echo '#error there is none' >include/xxhash.h
    tar -C "$repository" -cf - Makefile src | tar -C project -xf -
    PATH=$PWD/bin:$PATH exits 2 clean_make -C project BUILD=made CPPFLAGS="-I$PWD/include" all
    grep -q 'missing: the C header xxhash.h' "$err" || complain "not named"
    grep -q 'apt-get install .*libxxhash-dev$' "$err" || complain "no package"
    ! grep -q '  CC  ' "$out" || complain "compiled"
    [[ ! -e called ]] || complain "called: $(cat called)"
}

@test "make clean: leaves alone what was not made here" {
    need make
    mkdir mine
    touch mine/precious
    exits 2 clean_make -C "$repository" BUILD="$PWD/mine" clean
    [[ -e mine/precious ]]
}

# --- The rooms of src ---------------------------------------------------------

@test "lint rooms: passes, and names what goes up, misses a door, prints in a pure room, or has no room" {
    mkdir copy
    cp -r "$repository/src" copy
    exits 0 copy/src/build/lint.sh rooms
    [[ ! -s $out ]]
    echo '#include "filter/writer.h"' >>copy/src/core/hash.c
    echo '#include "filter/internal.h"' >>copy/src/commands/main.c
    echo '#include "attic/trunk.h"' >>copy/src/io/input.c
    echo 'void say(void) { puts("no"); }' >>copy/src/key/csv.c
    exits 1 copy/src/build/lint.sh rooms
    grep -q '^src/core/hash.c:[0-9]*: filter/writer.h is above core$' "$out"
    grep -q '^src/commands/main.c:[0-9]*: filter/internal.h is no door of its room$' "$out"
    grep -q '^src/io/input.c:[0-9]*: attic/trunk.h is of a room' "$out"
    grep -q '^src/key/csv.c:[0-9]*:.*puts' "$out"
    [[ $(wc -l <"$out") -eq 4 ]] || complain "$(cat "$out")"
}

@test "a fault that may be printed begins as one, not as what was on the stack" {
    ! grep -nE '^ +struct fault [a-z_]+;' "$repository"/src/commands/*.c || complain "without FAULT_UNSET"
}
