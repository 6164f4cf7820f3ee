#!/usr/bin/env bats
# Moments that seldom come, made to come: a slot that changes hands, a filter made
# twice, a file known by two names, a lock that cannot be had. Each was a line lost,
# a line twice or a wrong exit code once.

load helper
load crash
load sweep

# Bytes whose locks are held (format/shared.h).
change=4611686018427387904
slot=4611686018427387905

# killed_in_flight: a writer over ./in is killed while its reader stalls. Sets `missing`,
# the first line that it did not deliver: it was in flight.
killed_in_flight() {
    stall
    end_stalled dead
    missing=$(tail -n +$(($(whole dead | wc -l) + 1)) in | head -n 1)
    [[ -n $missing ]]
}

# --- slots ---------------------------------------------------------------------------

@test "a slot changes hands: what its dead owner had in flight comes out of others all the while" {
    need_strace
    local missing pid heir
    input 5000 >in
    exits 0 unseen create -p 1e-9 f.bf
    # The one that lives has slot 1.
    hold_lock first "$slot"
    converse "$UNSEEN" f.bf
    say hello
    hear hello
    let_go first
    killed_in_flight
    capture unseen verify f.bf
    grep -q 'slot 0: a writer died' "$out"
    # Somebody takes slot 0, and takes his time.
    strace -qq -o trace -e trace=fcntl -e inject=fcntl:delay_enter=200000 "$UNSEEN" f.bf /dev/null 3>&- &
    heir=$!
    while "$UNSEEN" verify f.bf | grep -q 'slot 0: a writer died'; do
        sleep 0.01
    done
    say "$missing"
    say goodbye
    hear "$missing"
    hear goodbye
    farewell
    wait "$heir"
}

@test "whether another writer lives cannot be found out: exit 2, not a line lost" {
    need_strace
    local missing n first
    input 5000 >in
    exits 0 unseen create -p 1e-9 made.bf
    cp made.bf f.bf
    hold_lock zero "$slot"
    hold_lock one $((slot + 1))
    killed_in_flight
    let_go one
    let_go zero
    mv f.bf made.bf
    first=$(wc -l <in)
    for ((n = 1; n < 200; n++)); do
        cp made.bf f.bf
        hold_lock zero "$slot"
        capture strace -qq -o trace -e trace=fcntl -e "inject=fcntl:error=EINVAL:when=$n" "$UNSEEN" f.bf in
        let_go zero
        grep -q INJECTED trace || break
        cp "$out" part
        [[ $code -eq 0 || $code -eq 2 ]] || complain "call $n"
        [[ $code -ne 2 ]] || exits 0 unseen f.bf in
        none_lost in dead part "$out" || complain "call $n"
    done
    grep -q F_OFD_GETLK trace
    [[ $n -gt 5 && $n -lt 200 && $first -gt 0 ]]
}

@test "a lock that cannot be had now: exit 75, as the same run may do later; one that never can: 2" {
    need_strace
    need_own_calls
    local error
    input 10 >in
    exits 0 unseen create -p 1e-9 f.bf
    for error in ENOLCK:75 EINVAL:2; do
        exits "${error#*:}" strace -qq -o trace -e trace=fcntl -e "inject=fcntl:error=${error%:*}" "$UNSEEN" f.bf in
        says '^unseen: f\.bf: cannot be locked'
        exits "${error#*:}" strace -qq -o trace -e trace=fcntl -e "inject=fcntl:error=${error%:*}" "$UNSEEN" pop f.bf
        says '^unseen: .*f\.bf\.queue: cannot be locked'
    done
    exits 0 unseen query -v -c f.bf in
    prints '10\n'
}

# --- long flights --------------------------------------------------------------------------

@test "an output cut short while locks fail: what it did not take is never remembered" {
    need_strace
    sweep_start 2500
    form_limit() { (ulimit -f 88 && strace_it --durable f.bf in -a part); }
    done_limit() { echo 'that cannot be'; return 1; }
    runs=0
    sweep_one limit fcntl ENOLCK
    [[ $runs -gt 5 ]]
}

