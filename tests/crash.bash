# What the tests of crashes and of delivery share; load it behind helper.bash.
#
# Lines have one length and carry their number, so that what a killed run left
# can be judged exactly: a run over new input prints a run of it, and "lost" is a
# gap between what two runs printed. All filters have p = 1e-9, so that false
# positives do not come into it.

# shellcheck shell=bash

tools=${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}
line_bytes=37
batch_lines=2048 # the manual: "batches of at most 2048"

# Where random moments come from: TORTURE_SEED repeats a run of the heavy tests.
RANDOM=${TORTURE_SEED:-1}

# scaled N: N times TORTURE_SCALE percent, at least 1.
scaled() {
    local n=$(($1 * ${TORTURE_SCALE:-100} / 100))
    echo $((n > 0 ? n : 1))
}

# rounds FEW MANY: how many times a test by chance is to try: FEW, which hit each window in practice; in
# tests/torture/run, MANY.
rounds() {
    if [[ -n ${TORTURE_SCALE-} ]]; then scaled "$2"; else fewer "$1"; fi
}

# input COUNT [FIRST]: lines FIRST (0)... of one length.
input() {
    seq -f 'http://example.org/page/%08.0f/end' "${2:-0}" $((${2:-0} + $1 - 1))
}

bytes_of() { stat -Lc %s -- "$1"; }

# hold_lock NAME BYTE [FILE [LENGTH]]: somebody else holds it, until `let_go NAME`.
hold_lock() {
    mkfifo "hold.$1"
    "$tools/holdlock" "${3:-f.bf}" "$2" "${4:-1}" <"hold.$1" >"held.$1" 3>&- &
    exec {held}>"hold.$1"
    eval "held_$1=$held holder_$1=$!"
    filled "held.$1"
    rm "hold.$1" "held.$1"
}

let_go() {
    local descriptor=held_$1 process=holder_$1
    held=${!descriptor}
    exec {held}>&-
    # Whoever was started meanwhile holds the other end, too.
    kill "${!process}" 2>/dev/null || true
    wait "${!process}" || true
}

# is_stopped: waits until strace, which is process `pid` and writes to ./trace, has stopped its program
# (inject=CALL:signal=STOP). Sets `child`, to be sent SIGCONT.
is_stopped() {
    until grep -qs 'stopped by SIGSTOP' trace; do
        kill -0 "$pid" || return 1
        sleep 0.01
    done
    # shellcheck disable=SC2034 # for who uses this
    child=$(tr -d ' ' <"/proc/$pid/task/$pid/children")
}

# stopped_after CALL N FILE ARGUMENT...: the program is stopped when it has done CALL the Nth time (on FILE, if not ''),
# as long as the test likes. Sets `pid`, to wait for, and `child`, to be sent SIGCONT; leaves ./late and
# ./said.
stopped_after() {
    local call=$1 n=$2 file=$3
    shift 3
    rm -f trace
    strace -qq -o trace ${file:+-P "$file"} -e trace="$call" -e "inject=$call:signal=STOP:when=$n" "$UNSEEN" "$@" >late 2>said 3>&- &
    pid=$!
    is_stopped || { cat said; return 1; }
}

# gone PID: it ends within ten seconds, as good as at once on the slowest machine.
gone() {
    local i
    for ((i = 0; i < 1000; i++)); do
        [[ -e /proc/$1 && $(cut -d ' ' -f 3 "/proc/$1/stat") != Z ]] || return 0
        sleep 0.01
    done
    return 1
}

