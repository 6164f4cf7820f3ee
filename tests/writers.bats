#!/usr/bin/env bats
# P3 with crashes and with many writers: killed at any moment and run again,
# nothing is lost and at most a batch comes twice; of any number of writers at
# once exactly one prints a line; nobody waits for one that stalls.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash

# The lock for changes (unseen(5), "Locks").
lock_byte=4611686018427387904
queue_byte=$((lock_byte + 4097))

@test "the judge of kills can tell: a gap, too many repeats, other lines" {
    local next repeated=0
    input 9000 >in
    next=0
    head -n 3000 in >a
    follow a
    [[ $next -eq 3000 ]]
    tail -n +2002 in | head -c 37010 >b # one line less than a batch and a half; cut at its end
    follow b
    [[ $next -eq 3001 && $repeated -eq 999 ]]
    tail -n +3002 in >c
    follow c
    [[ $next -eq 9000 ]]
    next=3000

    tail -n +3002 in >gap
    run -1 follow gap
    [[ $output == *'1 lost'* ]]
    tail -n +952 in >repeats
    run -1 follow repeats
    [[ $output == *'more than a batch'* ]]
    sed 5s/page/pxge/ a >other
    run -1 piece other
    sed 5d a >missing
    run -1 piece missing
}

# --- kills -----------------------------------------------------------------------

@test "150 kills -9 at work: 0 lost, at most a batch twice" {
    input 40000 >in
    kill_and_rerun 150 5 -n 100k
}

@test "100 kills -9 at work while it grows: 0 lost, at most a batch twice" {
    input 30000 >in
    kill_and_rerun 100 4 -n 500
}

@test "50 kills -9 at work, with -a: an unfinished last line is ended first" {
    local i wanted hits=0 tries=0 before after moment
    wanted=$(fewer 50)
    input 20000 >in
    while [[ $hits -lt $wanted ]]; do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        rm -f all.txt
        for i in 1 2 3 4; do
            before=$(bytes_of all.txt 2>/dev/null || echo 0)
            tries=$((tries + 1))
            [[ $tries -lt 1200 ]] || { echo "only $hits hits"; false; }
            moment $((20000 * line_bytes))
            # shellcheck disable=SC2094 # it appends, and killed looks at the size
            "$tools/killed" "${moment[@]}" "$UNSEEN" f.bf in -a all.txt >>all.txt 2>"$err" || true
            after=$(bytes_of all.txt 2>/dev/null || echo 0)
            [[ $after -eq $before || $after -ge $((20000 * line_bytes)) ]] || hits=$((hits + 1))
        done
        exits 0 unseen f.bf in -a all.txt
        none_lost in all.txt
    done
    # A line that was cut stands there, ended; nothing is glued to it.
    input 10 >in
    head -c 1000 in | head -c 100 >all.txt
    exits 0 unseen create --force -p 1e-9 f.bf
    exits 0 unseen f.bf in -a all.txt
    { head -c 100 in && echo && cat in; } >wanted
    same all.txt wanted
}

# --- many writers at once ----------------------------------------------------------

@test "8 writers, the same or overlapping inputs, a filter that grows: each line exactly once, 12 runs" {
    local i inputs
    overlapping 8000 3000
    for i in 1 2 3 4 5 6; do
        for inputs in in in.%i; do
            exits 0 unseen create --force -p 1e-9 f.bf
            writers 8 "$UNSEEN" f.bf "$inputs"
            each_once in out.*
            verify_usable
            succeeds unseen f.bf in
            prints ''
        done
    done
}

@test "8 writers on one O_APPEND file, by >> and by -a: each line exactly once, 4 runs each" {
    # With -a: what another one has written half is no unfinished line of a killed run.
    local command
    input 20000 >in
    # shellcheck disable=SC2016
    for command in '"$UNSEEN" f.bf in >>all.txt' '"$UNSEEN" f.bf in -a all.txt'; do
        for _ in 1 2 3 4; do
            exits 0 unseen create --force -p 1e-9 f.bf
            rm -f all.txt
            writers 8 sh -c "$command"
            each_once in all.txt
        done
    done
}

