#!/bin/sh
# Finds what this machine lacks for building, checking, all of CI, packages, HTML pages or the tests
# on an ENGINE (tests/engines/run names them), and installs it with the machine's own package
# manager.
#
#     src/build/deps.sh [tell] build | check | ci | cpus | release | deb | html | afl | ENGINE
#
# If nothing is missing, it prints and changes nothing, so that make can call it every time (20 ms).
# If something is missing, it says so to root and installs it, and asks all other users on the
# terminal first. It prints each command before it runs it, and the output of the command only if
# this fails. It installs nothing without a terminal to ask on, with NO_INSTALL set, or under
# DEB_BUILD_OPTIONS, because a package build declares its own needs; nor with `tell`. In these cases,
# and if installing is not possible, it prints what is missing and the command that would install it.
#
# It uses CC, CPPFLAGS and CFLAGS as make does. Exit status: 0 nothing is missing, 2 otherwise.
set -u

# The needs of each level (levels_of says which levels include others), and the packages for them.
# "-": the package manager has no such package. The tests that need it are then skipped, and say so.
#   cc            the compiler that $CC names
#   header:H      the compiler can include H
#   opt:N         an optional command, without which only some tests are skipped; these
#                 are installed last, and a failure is not an error
#   command:C     C is in PATH
#   signals       env(1) can undo an inherited SIG_IGN, which tests of SIGPIPE need
#   gnu-time      time(1) can report a program's peak memory
#   git           git, if there is a repository
#   build-essential  Debian assumes it wherever packages are built
#   libc:T        the compiler T-gcc can link static programs
#   clang-counts  clang can build a program that counts which lines it reaches
#level need                apt            dnf               apk               pacman         brew
needs() {
    cat <<'END'
build cc                   gcc            gcc               gcc               gcc            gcc
build header:stdio.h       libc6-dev      glibc-devel       musl-dev          glibc          -
build header:linux/fs.h    linux-libc-dev kernel-headers    linux-headers     linux-api-headers -
build header:xxhash.h      libxxhash-dev  xxhash-devel      xxhash-dev        xxhash         xxhash
check command:bash         bash           bash              bash              bash           bash
check command:bats         bats           bats              bats              bats           bats-core
check command:awk          mawk           gawk              gawk              gawk           gawk
check command:timeout      coreutils      coreutils         coreutils         coreutils      coreutils
check signals              coreutils      coreutils         coreutils         coreutils      -
check gnu-time             time           time              time              time           -
check opt:python3          python3        python3           python3           python         python3
check opt:strace           strace         strace            strace            strace         strace
check opt:mandoc           mandoc         mandoc            mandoc            mandoc         mandoc
check opt:jq               jq             jq                jq                jq             jq
check opt:git              git            git               git               git            git
check opt:xz               xz-utils       xz                xz                xz             xz
check opt:perl             perl-base      perl-interpreter  perl              perl           perl
check opt:script           bsdutils       /usr/bin/script   util-linux-misc   util-linux     util-linux
check opt:setpriv          util-linux     util-linux        setpriv           util-linux     util-linux
check opt:taskset          util-linux     /usr/bin/taskset  util-linux-misc   util-linux     util-linux
check opt:zsh              zsh            zsh               zsh               zsh            zsh
check opt:fish             fish           fish              fish              fish           fish
ci    command:gcc          gcc            gcc               gcc               gcc            gcc
ci    command:clang        clang          clang             clang             clang          llvm
ci    command:clang-format clang-format   clang-tools-extra clang-extra-tools clang          clang-format
ci    command:clang-tidy   clang-tidy     clang-tools-extra clang-extra-tools clang          llvm
ci    command:cppcheck     cppcheck       cppcheck          cppcheck          cppcheck       cppcheck
ci    command:shellcheck   shellcheck     ShellCheck        shellcheck        shellcheck     shellcheck
ci    command:mandoc       mandoc         mandoc            mandoc            mandoc         mandoc
ci    command:git          git            git               git               git            git
ci    command:xz           xz-utils       xz                xz                xz             xz
ci    command:debootstrap  debootstrap    debootstrap       debootstrap       debootstrap    -
ci    command:llvm-profdata llvm         llvm              llvm              llvm           llvm
ci    clang-counts         libclang-rt-dev compiler-rt     compiler-rt       compiler-rt    llvm
ci    command:valgrind     valgrind       valgrind          valgrind          valgrind       -
ci    opt:node             nodejs         nodejs            nodejs            nodejs         node
ci    opt:mlr              miller         miller            miller            miller         miller
ci    opt:ruby             ruby           ruby              ruby              ruby           ruby
ci    opt:sshfs            sshfs          fuse-sshfs        sshfs             sshfs          -
ci    opt:/usr/lib/openssh/sftp-server  openssh-sftp-server - - - -
three opt:aarch64-linux-gnu-gcc  gcc-aarch64-linux-gnu - - aarch64-linux-gnu-gcc -
three opt:libc:aarch64-linux-gnu  libc6-dev-arm64-cross - - aarch64-linux-gnu-glibc -
cpus  opt:arm-linux-gnueabihf-gcc  gcc-arm-linux-gnueabihf - - - -
cpus  opt:libc:arm-linux-gnueabihf  libc6-dev-armhf-cross - - - -
three opt:i686-linux-gnu-gcc  gcc-i686-linux-gnu - - - -
three opt:libc:i686-linux-gnu  libc6-dev-i386-cross - - - -
cpus  opt:riscv64-linux-gnu-gcc  gcc-riscv64-linux-gnu - - riscv64-linux-gnu-gcc -
cpus  opt:libc:riscv64-linux-gnu  libc6-dev-riscv64-cross - - riscv64-linux-gnu-glibc -
three opt:s390x-linux-gnu-gcc  gcc-s390x-linux-gnu - - - -
three opt:libc:s390x-linux-gnu  libc6-dev-s390x-cross - - - -
three opt:qemu-s390x-static  qemu-user-static qemu-user-static - qemu-user-static -
release git                git            git               git               git            git
release command:bash       bash           bash              bash              bash           bash
release command:xz         xz-utils       xz                xz                xz             xz
release command:python3    python3        python3           python3           python         python3
release opt:pip3           python3-pip    python3-pip       py3-pip           python-pip     -
release command:aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu gcc-aarch64-linux-gnu - aarch64-linux-gnu-gcc -
release libc:aarch64-linux-gnu libc6-dev-arm64-cross -          -                 aarch64-linux-gnu-glibc -
release opt:musl-gcc       musl-tools     musl-gcc          -                 musl           -
release opt:qemu-aarch64-static  qemu-user-static qemu-user-static - qemu-user-static -
deb   git                  git            git               git               git            git
deb   command:xz           xz-utils       xz                xz                xz             xz
deb   command:dpkg-buildpackage dpkg-dev  -                 -                 -              -
deb   build-essential      build-essential -                -                 -              -
deb   command:dh           debhelper      -                 -                 -              -
deb   command:lintian      lintian        -                 -                 -              -
html  command:mandoc       mandoc         mandoc            mandoc            mandoc         mandoc
hosts opt:/usr/sbin/sshd   openssh-server openssh-server  openssh-server    openssh        -
hosts opt:ssh              openssh-client openssh-clients openssh-client    openssh        -
hosts opt:ip               iproute2       iproute         iproute2          iproute2       -
hosts opt:nsenter          util-linux     util-linux      util-linux-misc   util-linux     -
parallel opt:parallel      parallel       parallel        parallel          parallel       parallel
mpi   opt:mpirun           openmpi-bin    openmpi         openmpi           openmpi        open-mpi
slurm opt:sbatch           slurm-wlm      slurm           slurm             -              -
slurm opt:munged           munge          munge           munge             munge          -
dask  opt:dask             python3-distributed python3-distributed -        -              -
kafka opt:kcat             kcat           kcat            kcat              -              kcat
jars  opt:java             default-jdk-headless java-17-openjdk-headless openjdk17-jdk jdk17-openjdk openjdk
jars  opt:mvn              maven          maven           maven             maven          maven
spark opt:pip3             python3-pip    python3-pip     py3-pip           python-pip     -
scrapy opt:pip3            python3-pip    python3-pip       py3-pip           python-pip     -
afl   command:afl-clang-fast afl++        american-fuzzy-lop-clang afl++     afl++          afl++
END
}

