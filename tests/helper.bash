# What all the black-box tests share. Load it at the top of every .bats file.
#
# A test runs in an empty directory of its own. `capture` runs one command and
# leaves its output, its messages and its exit code outside that directory, so
# that a snapshot of the directory shows only what the command itself did there.

bats_require_minimum_version 1.5.0

# shellcheck shell=bash

repository=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P)

# The program under test, as an absolute path: the tests change directory.
UNSEEN=${UNSEEN:-$repository/build/unseen}
case $UNSEEN in
/*) ;;
*) UNSEEN=$PWD/$UNSEEN ;;
esac
export UNSEEN

# A hang is a failure, and only a hang: these are no measurements. (Not BATS_TEST_TIMEOUT: a test
# that ends before bats watches it leaves a sleep that holds the output for as long.)
: "${UNSEEN_TIMEOUT:=240}"

# A sanitizer's own exit code must not look like one of the program's.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=99"
export LSAN_OPTIONS="${LSAN_OPTIONS:+$LSAN_OPTIONS:}exitcode=99"
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}exitcode=99"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}exitcode=99:halt_on_error=1"

# Messages of the C library and the order of sort(1) must not depend on the machine.
export LC_ALL=C
unset POSIXLY_CORRECT

setup() {
    # Else bats looks through the stack at each command of each helper, a third of all time. With
    # TEST_TRACE=1 it does, and shows the line in a helper at which a test failed.
    [[ -n ${TEST_TRACE-} ]] || set +T
    if [[ ! -x $UNSEEN ]]; then
        echo "no program at $UNSEEN: run make first, or set UNSEEN"
        return 1
    fi
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || return 1
    out=$BATS_TEST_TMPDIR/out   # what the last captured command printed
    err=$BATS_TEST_TMPDIR/err   # and said
    code=0                      # and its exit code
    exec </dev/null
    umask 022
}

teardown() {
    [[ -z ${public:-} ]] || rm -rf "$public"
}

# The program, with a guard against hanging for ever.
unseen() {
    timeout --foreground -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" "$@"
}

# capture COMMAND...: runs it; its stdin is the caller's.
capture() {
    code=0
    "$@" >"$out" 2>"$err" || code=$?
}

# to FILE COMMAND...: COMMAND with its stdout in FILE (for `fails_with`).
to() {
    local file=$1
    shift
    "$@" >"$file"
}

# appending_to FILE COMMAND...
appending_to() {
    local file=$1
    shift
    "$@" >>"$file"
}

# complain TEXT...: says why, shows what the last captured command left, fails.
complain() {
    echo "$*"
    echo "exit code: $code"
    echo "stdout ($(wc -c <"$out") bytes), first lines:"
    head -c 600 "$out" | head -n 8 | cat -v
    echo "stderr ($(wc -c <"$err") bytes), first lines:"
    head -c 1200 "$err" | head -n 12 | cat -v
    return 1
}

# same FILE FILE: byte for byte.
same() {
    cmp -- "$1" "$2" || {
        echo "expected $(wc -lc <"$2"), got $(wc -lc <"$1") (lines, bytes)"
        diff <(head -c 2000000 "$1" | cat -v) <(head -c 2000000 "$2" | cat -v) | head -n 10
        return 1
    }
}

# prints TEXT: the last captured command printed exactly TEXT (printf's escapes).
prints() {
    printf '%b' "$1" >"$BATS_TEST_TMPDIR/expected"
    same "$out" "$BATS_TEST_TMPDIR/expected" || complain "printed something else"
}

# silent_on_stderr: the last captured command said nothing.
silent_on_stderr() {
    [[ ! -s $err ]] || complain "stderr is not empty"
}

# says PATTERN: exactly one line on stderr, a message of ours that matches.
says() {
    says_lines 1 "$1"
}

# says_lines N PATTERN...: exactly N lines on stderr, all of them ours; each
# PATTERN (extended regular expression) matches one of them.
says_lines() {
    local lines=$1 pattern
    shift
    [[ $(wc -l <"$err") -eq $lines ]] || { complain "stderr should have $lines line(s)"; return 1; }
    [[ $(grep -c '^unseen: ' "$err") -eq $lines ]] ||
        { complain "a line on stderr is not of the form 'unseen: ...'"; return 1; }
    for pattern; do
        grep -Eq -- "$pattern" "$err" || { complain "no line on stderr matches: $pattern"; return 1; }
    done
}

# succeeds COMMAND...: exit code 0 and no message; the output is in $out.
succeeds() {
    exits 0 "$@" && silent_on_stderr
}

# exits CODE COMMAND...: exactly this exit code.
exits() {
    local wanted=$1
    shift
    capture "$@"
    [[ $code -eq $wanted ]] || complain "exit code should be $wanted: $*"
}

# answers: for each row of a table on stdin, `ARGUMENTS|INPUT|OUTPUT[|CODE]`: unseen with these arguments, as
# a shell reads them, and this input, prints exactly this output, says nothing, and exits with CODE or 0.
# INPUT and OUTPUT are in printf's escapes.
answers() {
    local arguments input wanted status
    while IFS='|' read -r arguments input wanted status; do
        { exits "${status:-0}" eval "unseen $arguments" < <(printf '%b' "$input") &&
            silent_on_stderr && prints "$wanted"; } || { echo "row: $arguments|$input"; return 1; }
    done
}

# also FILE...: prints them, too; the exit status is that of the command before.
also() {
    local status=$?
    cat -- "$@"
    return "$status"
}

# says_these MESSAGES: exactly these on stderr, in order, separated by |; each is a pattern of the
# shell for how one begins.
says_these() {
    local said=() wanted=() i
    mapfile -t said <"$err"
    IFS='|' read -ra wanted <<<"$1"
    [[ ${#said[@]} -eq ${#wanted[@]} ]] || { complain "stderr should have ${#wanted[@]} line(s)"; return 1; }
    for i in "${!wanted[@]}"; do
        # shellcheck disable=SC2053 # a pattern
        [[ ${said[i]} == "unseen: "${wanted[i]}* ]] || { complain "no such message: ${wanted[i]}"; return 1; }
    done
}

# runs [OPTION...]: for each row of a table on stdin, `STATUS|ARGUMENTS|OUTPUT|REMEMBERED|MESSAGE|...`:
# with a new f.bf, made with these options, `unseen ARGUMENTS` as a shell reads them prints exactly
# OUTPUT (in printf's escapes), says these messages (says_these), and exits with STATUS; of the lines
# (ids) 1 to 9, f.bf has those REMEMBERED then.
runs() {
    local status arguments wanted remembered messages failed=0
    while IFS='|' read -r status arguments wanted remembered messages; do
        exits 0 unseen create --force -p 1e-9 --counting "$@" f.bf
        rm -rf f.bf.* new dropped keys got
        { exits "$status" eval "unseen $arguments" && prints "$wanted" && says_these "$messages" &&
            same <(unseen query --header f.bf <(echo id; seq 9) | tail -n +2 | xargs) <(echo "$remembered"); } ||
            { echo "row: $arguments" && failed=1; }
    done
    return "$failed"
}

# creates [OPTION]... FILTER: a filter, and says so.
creates() {
    exits 0 unseen create "$@" && says ': created \('
}

# snapshot: every name, type, size, mode, time and content in the directory.
# A directory's own time is left out: a temporary may have come and gone.
snapshot() {
    find . -type d -printf '%p %y %m\n' -o -printf '%p %y %s %m %i %T@ %l\n' -type f -exec cksum {} +
}

# ended CODE PID: that process of ours ends with CODE.
ended() {
    code=0
    wait "$2" || code=$?
    [[ $code -eq $1 ]] || complain "exit code should be $1"
}

# unchanged COMMAND...: nothing in the directory was created, changed or
# touched by COMMAND, whatever its exit code was.
unchanged() {
    local before after
    before=$(snapshot)
    "$@" || return 1
    after=$(snapshot)
    [[ $before == "$after" ]] || {
        diff <(echo "$before") <(echo "$after")
        complain "the directory changed: $*"
    }
}

# fails_with CODE PATTERN COMMAND...: exactly this exit code, one line on
# stderr that matches, nothing on stdout, nothing created or changed.
fails_with() {
    local wanted=$1 pattern=$2
    shift 2
    unchanged exits "$wanted" "$@" || return 1
    says "$pattern" || return 1
    [[ ! -s $out ]] || complain "stdout is not empty"
}

# The oracles.
# commands: as the short help lists them.
commands() {
    unseen help | awk '/^Options/ { exit } /^[A-Z].*:$/ { list = 1 } list && /^  [a-z]/ { print $1 }'
}

lines_unique() { awk '!s[$0]++' "$@"; }
lines_repeated() { awk 's[$0]++ == 1' "$@"; }

# whole FILE...: their lines; a last one without its newline was not handed on whole.
whole() {
    local file
    for file; do
        if [[ -s $file && $(tail -c 1 "$file" | od -An -tx1) != ' 0a' ]]; then
            sed '$d' "$file"
        else
            cat "$file"
        fi
    done
}

# lost INPUT OUTPUT...: the lines of INPUT that are whole in no OUTPUT.
lost() {
    local input=$1
    shift
    whole "$@" | sort -u | comm -13 - <(sort -u "$input")
}

# none_lost INPUT OUTPUT...
none_lost() {
    lost "$@" >"$BATS_TEST_TMPDIR/lost"
    [[ ! -s $BATS_TEST_TMPDIR/lost ]] || {
        echo "lost $(wc -l <"$BATS_TEST_TMPDIR/lost") lines, the first:"
        head -n 3 "$BATS_TEST_TMPDIR/lost"
        return 1
    }
}

# each_once INPUT OUTPUT...: every line of INPUT exactly once over all outputs.
each_once() {
    local input=$1
    shift
    sort "$@" >"$BATS_TEST_TMPDIR/all"
    sort -u "$input" | cmp - "$BATS_TEST_TMPDIR/all" || {
        echo "printed $(wc -l <"$BATS_TEST_TMPDIR/all"), twice: $(uniq -d "$BATS_TEST_TMPDIR/all" | wc -l)"
        none_lost "$input" "$@"
        return 1
    }
}

# hex_lines: a line of hexadecimal digits for each line of any bytes, the
# last one with or without its newline. $1: the terminator, 0a unless told.
hex_lines() {
    od -An -v -tx1 -w1 | awk -v end="${1:-0a}" '
        $1 == end { print line "."; line = ""; open = 0; next }
        { line = line $1; open = 1 }
        END { if (open) print line "." }'
}

# mixed_lines COUNT RANGE [SEED]: COUNT lines, drawn with repeats out of RANGE.
mixed_lines() {
    awk -v n="$1" -v range="$2" -v x="${3:-1}" 'BEGIN {
        for (i = 0; i < n; i++) {
            x = x * 16807 % 2147483647
            printf "http://example.org/%d/page\n", x % range
        }
    }'
}

# field NAME [FILE]: a number or string out of one line of JSON without nesting.
field() {
    awk -v name="$1" '{
        if (match($0, "\"" name "\" *: *(\"[^\"]*\"|[^,}\"]*)")) {
            value = substr($0, RSTART, RLENGTH)
            sub("^\"" name "\" *: *", "", value)
            gsub("\"", "", value)
            print value
            exit
        }
    }' "${2:-$out}"
}

# layer FILE: the bytes of its first layer.
layer() {
    tail -c +$(($(od -An -v -tu8 -j 4096 -N 8 "$1") + 1)) "$1"
}

# holds EXPRESSION: an arithmetic comparison, as awk sees it.
holds() {
    awk "BEGIN { exit !($1) }" </dev/null || {
        echo "does not hold: $1"
        return 1
    }
}

# filled FILE: waits until there is something in it.
filled() {
    local i
    for ((i = 0; i < 6000; i++)); do
        [[ ! -s $1 ]] || return 0
        sleep 0.01
    done
    echo "nothing has come to $1"
    return 1
}

# converse COMMAND...: starts it, to be spoken to line by line: say TEXT sends a
# line, hear waits for one and sets `reply`, farewell ends its input, waits for
# it to end and has its exit code. `pid` is the process.
converse() {
    mkfifo "$BATS_TEST_TMPDIR/ask" "$BATS_TEST_TMPDIR/answer"
    "$@" <"$BATS_TEST_TMPDIR/ask" >"$BATS_TEST_TMPDIR/answer" 2>"$err" 3>&- &
    pid=$!
    exec {ask}>"$BATS_TEST_TMPDIR/ask" {answer}<"$BATS_TEST_TMPDIR/answer"
    rm "$BATS_TEST_TMPDIR/ask" "$BATS_TEST_TMPDIR/answer"
}

say() { echo "$1" >&"$ask"; }

# hear [TEXT]: the next line, which must be TEXT.
hear() {
    IFS= read -r -t 60 -u "$answer" reply || {
        echo "no answer"
        return 1
    }
    [[ $# -eq 0 || $reply == "$1" ]] || {
        echo "wanted: $1; heard: $reply"
        return 1
    }
}

farewell() {
    local status=0
    exec {ask}>&-
    wait "$pid" || status=$?
    exec {answer}<&-
    return "$status"
}

# asleep PID: waits until PID is the program, not its shell or env any more, and sleeps in all its
# threads: it waits for input, a reader, a lock or CMD, and holds no lock that is for moments only.
asleep() {
    local i
    for ((i = 0; i < 6000; i++)); do
        kill -0 "$1" || return 1
        [[ $(cat "/proc/$1/comm") != "${UNSEEN##*/}" ]] || grep -qv ') S ' /proc/"$1"/task/*/stat || return 0
        sleep 0.01
    done
    echo "$1 does not come to rest"
    return 1
}