@test "8 writers on one pipe, a line at a time: each line exactly once" {
    # Up to PIPE_BUF bytes a write is whole.
    local i
    input 400 >in
    exits 0 unseen create -p 1e-9 f.bf
    # shellcheck disable=SC2016
    dribble='while IFS= read -r line; do echo "$line"; done <in | "$UNSEEN" f.bf'
    for i in 1 2 3 4 5 6 7 8; do
        timeout "$UNSEEN_TIMEOUT" sh -c "$dribble" 3>&- &
    done | cat >all.txt
    each_once in all.txt
}

@test "8 writers in turn: eight forms at once settle what they delivered" {
    # Batches, -x, --durable, add and commit on one filter, all at once.
    local i j pids failed
    input 8000 >in
    for i in 1 2 3; do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        rm -f out.* keys
        input 3000 20000 >pending.in
        exits 0 unseen --pending keys f.bf pending.in
        pids=() failed=0
        for j in 0 1; do
            "$UNSEEN" f.bf in >"out.$j" 2>"err.$j" 3>&- &
            pids+=($!)
            "$UNSEEN" f.bf in --durable >"out.d$j" 2>"err.d$j" 3>&- &
            pids+=($!)
            "$UNSEEN" f.bf in -x cat >"out.x$j" 2>"err.x$j" 3>&- &
            pids+=($!)
        done
        "$UNSEEN" add f.bf pending.in 2>err.a 3>&- &
        pids+=($!)
        "$UNSEEN" commit f.bf keys 2>err.c 3>&- &
        pids+=($!)
        for j in "${pids[@]}"; do
            wait "$j" || failed=1
        done
        [[ $failed -eq 0 ]] || { cat err.*; false; }
        each_once in out.*
        verify_usable
        exits 1 unseen query -v -c f.bf in pending.in
        prints '0\n'
    done
}

@test "50 times 8 writers of which three are killed, their input run again: 0 lost" {
    local hits
    input 12000 >in
    some_killed 50 -n 2000
    [[ $hits -ge $(fewer 5) ]]
}

# --- keys in flight ----------------------------------------------------------------

# in_flight LINES [OPTION...]: a -x has so many of ./in, which is made for it, until `landed`. Sets `pid`.
in_flight() {
    mkfifo go
    input "$1" >in
    timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" "${@:2}" f.bf in -x sh -c 'cat >got; echo all >read; read -r _ <go' 3>&- &
    pid=$!
    filled read
}

landed() {
    echo >go
    wait "$pid"
    same got in
    rm go read got
}

@test "what is added or committed while -x has it in flight counts once" {
    local n form command
    for form in '-n 5000' --counting; do
        for n in 1000 30000; do
            for command in 'add f.bf in' 'commit f.bf keys'; do
                rm -f f.bf keys
                # shellcheck disable=SC2086 # several words
                exits 0 unseen create -p 1e-9 $form f.bf
                exits 0 unseen --pending keys f.bf <(input "$n")
                in_flight "$n"
                # shellcheck disable=SC2086
                exits 0 unseen $command
                landed
                counts "$n" || complain "$form, $n, $command"
                no_debris
            done
        done
    done
    exits 0 unseen remove f.bf in
    remembers 0
}

@test "what a window is about to forget does not vouch: the last lines are in, added meanwhile or not, at p = 0.5" {
    local i
    exits 0 unseen create --window 1000 -p 0.5 f.bf
    for ((i = 0; i < 40; i++)); do
        input 50 $((i * 50)) >in
        # shellcheck disable=SC2016 # for sh
        exits 0 unseen f.bf in -x sh -c 'cat >>got; exec "$UNSEEN" add f.bf in'
    done
    tail -n 1000 got >in
    remembers 1000
}

@test "a merge over FILTER while -x settles comes before all of it or after" {
    local i status
    # It must take longer than a merge takes to begin.
    for ((i = 0; i < 8; i++)); do
        exits 0 unseen create --force -n 2M -p 1e-9 f.bf
        exits 0 unseen create --force -n 2M -p 1e-9 g.bf
        in_flight 1000000
        echo >go
        sleep "0.0$i"
        exits 0 unseen merge --force -o f.bf f.bf g.bf
        status=0
        wait "$pid" || status=$?
        rm go read
        case $status in
        0) remembers 1000000 ;;
        75) remembers 0 ;;
        *) complain "exit code $status" ;;
        esac
    done
}