# The command that installs packages and, if installing does not do that, the command that fetches
# the lists of packages first.
install_command() {
    case $manager in
    apt) echo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" ;;
    dnf) echo dnf install -y --setopt=install_weak_deps=False "$@" ;;
    apk) echo apk add --update-cache "$@" ;;
    pacman) echo pacman -S --needed --noconfirm "$@" ;;
    brew) echo brew install "$@" ;;
    esac
}

refresh_command() {
    case $manager in
    apt) echo apt-get update ;;
    pacman) echo pacman -Sy ;;
    esac
}

find_manager() {
    for candidate in apt:apt-get dnf:dnf apk:apk pacman:pacman brew:brew; do
        if command -v "${candidate#*:}" >/dev/null 2>&1; then
            manager=${candidate%%:*}
            return 0
        fi
    done
    manager=
    return 1
}

# CC may have arguments or a wrapper; eval reads it as the shell of a make rule does.
compiler() {
    eval "${CC:-cc} ${CPPFLAGS:-} ${CFLAGS:-} $*"
}

compiler_name() {
    eval "for word in ${CC:-cc}; do echo \"\$word\"; break; done"
}

have() {
    case $1 in
    cc) command -v "$(compiler_name)" >/dev/null 2>&1 ;;
    header:*) printf '#include <%s>\n' "${1#*:}" |
        compiler "$("${0%/*}/headers.sh")" -E -x c -o /dev/null - >/dev/null 2>&1 ;;
    *libc:*) echo 'int main(void) { return 0; }' |
        "${1##*:}-gcc" -static -x c -o /dev/null - >/dev/null 2>&1 ;;
    command:* | opt:*) command -v "${1#*:}" >/dev/null 2>&1 ;;
    signals) env --default-signal=PIPE sh -c : 2>/dev/null ;;
    gnu-time) env time -f %M sh -c : >/dev/null 2>&1 ;;
    git) [ ! -e .git ] || command -v git >/dev/null 2>&1 ;;
    build-essential) dpkg-query -W -f '${Status}' build-essential 2>/dev/null | grep -q ' installed' ;;
    clang-counts) echo 'int main(void) { return 0; }' |
        clang -fprofile-instr-generate -x c -o /dev/null - >/dev/null 2>&1 ;;
    *) echo "deps: no such need: $1" >&2; exit 2 ;;
    esac
}

# The package for a need, or "-". A compiler that $CC names must be that one.
package_for() {
    need=$1
    if [ "$need" = cc ]; then
        name=$(compiler_name)
        case ${name##*/} in
        cc | c99 | gcc) ;;
        clang) need=command:clang ;;
        *) echo - && return ;;
        esac
    fi
    needs | awk -v need="$need" -v manager="$manager" '
        BEGIN { split("apt dnf apk pacman brew", names); for (i in names) column[names[i]] = i + 2 }
        $2 == need { print $column[manager]; exit }'
}

