#!/usr/bin/env bats
# The to-visit queue: push and pop.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash
load crawl

# a_queue [FIRST LAST]: q.bf with its queue, and these numbers in it.
a_queue() {
    exits 0 unseen create --queue -p 1e-9 q.bf || return 1
    [[ $# -eq 0 ]] || succeeds unseen push q.bf < <(seq "$1" "$2")
}

# pops TEXT [OPTION...]: it prints exactly TEXT.
pops() {
    local text=$1
    shift
    succeeds unseen pop q.bf "$@" || return 1
    prints "$text"
}

# empty: nothing waits, and nothing takes space.
empty() {
    exits 1 unseen pop q.bf || return 1
    silent_on_stderr || return 1
    prints '' || return 1
    [[ $(ls q.bf.queue) == state ]] || { ls -l q.bf.queue; false; }
}

# counts WAITING OUT: as stats has them.
counts() {
    capture unseen stats --json q.bf
    [[ $(field waiting) == "$1" && $(field out) == "$2" ]] || complain "should be $1 waiting, $2 out"
}

# files: how many there are, the state included.
files() { find q.bf.queue -type f | wc -l; }

# --- one after the other -----------------------------------------------------

@test "push appends what is new, pop takes the oldest" {
    a_queue
    succeeds unseen push q.bf < <(printf 'b\na\nb\nc\n')
    prints ''
    succeeds unseen push q.bf < <(printf 'c\nd\na')
    pops 'b\n'
    pops 'a\nc\n' -m 2
    # What was taken is not new again.
    succeeds unseen push q.bf < <(printf 'a\nb\ne\n')
    counts 2 0
    pops 'd\ne\n' -m 100
    empty
    exits 1 unseen pop q.bf -m 5
    counts 0 0
    succeeds unseen verify q.bf
}

@test "files, last lines without a newline, empty lines, bytes of all kinds" {
    a_queue
    printf 'x\n\ny' >one
    printf '\r\n\377\000\001\n' >two
    succeeds unseen push q.bf one two
    succeeds unseen pop q.bf -m 10
    printf 'x\n\ny\n\r\n\377\000\001\n' >wanted
    same "$out" wanted
    empty
}

@test "what the plain form and add print or remember is not queued" {
    a_queue
    succeeds unseen q.bf < <(seq 3)
    prints '1\n2\n3\n'
    succeeds unseen add q.bf < <(seq 4 5)
    succeeds unseen push q.bf < <(seq 7)
    pops '6\n7\n' -m 9
    empty
}

@test "push --create makes filter and queue, and is the same line ever after" {
    exits 0 unseen push --create q.bf < <(seq 3)
    says 'q.bf: created'
    succeeds unseen push --create q.bf < <(seq 4)
    exits 0 unseen push --create -n 1000 -p 1e-4 r.bf < <(seq 3)
    succeeds unseen push --create -n 1000 -p 1e-4 r.bf < <(seq 3)
    fails_with 2 'was made for 1000 lines, not 2000' unseen push -n 2000 r.bf < <(seq 9)
    pops '1\n2\n3\n4\n' -m 9
    exits 0 unseen --create --queue s.bf < <(seq 2)
    prints '1\n2\n'
    succeeds unseen push s.bf < <(seq 3)
    succeeds unseen pop s.bf
    prints '3\n'
}

@test "a filter without a queue, and none at all" {
    exits 0 unseen create f.bf
    fails_with 2 'f.bf: was made without a queue' unseen push f.bf < <(seq 3)
    fails_with 2 'f.bf: was made without a queue' unseen push --create f.bf < <(seq 3)
    fails_with 2 'f.bf: was made without a queue \(only a new filter can have one: unseen create --queue NEW\)' unseen pop f.bf
    fails_with 2 'No such file' unseen push g.bf < <(seq 3)
    fails_with 2 'No such file' unseen pop g.bf
    fails_with 2 '--queue: needs a FILTER' unseen --queue < <(seq 3)
    fails_with 2 'not an option here' unseen query --queue f.bf
}

@test "a queue in the way, one that is gone, one of another filter" {
    mkdir q.bf.queue
    seq 3 >q.bf.queue/00000000000000000000
    fails_with 2 'q.bf.queue: belongs to an earlier filter, and may still have lines' unseen create --queue q.bf
    fails_with 2 'q.bf.queue: belongs to an earlier filter, and may still have lines' unseen push --create q.bf < <(seq 3)
    rm -r q.bf.queue
    touch q.bf.queue
    fails_with 2 'q.bf.queue: Not a directory' unseen create --queue q.bf
    rm q.bf.queue
    mkdir q.bf.queue
    a_queue 1 3
    mv q.bf.queue elsewhere
    fails_with 2 'mkdir .*q.bf.queue' unseen push q.bf < <(seq 9)
    fails_with 2 'q.bf.queue: No such file' unseen pop q.bf
    exits 0 unseen create --queue r.bf
    exits 0 unseen push r.bf < <(seq 5)
    mv r.bf.queue q.bf.queue
    fails_with 2 'q.bf.queue: is the queue of another filter' unseen push q.bf < <(seq 9)
    fails_with 2 'q.bf.queue: is the queue of another filter' unseen pop q.bf
    rm -r q.bf.queue
    mv elsewhere q.bf.queue
    pops '1\n2\n3\n' -m 9
    # with its lines gone, but for them
    exits 0 unseen push q.bf < <(seq 10)
    rm q.bf.queue/state
    fails_with 2 'q.bf.queue: damaged queue: it has lines, and no state' unseen pop q.bf
}

@test "by a symbolic link it is the queue of the real file" {
    mkdir there
    ln -s there/q.bf q.bf
    exits 0 unseen create --queue there/q.bf
    succeeds unseen push q.bf < <(seq 3)
    [[ -d there/q.bf.queue && ! -e q.bf.queue ]]
    succeeds unseen pop there/q.bf
    prints '1\n'
}

@test "-z: settled by the first push, refused otherwise" {
    a_queue
    printf 'a\nb\0c\0' | succeeds unseen push -z q.bf
    fails_with 2 'its lines end with NUL, not a newline \(add -z\)' unseen pop q.bf
    fails_with 2 'its lines end with NUL, not a newline' unseen push q.bf < <(seq 3)
    succeeds unseen pop -0 q.bf
    printf 'a\nb\0' | cmp - "$out"
    succeeds unseen pop -z -m 9 q.bf
    printf 'c\0' | cmp - "$out"
    exits 0 unseen create --queue r.bf
    exits 1 unseen pop -z r.bf
    succeeds unseen push r.bf < <(seq 3)
    fails_with 2 'its lines end with a newline, not NUL \(leave -z out\)' unseen pop -z r.bf
}

@test "wrong uses" {
    a_queue 1 3
    local arguments
    for arguments in '-m x q.bf' 'q.bf in' '-n 100 q.bf' '--create q.bf' '-e q.bf' '' 'q.bf -x'; do
        # shellcheck disable=SC2086
        fails_with 2 '' unseen pop $arguments
    done
    for arguments in '-m 3 q.bf' '-x cat q.bf' '--until-done q.bf' '-a out q.bf' '-d q.bf' ''; do
        # shellcheck disable=SC2086
        fails_with 2 '' unseen push $arguments < <(seq 9)
    done
    fails_with 2 'empty name' unseen pop q.bf -x ''
    fails_with 2 'is both FILTER and input' unseen push q.bf q.bf
    pops '1\n2\n3\n' -m 9
}

@test "stats and verify tell of the queue" {
    a_queue 1 100
    succeeds unseen stats q.bf
    grep -q '^queue  *100 lines waiting, 0 out with workers$' "$out"
    unseen pop q.bf -m 10 -x sh -c '"$1" stats --json q.bf' sh "$UNSEEN" >"$out"
    [[ $(field waiting) == 90 && $(field out) == 10 ]]
    counts 90 0
    exits 0 unseen create f.bf
    succeeds unseen stats --json f.bf
    [[ -z $(field waiting) ]]
    succeeds unseen verify q.bf
    # A worker that died is worth a note.
    exits 137 unseen pop q.bf -m 7 -x sh -c 'kill -9 $PPID'
    exits 1 unseen verify q.bf
    grep -q '^q.bf: queue: a worker died with 7 lines' "$out"
    counts 90 0
    # Only looked at: nothing is written, though all may be.
    unchanged exits 1 unseen verify q.bf
    unchanged succeeds unseen stats q.bf
}

# --- delivery ----------------------------------------------------------------

@test "lines that cannot be written stay" {
    need_full
    a_queue 1 5
    exits 2 to /dev/full unseen pop q.bf -m 3
    says '^unseen: standard output: No space left on device \(lines that were printed whole are off the queue; make room, and pop the others to another file\)$'
    exits 2 to /dev/full unseen pop q.bf
    pops '1\n2\n3\n4\n5\n' -m 9
}

@test "a reader that goes away: what the pipe did not take stays, in order" {
    need_signals
    a_queue
    seq 1000000 >in
    succeeds unseen push q.bf in
    env --default-signal=PIPE "$UNSEEN" pop q.bf -m 1e6 2>"$err" | head -n 5 >got
    seq 5 | cmp - got
    succeeds unseen pop q.bf
    # Whole lines went, at most what a pipe holds and head reads.
    local next
    next=$(cat "$out")
    [[ $next -gt 5 && $next -lt 100000 ]]
    succeeds unseen pop q.bf -m 1e6
    seq $((next + 1)) 1000000 | cmp - "$out"
    empty
}

@test "-x CMD gets the lines; they are off if it exits 0" {
    a_queue 1 10
    succeeds unseen pop q.bf -m 4 -x sh -c 'cat; echo done'
    prints '1\n2\n3\n4\ndone\n'
    succeeds unseen pop q.bf -x cat
    prints '5\n'
    succeeds unseen pop q.bf -m 99 -x cat
    prints '6\n7\n8\n9\n10\n'
    exits 1 unseen pop q.bf -x touch started
    silent_on_stderr
    [[ ! -e started ]]
    empty
}

@test "-x: the lines of a CMD that fails or is killed go to the back, and the status is 3" {
    a_queue 1 6
    exits 3 unseen pop q.bf -m 2 -x sh -c 'cat >got; exit 1'
    says '^unseen: sh: exited with 1 \(its lines went to the back of the queue\)$'
    printf '1\n2\n' | cmp - got
    exits 3 unseen pop q.bf -m 2 -x sh -c 'cat >/dev/null; kill -9 $$'
    says 'was killed by signal 9'
    counts 6 0
    pops '5\n6\n1\n2\n3\n4\n' -m 9
    empty
}

@test "-x: lines that a failing CMD does not read go to the back with the others" {
    a_queue
    seq 100001 250000 >in
    succeeds unseen push q.bf in
    exits 3 unseen pop q.bf -m 20k -x sh -c 'exec <&-; sleep 0.2; exit 1'
    exits 3 unseen pop q.bf -m 20k -x false
    succeeds unseen pop q.bf -m 1e6
    sort "$out" | cmp - in
    # As many as were taken for it: at least a chunk.
    [[ $(head -n 1 "$out") -ge 140001 ]]
    tail -n "$((250001 - $(head -n 1 "$out")))" in | cmp - <(head -n "$((250001 - $(head -n 1 "$out")))" "$out")
    empty
}

@test "-x: a CMD that is not there, or cannot be run, leaves the lines where they are: exit 127, 126" {
    a_queue 1 4
    exits 127 unseen pop q.bf -m 2 -x ./no-such-program
    says 'cannot be run'
    exits 126 unseen pop q.bf -m 2 -x .
    says 'cannot be run'
    pops '1\n2\n3\n4\n' -m 9
}

@test "-x: a CMD that reads nothing and exits 0 has done its line, in each of 200 runs" {
    local i
    a_queue 1 200
    for ((i = 0; i < 200; i++)); do
        succeeds unseen pop q.bf -x true
    done
    empty
    # However long a line is.
    head -c 300000 /dev/zero | tr '\0' a >long
    succeeds unseen push q.bf long
    succeeds unseen pop q.bf -x true
    empty
}

@test "-x: a CMD that exits 0 is done with all its lines, however many it has read, in each of 20 runs" {
    local i
    a_queue
    seq 1000000 2000000 >in
    succeeds unseen push q.bf in
    for ((i = 0; i < 20; i++)); do
        exits 0 unseen pop q.bf -m 40000 -x true
        says '^unseen: true: exited with 0 and left lines unread \(they are off the queue all the same\)$'
        counts $((1000001 - 40000 * (i + 1))) 0
    done
    exits 0 unseen pop q.bf -m 1e6 -x head -n 1
    prints '1800000\n'
    says 'head: exited with 0 and left lines unread'
    empty
}

@test "-x: a CMD that stops reading and fails: all its lines go to the back" {
    a_queue
    seq 1000000 1300000 >in
    succeeds unseen push q.bf in
    exits 3 unseen pop q.bf -m 300000 -x sh -c 'head -n 1 >/dev/null; exit 1'
    succeeds unseen pop q.bf -m 2e6
    { echo 1300000; seq 1000000 1299999; } | cmp - "$out"
    empty
}

@test "-x: more lines than a chunk, off or at the back as one" {
    a_queue
    seq 300000 >in
    succeeds unseen push q.bf in
    exits 3 unseen pop q.bf -m 200k -x sh -c 'cat >got; exit 9'
    seq 200000 | cmp - got
    counts 300000 0
    succeeds unseen pop q.bf -m 300k -x cat
    { seq 200001 300000; seq 200000; } | cmp - "$out"
    empty
}

@test "a pop that is killed: its lines come first again, and before those of later ones" {
    a_queue 1 9
    exits 137 unseen pop q.bf -m 2 -x sh -c 'kill -9 $PPID'
    counts 9 0
    pops '1\n'
    # Two that are killed at once
    mkfifo hold
    "$UNSEEN" pop q.bf -m 2 -x sh -c 'read -r l <hold' 3>&- & one=$!
    until counts 6 2 2>/dev/null >&2; do sleep 0.01; done
    "$UNSEEN" pop q.bf -m 2 -x sh -c 'read -r l <hold' 3>&- & two=$!
    until counts 4 4 2>/dev/null >&2; do sleep 0.01; done
    pops '6\n'
    kill -9 $two
    wait $two || true
    counts 5 2
    pops '4\n'
    kill -9 $one
    wait $one || true
    counts 6 0
    pops '2\n3\n5\n7\n8\n9\n' -m 9
    exec {free}<>hold
    echo >&"$free"
    echo >&"$free"
    empty
}

@test "a pop that gets SIGTERM ends CMD by it, and its lines come first again" {
    a_queue 1 3
    "$UNSEEN" pop q.bf -m 2 -x sh -c 'trap "echo told >told; exit 1" TERM; echo >ready; while :; do sleep 0.05; done' 3>&- &
    local pid=$! status=0
    filled ready
    kill -TERM $pid
    wait $pid || status=$?
    [[ $status -eq 143 ]]
    filled told
    pops '1\n2\n3\n' -m 9
}

# --- waiting -----------------------------------------------------------------

@test "--until-done: at once if there is a line, 1 if there is none and none is out" {
    a_queue 1 2
    pops '1\n' --until-done
    pops '2\n' --until-done -m 5
    exits 1 unseen pop q.bf --until-done
    silent_on_stderr
    exits 1 unseen pop q.bf --until-done -x cat
    prints ''
}

@test "--until-done: gets what a worker pushes, and ends when the last one is done" {
    a_queue 1 1
    mkfifo go
    "$UNSEEN" pop q.bf -x sh -c 'read -r l <go; echo 2 | "$0" push q.bf; read -r l <go' "$UNSEEN" 3>&- &
    local first=$!
    until counts 0 1 2>/dev/null >&2; do sleep 0.01; done
    "$UNSEEN" pop q.bf --until-done >second 3>&- &
    local second=$! go
    sleep 0.3
    [[ ! -s second ]] && kill -0 $second
    exec {go}<>go
    echo >&"$go"
    wait $second
    echo 2 | cmp - second
    "$UNSEEN" pop q.bf --until-done >third 3>&- {go}>&- &
    local third=$! status=0
    sleep 0.3
    kill -0 $third
    echo >&"$go"
    wait $first
    wait $third || status=$?
    [[ $status -eq 1 && ! -s third ]]
}

@test "--until-done: gets the lines of a worker that is killed, and of a CMD that fails" {
    a_queue 1 1
    mkfifo go
    "$UNSEEN" pop q.bf -x sh -c 'read -r l <go' 3>&- &
    local worker=$! waiter go
    until counts 0 1 2>/dev/null >&2; do sleep 0.01; done
    "$UNSEEN" pop q.bf --until-done -x sh -c 'echo >taken; read -r l <go; exit 1' 2>"$err" 3>&- &
    waiter=$!
    sleep 0.1
    kill -9 $worker
    wait $worker || true
    filled taken
    "$UNSEEN" pop q.bf --until-done >last 3>&- &
    local last=$! status=0
    sleep 0.1
    exec {go}<>go
    echo >&"$go"
    echo >&"$go"
    wait $waiter || status=$?
    [[ $status -eq 3 ]]
    wait $last
    echo 1 | cmp - last
}

@test "--until-done is ended by a signal" {
    a_queue 1 1
    mkfifo go
    "$UNSEEN" pop q.bf -x sh -c 'read -r l <go' 3>&- &
    local worker=$! status=0
    until counts 0 1 2>/dev/null >&2; do sleep 0.01; done
    "$UNSEEN" pop q.bf --until-done 3>&- &
    local waiter=$!
    sleep 0.2
    kill -TERM $waiter
    wait $waiter || status=$?
    [[ $status -eq 143 ]]
    kill -9 $worker
    wait $worker || true
    pops '1\n'
    exec {go}<>go
    echo >&"$go"
}

@test "--wait TIME: 1 when no line came in time, or with --until-done as soon as none can come" {
    a_queue 1 2
    pops '1\n' --wait 100s
    pops '2\n' --wait 0s -m 5
    exits 1 unseen pop q.bf --wait 0s
    exits 1 unseen pop q.bf --wait 0.3s -x cat
    silent_on_stderr
    # It would take too long for a test.
    exits 1 unseen pop q.bf --wait 10w --until-done
    exits 1 unseen pop q.bf --until-done --wait 10w -x cat
    fails_with 2 'not a value' unseen pop q.bf --wait 7x
    fails_with 2 'not a value' unseen pop q.bf --wait -x
    # A line is out, and its worker stays: the time counts.
    unseen push q.bf <<<3
    unseen pop q.bf -x sh -c '"$1" pop q.bf --until-done --wait 0.3s; echo $? >status' sh "$UNSEEN"
    [[ $(cat status) -eq 1 ]]
    empty
}

@test "--wait TIME: gets what is pushed meanwhile, and a signal ends it" {
    a_queue
    local signal status waiter
    "$UNSEEN" pop q.bf --wait 10w >got 3>&- &
    waiter=$!
    sleep 0.2
    kill -0 $waiter
    exits 0 unseen push q.bf <<<1
    wait $waiter
    echo 1 | cmp - got
    for signal in TERM:143 INT:130; do
        env --default-signal=INT,TERM "$UNSEEN" pop q.bf --wait 10w -x cat 3>&- &
        waiter=$!
        # Until env has come to its end, INT is ignored, as in all that a shell has in the background.
        asleep $waiter
        status=0
        kill -s "${signal%:*}" $waiter
        wait $waiter || status=$?
        [[ $status -eq ${signal#*:} ]]
    done
    empty
}

# --- tries -------------------------------------------------------------------

# tries EXIT N LINE [OPTION...]: a CMD fails on the next line, which is LINE.
tries() {
    local status=$1 n=$2 line=$3
    shift 3
    exits "$status" unseen pop q.bf --tries "$n" "$@" -x sh -c 'cat >tried; exit 1' || return 1
    [[ $(cat tried) == "$line" ]] || { echo "not $line but $(cat tried)"; return 1; }
}

# has_failed N: as stats has them.
has_failed() {
    capture unseen stats --json q.bf
    [[ $(field failed) == "$1" ]] || complain "should be $1 failed"
}

@test "--tries: a loop ends with an empty queue, and what failed so often is in FILE" {
    a_queue 1 9
    cat >visit <<'END'
#!/bin/sh
read -r n
echo "$n" >>visits
[ $((n % 4)) -ne 0 ]
END
    chmod +x visit
    (PATH=$(dirname "$UNSEEN"):$PATH
     timeout 60 dash -c 'while unseen pop q.bf --tries 3 --failed dead -x ./visit; do :; done' 2>said)
    printf '4\n8\n' | cmp - dead
    printf '%s\n' 1 2 3 4 5 6 7 8 9 4 8 4 8 | cmp - visits
    # Nothing is said of the tries before the last.
    [[ $(grep -c 'visit: exited with 1 (its lines are in dead)$' said) -eq 2 && $(wc -l <said) -eq 2 ]]
    empty
    has_failed 0
}

@test "--tries without --failed: FILTER.queue/failed, which stats counts" {
    a_queue 1 3
    tries 0 1 1
    says 'its lines are in .*q\.bf\.queue/failed\)$'
    tries 0 1 2
    has_failed 2
    succeeds unseen stats q.bf
    grep -q '^queue failed  *2 lines, in .*q.bf.queue/failed$' "$out"
    unchanged succeeds unseen verify q.bf
    printf '1\n2\n' | cmp - q.bf.queue/failed
    pops '3\n' -m 9
    # They are not new again, and the file stays.
    exits 0 unseen push q.bf < <(seq 3)
    exits 1 unseen pop q.bf
    has_failed 2
    # A line cut off by others counts.
    printf 4 >>q.bf.queue/failed
    has_failed 3
}

@test "--tries: every failure counts, whatever N there was; a kill, or a CMD that cannot be run, does not" {
    a_queue 1 1
    exits 3 unseen pop q.bf -x false
    tries 0 9 1
    exits 137 unseen pop q.bf --tries 1 -x sh -c 'kill -9 $PPID'
    exits 127 unseen pop q.bf --tries 1 -x ./no-such-program
    exits 126 unseen pop q.bf --tries 1 -x .
    env --default-signal=TERM timeout -s TERM 0.3 "$UNSEEN" pop q.bf --tries 1 -x sleep 100 3>&- || [[ $? -eq 124 ]]
    pops '' -x true
    exits 0 unseen push q.bf <<<2
    tries 0 3 2
    exits 3 unseen pop q.bf -x false
    counts 1 0
    # CMD was killed: a try.
    exits 0 unseen pop q.bf --tries 3 --failed dead -x sh -c 'kill -9 $$'
    echo 2 | cmp - dead
    empty
    # What comes at the same places later begins from 0.
    exits 0 unseen push q.bf < <(seq 3 4)
    tries 0 2 3
    counts 2 0
}

@test "--tries: lines that are handed over together fail together; the same line twice is two" {
    exits 0 unseen create --counting --queue -p 1e-9 q.bf
    exits 0 unseen push q.bf < <(seq 4)
    tries 0 2 1
    # 2 and 3 once, then 4 and 1: of these 1 has had two.
    tries 0 2 $'2\n3' -m 2
    tries 0 2 $'4\n1' -m 2 --failed dead
    says '\(1 of its lines are in dead, the others at the back of the queue\)$'
    echo 1 | cmp - dead
    tries 0 9 $'2\n3\n4' -m 9
    counts 3 0
    # 2 has had two, and a new 2 none.
    exits 0 unseen remove q.bf <<<2
    exits 0 unseen push q.bf <<<2
    tries 0 3 $'2\n3\n4\n2' -m 9 --failed dead
    printf '%s\n' 1 2 3 4 | cmp - dead
    pops '2\n' -m 9
    empty
}

@test "--failed: appends, ends half a line of a killed run, to a FIFO as well; with -z" {
    a_queue 1 3
    printf 'half' >dead
    tries 0 1 1 --failed dead
    printf 'half\n1\n' | cmp - dead
    mkfifo fifo
    cat fifo >got 3>&- &
    tries 0 1 2 --failed fifo
    wait $!
    echo 2 | cmp - got
    exits 0 unseen create --queue z.bf
    printf 'a\nb\0c\0' | exits 0 unseen push -z z.bf
    exits 0 unseen pop -z z.bf -m 9 --tries 1 -x false
    printf 'a\nb\0c\0' | cmp - z.bf.queue/failed
    capture unseen stats --json z.bf
    [[ $(field failed) == 2 ]]
}

@test "--failed: what does not fit into FILE stays in front, and has not had one more try" {
    a_queue 1 2
    exits 3 unseen pop q.bf -m 9 -x false
    exits 2 unseen pop q.bf --tries 2 --failed /dev/full -x false
    says_lines 2 'false: exited with 1$' '/dev/full: No space left on device \(the lines of false stay at the front\)$'
    tries 0 9 1
    tries 0 3 2 --failed dead
    [[ ! -e dead ]]
    # It was there when the run began, and is not any more.
    mkdir there
    exits 2 unseen pop q.bf --tries 3 --failed there/dead -x sh -c 'rmdir there; exit 1'
    says_lines 2 'there/dead: No such file or directory'
    tries 0 3 1 --failed dead
    tries 0 3 2 --failed dead
    printf '1\n2\n' | cmp - dead
    empty
}

@test "--tries: a CMD that fails is provided for, but not that lines could not be read" {
    a_queue 1 2
    printf '%0100d\n' 0 | exits 0 unseen push q.bf
    exits 2 unseen pop q.bf -m 9 --max-line 50 --tries 1 --failed dead -x false
    says_lines 2 'the next line has more than 50 bytes ' 'false: exited with 1 \(its lines are in dead\)$'
    printf '1\n2\n' | cmp - dead
}

@test "--failed: a FILE that CMD made a link to the filter is refused, and the lines stay" {
    a_queue 1 2
    cp q.bf before
    exits 2 unseen pop q.bf --tries 1 --failed dead -x sh -c 'ln -s q.bf dead; exit 1'
    says_lines 2 'dead: leads to the filter by now \(the lines of sh stay at the front\)$'
    same q.bf before
    pops '1\n2\n' -m 9
}

@test "--summary of pop: what is off the queue as done, what went back, what was given up" {
    a_queue 1 9
    exits 0 unseen pop q.bf -m 2 --summary
    says '^unseen: q\.bf: 2 lines popped, 0 put back, 0 given up$'
    exits 3 unseen pop q.bf -m 3 --summary -x false
    says_lines 2 '0 lines popped, 3 put back, 0 given up$'
    exits 0 unseen pop q.bf -m 6 --tries 2 --summary=json -x false
    grep -q '"popped":0,"put_back":4,"given_up":2' "$err"
    exits 0 unseen pop q.bf -m 1 --summary -x cat
    says '1 line popped, 0 put back, 0 given up$'
}

@test "--tries and --failed: wrong uses" {
    a_queue 1 3
    mkdir directory
    ln -s q.bf link.bf
    local arguments
    for arguments in '--tries 3' '--failed dead -x cat' '--tries 0 -x cat' '--tries x -x cat' '--tries -x cat' \
        '--tries 3 --failed q.bf -x cat' '--tries 3 --failed link.bf -x cat' '--tries 3 --failed directory -x cat' \
        '--tries 3 --failed nowhere/dead -x cat'; do
        # shellcheck disable=SC2086
        fails_with 2 '' unseen pop q.bf $arguments
    done
    fails_with 2 'an empty name is not a file' unseen pop q.bf --tries 3 --failed '' -x cat
    fails_with 2 'such as 90s, 5m or 1d12h' unseen pop q.bf --wait soon
    pops '1\n2\n3\n' -m 9
    empty
}

# spoiled STATUS COMMAND...: what a COMMAND does to the counts of a queue costs no line: with STATUS 0 all
# tries begin from 0, which is said once, with 2 the lines stay.
spoiled() {
    local status=$1 said
    shift
    rm -rf q.bf* dead
    a_queue 1 3 || return 1
    exits 3 unseen pop q.bf -m 9 -x false
    "$@"
    exits "$status" unseen pop q.bf -m 2 --tries 2 --failed dead -x false || return 1
    said=$(grep -c 'its counts of tries cannot be used (all begin from 0 again)$' "$err") || true
    [[ $status -ne 0 || $said -eq 1 ]] || complain 'not said' || return 1
    rm -rf q.bf.queue/tries
    exits 0 unseen pop q.bf -m 9 --tries 2 --failed dead -x false || return 1
    ! grep -q 'begin from 0' "$err" || return 1
    counts 3 0 && [[ ! -e dead ]]
}

of_another() {
    exits 0 unseen create --queue o.bf
    exits 0 unseen push o.bf < <(seq 7 9)
    exits 3 unseen pop o.bf -m 9 -x false
    cp o.bf.queue/tries q.bf.queue/tries
    rm -r o.bf*
}
linked() { rm q.bf.queue/tries; echo kept >target; ln -s ../target q.bf.queue/tries; }
piped() { rm q.bf.queue/tries; mkfifo q.bf.queue/tries; }
in_the_way() { rm q.bf.queue/tries; mkdir q.bf.queue/tries; }
of_zeros() { head -c 320 /dev/zero >q.bf.queue/tries; }
of_noise() { seq 1000 >q.bf.queue/tries; }

@test "counts of tries that are damaged, foreign or no file: said once, and no line is lost" {
    local how
    for how in of_another linked piped of_zeros of_noise; do
        spoiled 0 $how || complain "$how"
    done
    echo kept | cmp - target
    spoiled 2 in_the_way
    # Gone, or cut off: there is nothing that could be doubted.
    exits 3 unseen pop q.bf -m 9 -x false
    truncate -s 31 q.bf.queue/tries
    exits 0 unseen pop q.bf -m 9 --tries 2 --failed dead -x false
    counts 3 0
}

@test "'failed' that is no plain file: the lines stay" {
    local how
    a_queue 1 3
    for how in 'mkdir' 'mkfifo' 'ln -s /dev/null'; do
        $how q.bf.queue/failed
        exits 2 unseen pop q.bf -m 9 --tries 1 -x false
        says_lines 2 "'failed' in it is not a plain file: move it away \\(the lines of false stay at the front\\)$"
        rm -r q.bf.queue/failed
    done
    pops '1\n2\n3\n' -m 9
}

@test "no room for a count: the line stays in front" {
    need_strace
    local call
    a_queue 1 3
    # The lines, their count.
    for call in 1 2; do
        exits 2 strace -qq -o trace -P "$PWD/q.bf.queue/tries" -P "$PWD/q.bf.queue/00000000000000000000" \
            -e trace=pwrite64 -e "inject=pwrite64:error=ENOSPC:when=$call" "$UNSEEN" pop q.bf -x false
        grep -q INJECTED trace
        says_lines 2 'No space left on device'
        [[ ! -s q.bf.queue/tries ]]
        counts 3 0
    done
    pops '1\n2\n3\n' -m 9
    empty
}

@test "--tries by four at once: each line is done once, or fails as often as it may" {
    a_queue 1 400
    local i pids=()
    for i in 0 1 2 3; do
        { while "$UNSEEN" pop q.bf -m $((1 + i)) --until-done --tries 3 --failed dead -x \
            sh -c 'cat >"mine.$$"; ! grep -q 7 "mine.$$" || exit 1; cat "mine.$$" >>"done.$0"' $i; do :; done 2>>said; } 3>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i"; done
    # Whoever was with a 7 three times is not done either.
    sort -n done.? dead | cmp - <(seq 400)
    [[ $(grep -c 7 dead) -eq $(seq 400 | grep -c 7) ]]
    [[ $(cat mine.* | grep -cx 7) -eq 3 ]]
    empty
}

# --- many at once, kills, full disks -----------------------------------------

@test "many pushers and poppers: each line comes out once" {
    a_queue
    local i pids=()
    for i in 0 1 2 3; do
        seq $((i * 5000)) $((i * 5000 + 9999)) >in.$i
        "$UNSEEN" push q.bf in.$i 3>&- & pids+=($!)
    done
    for i in 0 1 2 3; do
        { for ((j = 0; j < 60; j++)); do "$UNSEEN" pop q.bf -m $((j * 10 + 1)) || true; done >out.$i; } 3>&- & pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i"; done
    capture unseen pop q.bf -m 1e6
    sort -n out.? "$out" >all
    seq 0 24999 | cmp - all
    empty
    succeeds unseen verify q.bf
    # Those of one pusher come in order.
    succeeds unseen push q.bf < <(seq 100000 150000)
    succeeds unseen pop q.bf -m 1e6
    seq 100000 150000 | cmp - "$out"
}

@test "it grows while lines are pushed" {
    exits 0 unseen push --create -n 300 -p 1e-9 q.bf < <(seq 20000)
    says_lines 2 'q.bf: created' 'q.bf: holds 300 of 300 lines, and grows'
    succeeds unseen push q.bf < <(seq 20005)
    succeeds unseen pop q.bf -m 1e6
    seq 20005 | cmp - "$out"
}

@test "with a window, a line is queued again once it is forgotten; with --counting, once it is removed" {
    exits 0 unseen create --queue --window 100 -p 1e-9 q.bf
    succeeds unseen push q.bf < <(seq 100)
    succeeds unseen push q.bf < <(seq 100)
    counts 100 0
    succeeds unseen push q.bf < <(seq 1001 1200; seq 3)
    succeeds unseen pop q.bf -m 1e6
    { seq 100; seq 1001 1200; seq 3; } | cmp - "$out"
    empty
    exits 0 unseen create --queue --counting -p 1e-9 r.bf
    succeeds unseen push r.bf < <(seq 9)
    succeeds unseen remove r.bf < <(seq 5 7)
    succeeds unseen push r.bf < <(seq 9)
    succeeds unseen pop r.bf -m 1e6
    { seq 9; seq 5 7; } | cmp - "$out"
}

@test "create --force: a queue that is in the way stays, and so does its filter" {
    a_queue 1 5
    fails_with 2 'q.bf.queue: belongs to an earlier filter, and may still have lines' unseen create --force --queue q.bf
    pops '1\n2\n3\n4\n5\n' -m 9
    # Not even for a filter without one: its lines would be out of reach.
    fails_with 2 'q.bf.queue: belongs to an earlier filter, and may still have lines' unseen create --force q.bf
    rm -r q.bf.queue
    exits 0 unseen create --force q.bf
    fails_with 2 'was made without a queue' unseen pop q.bf
}

@test "push --durable: the lines are on disk before they are remembered" {
    a_queue
    seq 20000 >in
    succeeds unseen push --durable q.bf in
    counts 20000 0
    succeeds unseen push q.bf in
    counts 20000 0
    need_strace
    # Neither the segment, nor its name, nor the state: nothing is remembered that was not flushed.
    local call
    for call in fdatasync fsync; do
        rm -rf q.bf q.bf.queue
        a_queue 1 3
        exits 2 strace -qq -o trace -e inject=$call:error=EIO "$UNSEEN" push --durable q.bf in
        says 'q.bf.queue: cannot be flushed to disk: (Input/output|I/O) error'
        capture unseen query -c q.bf in
        prints '3\n'
    done
}

@test "push --durable: the last lines of a flood are in at once, not when its time is over" {
    local pid i
    a_queue
    need_preload poll
    seq -f '%0100g' 20000 >in
    mkfifo pipe
    exec {hold}<>pipe
    # A wait that should end after a second never does.
    LD_PRELOAD=$preload "$UNSEEN" push -j 2 --durable q.bf <pipe 3>&- {hold}>&- &
    pid=$!
    cat in >pipe
    for ((i = 0; i < 1000; i++)); do
        capture unseen stats --json q.bf
        [[ $(field waiting) -ne 20000 ]] || break
        sleep 0.01
    done
    kill "$pid"
    wait "$pid" || true
    exec {hold}>&-
    counts 20000 0
}

@test "killed in the drain, then at the start of the next run: every line still comes out" {
    need_strace
    local at newest
    seq -f '%0100.0f' 300000 >in
    exits 0 unseen create --queue -n 1e6 q.bf
    exits 0 unseen push q.bf in
    # Two segments. The first save after one was removed.
    cp -r q.bf.queue kept
    strace -qq -o trace -e trace=unlinkat,pwrite64 "$UNSEEN" pop -m 3e5 q.bf >/dev/null
    at=$(grep -n unlinkat trace | head -n 1 | cut -d : -f 1)
    [[ $at -gt 1 ]]
    rm -r q.bf.queue
    mv kept q.bf.queue
    exits 137 strace -qq -o trace -e trace=unlinkat,pwrite64 -e "inject=pwrite64:signal=KILL:when=$at" \
        "$UNSEEN" pop -m 3e5 q.bf
    cp "$out" popped
    # The queue is sound: its lines stay where they are.
    newest=$(cd q.bf.queue && printf '%s\n' [0-9]* | tail -n 1)
    exits 0 unseen pop q.bf
    cat "$out" >>popped
    [[ -e q.bf.queue/$newest ]]
    # The next run is killed at its first write.
    capture strace -qq -o trace -e trace=pwrite64 -e inject=pwrite64:signal=KILL:when=1 "$UNSEEN" pop q.bf
    cat "$out" >>popped
    exits 0 unseen pop -m 1e6 q.bf
    cat "$out" >>popped
    none_lost in popped
    [[ $(wc -l <popped) -lt 302700 ]]
    empty
}

@test "rebuilt after a kill that left an empty segment: it is not removed with the old ones" {
    local next
    a_queue 1 100
    # A segment is cut, so that it is rebuilt; and the next one was made, and got nothing.
    truncate -s 150 q.bf.queue/0*
    next=$(printf '%020d' 292)
    : >"q.bf.queue/$next"
    capture unseen pop q.bf -m 1000
    [[ $(wc -l <"$out") -eq 53 ]]
    exits 0 unseen push q.bf < <(seq 101 110)
    exits 0 unseen pop q.bf -m 1000
    seq 101 110 | same "$out" /dev/stdin
}

@test "lines are not put behind one that has no end" {
    a_queue 1 100
    truncate -s 200 q.bf.queue/0*
    truncate -s 292 q.bf.queue/0*
    cp -a q.bf.queue before
    exits 2 unseen push q.bf < <(seq 200 210)
    says 'q\.bf\.queue: damaged queue: its last line has no end'
    diff -r q.bf.queue before
    exits 1 unseen query -c q.bf < <(seq 200 210)
    prints '0\n'
}

@test "what a power cut took of a segment is said once, and the rest comes out" {
    a_queue 1 100
    truncate -s 150 q.bf.queue/0*
    exits 2 unseen verify q.bf
    exits 0 unseen pop q.bf -m 3
    says 'q.bf.queue: 47 lines were lost in a crash: .*--durable'
    prints '1\n2\n3\n'
    succeeds unseen push q.bf < <(seq 99 102)
    succeeds unseen pop q.bf -m 99
    { seq 4 53; seq 101 102; } | cmp - "$out"
    empty
}

@test "lines of megabytes" {
    a_queue
    { head -c 3000000 /dev/zero | tr '\0' a; echo; echo b; head -c 300000 /dev/zero | tr '\0' c; echo; } >in
    succeeds unseen push q.bf in
    succeeds unseen pop q.bf
    head -n 1 in | cmp - "$out"
    succeeds unseen pop q.bf -m 2 -x cat
    tail -n 2 in | cmp - "$out"
    empty
}

@test "segments of plain lines, which go as they drain" {
    a_queue
    local line i
    line=$(printf 'x%.0s' {1..240})
    seq -f "%07.0f $line" 160000 >in # 40 MB
    succeeds unseen push q.bf in
    cat q.bf.queue/[0-9]* | cmp - in
    [[ $(files) -eq 4 ]]
    for i in q.bf.queue/[0-9]*; do
        head -n 1 "$i" | grep -q "^[0-9]\{7\} $line$"
    done
    succeeds unseen pop q.bf -m 70k
    head -n 70000 in | cmp - "$out"
    [[ $(files) -eq 3 ]]
    # One that is killed keeps its segment.
    exits 137 unseen pop q.bf -m 1 -x sh -c 'kill -9 $PPID'
    "$UNSEEN" pop q.bf -m 1 -x sh -c 'cat >/dev/null; "$0" pop q.bf -m 1e6 >rest; ls q.bf.queue | wc -l >files' "$UNSEEN"
    { sed -n 70001p in; cat rest; } | cmp - <(tail -n +70001 in) || false
    [[ $(cat files) -ge 3 ]]
    empty
}

@test "a limit on file size: what was taken in is there once, the rest is not remembered" {
    a_queue
    local line
    line=$(printf 'x%.0s' {1..240})
    seq -f "%07.0f $line" 20000 >in # 5 MB
    limited() { (ulimit -f 3000 && "$@"); }
    exits 2 limited unseen push q.bf in
    says 'q.bf.queue: File too large'
    capture unseen pop q.bf -m 1e6
    cp "$out" first
    [[ $(wc -l <first) -gt 1000 && $(wc -l <first) -lt 20000 ]]
    head -n "$(wc -l <first)" in | cmp - first
    succeeds unseen push q.bf in
    succeeds unseen pop q.bf -m 1e6
    cat first "$out" | cmp - in
    empty
}

# --- a queue that is not what it was -----------------------------------------------------

# refused PATTERN: neither push nor pop nor verify nor stats takes it for a sound one, and all stays as
# it is.
refused() {
    local arguments
    for arguments in 'push q.bf' 'pop q.bf' 'verify q.bf' 'stats q.bf'; do
        # shellcheck disable=SC2086
        unchanged exits 2 unseen $arguments < <(seq 500) || return 1
        says "$1" || return 1
    done
}

@test "a state that is cut, empty, zeroed or gone is no new one: refused, and nothing changes" {
    a_queue 1 400
    cp -r q.bf.queue sound
    local length bytes
    bytes=$(bytes_of sound/state)
    for length in 0 1 8 4095 4096 4097 8191 8192 49152 49216 53248 $((bytes - 1)); do
        rm -r q.bf.queue
        cp -r sound q.bf.queue
        truncate -s "$length" q.bf.queue/state
        refused 'q.bf.queue: damaged queue: its state is cut off \(save its lines: cat ' || complain "$length bytes"
    done
    for length in 8 4096 "$bytes"; do
        cp sound/state q.bf.queue/state
        head -c "$length" /dev/zero | dd of=q.bf.queue/state conv=notrunc status=none
        refused 'q.bf.queue: damaged queue: its state is not that of a queue \(save its lines: cat '
    done
    rm q.bf.queue/state
    refused 'q.bf.queue: damaged queue: it has lines, and no state \(save its lines: cat '
    mkdir q.bf.queue/state
    refused 'q.bf.queue: '
    rmdir q.bf.queue/state
    mkfifo q.bf.queue/state
    refused 'q.bf.queue: damaged queue: its state is not a plain file'
    rm q.bf.queue/state
    ln -s ../sound/state q.bf.queue/state
    refused 'q.bf.queue: its state: (Too many levels of symbolic links|Symbolic link loop)'
    # The way out.
    cat q.bf.queue/[0-9]* | cmp - <(seq 400)
    mv q.bf.queue away
    mkdir q.bf.queue
    succeeds unseen push q.bf < <(seq 398 402)
    pops '401\n402\n' -m 9
    rm -r q.bf.queue
    mv away q.bf.queue
    rm q.bf.queue/state
    cp sound/state q.bf.queue
    succeeds unseen pop q.bf -m 999
    seq 400 | cmp - "$out"
}

@test "of a state that is put back, whole lines behind the tail are put in, and none is cut off" {
    a_queue 1 3
    cp q.bf.queue/state first
    succeeds unseen push q.bf < <(seq 4 6)
    printf half >>"$(echo q.bf.queue/0*)"
    cp first q.bf.queue/state
    succeeds unseen push q.bf < <(seq 5 7)
    pops '1\n2\n3\n4\n5\n6\n7\n' -m 99
    empty
    # So from the first segment on.
    cp q.bf.queue/state first
    succeeds unseen push q.bf < <(seq 8 9)
    cp first q.bf.queue/state
    succeeds unseen push q.bf < <(seq 8 10)
    pops '8\n9\n10\n' -m 99
    empty
}

@test "a file named like a segment that is none: refused by whoever meets it, and nobody spins" {
    a_queue 1 9
    local name at
    for name in 18446744073709551615 18446744073709551616 99999999999999999999 04611686018427387905 1 \
        000000000000000000000 00000000000000000000.old; do
        echo x >"q.bf.queue/$name"
        unchanged exits 2 unseen verify q.bf
        says 'q.bf.queue: damaged queue: a file in it is named like a file of lines, but is not one'
        unchanged exits 2 unseen stats q.bf
        rm "q.bf.queue/$name"
    done
    # In the place of the segment itself: as that is looked for, the others are met.
    at=$(echo q.bf.queue/0*)
    mv "$at" kept
    cp kept q.bf.queue/18446744073709551615
    refused 'q.bf.queue: damaged queue: a '
    rm q.bf.queue/18446744073709551615
    mkdir "$at"
    refused 'q.bf.queue: damaged queue: a file in it is named like a file of lines, but is not one'
    rmdir "$at"
    mkfifo "$at"
    refused 'q.bf.queue: damaged queue: a file in it is named like a file of lines, but is not one'
    rm "$at"
    ln -s ../kept "$at"
    refused 'q.bf.queue: damaged queue: a file in it is named like a file of lines, but is not one'
    rm "$at"
    mv kept "$at"
    # Other names are nobody's business.
    touch q.bf.queue/notes
    pops '1\n2\n3\n4\n5\n6\n7\n8\n9\n' -m 10
}

@test "lost lines are counted to nothing at worst" {
    a_queue 1 3
    printf '\n\n\n\n\n' >"$(echo q.bf.queue/0*)"
    succeeds unseen pop q.bf -m 9
    prints '\n\n\n\n\n'
    empty
}

# push_meanwhile COMMAND... [-- OPTION...]: COMMAND is run between two lines of one push, which must
# notice: exit 75, and the second line is as new as it was.
push_meanwhile() {
    local before=() status=0
    while [[ $# -gt 0 && $1 != -- ]]; do before+=("$1"); shift; done
    [[ $# -eq 0 ]] || shift
    converse "$UNSEEN" push "$@" q.bf
    say first
    until [[ -n $(echo q.bf.queue/0*) && $(cat q.bf.queue/[0-9]* 2>/dev/null) == *first* ]]; do sleep 0.01; done
    "${before[@]}"
    say second
    farewell || status=$?
    [[ $status -eq 75 ]] || { cat "$err"; echo "exit $status"; return 1; }
    says "q.bf.queue: .*(was|were) (removed|replaced).*\(run it again, with the same input\)" || return 1
    exits 1 unseen query q.bf <<<second
}

removed() { rm -r q.bf.queue; }
moved() { mv q.bf.queue away; }
restored() { mv q.bf.queue away && cp -r backup q.bf.queue; }
state_restored() { rm q.bf.queue/state && cp backup/state q.bf.queue; }
segment_restored() { cp q.bf.queue/0* new && rm q.bf.queue/0* && mv new q.bf.queue/00000000000000000000; }

@test "a queue that is removed, moved or restored while push runs: it notices before it remembers" {
    local what
    for what in removed moved restored state_restored segment_restored; do
        rm -rf q.bf* away backup
        a_queue
        cp -r q.bf.queue backup
        push_meanwhile "$what" || complain "$what"
    done
    # Not all that is remembered late is remembered at all.
    for what in removed moved restored state_restored; do
        rm -rf q.bf* away backup
        a_queue
        cp -r q.bf.queue backup
        push_meanwhile "$what" -- --durable || complain "--durable, $what"
    done
}

@test "a queue that is moved while pop has lines out: it says so, and they come again" {
    a_queue 1 5
    exits 75 unseen pop q.bf -m 2 -x sh -c 'cat; mv q.bf.queue away'
    says 'q.bf.queue: was removed during this run'
    mv away q.bf.queue
    pops '1\n2\n3\n4\n5\n' -m 9
}

# --- made by many --------------------------------------------------------------------------

@test "push --create by eight at once: one queue, each line in it once, all exit with 0" {
    local round i codes pids
    for ((round = 0; round < 12; round++)); do
        rm -rf q.bf q.bf.queue code.*
        pids=()
        for i in 1 2 3 4 5 6 7 8; do
            { seq $((i * 10)) $((i * 10 + 14)) | unseen push --create -p 1e-9 q.bf 2>"said.$i" &&
                echo 0 || echo $?; } >"code.$i" 3>&- &
            pids+=($!)
        done
        wait "${pids[@]}"
        codes=$(sort -u code.*)
        [[ $codes == 0 ]] || { cat said.*; echo "round $round: $codes"; return 1; }
        exits 0 unseen pop q.bf -m 999
        sort -n "$out" | cmp - <(seq 10 94) || { echo "round $round"; return 1; }
        empty
    done
}

@test "asking whether there is room for a queue changes nothing" {
    mkdir q.bf.queue
    echo text >q.bf
    fails_with 2 'not a filter' unseen create --force --queue q.bf
    [[ -d q.bf.queue ]]
    rm q.bf
    # What a maker that was killed leaves: a queue that was never used.
    a_queue
    rm q.bf
    exits 0 unseen push --create -p 1e-9 q.bf < <(seq 3)
    pops '1\n2\n3\n' -m 9
    # One that was used is not taken over, though it is empty, and nobody is told to remove it.
    rm q.bf
    fails_with 2 'q.bf.queue: belongs to an earlier filter, and may still have lines \(name another filter; or pop or save its lines, and move it away\)' \
        unseen push --create q.bf < <(seq 3)
}

@test "nothing of a queue is opened to be made if it may be there already" {
    need_strace
    exits 0 strace -f -qq -o trace -e trace=open,openat "$UNSEEN" create --queue -p 1e-9 q.bf
    exits 0 strace -f -qq -o trace.push -e trace=open,openat "$UNSEEN" push q.bf < <(seq 9)
    exits 0 strace -f -qq -o trace.again -e trace=open,openat "$UNSEEN" push q.bf < <(seq 19)
    exits 0 strace -f -qq -o trace.pop -e trace=open,openat "$UNSEEN" pop q.bf -m 99
    grep O_RDWR trace.again
    # (A build that measures coverage makes files of its own.)
    [[ $(grep O_CREAT trace* | grep -v profraw | grep -vc O_EXCL) -eq 0 ]]
    [[ $(cat trace* | grep -c O_TRUNC) -eq 0 ]]
}

@test "one user's umask does not keep others out: a queue takes mode and group of its filter" {
    public_directory
    chmod 777 .
    (umask 000 && exits 0 "$public/unseen" create --queue -p 1e-9 q.bf)
    (umask 077 && exits 0 "$public/unseen" push q.bf < <(seq 3))
    [[ $(stat -c %a q.bf.queue) == 777 && $(stat -c %a q.bf.queue/state) == 666 &&
        $(stat -c %a q.bf.queue/0*) == 666 ]] || { ls -la q.bf.queue; false; }
    exits 0 as_nobody "$public/unseen" pop q.bf
    prints '1\n'
    (umask 077 && exits 0 as_nobody "$public/unseen" push q.bf < <(seq 5))
    exits 0 "$public/unseen" pop q.bf -m 9
    prints '2\n3\n4\n5\n'
    # Made by the one, in the umask of the other.
    (umask 077 && exits 0 as_nobody "$public/unseen" push q.bf < <(seq 7))
    [[ $(stat -c %a q.bf.queue/0*) == 666 ]]
    exits 0 "$public/unseen" pop q.bf -m 9
    prints '6\n7\n'
    # An empty directory gets a state, of the same kind.
    rm -r q.bf.queue
    mkdir -m 777 q.bf.queue
    (umask 077 && exits 0 as_nobody "$public/unseen" push q.bf < <(seq 8))
    exits 0 "$public/unseen" pop q.bf
    prints '8\n'
    # What CMDs fail on.
    exits 0 "$public/unseen" push q.bf < <(seq 20 22)
    (umask 077 && exits 3 as_nobody "$public/unseen" pop q.bf -m 2 -x false)
    (umask 077 && exits 0 as_nobody "$public/unseen" pop q.bf --tries 1 -x false)
    [[ $(stat -c %a q.bf.queue/tries) == 666 && $(stat -c %a q.bf.queue/failed) == 666 ]] || { ls -la q.bf.queue; false; }
    exits 0 "$public/unseen" pop q.bf -m 9 --tries 1 -x false
    printf '%s\n' 22 20 21 | cmp - q.bf.queue/failed
    # And not more open than the filter.
    (umask 077 && exits 0 unseen create --queue -p 1e-9 r.bf)
    exits 0 unseen push r.bf < <(seq 3)
    [[ $(stat -c %a r.bf.queue) == 700 && $(stat -c %a r.bf.queue/state) == 600 &&
        $(stat -c %a r.bf.queue/0*) == 600 ]] || { ls -la r.bf.queue; false; }
}

# --- waits ---------------------------------------------------------------------------------

# waits_for LOCK LINE: a pop says that it waits for what LOCK holds, and gets LINE once that is let go.
waits_for() {
    local pid
    "$UNSEEN" pop q.bf >got 2>said 3>&- {held}>&- &
    pid=$!
    filled said
    [[ ! -s got ]] && kill -0 $pid
    let_go "$1"
    wait $pid
    [[ $(cat said) == 'unseen: '*'q.bf.queue: waiting for another process that uses it' ]]
    echo "$2" | cmp - got
    rm got said
}

@test "push and pop that wait five seconds for the lock or for a slot say so, once; then they go on" {
    a_queue 1 3
    hold_lock lock 4611686018427387904 q.bf.queue/state
    waits_for lock 1
    hold_lock slots 4611686018427387905 q.bf.queue/state 1024
    waits_for slots 2
}

@test "pop --max-line: a longer line is refused, and stays" {
    a_queue
    { head -c 3000000 /dev/zero | tr '\0' a; echo; echo b; } >in
    succeeds unseen push q.bf in
    exits 2 unseen pop q.bf --max-line 2999999
    says 'q.bf.queue: the next line has more than 2999999 bytes \(to allow it: --max-line SIZE\)'
    exits 2 unseen pop q.bf --max-line 100
    says 'the next line has more than 100 bytes'
    succeeds unseen pop q.bf --max-line 3000000 -m 9
    same "$out" in
    empty
}

@test "what a power cut finds: the disk has it that lines are off before their segment goes" {
    need_strace
    a_queue 1 9
    exits 0 strace -qq -o trace -e trace=fdatasync,unlinkat,pwrite64 "$UNSEEN" pop q.bf -m 9
    grep -v '^pwrite64' trace >order
    sed 's/(.*//' order | paste -sd ' ' | grep -qx 'fdatasync unlinkat' || { cat trace; false; }
    # If the disk says no, it stays.
    succeeds unseen push q.bf < <(seq 12)
    exits 0 strace -qq -o trace -e inject=fdatasync:error=EIO "$UNSEEN" pop q.bf -m 9
    prints '10\n11\n12\n'
    [[ $(files) -eq 2 ]]
    succeeds unseen push q.bf < <(seq 13)
    pops '13\n' -m 9
    empty
}

# --- a crawl -----------------------------------------------------------------

@test "a crawler of four workers, on a web server's pages: each is fetched once" {
    need_server
    site 300
    serve
    the_crawler
    crawl 99
    sort -n served >got
    seq 0 299 | cmp - got
    sort -n fetched | cmp - got
    exits 1 unseen pop todo.bf
    [[ $(wc -l <workers) -eq 4 ]]
    # Not deeper than that.
    crawl 2
    [[ $(sort -n served | uniq -d | wc -l) -eq 0 && $(wc -l <served) -lt 100 ]]
    kill "$server"
}

@test "a state that cannot be read is no new one: exit 2, and the lines stay" {
    need_strace
    local n met=0
    # So few that nothing else tells of them.
    seq 6 >in
    exits 0 unseen create --queue -n 100 -p 1e-9 q.bf
    exits 0 unseen push q.bf in
    cp q.bf made.bf
    cp -r q.bf.queue made.queue
    for ((n = 1; n < 30; n++)); do
        rm -r q.bf.queue
        cp made.bf q.bf
        cp -r made.queue q.bf.queue
        capture strace -qq -o trace -e trace=pread64 -e "inject=pread64:error=EIO:when=$n" "$UNSEEN" pop q.bf -m 1
        grep -q INJECTED trace || break
        [[ $code -eq 0 || $code -eq 2 || $code -eq 127 ]] || complain "call $n"
        [[ $code -eq 2 ]] || continue
        met=$((met + 1))
        exits 0 unseen stats --json q.bf
        [[ $(field waiting) -eq 6 ]] || complain "call $n"
        exits 0 unseen pop q.bf -m 10
        same "$out" in
    done
    [[ $met -ge 3 ]]
}

@test "-x: lines that go to the back while another takes are there once, and the queue stays whole" {
    need_preload unlock
    local first i
    exits 0 unseen create --queue -n 10000 q.bf
    seq 20 | unseen push q.bf
    LD_PRELOAD=$preload "$UNSEEN" pop q.bf -m 5 -x sh -c 'cat >w1; exit 1' 2>said 3>&- &
    first=$!
    # Its lines are at the back, and it has not yet given up its range.
    for ((i = 0; i < 3000; i++)); do
        ! unseen stats --json q.bf | grep -q '"waiting":20,"out":0' || [[ ! -s w1 ]] || break
        sleep 0.01
    done
    [[ $i -lt 3000 ]]
    exits 0 unseen pop q.bf -m 3 -x sh -c 'cat >w2; sleep 3'
    wait "$first" && return 1
    grep -q 'its lines went to the back of the queue' said
    exits 0 unseen verify q.bf
    exits 0 unseen pop q.bf -m 100
    cat w2 "$out" | sort -n | same - <(seq 20)
}