@test "beside a writer that is held up a filter grows by what is written, and no more" {
    local i
    exits 0 unseen create -n 500 -p 1e-9 f.bf
    cp f.bf like.bf
    in_flight 100000
    exits 0 unseen add like.bf in
    for ((i = 1; i < 30; i++)); do
        input 2000 $((i * 2000 + 100000)) >others
        exits 0 unseen f.bf others
        same "$out" others
        exits 0 unseen add like.bf others
    done
    holds "$(bytes_of f.bf) <= $(bytes_of like.bf)"
    landed
    holds "$(bytes_of f.bf) <= $(bytes_of like.bf)"
}

# spares COMMAND...: nothing that has the name of a file in flight is changed.
spares() {
    local before
    before=$(snapshot | grep 'flight-0')
    "$@" || return 1
    [[ $(snapshot | grep 'flight-0') == "$before" ]] || complain "changed: $*"
}

@test "somebody's file that has the name of a file in flight stays, whatever it is, and is read as any other" {
    local form
    input 5000 >in
    input 5000 5000 >other
    exits 0 unseen create -p 1e-9 other.bf
    exits 0 unseen other.bf in -x sh -c 'cat >/dev/null; cp other.bf.flight-0 another'
    for form in 'echo mine >f.bf.flight-0' ': >f.bf.flight-0' 'ln -s other f.bf.flight-0' 'mkdir f.bf.flight-0' \
        'ln -s nowhere f.bf.flight-0' 'cp another f.bf.flight-0'; do
        eval "$form"
        exits 0 unseen create --force -p 1e-9 f.bf
        # shellcheck disable=SC2016 # for sh
        spares exits 0 unseen f.bf in -x sh -c 'cat; [ -e f.bf.flight-128 ]'
        same "$out" in
        # a killed writer's are removed, by whoever has its slot next
        # shellcheck disable=SC2016
        spares exits 137 unseen f.bf other -x sh -c 'cat >/dev/null; kill -9 "$PPID"' || complain "$form"
        spares exits 0 unseen f.bf other
        rm -r f.bf.flight-0
        no_debris
    done
    exits 0 unseen create --force -p 1e-9 f.bf
    cp in f.bf.flight-0
    exits 0 unseen f.bf f.bf.flight-0 -x cat
    same "$out" in
    exits 0 unseen --durable f.bf other -a f.bf.flight-0
    cat in other | cmp - f.bf.flight-0
    exits 0 unseen --dropped f.bf.flight-0 f.bf in -x cat
    cat in other in | cmp - f.bf.flight-0
}

@test "more writers than slots: two wait for their turn, keep nobody from work, and each line comes once" {
    local i feed gate pids=()
    input 300 >in
    exits 0 unseen create -p 1e-9 f.bf
    # All have it open from the start: who comes late finds its end. 128 hold their slots as long as it is open.
    mkfifo gate
    exec {feed}<>gate
    exec {gate}<gate
    for ((i = 0; i < 130; i++)); do
        "$UNSEEN" f.bf - in <&"$gate" >"out.$i" 2>"err.$i" 3>&- {feed}>&- {gate}<&- &
        pids+=($!)
    done
    # After five seconds they say so.
    until [[ $(cat err.* | grep -c ': waiting for ') -eq 2 ]]; do sleep 0.1; done
    if strace -qq -o /dev/null true 2>/dev/null && ! sanitized; then
        for ((i = 0; i < 130; i++)); do
            [[ ! -s err.$i ]] || timeout 2 strace -qq -o "trace.$i" -e trace=fcntl -p "${pids[i]}" || true
        done
        holds "$(cat trace.* | wc -l) < 1000"
    fi
    exec {feed}>&-
    for i in "${pids[@]}"; do wait "$i"; done
    each_once in out.*
}

# --- one that stalls ---------------------------------------------------------------

@test "A stalls with lines in flight, B delivers the others; A goes on or is killed: nothing is lost" {
    local end
    input 30000 >in
    input 100000 20000 >b.in
    sort -u in b.in >all
    for end in drain end_stalled; do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        stall
        # B says nothing (it did not wait for the lock) and ends while A still stalls.
        exits 0 unseen f.bf in b.in
        run -1 grep waiting "$err"
        kill -0 "$stalled"
        cp "$out" second
        exits 0 unseen f.bf in b.in
        prints ''
        capture unseen query -v -c f.bf all
        holds "$(cat "$out") > 0"
        $end first
        wait "$stalled" || [[ $end == end_stalled ]]
        has f.bf second
        exits 0 unseen f.bf in b.in
        cp "$out" third
        none_lost all first second third
        [[ $end != drain ]] || each_once all first second
    done
}