# remembers N [FILE...]: so many of the lines in FILE..., ./in unless told, are in f.bf.
remembers() {
    local wanted=$1
    shift
    [[ $# -gt 0 ]] || set -- in
    capture unseen query -c f.bf "$@"
    [[ $(cat "$out") -eq $wanted ]] || complain "$wanted lines of $* should be remembered"
}

# counts N: so many keys were counted as f.bf's layers got them (unseen(5)), each once.
counts() {
    local n
    n=$(od -An -v -tu8 -w64 -j 9216 -N 3072 f.bf | awk '{ n += $1 } END { print n }')
    [[ $n -eq $1 ]] || complain "$n keys were counted, not $1"
}

# has FILTER FILE...: all lines are in.
has() {
    local filter=$1
    shift
    exits 1 unseen query -v "$filter" "$@" || return 1
    prints ''
}

no_debris() {
    [[ -z $(find . -name '*flight*') ]] || { ls -la; false; }
}

# --- one writer, killed again and again ---------------------------------------

# piece FILE: FILE must be a run of the lines of ./in, the last perhaps cut. Sets
# `from`, where in ./in its first line is, and `count`, its whole lines.
piece() {
    local bytes line='' at
    bytes=$(bytes_of "$1")
    from=0
    count=$((bytes / line_bytes))
    [[ $count -gt 0 ]] || return 0
    IFS= read -r line <"$1"
    at=$(grep -m 1 -bxF -- "$line" in) || { echo "$1 begins with '$line', which should not come out"; return 1; }
    from=$((${at%%:*} / line_bytes))
    cmp -s -n "$bytes" -i "$((from * line_bytes)):0" in "$1" || {
        echo "$1 is not a piece of the input from line $from on"
        return 1
    }
}

# follow FILE: FILE goes on where the runs before it ended (`next`): a gap is a
# loss, and no more than one batch comes twice. Moves `next`.
follow() {
    piece "$1" || return 1
    [[ $count -gt 0 ]] || return 0
    [[ $from -le $next ]] || {
        echo "$1 begins with line $from, and all before it ended with $next: $((from - next)) lost"
        return 1
    }
    [[ $from -ge $((next - batch_lines)) ]] || {
        echo "$1 repeats $((next - from)) lines: more than a batch"
        return 1
    }
    repeated=$((repeated + next - from))
    next=$((from + count))
}

# moment BYTES: sets `moment`: two random numbers for `killed`, how much output to
# let pass, below BYTES, and microseconds from then: a batch or two.
moment() {
    moment=($(((RANDOM << 15 | RANDOM) % $1 + 1)) $((RANDOM % 400)))
}

# verify_usable: verify finds nothing worse than something to note.
verify_usable() {
    capture unseen verify f.bf
    [[ $code -le 1 ]] || complain 'verify'
}

# kill_and_rerun HITS EACH CREATE_OPTION...: kills runs over ./in at random moments
# until HITS of them were at work (had printed some of it, and not all), EACH on
# one filter, which is then run to its end. Nothing may be lost. A kill before or
# after the work proves nothing and is not counted.
kill_and_rerun() {
    local wanted=$1 each=$2 lines hits=0 tries=0 i repeated=0 next from count moment
    shift 2
    lines=$(($(bytes_of in) / line_bytes))
    exits 0 unseen create --force -p 1e-9 "$@" f.bf || return 1
    while [[ $hits -lt $wanted ]]; do
        exits 0 unseen create --force -p 1e-9 "$@" f.bf || return 1
        next=0
        for ((i = 0; i < each; i++)); do
            tries=$((tries + 1))
            [[ $tries -le $((wanted * 20 + 100)) ]] ||
                { echo "only $hits of $tries kills came while it was at work"; return 1; }
            [[ $next -lt $lines ]] || break
            moment $(((lines - next) * line_bytes))
            code=0
            "$tools/killed" "${moment[@]}" "$UNSEEN" f.bf in >part 2>"$err" || code=$?
            [[ $code -eq 137 || $code -eq 0 ]] || { echo "exit code $code"; cat "$err"; return 1; }
            follow part || { echo "after kill $tries"; return 1; }
            [[ $code -ne 137 || $count -eq 0 || $next -ge $lines ]] || hits=$((hits + 1))
        done
        "$UNSEEN" f.bf in >part 2>"$err" || { cat "$err"; return 1; }
        follow part || { echo "in the rerun after kill $tries"; return 1; }
        [[ $next -eq $lines ]] || { echo "$((lines - next)) lines lost at the end"; return 1; }
    done
    verify_usable || return 1
    echo "$hits kills at work of $tries, 0 lost, $repeated printed twice"
}

# --- many writers ---------------------------------------------------------------

# writers N COMMAND...: N at once, each with %i in COMMAND replaced by its number
# and its output in out.NUMBER, unless COMMAND itself redirects.
writers() {
    local n=$1 i pids=() failed=0
    shift
    for ((i = 0; i < n; i++)); do
        timeout -k 5 "$UNSEEN_TIMEOUT" "${@//%i/$i}" >"out.$i" 2>"err.$i" 3>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        wait "$i" || failed=1
    done
    # That it grows, or that a disk is slow, is all that a writer may say.
    { [[ $failed -eq 0 ]] && ! cat err.* | grep -Eqv 'more than [0-9]+ lines \(-n\); grew to |: waiting for another process'; } || { cat err.*; return 1; }
}

# overlapping LINES STEP: the inputs in.0 ... in.7 of so many lines, each STEP lines further on than the
# one before; all of them are in ./in.
overlapping() {
    local i
    for i in 0 1 2 3 4 5 6 7; do
        input "$1" $((i * $2)) >"in.$i"
    done
    input $(($1 + 7 * $2)) >in
}

# some_killed RUNS CREATE_OPTION...: in each run eight writers over ./in, to files of their own and to one with
# -a in turn, three of them killed at random moments; then all is run again. Sets `hits`, how many had printed
# lines.
some_killed() {
    local runs=$1 run one=()
    shift
    hits=0
    for ((run = 0; run < runs; run++)); do
        exits 0 unseen create --force -p 1e-9 "$@" f.bf || return 1
        if ((run % 2)); then one=(-a out.all); else one=(); fi
        { to=${one[1]-} three_killed 10 "${one[@]}" && none_lost in out.*; } || { echo "run $run"; return 1; }
    done
    echo "$hits of $((3 * runs)) writers were killed with lines printed, 0 lost"
}

# three_killed SHARE [OPTION...]: one such run; the moments lie in the first 1/SHARE of the work. With -a
# FILE among the options, `to` is FILE, too.
three_killed() {
    local share=$1 i pids=() moment status
    shift
    rm -f out.*
    for ((i = 0; i < 8; i++)); do
        moment $(($(bytes_of in) / share))
        [[ $i -lt 3 ]] || moment=(0 600000000)
        "$tools/killed" "${moment[@]}" "$UNSEEN" f.bf in "$@" >>"${to:-out.$i}" 2>"err.$i" 3>&- &
        pids+=($!)
    done
    for ((i = 0; i < 8; i++)); do
        status=0
        wait "${pids[i]}" || status=$?
        [[ $status -eq 0 || ($i -lt 3 && $status -eq 137) ]] ||
            { echo "writer $i: exit code $status"; cat "err.$i"; return 1; }
        [[ $status -ne 137 || ! -s ${to:-out.$i} ]] || hits=$((hits + 1))
    done
    "$UNSEEN" f.bf in "$@" >out.again
}

# --- one whose file changes -------------------------------------------------------

# fed FIRST HOW THEN COMMAND...: COMMAND reads what FIRST prints, then HOW happens, then it
# reads what THEN prints (less than a pipe holds). Leaves what `capture` does.
fed() {
    local first=$1 how=$2 then=$3 pid feed
    shift 3
    rm -f go
    mkfifo go
    "$@" <go >"$out" 2>"$err" 3>&- &
    pid=$!
    exec {feed}<>go
    eval "$first" >&"$feed"
    # It has its files open before it reads. When it has read, it goes on to wait for more.
    while read -r -t 0 -u "$feed" && kill -0 "$pid"; do
        sleep 0.01
    done
    asleep "$pid" || true
    eval "$how"
    eval "$then" >&"$feed"
    exec {feed}>&-
    code=0
    wait "$pid" || code=$?
}

# notices_change COMMAND...: a writer to f.bf ends with exit 75 and says why, if another file
# takes the place of f.bf, or f.bf is removed.
notices_change() {
    exits 0 unseen create -p 1e-9 other.bf || return 1
    cp f.bf kept.bf
    fed 'echo one' 'mv other.bf f.bf' 'echo two' "$@"
    [[ $code -eq 75 ]] || complain "replaced: $*" || return 1
    says '^unseen: f\.bf: was replaced during this run \(' || return 1
    mv kept.bf f.bf
    fed 'echo one' 'rm f.bf' 'echo two' "$@"
    [[ $code -eq 75 ]] || complain "removed: $*" || return 1
    says '^unseen: f\.bf: was removed during this run \('
}

# interrupted WORD SIGNAL COMMAND...: starts COMMAND, and sends it SIGNAL as soon as the bytes of f.bf that
# WORD names say that room is being made (as OFFSET:HEX). Before, the disk takes no piece of it. Sets `pid`.
interrupted() {
    local offset=${1%:*} bytes=${1#*:} i
    local signal=$2
    shift 2
    need_preload sync
    : >held
    env --default-signal=TSTP LD_PRELOAD="$preload" SYNC_HELD="$PWD/held" "$@" >got 2>said 3>&- &
    pid=$!
    for ((i = 0; i < 6000; i++)); do
        [[ $(od -An -v -tx1 -j "$offset" -N 8 f.bf | tr -d ' ') != "$bytes" ]] || break
        sleep 0.01
    done
    [[ $i -lt 6000 ]] || complain 'no room was made' || return 1
    kill "-$signal" "$pid"
    rm held
}

# comes_to_stop PID: it stops (Ctrl-Z).
comes_to_stop() {
    local i
    for ((i = 0; i < 1000; i++)); do
        [[ $(cut -d ' ' -f 3 "/proc/$1/stat" 2>/dev/null) != T ]] || return 0
        sleep 0.01
    done
    complain 'it does not stop'
}

# stops WORD: `pid` stops before its work is done: f.bf still has the bytes of WORD.
stops() {
    comes_to_stop "$pid" || return 1
    [[ $(od -An -v -tx1 -j "${1%:*}" -N 8 f.bf | tr -d ' ') == "${1#*:}" ]] ||
        complain 'it stopped when all was done'
}
