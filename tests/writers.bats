#!/usr/bin/env bats
# P3 with crashes and with many writers: killed at any moment and run again,
# nothing is lost and at most a batch comes twice; of any number of writers at
# once exactly one prints a line; nobody waits for one that stalls.

load helper
load crash

# The lock for changes (format/shared.h).
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

# bats test_tags=torture
@test "kills -9 at work: 0 lost, at most a batch twice" {
    # How many kills here and in tests/torture/run, how many of them on one filter, of how many lines.
    local few many each lines size wanted
    while read -r few many each lines size; do
        wanted=$(rounds "$few" "$many")
        [[ $wanted -gt 0 ]] || continue
        input "$lines" >in
        kill_and_rerun "$wanted" "$each" -n "$size"
    done <<'TABLE'
30 2000 5 40000 100k
30 2000 4 30000 500
4 500 3 4000 50
0 500 5 1000000 1M
TABLE
}

# bats test_tags=torture
@test "kills -9 amid rows of megabytes into FILE: told by the next run, and with its way out no row is lost, nor a part of one kept" {
    local wanted hits=0 tries=0 form
    wanted=$(rounds 2 200)
    # 6 rows of 2 to 4 MB, each of many lines. (None is cut where that would leave a shorter row: between two
    # quotes, say. Such a part is ended, as a line is, and the whole row comes again.)
    awk 'BEGIN {
        while (length(fill) < 2000000) fill = fill "7,8\n" fill
        for (i = 1; i <= 6; i++) printf "%d,\"%s\"\n", i, fill
    }' >in
    while [[ $hits -lt $wanted ]]; do
        tries=$((tries + 1))
        [[ $tries -le $((100 + 20 * wanted)) ]] || complain "only $hits of $tries kills were amid a row" || return 1
        form=-a
        [[ $((tries % 2)) -eq 0 ]] || form=--tee
        rm -f list
        exits 0 unseen create --force --csv -f 1 -p 1e-9 f.bf
        "$UNSEEN" $form list f.bf in >got 2>"$err" 3>&- &
        until [[ -s list ]]; do kill -0 $! 2>/dev/null || break; done
        [[ $((RANDOM % 2)) -eq 0 ]] || sleep "0.00$((RANDOM % 5))"
        kill -9 $! 2>/dev/null || true
        wait $! || true
        [[ -s list ]] || continue
        capture unseen $form list f.bf in
        if [[ $code -ne 0 ]]; then
            says '^unseen: list: line [0-9]+: quoted field is not closed \(' || return 1
            eval "$(sed -E 's/.*: (truncate [^)]*)\)$/\1/' "$err")"
            hits=$((hits + 1))
            exits 0 unseen $form list f.bf in || return 1
        fi
        # Rows that were written and not yet settled came twice; each is whole.
        unseen --csv <list >once
        cmp once in || complain "after $tries kills" || return 1
    done
    echo "$hits of $tries kills were amid a row"
}

# --- many writers at once ----------------------------------------------------------

# bats test_tags=torture
@test "8 writers, the same or overlapping inputs, to files of their own or to one, by >>, -a or --tee: each line exactly once" {
    # With -a: what another one has written half is no unfinished line of a killed run.
    local i form
    overlapping 8000 3000
    for ((i = $(rounds 4 150); i > 0; i--)); do
        for form in 'in >out.%i' 'in.%i >out.%i' 'in.%i >>out.all' 'in.%i -a out.all' 'in >out.%i --tee list' \
            'in.%i >out.%i --tee list' 'in.%i >out.%i --durable --tee list'; do
            exits 0 unseen create --force -n 2000 -p 1e-9 f.bf
            rm -f out.* list
            writers 8 sh -c '"$UNSEEN" f.bf '"$form"
            each_once in out.* || complain "$form"
            [[ $form != *list ]] || each_once in list || complain "list, $form"
            verify_usable
        done
    done
}

