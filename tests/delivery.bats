#!/usr/bin/env bats
# P3: a line is remembered only once it was handed on. Closed pipes, full disks,
# signals: no line is lost, provided a failed run's input is run again. (Kills at
# random moments and many writers are in writers.bats.)
#
# "Lost" is a line of the input that is whole in none of the outputs. All filters
# here have p = 1e-9, so that false positives do not come into it.

load helper
load crash

@test "the oracle can tell: a lost line, a cut line, a line twice" {
    input 1000 >in
    sed 500d in >less
    run ! none_lost in less
    none_lost in less <(sed -n 500p in)
    head -c -1 in >shortened
    run ! none_lost in shortened
    sed 7p in >twice
    none_lost in twice
    run ! each_once in twice
    each_once in in
    each_once in <(head -n 400 in) <(tail -n +401 in)
    run ! each_once in <(head -n 400 in) <(tail -n +402 in)
}

# --- a write that fails ------------------------------------------------------

@test "a full disk: what could not be printed is printed by the next run" {
    need_full
    input 20000 >in
    exits 2 to /dev/full unseen --create -p 1e-9 f.bf in
    grep -q 'No space left on device' "$err"
    exits 2 unseen f.bf in -a /dev/full
    exits 2 to /dev/full unseen f.bf < <(cat in)
    exits 2 to /dev/full unseen f.bf -m 5 in
    remembers 0
    limited() { (ulimit -f 300; "$@"); }
    exits 2 limited unseen f.bf in -a first
    [[ -s first ]]
    remembers "$(whole first | wc -l)"
    succeeds unseen f.bf in
    whole first | cat - "$out" | same /dev/stdin in
    succeeds unseen f.bf in
    prints ''
}

# --- kills -------------------------------------------------------------------

@test "a signal that was ignored stays ignored" {
    need_signals
    input 100 >in
    mkfifo pipe
    env --ignore-signal=HUP --ignore-signal=INT --ignore-signal=TERM \
        "$UNSEEN" --create -p 1e-9 f.bf <pipe >got 2>"$err" 3>&- &
    local pid=$! feed i
    exec {feed}>pipe
    head -n 50 in >&"$feed"
    filled got
    for i in HUP INT TERM; do
        kill "-$i" "$pid"
    done
    tail -n +51 in >&"$feed"
    exec {feed}>&-
    ended 0 "$pid"
    same got in
}

@test "as process 1 of a container, which the system spares, a signal ends it by 128 and its number" {
    need_signals
    unshare -p -f true 2>/dev/null || skip "needs the right to make a namespace of processes (root)"
    local signal number pid feed
    seq 9 >in
    mkfifo pipe
    while read -r signal number; do
        rm -f got f.bf
        env --default-signal="$signal" unshare -p -f "$UNSEEN" --create f.bf <pipe >got 2>"$err" 3>&- &
        exec {feed}>pipe
        cat in >&"$feed"
        filled got
        read -r pid _ <"/proc/$!/task/$!/children" || [[ -n $pid ]]
        kill "-$signal" "$pid"
        ended "$number" $! || complain "$signal"
        exec {feed}>&-
        says '^unseen: f\.bf: created'
        same got in
        succeeds unseen f.bf in
        prints ''
    done <<<$'TERM 143\nINT 130\nHUP 129'
}

@test "SIGTERM while it waits for a slow reader: it ends, and keeps what was not taken" {
    need_signals
    input 100000 >in
    exits 0 unseen create -p 1e-9 f.bf
    stall env --default-signal=TERM "$UNSEEN" f.bf in
    kill -TERM "$stalled"
    ended 143 "$stalled"
    drain first
    succeeds unseen f.bf in
    none_lost in first "$out"
    [[ $(wc -l <"$out") -gt 90000 ]]
    # what the pipe took was handed on: it is remembered, up to the line that was cut
    each_once in <(head -n "$(wc -l <first)" first) "$out"
}