# The levels that a level includes.
levels_of() {
    case $1 in
    build | html) echo "$1" ;;
    ci) echo build check ci three release deb html parallel ;;
    cpus) echo build three cpus ;;
    kafka | hadoop | spark) echo build check hosts jars "$1" ;;
    hosts) echo build check hosts ;;
    parallel | slurm | mpi | dask) echo build check hosts "$1" ;;
    scrapy) echo build check scrapy ;;
    *) echo build "$1" ;;
    esac
}

# Sets missing to the unmet needs of the level, or to its unmet optional ones.
find_missing() {
    missing=
    for need in $(needs | awk -v levels=" $(levels_of "$level") " -v optional="${1-}" '
        index(levels, " " $1 " ") && ($2 ~ /^opt:/) == (optional != "") && !seen[$2]++ { print $2 }'); do
        have "$need" || missing="$missing $need"
    done
}

describe() {
    case $1 in
    cc) echo "a C compiler ($(compiler_name))" ;;
    header:*) echo "the C header ${1#*:}" ;;
    *libc:*) echo "a static C library for ${1##*:}" ;;
    command:* | opt:*) echo "the command ${1#*:}" ;;
    signals) echo "an env that knows --default-signal" ;;
    git) echo "the command git" ;;
    build-essential) echo "the package build-essential" ;;
    gnu-time) echo "GNU time" ;;
    esac
}

say_missing() {
    for need in $missing; do
        echo "deps: missing: $(describe "$need")" >&2
    done
}

give_up() {
    echo "deps: $*" >&2
    exit 2
}

run() {
    echo "+ $*"
    said=$("$@" </dev/null 2>&1) && return
    status=$?
    printf '%s\n' "$said" >&2
    return $status
}

# Debian's images have no package lists, and old lists name files that are gone. Fetching takes
# seconds, so it is done only in these cases.
lists_are_stale() {
    for package; do
        case $manager in
        apt) LC_ALL=C apt-cache policy "$package" 2>/dev/null | grep -q 'Candidate: [^(]' ||
            return 0 ;;
        pacman) pacman -Si "$package" >/dev/null 2>&1 || return 0 ;;
        esac
    done
    return 1
}

