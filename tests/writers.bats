#!/usr/bin/env bats
# P3 with crashes and with many writers: killed at any moment and run again,
# nothing is lost and at most a batch comes twice; of any number of writers at
# once exactly one prints a line; nobody waits for one that stalls.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash

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

@test "killed in add: what is missing is added by the next run" {
    local i moment
    input 30000 >in
    for i in 1 2 3 4 5 6 7 8 9 10; do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        moment=(0 $((RANDOM % 15000)))
        "$tools/killed" "${moment[@]}" "$UNSEEN" add f.bf in 2>"$err" || true
        verify_usable
        exits 0 unseen add f.bf in
        succeeds unseen query -c f.bf in
        prints '30000\n'
    done
}

# --- many writers at once ----------------------------------------------------------

@test "8 writers, the same input, own outputs: each line exactly once, 8 runs" {
    local i
    input 20000 >in
    for i in 1 2 3 4 5 6 7 8; do
        exits 0 unseen create --force -n 20000 -p 1e-9 f.bf
        writers 8 "$UNSEEN" f.bf in
        each_once in out.*
        succeeds unseen f.bf in
        prints ''
    done
}

@test "8 writers, overlapping inputs, a filter that grows: each line exactly once, 6 runs" {
    local i
    overlapping 8000 3000
    for i in 1 2 3 4 5 6; do
        exits 0 unseen create --force -p 1e-9 f.bf
        writers 8 "$UNSEEN" f.bf in.%i
        each_once in out.*
        verify_usable
        succeeds unseen f.bf in
        prints ''
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

@test "more writers than slots wait for their turn: each line exactly once" {
    local i pids=() failed=0 feed gate
    input 300 >in
    exits 0 unseen create -p 1e-9 f.bf
    # All have it open from the start: who comes late finds its end.
    mkfifo gate
    exec {feed}<>gate
    exec {gate}<gate
    for ((i = 0; i < 140; i++)); do
        "$UNSEEN" f.bf - in <&"$gate" >"out.$i" 2>"err.$i" 3>&- {feed}>&- {gate}<&- &
        pids+=($!)
    done
    # They hold their slots as long as the gate is open.
    sleep 0.3
    exec {feed}>&-
    for i in "${pids[@]}"; do
        wait "$i" || { failed=1; echo "$i"; }
    done
    [[ $failed -eq 0 ]] || { cat err.*; false; }
    each_once in out.*
}

@test "50 times 8 writers of which three are killed, their input run again: 0 lost" {
    local hits
    input 12000 >in
    some_killed 50 -n 2000
    [[ $hits -ge $(fewer 5) ]]
}

@test "20 times 8 writers on one file by -a, three of them killed, their input run again: 0 lost, no line glued" {
    # shellcheck disable=SC2034 # three_killed uses it
    local i runs hits=0 to=all.txt
    runs=$(fewer 20)
    input 8000 >in
    for ((i = 0; i < runs; i++)); do
        exits 0 unseen create --force -n 2000 -p 1e-9 f.bf
        # One that was killed long ago left half a line.
        head -c 30 in >all.txt
        three_killed 2 -a all.txt
        none_lost in all.txt
        # What is no line of the input is the beginning of one, where a kill cut it.
        sort -u all.txt | comm -13 <(sort in) - >pieces
        [[ $(wc -l <pieces) -le 4 ]]
        while IFS= read -r line; do
            grep -q "^$line" in || { echo "glued: $line"; false; }
        done <pieces
    done
    echo "$hits of $((3 * runs)) writers were killed"
    [[ $hits -ge $(fewer 5) ]]
}

# --- one that stalls ---------------------------------------------------------------

# Lines of `second` are all in; the run of all that is not in goes to `third`, and what only b.in has to `out`.
what_remains_comes() {
    succeeds unseen query -c f.bf second
    prints "$(wc -l <second)\\n"
    exits 0 unseen f.bf in
    cp "$out" third
    exits 0 unseen f.bf b.in
    sort -u in b.in >all
}

@test "A stalls with lines in flight, B delivers, A is killed: all of B's stay, nothing is lost" {
    input 30000 >in
    input 100000 20000 >b.in
    exits 0 unseen create -n 500 -p 1e-9 f.bf
    stall
    # B says nothing (it did not wait for the lock) and ends while A still stalls.
    exits 0 unseen f.bf b.in
    run -1 grep waiting "$err"
    kill -0 "$stalled"
    cp "$out" second
    succeeds unseen query -c f.bf second
    prints "$(wc -l <second)\\n"
    end_stalled first
    what_remains_comes
    none_lost all first second third "$out"
}

@test "A stalls with lines in flight, B delivers, A gets EPIPE: all of B's stay, nothing is lost" {
    need_signals
    local status=0
    input 30000 >in
    input 100000 20000 >b.in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo pipe
    env --default-signal=PIPE "$UNSEEN" f.bf in >pipe 3>&- &
    stalled=$!
    exec {rest}<pipe
    # The first line is there, and the pipe fills up.
    IFS= read -r -u "$rest" line
    [[ $line == "$(head -n 1 in)" ]]
    sleep 0.2
    exits 0 unseen f.bf b.in
    cp "$out" second
    kill -0 "$stalled"
    # The reader reads a part, and goes.
    { echo "$line"; head -c 30000 <&"$rest"; } >first
    exec {rest}<&-
    wait "$stalled" || status=$?
    [[ $status -eq 141 ]]
    what_remains_comes
    # What the pipe had taken was handed on: at most a pipe's worth is gone with its reader.
    whole first second third "$out" | sort -u | comm -13 - all >gone
    [[ $(wc -c <gone) -le $((1048576 + line_bytes)) ]]
    [[ $(wc -l <third) -gt 10000 ]]
}

@test "the lines in flight of a writer that stalls come out of nobody else until it is gone" {
    input 5000 >in
    exits 0 unseen create -p 1e-9 f.bf
    stall
    cp /dev/null second
    exits 0 unseen f.bf in -a second
    exits 0 unseen f.bf in -a second
    exits 0 unseen query -v f.bf in
    cp "$out" in_flight
    [[ -s in_flight ]]
    sort second in_flight | uniq -d >both
    [[ ! -s both ]]
    # It goes on when its reader does: each line came out once.
    drain first
    wait "$stalled"
    each_once in first second
}

@test "what a dead writer had in flight comes out of one that lives on" {
    # The one that lives has the first slot, so nobody takes over the dead one's.
    local pid form
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    for form in 'f.bf in' 'f.bf in -x cat'; do
        exits 0 unseen create --force -p 1e-9 f.bf
        rm -f feed
        mkfifo feed
        "$UNSEEN" f.bf feed >lives 3>&- &
        pid=$!
        exec {feed}>feed
        echo first >&"$feed"
        filled lives
        # shellcheck disable=SC2086
        stall "$UNSEEN" $form
        end_stalled dead
        cat in >&"$feed"
        exec {feed}>&-
        wait "$pid"
        none_lost in dead lives
        # all that the dead one had not settled: with -x, everything
        [[ $form != *-x* ]] || tail -n +2 lives | cmp - in
    done
}

@test "a dead writer stays dead, though somebody who may only read the file locks its slot" {
    local pid collector
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    # The one that lives has the first slot, so nobody takes over the dead one's, which is the second.
    converse "$UNSEEN" f.bf
    say first
    hear first
    stall
    end_stalled dead
    coproc reader { exec "$tools/holdlock" -r f.bf $((lock_byte + 2)) 3>&- {ask}>&- {answer}<&-; }
    read -r -t 60 -u "${reader[0]}" _
    cat <&"$answer" >lives 3>&- {ask}>&- &
    collector=$!
    cat in >&"$ask"
    farewell
    wait "$collector"
    none_lost in dead lives
    eval "exec ${reader[1]}>&-"
    wait "$reader_PID" || true
}

# --- stopped ----------------------------------------------------------------------

# The lock for changes (unseen(5), "Locks").
lock_byte=4611686018427387904
queue_byte=$((lock_byte + 4097))

@test "a writer that waits five seconds for the lock says so, once; then it goes on" {
    local pid
    input 100 >in
    exits 0 unseen create -p 1e-9 f.bf
    hold_lock change "$lock_byte"
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
    [[ $(wc -l <said) -eq 1 ]]
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
    local pid feed status=0
    input 100 >in
    exits 0 unseen create -p 1e-9 f.bf
    told_at_end "$lock_byte" f.bf in
    remembers 100
    input 50 100 >in
    exits 0 unseen push f.bf in
    told_at_end "$queue_byte" pop f.bf -m 50
    exits 1 unseen pop f.bf
    # The input has not ended.
    mkfifo feed
    # shellcheck disable=SC2016 # for sh
    env --default-signal=TERM "$UNSEEN" f.bf feed -x sh -c 'read -r first; echo "$first" >took' 3>&- &
    pid=$!
    exec {feed}>feed
    echo first >&"$feed"
    filled took
    until grep -qs ') Z ' /proc/"$(tr -d ' ' <"/proc/$pid/task/$pid/children")"/stat; do sleep 0.01; done
    kill -TERM "$pid"
    wait "$pid" || status=$?
    exec {feed}>&-
    [[ $status -eq 143 ]]
    exits 0 unseen query -q f.bf took
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
    until [[ $(cut -d ' ' -f 3 "/proc/$pid/stat") == T ]]; do
        sleep 0.01
    done
    let_go change
    exits 0 unseen f.bf in
    same "$out" in
    kill -CONT "$pid"
    exec {feed}>&-
    wait "$pid"
    echo first | cmp - late
}

@test "a writer that waits for the lock can be ended: SIGTERM, SIGINT" {
    need_signals
    local pid status
    input 100 >in
    exits 0 unseen create -p 1e-9 f.bf
    hold_lock change "$lock_byte"
    local signal number
    for signal in 'TERM 15' 'INT 2'; do
        number=${signal#* }
        env --default-signal="${signal% *}" "$UNSEEN" f.bf in >got 2>said 3>&- &
        pid=$!
        asleep "$pid"
        kill "-$number" "$pid"
        status=0
        wait "$pid" || status=$?
        [[ $status -eq $((128 + number)) ]]
        [[ ! -s got ]]
    done
    let_go change
    exits 0 unseen f.bf in
    same "$out" in
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
    for ((i = 0; i < 1000; i++)); do
        [[ $(cut -d ' ' -f 3 "/proc/$pid/stat") != T ]] || break
        sleep 0.01
    done
    [[ $i -lt 1000 ]]
    kill -CONT "$pid"
    let_go room
    wait "$pid"
    same got in
}

@test "Ctrl-Z at any moment keeps no lock: others go on; fg goes on, too" {
    local i pid round stopped=0
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
        for ((i = 0; i < 50; i++)); do
            [[ $(cut -d ' ' -f 3 "/proc/$pid/stat" 2>/dev/null) != T ]] || break
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.01
        done
        [[ $i -eq 50 ]] || ! kill -0 "$pid" 2>/dev/null || stopped=$((stopped + 1))
        kill -CONT "$pid" 2>/dev/null || true
        wait "$pid"
        same got in
    done
    echo "stopped $stopped of 12"
}

# --- readers and copies -------------------------------------------------------------

@test "a copy by cp of a filter in use has no undelivered line in it, and misses none that it should have" {
    local i
    input 30000 >in
    exits 0 unseen create -n 500 -p 1e-9 f.bf
    stall
    cp f.bf copy.bf
    exec {rest}<pipe
    # Nothing more is taken: what the copy holds was in the pipe by now.
    exits 0 unseen query copy.bf in
    cp "$out" held
    kill -9 "$stalled"
    wait "$stalled" || true
    exec {hold}>&-
    cat <&"$rest" >first
    exec {rest}<&-
    whole first | sort | comm -13 - <(sort held) >undelivered
    [[ ! -s undelivered ]]
    capture unseen verify copy.bf
    [[ $code -le 1 ]]
    exits 0 unseen copy.bf in
    none_lost in held "$out"
    exits 0 unseen copy.bf in
    prints ''
}

@test "a copy by cp while -x or --durable holds lines: none of them is in it, and all come out of it" {
    local form pid feed
    input 3000 >before
    input 3000 3000 >held
    sort -u before held >all
    for form in '-x sh -c "cat >got; echo all >here; read -r line <go"' '--durable -a got'; do
        rm -rf f.bf* copy.bf* got here go feed
        exits 0 unseen --create -n 500 -p 1e-9 f.bf before
        mkfifo go feed
        eval '"$UNSEEN" f.bf feed '"$form"' 2>said 3>&- &'
        pid=$!
        exec {feed}>feed
        cat held >&"$feed"
        if [[ $form == -x* ]]; then
            # CMD has read all of it, and takes its time.
            exec {feed}>&-
            filled here
        else
            # It has written some of it, and not yet flushed: long before a second is over.
            filled got
        fi
        cp f.bf copy.bf
        capture unseen query -c copy.bf held
        # --durable may have had its second by now: what it settled is on disk.
        [[ $form == --durable* ]] || prints '0\n'
        capture unseen query copy.bf held
        whole got | sort | comm -13 - <(sort "$out") >undelivered
        [[ ! -s undelivered ]]
        capture unseen verify copy.bf
        [[ $code -le 1 ]] || complain verify
        # The writer lives, but not in the copy: there its lines are new.
        cp "$out" in_copy
        exits 0 unseen query -c copy.bf before
        prints '3000\n'
        capture unseen query copy.bf held
        cp "$out" known
        exits 0 unseen copy.bf all
        sort known "$out" | cmp - <(sort held)
        exits 0 unseen verify copy.bf
        [[ $form == --durable* ]] || echo >go
        [[ $form == -x* ]] || exec {feed}>&-
        wait "$pid"
        exits 0 unseen query -c f.bf all
        prints '6000\n'
    done
}

@test "copies taken while 8 writers stall with lines in flight: none of these is in them, all come out of them" {
    local i j hold rest pids holds
    input 40000 >in
    for i in 1 2 3; do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        rm -f out.* pipe.*
        pids=() holds=()
        for j in 0 1 2 3 4 5 6 7; do
            mkfifo "pipe.$j"
            exec {hold}<>"pipe.$j"
            holds+=("$hold")
            "$UNSEEN" f.bf in >"pipe.$j" 2>"said.$j" 3>&- &
            pids+=($!)
        done
        for hold in "${holds[@]}"; do
            until read -r -t 0 -u "$hold"; do
                sleep 0.01
            done
        done
        # Some are full by now, others are at work.
        sleep "0.$i"
        cp f.bf copy.bf
        exits 0 unseen query copy.bf in
        cp "$out" held
        kill -9 "${pids[@]}"
        wait "${pids[@]}" || true
        for j in 0 1 2 3 4 5 6 7; do
            exec {rest}<"pipe.$j"
            hold=${holds[j]}
            exec {hold}>&-
            cat <&"$rest" >"out.$j"
            exec {rest}<&-
        done
        whole out.* | sort | comm -13 - <(sort held) >undelivered
        [[ ! -s undelivered ]] || complain "round $i"
        # Nobody is alive in a copy: what was in flight is new there.
        capture unseen verify copy.bf
        [[ $code -le 1 ]] || complain verify
        exits 0 unseen copy.bf in
        sort held "$out" | cmp - in
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