# bats test_tags=torture
@test "8 writers to one FIFO by -a, also as /dev/stdout: no line of up to 4096 bytes is torn" {
    local i form hold
    overlapping 8000 3000
    mkfifo fifo
    for ((i = $(rounds 4 150); i > 0; i--)); do
        for form in '-a fifo' '-a /dev/stdout >fifo'; do
            exits 0 unseen create --force -n 2000 -p 1e-9 f.bf
            cat fifo >all 3>&- &
            exec {hold}>fifo
            writers 8 sh -c 'exec "$UNSEEN" f.bf in.%i '"$form"
            exec {hold}>&-
            wait $!
            each_once in all || complain "$form"
        done
    done
    # longer lines come whole, too
    { head -c 9000 /dev/zero | tr '\0' x; echo; seq 3; } >in
    unseen --create g.bf in -a /dev/stdout 2>"$err" | cmp - in
}

@test "eight forms at once on one filter settle what they delivered: each line exactly once" {
    input 8000 >in
    input 3000 20000 >pending.in
    for _ in 1 2 3; do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        rm -f out.* keys
        exits 0 unseen --pending keys f.bf pending.in
        writers 8 sh -c 'case %i in
            0 | 1) "$UNSEEN" f.bf in >out.%i ;;
            2 | 3) "$UNSEEN" f.bf in --durable >out.%i ;;
            4 | 5) "$UNSEEN" f.bf in -x cat >out.%i ;;
            6) "$UNSEEN" add f.bf pending.in ;;
            7) "$UNSEEN" commit f.bf keys ;;
            esac'
        each_once in out.*
        verify_usable
        remembers 11000 in pending.in
    done
}

# bats test_tags=torture
@test "8 writers of which three are killed, their input run again: 0 lost" {
    local hits
    input 12000 >in
    some_killed "$(rounds 10 1000)" -n 2000
    [[ $hits -gt 0 ]] || sanitized
}

# --- keys in flight ----------------------------------------------------------------

# in_flight LINES [COMMAND...]: a -x, run by COMMAND, has so many of ./in, which is made for it, until
# `landed`. Sets `pid`.
in_flight() {
    rm -f go read
    mkfifo go
    input "$1" >in
    "${@:2}" timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" f.bf in \
        -x sh -c 'cat >got; echo all >read; read -r _ <go' 3>&- &
    pid=$!
    filled read
}

landed() {
    echo >go
    wait "$pid"
    same got in
}

@test "a merge over FILTER while -x settles comes after all of it" {
    need_strace
    local before
    exits 0 unseen create -n 100k -p 1e-9 f.bf
    exits 0 unseen create -n 100k -p 1e-9 g.bf
    # Each batch takes it so long that the merge falls between two.
    in_flight 40000 strace -f -qq -o trace -e trace=fcntl -e inject=fcntl:delay_exit=10000
    before=$(grep -c F_OFD_SETLK trace)
    echo >go
    while [[ $(grep -c F_OFD_SETLK trace) -lt $((before + 4)) ]] && kill -0 "$pid"; do sleep 0.01; done
    exits 0 unseen merge --force -o f.bf f.bf g.bf
    wait "$pid"
    remembers 40000
}

@test "a counter is not lowered to what it was before another writer settled" {
    need_strace
    local reads holder
    exits 0 unseen create -n 300 -p 1e-9 f.bf # of one page
    echo one >one
    strace -qq -o trace -P f.bf -e trace=pread64 "$UNSEEN" f.bf one >/dev/null
    reads=$(grep -c pread64 trace)
    in_flight 290
    holder=$pid
    input 100 5000 >other
    # without room beside what is in flight, it looks at the page, and there are few lines yet
    stopped_after pread64 $((reads + 1)) f.bf f.bf other
    echo >go
    wait "$holder"
    kill -CONT "$child"
    wait "$pid"
    same late other
    counts 391
}

# spares COMMAND...: nothing that has the name of a file in flight is changed.
spares() {
    local before
    before=$(snapshot | grep 'flight-0')
    "$@" || return 1
    [[ $(snapshot | grep 'flight-0') == "$before" ]] || complain "changed: $*"
}

