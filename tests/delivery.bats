#!/usr/bin/env bats
# P3: a line is remembered only once it was handed on. Closed pipes, full disks,
# signals: no line is lost, provided a failed run's input is run again. (Kills at
# random moments and many writers are in writers.bats.)
#
# "Lost" is a line of the input that is whole in none of the outputs. All filters
# here have p = 1e-9, so that false positives do not come into it.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash

@test "the oracle can tell: a lost line, a cut line, a line twice" {
    input 1000 >in
    sed 500d in >less
    run ! none_lost in less
    run none_lost in less <(sed -n 500p in)
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
    exits 0 unseen create -p 1e-9 f.bf
    exits 2 to /dev/full unseen f.bf in
    says 'No space left on device'
    exits 1 unseen query -c f.bf in
    prints '0\n'
    exits 2 unseen f.bf in -a /dev/full
    exits 2 to /dev/full unseen f.bf < <(cat in)
    exits 2 to /dev/full unseen f.bf -m 5 in
    exits 1 unseen query -c f.bf in
    succeeds unseen f.bf in
    same "$out" in
    succeeds unseen f.bf in
    prints ''
}

@test "a full disk at creation: the filter remembers nothing" {
    need_full
    input 20000 >in
    exits 2 to /dev/full unseen -p 1e-9 f.bf in
    exits 0 unseen --create -p 1e-9 f.bf in
    same "$out" in
}

@test "a limit on file size cuts the output: what was cut comes again" {
    input 100000 >in
    exits 0 unseen create -n 1M -p 1e-9 f.bf
    limited() { (ulimit -f 1000; "$@"); }
    exits 2 limited unseen f.bf in -a first
    [[ -s first ]]
    succeeds unseen f.bf in
    none_lost in first "$out"
    # at worst the lines of one batch come out twice
    sort first "$out" | uniq -d >twice
    [[ $(wc -l <twice) -le 20000 ]]
}

# --- kills -------------------------------------------------------------------

@test "kill -9 while the input dribbles in: each line is in the output or comes again" {
    input 2000 >in
    exits 0 unseen create -p 1e-9 f.bf
    local i pid
    for i in 1 2 3; do
        exec {feed}> >(exec "$UNSEEN" f.bf >"part.$i" 3>&-)
        pid=$!
        head -n $((i * 500)) in >&"$feed"
        sleep 0.0$i
        kill -9 "$pid"
        exec {feed}>&-
        wait "$pid" || true
    done
    succeeds unseen f.bf in
    none_lost in part.* "$out"
}

@test "SIGTERM, SIGINT, SIGHUP: it ends by the signal, and a rerun loses nothing" {
    need_signals
    input 60000 >in
    exits 0 unseen create -p 1e-9 f.bf
    local signal number pid feed
    while read -r signal number; do
        mkfifo "pipe.$signal"
        env --default-signal="$signal" "$UNSEEN" f.bf <"pipe.$signal" >"part.$signal" 2>"$err" 3>&- &
        pid=$!
        exec {feed}>"pipe.$signal"
        head -n $((number * 2000)) in >&"$feed"
        filled "part.$signal"
        kill "-$signal" "$pid"
        code=0
        wait "$pid" || code=$?
        exec {feed}>&-
        [[ $code -eq $((128 + number)) ]] || { echo "$signal: $code"; false; }
        # what came out whole before is remembered: it was handed on
        capture unseen query -v f.bf "part.$signal"
        [[ $code -eq 1 ]]
    done <<'END'
HUP 1
INT 2
TERM 15
END
    succeeds unseen verify f.bf
    succeeds unseen f.bf in
    none_lost in part.* "$out"
    each_once in part.* "$out"
}

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
    code=0
    wait "$pid" || code=$?
    [[ $code -eq 0 ]]
    same got in
}

@test "stopped and continued: nothing changes" {
    input 200 >in
    mkfifo pipe
    "$UNSEEN" --create -p 1e-9 f.bf <pipe >got 2>"$err" 3>&- &
    local pid=$! feed
    exec {feed}>pipe
    head -n 100 in >&"$feed"
    filled got
    # Not while it has the lock.
    asleep "$pid"
    kill -STOP "$pid"
    tail -n +101 in >&"$feed"
    # while it is stopped, others use the filter
    succeeds unseen query -q f.bf < <(head -n 1 in)
    succeeds unseen f.bf < <(echo other)
    prints 'other\n'
    kill -CONT "$pid"
    exec {feed}>&-
    wait "$pid"
    same got in
}

@test "SIGTERM while it waits for a slow reader: it ends, and keeps what was not taken" {
    need_signals
    input 100000 >in
    exits 0 unseen create -p 1e-9 f.bf
    stall env --default-signal=TERM "$UNSEEN" f.bf in
    kill -TERM "$stalled"
    code=0
    wait "$stalled" || code=$?
    [[ $code -eq 143 ]]
    drain first
    succeeds unseen f.bf in
    none_lost in first "$out"
    [[ $(wc -l <"$out") -gt 90000 ]]
    # what the pipe took was handed on: it is remembered, up to the line that was cut
    each_once in <(head -n "$(wc -l <first)" first) "$out"
}

# --- many writers ------------------------------------------------------------

@test "four writers that all create the filter at once" {
    input 20000 >in
    local i pids=() failed=0
    for i in 0 1 2 3; do
        timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" --create -p 1e-9 f.bf in >"out.$i" 2>"err.$i" 3>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        wait "$i" || failed=1
    done
    cat err.*
    [[ $failed -eq 0 ]]
    each_once in out.*
    [[ $(cat err.* | grep -c 'created (') -eq 1 ]]
}

@test "a crawler's loop: what the consumer finds goes through the same filter" {
    exits 0 unseen create -p 1e-9 f.bf
    input 20000 >in
    timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" f.bf <in 3>&- |
        awk '{ print $0 "/child"; print $0; print "http://example.org/" (NR % 10) }' 3>&- |
        timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" f.bf 3>&- >got
    local status=("${PIPESTATUS[@]}")
    [[ ${status[*]} == '0 0 0' ]] || { echo "${status[@]}"; false; }
    [[ $(wc -l <got) -eq 20010 ]]
}

@test "readers see no half layer while a writer grows the filter" {
    input 200000 >in
    exits 0 unseen create -p 1e-9 f.bf
    "$UNSEEN" add f.bf in 3>&- &
    local pid=$! i
    for ((i = 0; i < 40; i++)); do
        capture unseen verify f.bf
        [[ $code -le 1 ]] || { kill "$pid"; complain "verify"; }
        exits 0 unseen stats --json f.bf
        capture unseen query -c f.bf < <(head -n 100 in)
        [[ $code -le 1 ]] || { kill "$pid"; complain "query"; }
    done
    wait "$pid"
    succeeds unseen query -c f.bf in
    prints '200000\n'
}