@test "two names for one filter: keys in flight under the other name are not mistaken for dead ones'" {
    local pid
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkdir other
    ln f.bf other/g.bf
    # A dead one leaves a file under the first name.
    exits 137 "$UNSEEN" f.bf in -x sh -c 'cat >got; kill -9 $PPID'
    [[ -e f.bf.flight-0 ]]
    cp f.bf.flight-0 debris
    # Another one has its slot, under the second name.
    input 3000 3000 >in.2
    mkfifo go
    "$UNSEEN" other/g.bf in.2 -x sh -c 'cat >got; echo here >here; read -r line <go' 3>&- &
    pid=$!
    filled here
    cp debris f.bf.flight-0
    exits 75 unseen f.bf in
    says 'f\.bf\.flight-0: .*another name'
    [[ ! -s $out ]]
    rm f.bf.flight-0
    exits 75 unseen f.bf in
    says 'f\.bf\.flight-0: .*another name'
    exits 0 unseen other/g.bf in
    same "$out" in
    echo >go
    wait "$pid"
    exits 0 unseen query -c f.bf in in.2
    prints '6000\n'
    exits 0 unseen f.bf in in.2
    prints ''
}

@test "SIGTERM while the lock cannot be had: the slot names no file any more, the file goes, the lines come again" {
    need_signals
    local pid
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    env --default-signal=TERM "$UNSEEN" f.bf in -x sh -c 'cat >got; echo here >here; exec sleep 100' 3>&- &
    pid=$!
    filled here
    hold_lock change "$change"
    kill -TERM "$pid"
    ended 143 "$pid"
    [[ ! -e f.bf.flight-0 ]]
    let_go change
    succeeds unseen verify f.bf
    exits 0 unseen f.bf in
    same "$out" in
}

# --- CMD ------------------------------------------------------------------------------

@test "-x under a parent that ignores SIGCHLD: CMD's exit code counts all the same" {
    env --ignore-signal=CHLD true 2>/dev/null || skip "needs env --ignore-signal (coreutils 8.31)"
    input 100 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 3 env --ignore-signal=CHLD "$UNSEEN" f.bf in -x sh -c 'cat >/dev/null; exit 7'
    says 'sh: exited with 7'
    succeeds env --ignore-signal=CHLD "$UNSEEN" f.bf in -x cat
    same "$out" in
    succeeds unseen f.bf in
    prints ''
}

# --- add and commit ---------------------------------------------------------------------

@test "add remembers what another writer has in flight, whatever becomes of that one" {
    local pid
    input 100 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo go
    "$UNSEEN" f.bf in -x sh -c 'cat >/dev/null; echo here >here; read -r line <go; exit 1' 2>said 3>&- &
    pid=$!
    # CMD has all of it only when its input has ended.
    filled here
    exits 0 unseen add --summary f.bf in
    says '100 lines read, 100 new'
    echo >go
    ended 3 "$pid"
    succeeds unseen query -c f.bf in
    prints '100\n'
}

@test "commit to a filter that is replaced meanwhile: a message and exit 75" {
    local pid
    input 100 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen --pending keys f.bf in
    hold_lock change "$change"
    "$UNSEEN" commit f.bf keys 2>said 3>&- &
    pid=$!
    # It has checked the file of keys, and waits.
    asleep "$pid"
    exits 0 unseen create --force -p 1e-9 f.bf
    let_go change
    exits 75 wait "$pid"
    grep -q '^unseen: f\.bf: was replaced' said
}

# --- creation -----------------------------------------------------------------------------