@test "somebody's file that has the name of a file in flight stays, whatever it is" {
    local form
    input 5000 >in
    input 5000 5000 >other
    exits 0 unseen create -p 1e-9 other.bf
    exits 0 unseen other.bf in -x sh -c 'cat >/dev/null; cp other.bf.flight-0 another'
    for form in 'echo mine >f.bf.flight-0' ': >f.bf.flight-0' 'ln -s other f.bf.flight-0' 'mkdir f.bf.flight-0' \
        'ln -s nowhere f.bf.flight-0' 'ln other f.bf.flight-0' 'mkfifo f.bf.flight-0' 'cp another f.bf.flight-0'; do
        eval "$form"
        exits 0 unseen create --force -p 1e-9 f.bf
        spares exits 0 unseen f.bf in -x sh -c 'cat; [ -e f.bf.flight-128 ]'
        same "$out" in
        # a killed writer's are removed, by whoever has its slot next
        spares exits 137 unseen f.bf other -x sh -c 'cat >/dev/null; kill -9 "$PPID"' || complain "$form"
        spares exits 0 unseen f.bf other
        rm -r f.bf.flight-0
        no_debris
    done
}

# idle NUMBER: so many writers have each printed the line of its own, and wait for the end of ./gate, which
# descriptor `gate` keeps from them, to read ./rest. Sets `pids`.
idle() {
    local i
    mkfifo gate
    exec {gate}<>gate
    pids=()
    for ((i = 0; i < $1; i++)); do
        echo "own $i" >"own.$i"
        "$UNSEEN" --tag f.bf "own.$i" gate rest >"out.$i" 2>"err.$i" 3>&- {gate}>&- &
        pids+=($!)
    done
    for ((i = 0; i < $1; i++)); do filled "out.$i" || return 1; done
}

@test "more writers than slots that wait for input keep nobody from work, in any form, and each goes on" {
    local i form files gate pids
    input 300 >in
    input 3000 5000 >rest
    exits 0 unseen create -p 1e-9 f.bf
    idle 140
    files=$(stat -c '%i %n' f.bf.flight-*)
    [[ $(wc -l <<<"$files") -eq 139 ]]
    for form in in '--durable in' 'in -x cat' '--tag in'; do
        exits 0 timeout 60 "$UNSEEN" f.bf $form
        sed 's/^new\t//' "$out" | same /dev/stdin in || complain "$form"
        silent_on_stderr
        exits 0 unseen query -c f.bf in && prints '300\n'
        [[ $(stat -c '%i %n' f.bf.flight-*) == "$files" ]] || complain "$form took a file that somebody has"
        sed -i 's/^/x/' in
    done
    exits 0 unseen verify f.bf
    exec {gate}>&-
    for i in "${pids[@]}"; do wait "$i"; done
    sed -n 's/^new\t//p' out.* | sort >new
    sort own.* rest | same new /dev/stdin
    run -1 grep . err.*
    no_debris
}

# bats test_tags=torture
@test "with a slot only while lines are in flight: kills lose nothing, each line comes once, and no file is left" {
    local hits i
    eval "$(declare -f unseen | sed '1s/unseen/as_ever/')"
    # the slots that a writer would keep are taken in each filter that is made
    unseen() {
        as_ever "$@" || return 1
        [[ $1 != create ]] || { [[ -z ${holder_kept-} ]] || let_go kept; hold_lock kept $((lock_byte + 1)) f.bf 64; }
    }
    input 40000 >in
    kill_and_rerun "$(rounds 15 1000)" 5 -n 500
    input 12000 >in
    some_killed "$(rounds 5 500)" -n 2000
    for ((i = $(rounds 4 150); i > 0; i--)); do
        rm -f f.bf* out.* # with what the killed ones left
        exits 0 unseen create -n 2000 -p 1e-9 f.bf
        writers 8 sh -c 'case %i in
            [0-3]) "$UNSEEN" f.bf in >out.%i ;;
            4) "$UNSEEN" f.bf in --durable >out.%i ;;
            5) "$UNSEEN" f.bf in -x cat >out.%i ;;
            *) "$UNSEEN" --tag f.bf in | sed -n "s/^new.//p" >out.%i ;;
            esac'
        each_once in out.*
        no_debris
    done
    # The file of a dead one goes with the next that takes its slot.
    input 3000 20000 >others
    exits 137 "$UNSEEN" f.bf others -x sh -c 'cat >/dev/null; kill -9 $PPID'
    [[ -e f.bf.flight-64 ]]
    succeeds unseen f.bf others
    same "$out" others
    no_debris
}

