#!/usr/bin/env bats
# Lines that come one by one are claimed and printed each by itself, and remembered up to 16 at a
# time: all that came out is remembered once no more comes, and a kill repeats what was gathered.
#
# How long that takes depends on a timer. Where a test must know what is gathered at a kill, the timer
# never ticks: strace says that it was set, and it was not.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash

gathered=16

# talk FIRST LAST: these lines of ./in go in one by one, each when the one before has come out. Fails when
# no more come out.
talk() {
    local line
    while IFS= read -r line; do
        say "$line" && hear "$line" || return 1
    done < <(sed -n "$1,$2p" in)
}

# without_ticks RULE... -- ARGUMENT...: starts the program to be spoken to, with a timer that never
# ticks, and with these injections. `pid` is the program, not strace.
without_ticks() {
    local rules taken
    take_rules "$@"
    shift "$taken"
    converse strace -D -qq -s 99 -o trace -e inject=timer_settime:retval=0 "${rules[@]}" \
        env --default-signal=TSTP,TERM,INT "$UNSEEN" "$@"
}

# in_the_end COUNT: so many lines of ./in are remembered, sooner or later.
in_the_end() {
    local i
    for ((i = 0; i < 1000; i++)); do
        [[ $("$UNSEEN" query -c f.bf in) -ne $1 ]] || return 0
        sleep 0.01
    done
    echo "remembered: $("$UNSEEN" query -c f.bf in), and not $1"
    return 1
}

killed() {
    kill -9 "$pid"
    farewell || true
}

setup_lines() {
    input "$1" >in
    shift
    exits 0 unseen create -p 1e-9 "$@" f.bf
}

@test "in a pause all that came out is remembered, and a kill then repeats nothing" {
    setup_lines 60
    converse "$UNSEEN" f.bf
    talk 1 9
    in_the_end 9
    talk 10 50
    in_the_end 50
    killed
    sed 50q in >got
    succeeds unseen f.bf got
    prints ''
}

@test "in a pause inside a line, too, and if input does not block" {
    need python3
    setup_lines 9
    converse "$UNSEEN" f.bf
    talk 1 7
    printf 'http://example' >&"$ask"
    in_the_end 7
    echo .com >&"$ask"
    hear http://example.com
    farewell
    exits 0 unseen create --force -p 1e-9 f.bf
    converse python3 -c '
import os, sys
os.set_blocking(0, False)
os.execv(sys.argv[1], sys.argv[1:])' "$UNSEEN" f.bf
    talk 1 7
    in_the_end 7
    farewell
}

@test "without a timer to be had, each line is remembered at once" {
    need_strace
    setup_lines 9
    converse strace -D -qq -o trace -e inject=timer_create:error=EAGAIN "$UNSEEN" f.bf
    talk 1 9
    in_the_end 9
    killed
    grep -q INJECTED trace
}

@test "a timer's signal that is blocked or ignored from the start does come" {
    setup_lines 9
    need_signals
    converse env --block-signal=VTALRM --ignore-signal=VTALRM "$UNSEEN" f.bf
    talk 1 9
    in_the_end 9
    farewell
}

@test "whoever waits for input is not woken" {
    need_strace
    local before i
    setup_lines 9
    converse strace -D -qq -o trace "$UNSEEN" f.bf
    talk 1 9
    in_the_end 9
    # It sleeps in a read of descriptor 0: all that it did before is in the trace.
    until read -r _ i _ <"/proc/$pid/syscall" && [[ $i == 0x0 ]] &&
        grep -q '^State:.S' "/proc/$pid/status"; do sleep 0.01; done
    before=$(wc -l <trace)
    sleep 0.2
    [[ $(wc -l <trace) -eq $before ]] || { tail -n 5 trace; false; }
    farewell
}

@test "one lock round a line, and one more for 16 of them" {
    need_strace
    local rounds
    setup_lines 161
    without_ticks -- f.bf
    talk 1 161
    farewell
    in_the_end 161
    rounds=$(grep -c 'OFD_SETLK.*F_WRLCK' trace)
    # 161 to claim, 1 + 10 to settle, and some to open the filter.
    holds "$rounds >= 172 && $rounds <= 180"
    holds "$(grep -c '^newfstatat.*"f\.bf"' trace) < 60"
}

@test "killed with lines gathered: these come again, and no others" {
    need_strace
    setup_lines 40
    without_ticks -- f.bf
    talk 1 40
    killed
    # The first is remembered at once, then 16 at a time.
    remembers 33
    exits 0 unseen f.bf in
    same "$out" <(tail -n 7 in)
}