@test "what a dead writer had in flight comes out of one that lives on, though a reader locks the dead one's slot" {
    # The one that lives has the first slot, so nobody takes over the dead one's.
    local pid form
    input 3000 >in
    for form in 'f.bf in' 'f.bf in -x cat'; do
        exits 0 unseen create --force -p 1e-9 f.bf
        mkfifo feed
        "$UNSEEN" f.bf feed >lives 3>&- &
        pid=$!
        exec {feed}>feed
        echo first >&"$feed"
        filled lives
        # shellcheck disable=SC2086
        stall "$UNSEEN" $form
        end_stalled dead
        coproc reader { exec "$tools/holdlock" -r f.bf $((lock_byte + 2)) 3>&- {feed}>&-; }
        read -r -t 60 -u "${reader[0]}" _
        cat in >&"$feed"
        exec {feed}>&-
        wait "$pid"
        eval "exec ${reader[1]}>&-"
        wait "$reader_PID" || true
        none_lost in dead lives
        # all that the dead one had not settled: with -x, everything
        [[ $form != *-x* ]] || tail -n +2 lives | cmp - in
        rm feed
    done
}

# --- stopped ----------------------------------------------------------------------

@test "a writer that waits five seconds for the lock says so, once, and goes on; SIGTERM and SIGINT end it" {
    need_signals
    local pid signal
    input 100 >in
    exits 0 unseen create -p 1e-9 f.bf
    hold_lock change "$lock_byte"
    for signal in TERM INT; do
        env --default-signal=$signal "$UNSEEN" f.bf in >got 2>said 3>&- &
        pid=$!
        asleep "$pid"
        kill -s $signal "$pid"
        exits $((128 + $(kill -l $signal))) wait "$pid"
        [[ ! -s got && ! -s said ]]
    done
    "$UNSEEN" f.bf in >got 2>said 3>&- &
    pid=$!
    # Readers do not wait.
    exits 1 unseen query -c f.bf in
    exits 0 unseen stats f.bf
    verify_usable
    [[ ! -s said ]]
    filled said
    kill -0 "$pid"
    [[ ! -s got ]]
    let_go change
    wait "$pid"
    same got in
    [[ $(cat said) == 'unseen: f.bf: waiting for another process that uses it' ]]
}

# told_to_end CALL FILE ARGUMENT...: the run has done CALL on FILE, and so delivered lines, when others
# take the lock and two signals come: it waits all the same, and remembers what it has delivered.
told_to_end() {
    local pid child status=0
    rm -rf f.bf* got
    exits 0 unseen create -p 1e-9 f.bf
    : >got
    [[ $3 != pop ]] || exits 0 unseen push f.bf in
    stopped_after "$1" 1 "$2" "${@:3}" || return 1
    hold_lock change "${lock_at-$lock_byte}"
    kill -TERM "$child"
    kill -CONT "$child"
    asleep "$child" || return 1
    kill -HUP "$child"
    until [[ -z ${until_said-} ]] || grep -q "$until_said" said; do
        kill -0 "$pid" && sleep 0.05 || return 1
    done
    let_go change
    wait "$pid" || status=$?
    [[ $status -eq 143 ]] || complain "status $status" || return 1
    [[ -s got ]] || unseen pop f.bf -m 100 >got || true
    cat late got | cmp - in
    exits 1 unseen query -v f.bf in
}

@test "a signal does not end the wait for the lock where lines were delivered, nor does a second one" {
    need_strace
    input 100 >in
    until_said='f.bf: waiting for another process that uses it (only SIGKILL ' told_to_end write got f.bf in -a got
    told_to_end fdatasync got --durable f.bf in -a got
    told_to_end pwrite64 "$PWD/f.bf.queue/0000000001" push f.bf in
    lock_at=$queue_byte told_to_end write "$PWD/late" pop f.bf -m 100
}