# stall [COMMAND...]: starts a writer, over ./in unless told, whose output is a pipe that
# nobody reads; comes back when lines are in the pipe, and it waits for a reader. Sets
# `stalled`.
stall() {
    [[ $# -gt 0 ]] || set -- "$UNSEEN" f.bf in
    mkfifo pipe
    exec {hold}<>pipe
    "$@" >pipe 2>err.stalled 3>&- {hold}>&- &
    stalled=$!
    until read -r -t 0 -u "$hold"; do
        kill -0 "$stalled" || { cat err.stalled; return 1; }
        sleep 0.01
    done
    asleep "$stalled"
}

# end_stalled FILE: kills it; FILE gets all that is in the pipe.
end_stalled() {
    kill -9 "$stalled"
    wait "$stalled" || true
    drain "$1"
}

# drain FILE: what is in the pipe, and what its writer, if it lives, adds before it ends.
drain() {
    exec {rest}<pipe
    exec {hold}>&-
    cat <&"$rest" >"$1"
    exec {rest}<&-
    rm pipe
}

# sanitized: the program under test was built with a sanitizer.
sanitized() {
    grep -aq -e __asan_init -e __tsan_init -e __msan_init -e __ubsan_handle "$UNSEEN"
}

# fewer N: how many times a test by chance is to try: N, but a quarter of it where a sanitizer makes each
# time slow; of where a kill falls it sees no more than a plain build, which does them all.
fewer() {
    if sanitized; then echo $((($1 + 3) / 4)); else echo "$1"; fi
}

# peak_of COMMAND...: runs it and sets `peak` to its largest resident size in KB.
peak_of() {
    local log=$BATS_TEST_TMPDIR/peak
    env time -o "$log" -f %M "$@"
    peak=$(tail -n 1 "$log")
    echo "peak: $peak KB" >&2
}

# A test that is skipped says what would run it.

# need COMMAND...
need() {
    local command level
    for command; do
        ! command -v "$command" >/dev/null || continue
        level=$(sed -nE "s#^([a-z]+) +(command|opt):$command .*#\1#p" "$repository/src/build/deps.sh" | head -n 1)
        skip "needs $command${level:+ (to install it: src/build/deps.sh $level)}"
    done
}

# plain_build WHY: not one with a sanitizer.
plain_build() {
    ! sanitized || skip "a sanitizer $1 (a plain build runs this)"
}

need_own_calls() {
    ! grep -aq __llvm_profile "$UNSEEN" || skip "a build that counts locks a file and seeks in it (a plain build runs this)"
}

need_memory_figures() {
    env time -f %M true >/dev/null 2>&1 || skip "needs GNU time (to install it: src/build/deps.sh check)"
    plain_build "has its own need of memory"
}

# take_rules RULE... -- ...: sets `rules` to the options of strace for these injections, and `taken` to how
# many arguments that were.
take_rules() {
    rules=() taken=1
    while [[ $1 != -- ]]; do
        rules+=(-e "inject=$1")
        taken=$((taken + 1))
        shift
    done
}

need_strace() {
    need strace
    strace -qq -o /dev/null true 2>/dev/null ||
        skip "strace may not trace here (in a container: --cap-add SYS_PTRACE)"
    plain_build "does not go with strace"
}

# with_stages: from here on the program of this test is one whose layers of more than 3 pages have a stage,
# of 64 pages at least: some 14000 lines. Else those of more than 512 MiB have one.
with_stages() {
    export UNSEEN_TOOLS=${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}
    export UNSEEN=$UNSEEN_TOOLS/staged
}

# need_preload NAME: that library of tests/tools/preload. Sets `preload`.
need_preload() {
    preload=${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}/$1.so
    [[ -e $preload ]] || skip "no library at $preload (make tools builds it)"
    plain_build "does not go with LD_PRELOAD"
}

# make_sftp_server: ./server, which sshfs can have as a process beside it, in place of ssh.
make_sftp_server() {
    local server
    for server in /usr/lib/openssh /usr/lib/ssh /usr/libexec/openssh /usr/libexec; do
        [[ ! -x $server/sftp-server ]] || break
    done
    [[ -x $server/sftp-server ]] || skip "needs sftp-server (of OpenSSH)"
    printf '#!/bin/sh\nexec %s/sftp-server\n' "$server" >server
    chmod +x server
}

need_terminal() {
    need script stty
    script -qec true /dev/null >/dev/null 2>&1 ||
        skip "no pseudo-terminal can be opened here (mount -t devpts devpts /dev/pts)"
}

# on_terminal COLUMNS LOCALE COMMAND: what COMMAND, a line for sh, shows on a terminal that is so wide.
on_terminal() {
    script -qec "stty cols $1; LC_ALL=$2; export LC_ALL; $3" /dev/null | tr -d '\r'
}

need_full() {
    [[ -c /dev/full ]] || skip "needs /dev/full (mknod -m 666 /dev/full c 1 7)"
}

# need_mounts [COMMAND...]: file systems can be mounted, and COMMAND, which mounts one, succeeds.
need_mounts() {
    local how="root; in a container also: --cap-add SYS_ADMIN"
    unshare -m true 2>/dev/null || skip "needs the right to mount ($how)"
    [[ $# -gt 0 ]] || return 0
    capture "$@"
    [[ $code -eq 0 ]] || skip "needs the right to mount a tmpfs ($how): $(head -n 1 "$err")"
}

# need_signals: env(1) of GNU, which can undo an inherited SIG_IGN.
need_signals() {
    env --default-signal=PIPE true 2>/dev/null || skip "needs env --default-signal (coreutils 8.31)"
}

# as_nobody COMMAND...: without root's rights.
as_nobody() {
    if [[ $(id -u) -eq 0 ]]; then
        setpriv --reuid 65534 --regid 65534 --clear-groups \
            timeout --foreground -k 5 "$UNSEEN_TIMEOUT" "$@"
    else
        timeout --foreground -k 5 "$UNSEEN_TIMEOUT" "$@"
    fi
}

# public_directory: goes to a new directory that as_nobody may look into, with
# a copy of the program one above it, in $public. Root passes every permission
# check, so a test of them needs somebody else.
public_directory() {
    as_nobody true 2>/dev/null ||
        skip "runs as root and cannot give up its rights (setpriv of util-linux; an ordinary user can run this)"
    public=$(mktemp -d "${TMPDIR:-/tmp}/unseen-test.XXXXXX")
    chmod 755 "$public"
    cp "$UNSEEN" "$public/unseen"
    chmod 755 "$public/unseen"
    as_nobody "$public/unseen" --version >/dev/null ||
        skip "an ordinary user cannot run programs in $public (TMPDIR elsewhere)"
    mkdir "$public/work"
    cd "$public/work" || return 1
}