@test "killed at every system call: none is lost, and at most 16 come twice" {
    need_strace
    local call when twice most=0 kills=0
    setup_lines 40
    trap '' PIPE # to talk to who was killed is no reason to die
    for call in read write fcntl newfstatat timer_settime; do
        for when in 2 3 5 8 13 19 20 21 22 33 34 35 37 38 39 40 41 42 60; do
            exits 0 unseen create --force -p 1e-9 f.bf
            without_ticks "$call:signal=KILL:when=$when" -- f.bf
            talk 1 40 >/dev/null 2>&1 || true
            farewell && continue
            kills=$((kills + 1))
            # What came out without having been heard came out as well.
            grep -a '^write(1' trace | sed 's/^write(1, "\(.*\)\\n".*= [0-9]*$/\1/; t; d' >part
            "$UNSEEN" f.bf in >again
            none_lost in part again || { echo "$call $when"; return 1; }
            twice=$(sort part again | uniq -d | wc -l)
            [[ $twice -le $gathered ]] || { echo "$call $when: $twice twice"; return 1; }
            [[ $twice -le $most ]] || most=$twice
        done
    done
    echo "$kills kills, at most $most lines twice"
    [[ $kills -ge 60 && $most -eq $gathered ]]
}

@test "the end of input, -m, and signals settle what was gathered" {
    need_strace
    need_signals
    local signal status
    setup_lines 9
    without_ticks -- f.bf
    talk 1 9
    farewell
    remembers 9
    exits 0 unseen create --force -p 1e-9 f.bf
    without_ticks -- -m 7 f.bf
    talk 1 7
    farewell
    remembers 7
    for signal in TERM INT; do
        exits 0 unseen create --force -p 1e-9 f.bf
        without_ticks -- f.bf
        talk 1 9
        kill "-$signal" "$pid"
        status=0
        farewell || status=$?
        [[ $status -eq $((128 + $(kill -l "$signal"))) ]]
        remembers 9
    done
}

@test "Ctrl-Z settles what was gathered before it stops the process" {
    need_strace
    need_signals
    local i
    setup_lines 9
    without_ticks -- f.bf
    talk 1 8
    # In a read of descriptor 0.
    until read -r _ i _ <"/proc/$pid/syscall" && [[ $i == 0x0 ]]; do sleep 0.01; done
    kill -TSTP "$pid"
    until grep -q 'stopped by SIGSTOP' trace; do sleep 0.01; done
    remembers 8
    kill -CONT "$pid"
    talk 9 9
    farewell
    remembers 9
}

@test "a filter that was replaced meanwhile gets none of what was gathered" {
    need_strace
    local how
    setup_lines 9
    for how in replaced removed; do
        exits 0 unseen create --force -p 1e-9 f.bf
        exits 0 unseen create --force -p 1e-9 other.bf
        without_ticks -- f.bf
        talk 1 9
        ln -f f.bf kept.bf
        if [[ $how == replaced ]]; then mv other.bf f.bf; else rm f.bf; fi
        code=0
        farewell || code=$?
        [[ $code -eq 75 ]]
        says "^unseen: f\.bf: was $how during this run \(run it again"
        [[ $how == removed ]] || remembers 0
        mv kept.bf f.bf
        remembers 1
    done
}

@test "another writer leaves alone what was gathered" {
    need_strace
    setup_lines 40
    without_ticks -- f.bf
    talk 1 20
    exits 0 unseen f.bf in
    same "$out" <(tail -n +21 in)
    # And this one takes for seen what the other has printed.
    cat in >&"$ask"
    say last
    hear last
    farewell
    remembers 40
}

@test "two trickles of the same lines: each line comes out of one of them" {
    local rate
    input 5000 >in
    # Each has a line of its own first, and goes on when both have come out: neither is done before the
    # other begins.
    one_by_one() {
        {
            echo "own $1"
            until [[ -s out.0 && -s out.1 ]]; do sleep 0.01; done
            while IFS= read -r line; do echo "$line"; done <in
        } | "$UNSEEN" f.bf
    }
    export -f one_by_one
    { echo own 0 && echo own 1 && cat in; } >given
    for rate in 1e-9 0.5; do
        exits 0 unseen create --force -p "$rate" -n 1000 f.bf
        rm -f out.0 out.1
        writers 2 bash -c 'one_by_one %i'
        [[ -s out.0 && -s out.1 ]]
        [[ $rate == 0.5 ]] || each_once given out.0 out.1
        [[ -z $(sort out.0 out.1 | uniq -d) ]]
        exits 1 unseen query -v f.bf given
    done
}

# Where every verdict that should not differ does: at p = 0.5, across layers, generations and stages.
@test "what comes out does not depend on what is gathered" {
    need_strace
    local shape line idle
    mixed_lines 400 300 >in
    mkfifo idle
    exec {idle}<>idle
    for shape in '-n 40 -p 0.5' '-n 4000 -p 0.5 --fixed' '-p 0.1 --window 100' '-n 100 -p 0.5 --counting' \
        '-n 50M -p 0.5 --stage 1M'; do
        # shellcheck disable=SC2086
        exits 0 unseen create --force $shape f.bf
        cp f.bf whole.bf
        exits 0 unseen whole.bf in
        mv "$out" wanted
        while IFS= read -r line; do
            echo "$line"
            read -r -t 0.001 -u "$idle" || true
        done <in |
            strace -D -qq -o trace -e inject=timer_settime:retval=0 "$UNSEEN" f.bf >got
        grep -q INJECTED trace
        same got wanted || { echo "$shape"; return 1; }
    done
}