# told_at_end BYTE ARGUMENT...: CMD has had all lines, and exits with 0 while others have the lock on BYTE,
# and two signals come: its lines are done with, and the exit status is 0.
told_at_end() {
    local pid
    rm -f go read
    mkfifo go
    env --default-signal=HUP,TERM "$UNSEEN" "${@:2}" \
        -x sh -c 'cat >got; echo all >read; read -r word <go; exit 0' 2>said 3>&- &
    pid=$!
    filled read
    hold_lock change "$1"
    echo >go
    until [[ -z $(cat /proc/"$pid"/task/*/children) ]]; do sleep 0.01; done
    asleep "$pid"
    kill -TERM "$pid"
    kill -HUP "$pid"
    let_go change
    wait "$pid"
    same got in
}

@test "a signal does not undo what CMD has done that exited with 0" {
    need_signals
    input 100 >in
    exits 0 unseen create -p 1e-9 f.bf
    told_at_end "$lock_byte" f.bf in
    remembers 100
    input 50 100 >in
    exits 0 unseen push f.bf in
    told_at_end "$queue_byte" pop f.bf -m 50
    exits 1 unseen pop f.bf
}

@test "what others settle between the look without the lock and the lock is looked at again" {
    local pid feed
    input 500 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo feed
    "$UNSEEN" f.bf feed >late 3>&- &
    pid=$!
    exec {feed}>feed
    echo first >&"$feed"
    filled late
    hold_lock change "$lock_byte"
    # Late has looked, and found them new; now it waits for the lock, and is stopped there.
    cat in >&"$feed"
    sleep 0.3
    kill -STOP "$pid"
    comes_to_stop "$pid"
    let_go change
    exits 0 unseen f.bf in
    same "$out" in
    kill -CONT "$pid"
    exec {feed}>&-
    wait "$pid"
    echo first | cmp - late
}

@test "Ctrl-Z stops a writer that waits for another one to make room" {
    local pid i
    seq 3000 >in
    exits 0 unseen create -n 500 -p 1e-9 f.bf
    hold_lock room "$((lock_byte + 4096))"
    env --default-signal=TSTP "$UNSEEN" f.bf in >got 2>said 3>&- &
    pid=$!
    asleep "$pid"
    kill -TSTP "$pid"
    comes_to_stop "$pid"
    kill -CONT "$pid"
    let_go room
    wait "$pid"
    same got in
}

@test "Ctrl-Z at any moment keeps no lock: others go on; fg goes on, too" {
    local pid round
    input 60000 >in
    input 200 900000 >few
    for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        env --default-signal=TSTP "$UNSEEN" f.bf in >got 2>said 3>&- &
        pid=$!
        sleep "0.0$((round % 4 + 1))$round"
        kill -TSTP "$pid" 2>/dev/null || true
        # If it had stopped with the lock, this would wait for ever.
        exits 0 timeout 60 "$UNSEEN" f.bf few
        run -1 grep waiting "$err"
        same "$out" few
        kill -CONT "$pid" 2>/dev/null || true
        wait "$pid"
        same got in
    done
}

# --- readers and copies -------------------------------------------------------------

@test "a copy by cp while -x holds lines: none of them is in it, and all come out of it" {
    local n
    for n in 1000 3000; do
        rm -rf f.bf* copy.bf
        exits 0 unseen --create -n 500 -p 1e-9 f.bf <(input 3000 9000)
        in_flight "$n"
        cp f.bf copy.bf
        remembers 3000 <(input 3000 9000)
        # The writer lives, but not in the copy: there its lines are new.
        capture unseen verify copy.bf
        [[ $code -le 1 ]] || complain verify
        exits 0 unseen copy.bf in <(input 3000 9000)
        same "$out" in
        exits 0 unseen verify copy.bf
        landed
        remembers $((3000 + n)) in <(input 3000 9000)
    done
}

@test "copies taken at any moment while the filter grows: each opens, none holds a line not printed" {
    local i pid
    input 60000 >in
    for i in 1 2 3 4 5 6; do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        "$UNSEEN" f.bf in >got 2>said 3>&- &
        pid=$!
        sleep "0.0${i}"
        cp f.bf copy.bf
        kill -STOP "$pid" 2>/dev/null || true
        cp got got.then
        kill -CONT "$pid" 2>/dev/null || true
        wait "$pid"
        capture unseen verify copy.bf
        [[ $code -le 1 ]] || complain verify
        capture unseen query copy.bf in
        [[ $code -le 1 ]]
        sort "$out" | comm -23 - <(whole got.then | sort) >undelivered
        [[ ! -s undelivered ]]
    done
}