@test "the filter that is compared with the options is the one that is used, also if another takes its name" {
    need_strace
    local form pid child
    # swapped CALL FORM: g.bf, made without -i, takes the name f.bf after that call on it
    swapped() {
        exits 0 unseen create --force g.bf
        stopped_after $1 1 f.bf -i $2
        mv g.bf f.bf
        kill -CONT "$child"
        code=0
        wait "$pid" || code=$?
    }
    echo a >in
    for form in 'f.bf in' 'f.bf in -a got' '--tag f.bf in' '--pending keys f.bf in' 'f.bf in -x cat' 'add f.bf in' 'push f.bf in'; do
        rm -rf f.bf* keys
        exits 0 unseen --create -i f.bf <<<A
        swapped openat "$form"
        [[ $code -eq 75 && ! -s late && ! -s got ]] && grep -q 'was replaced' said || complain "$form: without -i"
        rm f.bf
        [[ $form != *keys* ]] || continue
        swapped /access "${form/f.bf/--create f.bf}"
        [[ $code -eq 2 && ! -s late ]] && grep -q '^unseen: f\.bf: was made .* (leave -i out' said || complain "$form: made"
    done
}

@test "two that find an empty file and make a filter of it: one does, and what is in it stays" {
    need_strace
    local pid child
    : >f.bf
    stopped_after fsync 1 '' create -p 1e-9 f.bf
    fails_with 75 'f\.bf: another process is creating it' unseen create f.bf
    kill -CONT "$child"
    wait "$pid"
    succeeds unseen verify f.bf
    fails_with 2 'f\.bf: File exists' unseen create f.bf
}

@test "Ctrl-Z while a disk gives out blocks: it goes on where it was" {
    # Some file systems break off there for any signal, even one that only stops and continues.
    need_strace
    local form n met=0
    input 9000 >in
    exits 0 unseen create -n 500 -p 1e-9 made.bf
    for form in 'create new.bf' 'f.bf in' 'f.bf in -x cat' '--durable f.bf in -a got' 'add f.bf in'; do
        for ((n = 1; n < 10; n++)); do
            rm -f f.bf* new.bf got
            cp made.bf f.bf
            exits 0 strace -qq -o trace -e trace=fallocate -e "inject=fallocate:error=EINTR:when=$n" "$UNSEEN" $form
            grep -q INJECTED trace || break
            met=$((met + 1))
            [[ $form != 'f.bf in'* ]] || same "$out" in
            [[ $form == create* ]] || exits 0 unseen query -c f.bf in
            [[ $form == create* ]] || prints '9000\n'
        done
    done
    [[ $met -ge 8 ]]
}

# --- the output ----------------------------------------------------------------------------

@test "an empty file that may not be written to stays; of one that cannot be locked a filter takes the place" {
    public_directory
    need_strace
    chmod 777 .
    : >f.bf
    chmod 444 f.bf
    [[ $(id -u) -ne 0 ]] || fails_with 2 '^unseen: f\.bf: Permission denied$' as_nobody "$public/unseen" create f.bf
    : >g.bf
    exits 0 strace -qq -o trace -e trace=fcntl -e inject=fcntl:error=ENOLCK:when=1 "$UNSEEN" create g.bf
    grep -q INJECTED trace
    succeeds unseen verify g.bf
    chmod 000 g.bf
    [[ $(id -u) -ne 0 ]] || fails_with 2 '^unseen: g\.bf: Permission denied$' as_nobody "$public/unseen" create --force g.bf
}

@test "-a to another filter: refused, nothing changed" {
    input 10 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen create -p 1e-9 g.bf
    fails_with 2 'g\.bf: is a filter' unseen f.bf in -a g.bf
    fails_with 2 'g\.bf: is a filter' unseen -a g.bf
}

# --- mapped files -----------------------------------------------------------------------------

@test "a filter cut off while SIGBUS is blocked by the parent: a message and exit 2, no signal" {
    env --block-signal=BUS true 2>/dev/null || skip "needs env --block-signal (coreutils 8.31)"
    exits 0 unseen create -p 1e-9 f.bf
    converse env --block-signal=BUS "$UNSEEN" f.bf
    say hello
    hear hello
    truncate -s 12288 f.bf
    # It may have met the hole already.
    (say again) || true
    local status=0
    farewell || status=$?
    [[ $status -eq 2 ]]
    grep -q '^unseen: f\.bf: the mapped file failed' "$err"
}