# Words are split on purpose: commands and packages consist of plain words.
# shellcheck disable=SC2046,SC2086
install() {
    refresh=$(refresh_command)
    fresh=
    if [ -n "$refresh" ] && lists_are_stale "$@"; then
        run $as_root $refresh || return 1
        fresh=yes
    fi
    run $as_root $(install_command "$@") && return 0
    [ -n "$refresh" ] && [ -z "$fresh" ] || return 1
    run $as_root $refresh && run $as_root $(install_command "$@")
}

# Installs what is missing. Returns 1 if the package manager fails; exits if it may not be run.
bring() {
    say_missing
    find_manager || give_up "no package manager that is known here" \
        "(apt-get, dnf, apk, pacman, brew): install them by hand"
    choose_packages
    [ -n "$packages" ] || return 0
    find_rights
    ask
    if [ -n "$cannot" ]; then
        echo "deps: not installing ($cannot); this would do it:" >&2
        echo "    $(whole_command)" >&2
        exit 2
    fi
    # Who was asked has seen the command.
    [ -n "$agreed" ] || [ "$(id -u)" != 0 ] ||
        echo "deps: installing $packages (NO_INSTALL=1: install nothing)" >&2
    # shellcheck disable=SC2086
    install $packages || return 1
}

# shellcheck disable=SC2086
whole_command() {
    echo "${as_root:+$as_root }$(install_command $packages)"
}

# Asks, unless the user is root; sets cannot if the answer is not yes.
ask() {
    [ -z "$cannot$agreed" ] && [ "$(id -u)" != 0 ] || return 0
    printf 'deps: to install what is missing:\n    %s\nRun it? [y/N] ' "$(whole_command)" >&2
    read -r answer || echo >&2
    case $answer in
    y | Y | yes) ;;
    *) cannot="you did not say yes" ;;
    esac
}

# Installs all optional packages at once; if this fails, one by one, so that one failure does not
# affect the rest.
bring_optional() {
    (bring)
    status=$?
    [ $status -eq 1 ] || return $status
    status=0 agreed=yes # to the same packages
    for missing in $missing; do
        (bring) || status=1
    done
    return $status
}

# Sets packages.
choose_packages() {
    packages=
    for need in $missing; do
        package=$(package_for "$need")
        case " $packages " in
        *" $package "*) continue ;;
        esac
        if [ "$package" != - ]; then
            packages="${packages:+$packages }$package"
        elif [ "$need" = cc ]; then
            give_up "no package known for $(describe "$need"): install it by hand"
        else
            echo "deps: no package known for $(describe "$need"): going on without" >&2
        fi
    done
}

# Sets as_root, and cannot to the reason if nothing may be installed. Homebrew refuses to run as
# root, so it never gets sudo.
find_rights() {
    as_root=
    cannot=
    if [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; then
        as_root=sudo
        command -v sudo >/dev/null 2>&1 || cannot="this is not root, and there is no sudo"
    fi
    if [ -z "$cannot" ] && [ "$(id -u)" != 0 ] && ! { [ -t 0 ] && [ -t 2 ]; }; then
        cannot="this is not root, and there is no terminal to ask on"
    fi
    if [ -n "$tell" ]; then
        cannot="plain make installs nothing; make deps does"
    elif [ -n "${DEB_BUILD_OPTIONS+set}" ]; then
        cannot="DEB_BUILD_OPTIONS is set: a package build installs nothing"
    elif [ -n "${NO_INSTALL:-}" ] && [ "$NO_INSTALL" != 0 ]; then
        cannot="NO_INSTALL is set"
    fi
}

tell=
[ "${1-}" != tell ] || { tell=yes && shift; }
case ${1-} in
build | check | ci | cpus | release | deb | html | afl) level=$1 ;;
hosts | parallel | slurm | mpi | dask | kafka | hadoop | spark | scrapy) level=$1 ;;
*)
    echo "usage: src/build/deps.sh [tell] build|check|ci|cpus|release|deb|html|afl|ENGINE" >&2
    exit 2
    ;;
esac

agreed=
find_missing
if [ -n "$missing" ]; then
    bring || give_up "the package manager failed; see above"
    find_missing
    for need in $missing; do
        [ "$(package_for "$need")" = - ] ||
            give_up "still missing, although installing succeeded: $(describe "$need")"
    done
fi

find_missing optional
[ -z "$missing" ] || bring_optional ||
    echo "deps: going on without; tests that need it are skipped" >&2