@test "while all slots are taken a writer waits, keeps nobody from work and says what for; then it goes on" {
    local pid
    input 300 >in
    exits 0 unseen create -p 1e-9 f.bf
    hold_lock all $((lock_byte + 1)) f.bf 128
    "$UNSEEN" f.bf in >got 2>said 3>&- &
    pid=$!
    "$UNSEEN" f.bf in >got.2 2>said.2 3>&- &
    filled said
    grep -qx 'unseen: f\.bf: waiting for one of the 128 places for lines in flight, which other runs hold' said
    if strace -qq -o /dev/null true 2>/dev/null && ! sanitized; then
        timeout 0.5 strace -qq -o trace -e trace=fcntl -p "$pid" || true
        holds "$(wc -l <trace) < 1000"
    fi
    let_go all
    wait "$pid" && wait $!
    each_once in got got.2
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
        rm -f lives
        exits 0 unseen create --force -p 1e-9 f.bf
        mkfifo feed
        "$UNSEEN" f.bf feed >lives 3>&- &
        pid=$!
        exec {feed}>feed
        echo first >&"$feed"
        filled lives
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

@test "SIGTERM and SIGINT end the wait for the lock of a writer that has delivered nothing; readers do not wait" {
    need_signals
    local pid signal
    input 100 >in
    exits 0 unseen create -p 1e-9 f.bf
    hold_lock change "$lock_byte"
    for signal in TERM INT; do
        env --default-signal=$signal "$UNSEEN" f.bf in >got 2>said 3>&- &
        pid=$!
        asleep "$pid"
        exits 1 unseen query -c f.bf in
        exits 0 unseen stats f.bf
        verify_usable
        kill -s $signal "$pid"
        exits $((128 + $(kill -l $signal))) wait "$pid"
        [[ ! -s got && ! -s said ]]
    done
    let_go change
}

# told_to_end CALL FILE ARGUMENT...: the run has done CALL on FILE, and so delivered lines, when others
# take the lock and two signals come: it waits all the same, and remembers what it has delivered.
# Meanwhile `beside` runs.
told_to_end() {
    local pid child
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
    beside
    let_go change
    ended 143 "$pid" || return 1
    [[ -s got ]] || unseen pop f.bf -m 100 >got || true
    cat late got | cmp - in
    exits 1 unseen query -v f.bf in
}

# after_five_seconds: who waits for the lock says so, once, and that a signal does not end it if it does not.
after_five_seconds() {
    "$UNSEEN" f.bf others >printed 2>said.other 3>&- &
    other=$!
    filled said.other
    kill -0 "$pid" "$other"
    grep -q 'f.bf: waiting for another process that is using it (only SIGKILL ' said
    [[ ! -s printed ]]
}

@test "a signal does not end the wait for the lock where lines were delivered, nor does a second one; after five seconds it is said" {
    need_strace
    local other
    input 100 >in
    input 100 500 >others
    beside() { after_five_seconds; }
    told_to_end write got f.bf in -a got
    wait "$other"
    same printed others
    [[ $(cat said.other) == 'unseen: f.bf: waiting for another process that is using it' ]]
    beside() { :; }
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
    echo next >in # the least that there can be
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo feed
    "$UNSEEN" f.bf feed >late 3>&- &
    pid=$!
    exec {feed}<>feed
    echo first >&"$feed"
    filled late
    hold_lock change "$lock_byte"
    # Late has looked, and found them new; now it waits for the lock, and is stopped there.
    cat in >&"$feed"
    while read -r -t 0 -u "$feed"; do sleep 0.01; done
    asleep "$pid"
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

@test "Ctrl-Z at any moment keeps no lock: others go on; fg goes on, too" {
    local pid round
    input 60000 >in
    input 200 900000 >few
    for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        env --default-signal=TSTP "$UNSEEN" f.bf in >got 2>said 3>&- &
        pid=$!
        filled got
        sleep "0.00$round"
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

@test "copies taken while the filter grows: each opens, with what was remembered before, and no line not printed" {
    local i pid
    input 60000 >in
    for i in 1 2 3 4 5 6; do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        "$UNSEEN" f.bf in >got 2>said 3>&- &
        pid=$!
        filled got
        sleep "0.00$i"
        head -n -2048 got >remembered
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
        [[ $(unseen query -v -c copy.bf remembered) -eq 0 ]] || complain "not in the copy"
    done
}
