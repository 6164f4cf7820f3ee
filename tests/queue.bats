#!/usr/bin/env bats
# The to-visit queue: push and pop.

load helper
load crash

# is FILE TEXT: byte for byte (printf's escapes).
is() {
    printf '%b' "$2" >"$BATS_TEST_TMPDIR/expected"
    same "$1" "$BATS_TEST_TMPDIR/expected"
}

# a_queue [FIRST LAST]: a new q.bf with a queue, and these numbers in it.
a_queue() {
    rm -rf q.bf*
    creates -p 1e-9 q.bf && succeeds unseen push q.bf < <(seq "${1:-1}" "${2:-0}")
}

segment() { printf 'q.bf.queue/%010d' "$1"; }

# by_hand TEXT...: a queue of these segments, from number 1 on.
by_hand() {
    local text number=0
    a_queue || return 1
    for text; do
        number=$((number + 1))
        printf '%b' "$text" >"$(segment $number)"
    done
}

# reads N TEXT: so segment N does.
reads() { is "$(segment "$1")" "$2"; }

segments() { [[ $(cd q.bf.queue && printf '%.0f ' [0-9]*) == "$1 " ]] || { ls -l q.bf.queue; false; }; }

# pops TEXT [OPTION...]: it prints exactly TEXT.
pops() {
    local text=$1
    shift
    succeeds unseen pop q.bf "$@" </dev/null && prints "$text"
}

# told STATUS PATTERN COMMAND...: it exits so, with one line on stderr that matches.
told() { exits "$1" "${@:3}" && says "$2"; }

empty() { exits 1 unseen pop q.bf && silent_on_stderr && prints ''; }

# counts WAITING HELD [GIVEN-UP]: as stats has them.
counts() {
    capture unseen stats --json q.bf
    [[ "$(field waiting) $(field held) $(field given_up)" == "$1 $2 ${3:-0}" ]] || complain "should be: $*"
}

# new LINE: it is not remembered.
new() { exits 1 unseen query q.bf <<<"$1"; }

# A worker NAME: a pop whose CMD has read its lines, into ./lines.NAME, and waits to be told how to end.
declare -gA worker go

# works NAME [OPTION...]
works() {
    local name=$1 end
    shift
    rm -f "go.$name" "at.$name"
    mkfifo "go.$name"
    exec {end}<>"go.$name"
    go[$name]=$end
    "$UNSEEN" pop q.bf "$@" -x sh -c 'cat >"lines.$0"; echo $$ >"at.$0"; read -r status <"go.$0"; exit "$status"' \
        "$name" 2>"$err.$name" 3>&- {end}>&- &
    worker[$name]=$!
    filled "at.$name"
}

# ends NAME STATUS EXIT: CMD exits with STATUS, and then the worker with EXIT.
ends() {
    echo "$2" >&"${go[$1]}"
    exits "$3" wait "${worker[$1]}" || { cat "$err.$1"; return 1; }
    cp "$err.$1" "$err"
}

# killed NAME [SIGNAL STATUS]
killed() {
    kill -s "${2:-KILL}" "${worker[$1]}"
    exits "${3:-137}" wait "${worker[$1]}"
}

# waits_to [OPTION...]: a pop that is asleep, $waiter, with its output in ./got.
waits_to() {
    env --default-signal=INT,TERM "$UNSEEN" pop q.bf "$@" >got 3>&- &
    waiter=$!
    asleep $waiter && [[ ! -s got ]]
}

# gets TEXT: that is what it was for.
gets() { exits 0 wait "$waiter" && is got "$1"; }

# --- one after the other -----------------------------------------------------

@test "push appends what is new, whole lines of any bytes; pop takes the oldest" {
    a_queue
    empty
    printf 'b\na\nb\n\ny' >one
    printf '\r\n\377\000-1\na\n' >two
    succeeds unseen push q.bf one two
    prints ''
    reads 1 ' b\n a\n \n y\n \r\n \0377\0000-1\n'
    pops 'b\n'
    pops 'a\n\n' -m 2
    reads 1 '-b\n-a\n-\n y\n \r\n \0377\0000-1\n'
    # What was taken is not new again; what others print or remember is not queued.
    succeeds unseen q.bf < <(seq 2)
    succeeds unseen add q.bf < <(seq 3)
    succeeds unseen push q.bf < <(printf 'a\nb\ne\n'; seq 4)
    pops 'y\n\r\n\0377\0000-1\ne\n4\n' -m 100
    empty
    succeeds unseen verify q.bf
}

@test "the first push makes the queue of any filter, beside the real file; --create makes both, ever after" {
    mkdir there
    ln -s there/q.bf q.bf
    creates there/q.bf
    unchanged exits 1 unseen pop q.bf
    unchanged exits 1 unseen pop -z q.bf --until-done
    # Its inputs are there, or nothing is made.
    told 2 '^unseen: nosuch: No such file' unseen push q.bf nosuch
    [[ ! -e there/q.bf.queue ]]
    succeeds unseen push q.bf < <(seq 3)
    [[ -d there/q.bf.queue && ! -e q.bf.queue ]]
    exits 0 unseen pop q.bf --tries 1 -x false
    is there/q.bf.failed '1\n'
    pops '2\n'
    rm q.bf
    fails_with 2 '^unseen: nosuch: No such file' unseen push --create q.bf nosuch
    exits 0 unseen push --create -n 1000 -p 1e-4 q.bf < <(seq 3)
    succeeds unseen push --create -n 1000 -p 1e-4 q.bf < <(seq 4)
    fails_with 2 'was made with -n 1000, not 2000' unseen push -n 2000 q.bf < <(seq 9)
    pops '1\n2\n3\n4\n' -m 9
}

@test "in the way of a first push: refused, and no line is remembered; an empty directory is taken" {
    local what
    creates q.bf
    for what in 'touch q.bf.queue' 'mkfifo q.bf.queue' 'ln -s elsewhere q.bf.queue' 'mkdir q.bf.queue q.bf.queue/a' \
        'touch q.bf.failed' 'ln -s elsewhere q.bf.failed'; do
        $what
        told 2 '/q\.bf\.(queue|failed): (.*File exists|existed before the queue)' \
            unseen push q.bf < <(seq 3) || complain "$what"
        new 1
        empty
        rm -r q.bf.*
    done
    without_stdin() { "$@" <&-; }
    unchanged exits 2 without_stdin unseen push q.bf
    mkdir q.bf.queue
    succeeds unseen push q.bf < <(seq 3)
    touch q.bf.failed
    succeeds unseen push q.bf < <(seq 4)
    pops '1\n2\n3\n4\n' -m 9
}

@test "a queue that is gone, or of an old layout: named, and no line is lost" {
    local form said="$PWD/q\\.bf\\.queue: "
    by_hand ' 1\n'
    mv q.bf.queue away
    for form in push pop; do
        told 2 "${said}No such file or directory" unseen $form q.bf < <(seq 5)
    done
    unchanged succeeds unseen stats q.bf
    grep -qx "queue  *missing: $PWD/q\.bf\.queue" "$out"
    unchanged exits 1 unseen verify q.bf
    grep -q '^q.bf: queue: .* is missing' "$out"
    mkdir q.bf.queue
    empty
    rmdir q.bf.queue
    mv away q.bf.queue
    touch q.bf.queue/state
    for form in push pop verify stats; do
        told 2 "${said}was made by an older version of unseen" unseen $form q.bf < <(seq 5)
    done
    reads 1 ' 1\n'
    new 1
}

@test "-z: settled by the first push, the other delimiter refused from then on" {
    local form
    printf 'a\nb\0c\0' | exits 0 unseen push --create -z q.bf
    reads 1 ' a\nb\0000 c\0000'
    pops 'a\nb\0000' -0
    exits 0 unseen pop -z q.bf -m 9 --tries 1 -x false
    is q.bf.failed 'c\0000'
    counts 0 0 1
    for form in push pop; do
        told 2 '/q\.bf\.queue: its lines end with NUL, not a newline' unseen $form q.bf < <(seq 9)
    done
    a_queue 1 1
    for form in push pop; do
        told 2 '/q\.bf\.queue: its lines end with a newline, not NUL' unseen $form -z q.bf < <(seq 9)
    done
    pops '1\n'
    printf '\3' | dd of=q.bf bs=1 seek=8232 conv=notrunc status=none
    fails_with 2 '^unseen: .*q\.bf: .*damaged' unseen pop q.bf
}

@test "stats, verify and --summary tell of the queue" {
    a_queue 1 9
    works one -m 3
    unchanged succeeds unseen stats q.bf
    grep -qx 'waiting  *6 lines' "$out"
    grep -qx 'held  *3 lines, by workers' "$out"
    counts 6 3
    unchanged succeeds unseen verify q.bf
    killed one
    counts 9 0
    told 0 '^unseen: q\.bf: 2 lines popped, 0 put back, 0 given up$' unseen pop q.bf -m 2 --summary
    exits 3 unseen pop q.bf -m 3 --summary -x false
    says_lines 2 '0 lines popped, 3 put back, 0 given up$'
    exits 0 unseen pop q.bf -m 6 --tries 2 --summary --json -x false
    grep -q '"popped":0,"put_back":4,"given_up":2' "$err"
    exits 0 unseen pop q.bf -m 2 --summary -x sh -c 'read -r a'
    says_lines 2 '1 line popped, 0 put back, 0 given up$'
    succeeds unseen stats q.bf
    grep -qx "given up  *2 lines, in $PWD/q\\.bf\\.failed" "$out"
    counts 4 0 2
}

# --- what was handed on ------------------------------------------------------

@test "lines that cannot be written, or that a reader has not taken as it goes away, stay, in order" {
    need_full
    need_signals
    local next
    a_queue 1 1000000
    told 2 '^unseen: standard output: No space left on device' to /dev/full unseen pop q.bf -m 3
    env --default-signal=PIPE "$UNSEEN" pop q.bf -m 1e6 2>"$err" | head -n 5 >first
    is first '1\n2\n3\n4\n5\n'
    succeeds unseen pop q.bf
    # Whole lines went, at most what a pipe holds and head reads.
    next=$(cat "$out")
    [[ $next -gt 5 && $next -lt 100000 ]]
    succeeds unseen pop q.bf -m 1e6
    seq $((next + 1)) 1000000 | same "$out" /dev/stdin
}

@test "-x CMD takes the lines that it has read whole; or all, if it has read nothing" {
    local status said rest command left='sh: exited with 0, but left'
    local nothing='sh: exited with 0 and read nothing; its 5 lines count as done'
    mkfifo go
    exec {hold}<>go
    while IFS='|' read -r status said rest command; do
        a_queue 1 9
        exits "$status" unseen pop q.bf -m 5 -x sh -c "$command" </dev/null 3>&- {hold}>&-
        if [[ -z $said ]]; then silent_on_stderr; else says "^unseen: $said"; fi || complain "$command"
        prints "${rest%%:*}"
        counts "$(wc -w <<<"${rest#*:}")" 0
        succeeds unseen pop q.bf -m 99 </dev/null
        xargs -n 1 <<<"${rest#*:}" | same "$out" /dev/stdin || complain "$command"
    done <<END
0||1\n2\n3\n4\n5\ndone\n:6 7 8 9|cat; echo done
0|$left 4 lines unread|:2 3 4 5 6 7 8 9|read -r a
0|$left 1 line unread|:5 6 7 8 9|read -r a; read -r a; read -r a; read -r a
0|$left 4 lines unread|1\n2:2 3 4 5 6 7 8 9|dd bs=1 count=3 2>said
0|$left 5 lines unread|1:1 2 3 4 5 6 7 8 9|dd bs=1 count=1 2>said
0|$left 4 lines unread|:2 3 4 5 6 7 8 9|read -r a; exec <&-; exit 0
0|$nothing|:6 7 8 9|true
0|$nothing|:6 7 8 9|exec <&-; exit 0
0||:6 7 8 9|read -r a; exec 4<&0; sh -c 'read -r l <go' <&4 & exit 0
3|sh: exited with 7|:6 7 8 9 1 2 3 4 5|read -r a; exit 7
3|sh: exited with 7|:6 7 8 9 1 2 3 4 5|exec <&-; exit 7
3|sh: was killed by signal 9, Killed|:6 7 8 9 1 2 3 4 5|cat >got; kill -9 \$\$
END
    a_queue 1 3
    told 127 '^unseen: \./nosuch: cannot be run: No such file or directory' unseen pop q.bf -m 2 -x ./nosuch
    exits 126 unseen pop q.bf -m 2 -x .
    pops '1\n2\n3\n' -m 9 -x cat
    exits 1 unseen pop q.bf -x touch started
    silent_on_stderr
    [[ ! -e started ]]
}

# --- held --------------------------------------------------------------------

@test "what a worker holds is passed over; killed, its lines wait again in their place, its CMD alive or not" {
    a_queue 1 9
    works one -m 2
    works two -m 2
    pops '5\n'
    counts 4 4
    killed two
    counts 6 2
    pops '3\n'
    works three -m 2
    is lines.three '4\n6\n'
    killed one
    pops '1\n2\n7\n' -m 3
    ends three 1 3
    says 'sh: exited with 1 \(its lines were moved to the back'
    reads 1 '-1\n-2\n-3\n-4\n-5\n-6\n-7\n 8\n 9\n14\n16\n'
    # A signal that ends it ends its CMD.
    works four -m 3
    killed four TERM 143
    gone "$(cat at.four)"
    reads 1 '-1\n-2\n-3\n-4\n-5\n-6\n-7\n 8\n 9\n14\n16\n'
    pops '8\n9\n4\n6\n' -m 9
    empty
}

# bats test_tags=torture
@test "made and used by twelve at once, with and without -x: one queue, and each line comes out once" {
    local round i j pids
    for ((round = $(rounds 2 100); round > 0; round--)); do
        rm -rf q.bf* out.* code.*
        pids=()
        for i in 0 1 2 3 4 5 6 7; do
            # In many small pieces.
            { for ((j = i * 1000; j < i * 1000 + 2000; j++)); do echo $j; done | "$UNSEEN" push --create -p 1e-9 q.bf 2>"said.$i" ||
                echo $? >"code.$i"; } 3>&- &
            pids+=($!)
        done
        for i in 0 1 2 3; do
            { for j in {1..20} 500 600; do
                "$UNSEEN" pop q.bf -m $j
                "$UNSEEN" pop q.bf -m $j -x cat
            done >"out.$i" 2>"said.out.$i" || true; } 3>&- &
            pids+=($!)
        done
        for i in "${pids[@]}"; do wait "$i"; done
        [[ ! -e $(echo code.*) ]] || { cat said.*; return 1; }
        capture unseen pop q.bf -m 1e6
        sort -n out.? "$out" | same /dev/stdin <(seq 0 8999)
        empty
    done
}

# --- waiting -----------------------------------------------------------------

@test "--until-done and --wait: get what is pushed, left by a dead worker or failed; 1 in time, or when none can come" {
    local signal
    a_queue 1 2
    pops '1\n' --until-done
    pops '2\n' --wait 10w -m 5
    exits 1 unseen pop q.bf --until-done --wait 10w
    exits 1 unseen pop q.bf --wait 0s
    exits 1 unseen pop q.bf --wait 0.3s -x cat
    silent_on_stderr
    waits_to --wait 10w
    exits 0 unseen push q.bf < <(seq 3 4)
    gets '3\n'
    works one
    waits_to --until-done
    exits 0 unseen push q.bf <<<5
    gets '5\n'
    waits_to --until-done
    ends one 1 3
    gets '4\n'
    exits 0 unseen push q.bf <<<6
    works two
    waits_to --until-done
    killed two
    gets '6\n'
    exits 0 unseen push q.bf <<<7
    works three
    # Its worker stays: the time counts, and a signal.
    exits 1 unseen pop q.bf --until-done --wait 0.3s
    for signal in TERM:143:--wait=10w INT:130:--until-done; do
        waits_to "${signal##*:}" -x cat
        kill -s "${signal%%:*}" $waiter
        signal=${signal#*:}
        gone $waiter
        exits "${signal%%:*}" wait $waiter
    done
    waits_to --until-done
    ends three 0 0
    exits 1 wait $waiter
    [[ ! -s got ]]
}

@test "while one pushes, others wait; after five seconds each says so, once, and goes on" {
    need_strace
    local form waiters=()
    a_queue 1 3
    seq 4 >in
    stopped_after pread64 1 "$PWD/$(segment 1)" push q.bf in
    for form in push pop; do
        "$UNSEEN" $form q.bf < <(seq 5) >"$form.got" 2>"$form.said" 3>&- &
        waiters+=($!)
    done
    filled push.said
    filled pop.said
    [[ ! -s pop.got ]]
    kill -CONT "$child"
    wait "$pid" && wait "${waiters[0]}" && wait "${waiters[1]}"
    cat push.said pop.said | sort -u | same /dev/stdin <(echo "unseen: $PWD/q.bf.queue: waiting for another process that is using it")
    is pop.got '1\n'
    pops '2\n3\n4\n5\n' -m 9
}

@test "while one looks for lines to take, others wait, and get the lines after these" {
    need_strace
    a_queue 1 3
    stopped_after pread64 1 "$PWD/$(segment 1)" pop q.bf -m 2
    waits_to -m 9
    kill -CONT "$child"
    wait "$pid"
    is late '1\n2\n'
    gets '3\n'
}

@test "a wait for the lock makes no pause between two looks longer" {
    local form
    for form in --until-done '--wait 10w'; do
        a_queue 1 1
        works one
        hold_lock queue 4611686018427392001 q.bf
        waits_to $form
        sleep 1
        let_go queue
        asleep $waiter
        exits 0 unseen push q.bf <<<2
        gone $waiter
        gets '2\n'
        ends one 0 0
    done
}

# --- tries -------------------------------------------------------------------

@test "what fails goes to the back with a digit, at most 9; with --tries N to FILTER.failed, which has FILTER's mode" {
    local tries failed back said
    while IFS='|' read -r tries failed back said; do
        by_hand '-x\n a\n1b\n2c\n8d\n9e\n f\n'
        chmod 640 q.bf
        # What a user has left there unfinished is ended.
        [[ $tries != *3 ]] || (umask 027 && printf 'x\nhalf' >q.bf.failed)
        (umask 077 && exits "$([[ $tries ]] && echo 0 || echo 3)" unseen pop q.bf -m 5 $tries -x false) </dev/null
        says "^unseen: $said\$"
        [[ -z $failed ]] || { is q.bf.failed "$failed" && [[ $(stat -c %a q.bf.failed) == 640 ]]; } || complain "$(ls -l)"
        reads 1 "-x\n-a\n-b\n-c\n-d\n-e\n f\n$back"
    done <<END
||1a\n2b\n3c\n9d\n9e\n|false: exited with 1 \(its lines were moved to the back of the queue\)
--tries 1|a\nb\nc\nd\ne\n||q\.bf: gave up 5 lines after at least 1 failure; they are in q\.bf\.failed \(to queue them again: unseen push --failed q\.bf\)
--tries 3|x\nhalf\nc\nd\ne\n|1a\n2b\n|q\.bf: gave up 3 lines after at least 3 failures; they are in .*
--tries 9|d\ne\n|1a\n2b\n3c\n|q\.bf: gave up 2 lines after at least 9 failures; they are in .*
END
    by_hand ' c\n' "2$(printf 'x%.0s' {1..81})\n"
    exits 0 unseen pop q.bf --tries 1 -x false
    says "^unseen: q\.bf: gave up 'c' after 1 failure; it is in q\.bf\.failed \(to queue it again: unseen push --failed q\.bf\)\$"
    exits 0 unseen pop q.bf --tries 3 -x false
    says "^unseen: q\.bf: gave up 'x{77}\.\.\.' after 3 failures; it is in"
    # That a line is tried again is no news.
    by_hand ' a\n1b\n'
    succeeds unseen pop q.bf -m 2 --tries 9 -x false
    [[ ! -e q.bf.failed ]]
}

@test "--tries: a CMD that is killed has had a try; a worker that is, or a CMD that cannot be run, has not" {
    a_queue 1 1
    works one --tries 1
    killed one
    exits 127 unseen pop q.bf --tries 1 -x ./nosuch
    exits 126 unseen pop q.bf --tries 1 -x .
    reads 1 ' 1\n'
    succeeds unseen pop q.bf --tries 2 -x sh -c 'kill -9 $$'
    reads 1 '-1\n11\n'
    exits 0 unseen pop q.bf --tries 2 -x false
    is q.bf.failed '1\n'
    # It is not new again.
    exits 0 unseen push q.bf < <(seq 1)
    empty
}

of_nobody() { touch "$1" && chown 65534 "$1"; }

@test "FILTER.failed that is no plain file of ours: named, and lines wait in their place with one try more" {
    local what
    creates o.bf
    for what in 'mkdir:Is a directory|is not a regular file' 'mkfifo:is not a regular file' 'ln -s o.bf:is a symbolic link, and is not followed' \
        'ln o.bf:is a hard link, and is not used' \
        'of_nobody:belongs to user 65534, who may not write to the filter'; do
        [[ $what != of_nobody* || $(id -u) -eq 0 ]] || continue
        by_hand ' a\n9b\n'
        ${what%%:*} q.bf.failed
        cp o.bf before
        exits 2 unseen pop q.bf -m 9 --tries 1 -x false
        says_lines 2 '^unseen: false: exited with 1$' "^unseen: $PWD/q\\.bf\\.failed: (${what#*:}) \\(.*lines of false stay where they were\\)\$"
        same o.bf before
        reads 1 '1a\n9b\n'
        rm -r q.bf.failed
        exits 0 unseen pop q.bf -m 9 --tries 1 -x false
        is q.bf.failed 'a\nb\n'
    done
}

# --- lines that were given up, queued again ----------------------------------

@test "push --failed: FILTER.failed goes to the back of the queue, as if it had never failed, and is gone" {
    local zero end
    for zero in '' -z; do
        rm -rf q.bf*
        end='\n'
        [[ -z $zero ]] || end='\0000'
        printf '%b' "a${end}b b${end}c${end}" | exits 0 unseen push --create $zero q.bf
        exits 0 unseen pop q.bf $zero -m 2 --tries 1 -x false
        counts 1 0 2
        # What a user has left there unfinished is a line.
        printf d >>q.bf.failed
        told 0 '^unseen: q\.bf: 3 lines queued again$' unseen push $zero --failed --summary q.bf <<<x
        counts 4 0
        [[ ! -e q.bf.failed ]]
        pops "c${end}a${end}b b${end}d${end}" $zero -m 9
        # It is no failure that there is none.
        succeeds unseen push $zero --failed q.bf
        exits 1 unseen pop $zero q.bf
        # They are counted from the start.
        printf '%b' "e$end" | succeeds unseen push $zero q.bf
        exits 0 unseen pop q.bf $zero --tries 1 -x false
        succeeds unseen push $zero --failed q.bf
        succeeds unseen pop q.bf $zero --tries 2 -x false
        [[ ! -e q.bf.failed ]]
    done
    # The other delimiter; a FILE; a file that is none of ours.
    fails_with 2 '/q\.bf\.queue: its lines end with NUL, not a newline \(add -z\)$' unseen push --failed q.bf
    a_queue 1 1
    printf 'a\0b\0' >q.bf.failed
    fails_with 2 '/q\.bf\.failed: its lines end with NUL, those of the queue do not$' unseen push --failed q.bf
    fails_with 2 '^unseen: --failed: its lines come from FILTER.failed' unseen push --failed q.bf q.bf.failed
    fails_with 2 '^unseen: --failed and --dropped: ' unseen push --failed --dropped got q.bf
    ln -sf in q.bf.failed
    fails_with 2 '/q\.bf\.failed: is a symbolic link' unseen push --failed q.bf
    pops '1\n' -m 9
    # Many lines, and long ones.
    rm q.bf.failed
    { seq 200000; head -c 3000000 /dev/zero | tr '\0' x; echo; } | tee in >q.bf.failed
    succeeds unseen push --failed q.bf
    unseen pop q.bf -m 200001 | same /dev/stdin in
}

@test "push --failed, killed or refused at each call: a line is twice at worst, and refused, it is as before" {
    need_strace
    local call status left failed
    while IFS='|' read -r call status left failed; do
        by_hand '-x\n'
        printf 'a\nb\n' >q.bf.failed
        exits "$status" strace -qq -o trace -e "inject=$call:when=1" "$UNSEEN" push --failed q.bf
        [[ $status -ne 2 ]] || says 'q\.bf\.queue: .*(Input/output|I/O) error'
        reads 1 "-x\n$left" && is q.bf.failed "$failed" || complain "$call"
        succeeds unseen push --failed q.bf
        [[ $(unseen pop q.bf -m 9 | sort -u | xargs) == 'a b' && ! -e q.bf.failed ]] || complain "$call"
    done <<'END'
pwrite64:signal=KILL|137||a\nb\n
pwrite64:error=EIO|2||a\nb\n
fdatasync:error=EIO|2||a\nb\n
fdatasync:signal=KILL|137| a\n b\n|a\nb\n
fsync:error=EIO|2||a\nb\n
/unlink:signal=KILL|137| a\n b\n|a\nb\n
END
    # On disk before they are gone from where they were.
    by_hand ''
    echo a >q.bf.failed
    exits 0 strace -qq -o trace -e trace=fdatasync,fsync,/unlink "$UNSEEN" push --failed q.bf
    [[ $(sed -E 's/(at)?\(.*//' trace | xargs) == 'fdatasync fsync unlink' ]] || { cat trace; false; }
}

# --- a queue that the filter does not know -----------------------------------

# over COMMAND...: a filter would be made or replaced: refused, and all is as it was.
over() { fails_with 2 "^unseen: q\\.bf: $said\$" "$@"; }

@test "what makes or replaces FILTER leaves no line of its queue behind: refused, with a way out" {
    local said form in='in q\.bf\.(queue|failed)' zero keep
    creates -p 1e-9 o.bf
    for zero in '' ' -z'; do
        for form in 'waiting ' 'failed ' 'waiting missing' 'failed missing'; do
            rm -rf q.bf*
            seq 4 | { [[ $zero ]] && tr '\n' '\0' || cat; } | exits 0 unseen push --create -p 1e-9 $zero q.bf
            [[ $form == waiting* ]] || exits 0 unseen pop q.bf $zero -m 4 --tries 1 -x false
            [[ $form != *missing ]] || rm q.bf
            said="4 lines (wait|were given up) $in \\(.*unseen (pop|push( --create)? --failed)$zero q\\.bf; or drop them: rm( -r)? q\\.bf\\..*\\)"
            if [[ $form != *missing ]]; then
                over unseen create --force q.bf
                over unseen merge --force -o q.bf o.bf
            else
                for keep in 'create q.bf' 'add --create q.bf' 'push --create q.bf' '--create q.bf' 'merge -o q.bf o.bf' 'create --force q.bf'; do
                    over unseen $keep || complain "$keep"
                done
            fi
            # The way out.
            exits 0 unseen push --create $zero --failed q.bf
            succeeds unseen pop q.bf -m 9 $zero
            tr '\0' '\n' <"$out" | same /dev/stdin <(seq 4)
            rm -rf q.bf.queue q.bf.failed
            exits 0 unseen create --force q.bf
        done
    done
    # What a worker holds waits, too.
    a_queue 1 1
    works one
    said="1 line waits $in .*"
    over unseen create --force q.bf
    ends one 0 0
    # Over one of its inputs, merge keeps the queue; a queue without lines, or another directory, is not in the way.
    a_queue 1 2
    succeeds unseen merge --force -o q.bf q.bf o.bf
    pops '1\n2\n' -m 9
    exits 0 unseen create --force q.bf
    empty
    succeeds unseen push q.bf < <(seq 2)
    pops '1\n2\n' -m 9
    succeeds unseen merge --force -o q.bf o.bf
    rm -r q.bf.queue
    mkdir -p q.bf.queue/a
    exits 0 unseen create --force q.bf
    empty
}

@test "a backup from before the first push, moved back: all say so, and push --failed takes the queue over" {
    local form said='^unseen: .*q\.bf: 4 lines wait in .*q\.bf\.queue, but this filter has no queue \(to queue them again: unseen push --failed .*q\.bf; or drop them: rm -r .*q\.bf\.queue\)$'
    creates -p 1e-9 q.bf
    cp q.bf backup
    succeeds unseen push q.bf < <(seq 6 9)
    cp q.bf with_queue
    mv backup q.bf
    for form in 'pop q.bf' 'pop --wait 10w q.bf' 'pop --until-done q.bf -x touch started' 'push q.bf'; do
        fails_with 2 "$said" unseen $form < <(seq 6)
    done
    fails_with 2 '/q\.bf\.queue: its lines end with a newline, not NUL' unseen push --failed -z q.bf
    unchanged exits 1 unseen verify q.bf
    grep -q '^q\.bf: queue: 4 lines wait in q\.bf\.queue, but' "$out"
    for form in stats 'stats --json'; do
        unchanged exits 0 unseen $form q.bf
        says '^unseen: q\.bf: 4 lines wait in q\.bf\.queue, but'
    done
    told 0 '^unseen: q\.bf: 4 lines queued again$' unseen push --failed --summary q.bf
    pops '6\n' # with a newer one, the queue goes on as it is
    mv with_queue q.bf
    succeeds unseen push q.bf < <(seq 9 10)
    pops '7\n8\n9\n10\n' -m 9
    succeeds unseen verify q.bf
}

@test "a name that leaves none for files beside it: no queue, and few lines in flight; what came to it by mv can be read" {
    local name
    name=$(printf 'n%.0s' {1..249})
    creates "./$name"
    fails_with 2 ': its name is too long for a queue \(give it one of at most 248 bytes\)$' unseen push "./$name" < <(seq 3)
    told 2 'File name too long \(give the filter a name of at most 244 bytes\)$' unseen "./$name" -x tail -n 1 < <(seq 10000)
    rm "$name"
    a_queue 1 3
    mv q.bf.queue "$name.queue"
    mv q.bf "$name"
    succeeds unseen stats "./$name"
    succeeds unseen verify "./$name"
    exits 2 unseen pop "./$name" --tries 1 -x false
    succeeds unseen pop "./$name" -m 9
    prints '1\n2\n3\n'
}

# --- segments ----------------------------------------------------------------

@test "segments of plain records, of about 4 MB, which go once they are all off" {
    local number
    seq -f "%07.0f $(printf 'x%.0s' {1..240})" 60000 >in # 15 MB
    a_queue
    succeeds unseen push q.bf in
    cat q.bf.queue/* | sed -n 's/^ //p' | same /dev/stdin in
    segments '1 2 3 4'
    for number in 1 2 3; do
        holds "$(bytes_of "$(segment $number)") >= 4194304 && $(bytes_of "$(segment $number)") < 5e6"
        tail -c 1 "$(segment $number)" | same /dev/stdin <(echo)
    done
    works one -m 1
    succeeds unseen pop q.bf -m 45k
    sed -n 2,45001p in | same "$out" /dev/stdin
    segments '1 3 4'
    ends one 0 0
    succeeds unseen pop q.bf -m 1e6
    tail -n +45002 in | same "$out" /dev/stdin
    segments 4
    # Others have left what is off; the last one stays, and numbers go on.
    by_hand '-1\n' ' 2\n' '-3\n' '-4\n 5\n' '' '-6\n'
    pops '2\n5\n' -m 9
    segments 6
    succeeds unseen push q.bf < <(seq 7 8)
    reads 6 '-6\n 7\n 8\n'
    # The last number there is.
    { printf -; head -c 4194304 /dev/zero | tr '\0' x; echo; } >"$(segment 9999999999)"
    told 2 'q\.bf\.queue: the segment numbers are used up$' unseen push q.bf < <(seq 11)
    new 11
    # One that was edited while a worker held its lines is another file.
    by_hand ' 1\n 2\n' ' 3\n'
    works one -m 3
    printf -- '-1\n 4\n' >edited && mv edited "$(segment 1)"
    ends one 0 0
    pops '4\n' -m 9
}

@test "what a killed push left is cut away by whoever appends, however long; else it stays" {
    local rest
    rest=" $(printf 'x%.0s' {1..20000})"
    by_hand "-1\\n 2\\n$rest"
    # It is no line, and so none that is too long.
    pops '2\n' -m 9 --max-line 50
    reads 1 "-1\n-2\n$rest"
    succeeds unseen push q.bf < <(seq 3 4)
    reads 1 '-1\n-2\n 3\n 4\n'
    printf '%b' " 5\n$rest" >>"$(segment 1)"
    exits 3 unseen pop q.bf -m 9 -x false
    reads 1 '-1\n-2\n-3\n-4\n-5\n13\n14\n15\n'
}

# --- bad input ---------------------------------------------------------------

@test "bad input: whatever segments have in them costs nothing else, and verify tells of it" {
    local text popped unknown cut after
    while IFS='|' read -r text popped unknown cut after; do
        by_hand "-0\\n $text" ' 8\n'
        capture unseen verify q.bf </dev/null
        [[ $code -eq $((unknown + cut > 0)) && $(wc -l <"$out") -eq $(((unknown > 0) + (cut > 0))) ]] || complain "$text"
        [[ $unknown -eq 0 ]] || grep -Eq "^q.bf: queue: $unknown records? .*unknown status" "$out" || complain "$text"
        [[ $cut -eq 0 ]] || grep -Eq "^q.bf: queue: $cut bytes? .* no complete record" "$out" || complain "$text"
        pops "$popped" -m 99 || complain "$text"
        if [[ $unknown -gt 0 ]]; then reads 1 "-0\n-$after"; else segments 2; fi || complain "$text"
    done <<'END'
1\n|1\n8\n|0|0|
1\n 2|1\n8\n|0|2|
1\n |1\n8\n|0|1|
1\n\0000\0000\0000 2\n|1\n2\n8\n|0|3|
1\n\0000 2\n\0000\0000|1\n2\n8\n|0|3|
1\0000\0000\n 2\n|1\0000\0000\n2\n8\n|0|0|
1\nx2\n\t3\n 4\n|1\n4\n8\n|2|0|1\nx2\n\t3\n-4\n
1\n02\n:3\n\03774\n \n|1\n\n8\n|3|0|1\n02\n:3\n\03774\n-\n
1\n\n 2\n|1\n2\n8\n|1|0|1\n\n-2\n
1\n\0000x2\n 3|1\n8\n|1|3|1\n\0000x2\n 3
END
    rm -r q.bf*
    creates q.bf
    printf '1\0' | succeeds unseen push -z q.bf
    printf '\0\0\0 2\0x3\0\0 4\0' >>"$(segment 1)"
    pops '1\00002\00004\0000' -m 9 -z
}

owned() { chown 65534 "$1"; }
linked() { mv "$1" away && ln -s ../away "$1"; }
piped() { rm "$1" && mkfifo "$1"; }
in_the_way() { rm "$1" && mkdir "$1"; }

@test "bad input: a segment that is no file of ours is named; the others are whole, and go on when it is away" {
    local what number said form before=('' '' '1\n2\n')
    while IFS='|' read -r what said; do
        for number in 1 3; do
            [[ $what != owned || $(id -u) -eq 0 ]] || continue
            by_hand ' 1\n' ' 2\n' ' 3\n'
            $what "$(segment $number)"
            told 2 "/$(segment $number): ($said)" unseen pop q.bf -m 9 </dev/null || complain "$what"
            prints "${before[number - 1]}"
            for form in 'verify q.bf' 'stats q.bf' 'pop q.bf -x touch started'; do
                told 2 "/$(segment $number): ($said)" unseen $form </dev/null || complain "$what $form"
            done
            [[ ! -e started && ( ! -f away || $(cat away) == " $number" ) ]]
            exits $((number == 3 ? 2 : 0)) unseen push q.bf < <(seq 5)
            rm -rf "$(segment $number)" away
            exits 0 unseen push q.bf < <(seq 5)
            succeeds unseen pop q.bf -m 99 </dev/null
            { seq $((number + 1)) 3; seq 5; } | same "$out" /dev/stdin
        done
    done <<'END'
owned|belongs to user 65534, who may not write to the filter
linked|is a symbolic link
piped|is not a regular file
in_the_way|is not a regular file|Is a directory
END
}

@test "bad input: missing segments, files that are none; many segments" {
    local name
    for name in notes 1 00000000001 0000000001.old 0000000000 18446744073709551615; do
        by_hand ' 1\n' ' 2\n' ' 3\n'
        rm "$(segment 2)"
        echo kept | tee q.bf.queue/.hidden >"q.bf.queue/$name"
        unchanged exits 1 unseen verify q.bf
        [[ $(cat "$out") == "q.bf: queue: "*" $name" ]] || complain "$name"
        succeeds unseen push q.bf < <(seq 4)
        pops '1\n3\n1\n2\n3\n4\n' -m 9 || complain "$name"
        is "q.bf.queue/$name" 'kept\n'
    done
    # A worker holds those of 128 segments.
    mapfile -t name < <(seq -f ' %.0f\n' 130)
    by_hand "${name[@]}"
    told 0 '^unseen: cat: got 128 lines, not 130' unseen pop q.bf -m 130 -x cat
    pops '129\n130\n' -m 9
}

@test "--max-line: a longer line is refused, and stays with what follows; of 30 MB, too" {
    local more='q\.bf\.queue: the next line is longer than'
    by_hand ' 1\n 12345\n 3\n' ' ' ' 4\n'
    truncate -s 30M "$(segment 2)"
    echo >>"$(segment 2)"
    told 2 "$more 4 bytes" unseen pop q.bf --max-line 4 -m 9
    prints '1\n'
    # That it could not be read is no success of --tries.
    exits 2 unseen pop q.bf --max-line 5 -m 9 --tries 1 -x false
    says_lines 2 "$more 5 bytes" 'gave up 2 lines'
    is q.bf.failed '12345\n3\n'
    told 2 "$more 1048576 bytes" unseen pop q.bf --max-line 1M
    # One that a worker holds is passed over, as any other.
    works one
    pops '4\n' --max-line 1M
    killed one
    unseen push q.bf <<<5
    exits 0 unseen pop q.bf -m 9 -x wc -lc
    [[ $(xargs <"$out") == '2 31457282' ]] || complain
    empty
}

# as STATUS SAID FORM...: another user runs it over q.bf.
as() { exits "$1" as_nobody "$public/unseen" "${@:3}" q.bf < <(seq 9) && if [[ -n $2 ]]; then says "$2"; fi; }

@test "no right to write: named, and nothing is lost" {
    public_directory
    chmod 777 .
    (umask 000 && as 0 created push --create -p 1e-9)
    { cat "$(segment 1)"; printf -; head -c 4194304 /dev/zero | tr '\0' x; echo; } >full
    as_nobody cp full "$(segment 2)"
    chmod 555 q.bf.queue
    # What cannot be removed stays.
    as 0 '' pop -m 10
    prints '1\n2\n3\n4\n5\n6\n7\n8\n9\n1\n'
    exits 2 as_nobody "$public/unseen" push q.bf < <(seq 19)
    says '/q\.bf\.queue/0000000003: Permission denied'
    chmod 444 "$(segment 2)"
    as 2 '/q\.bf\.queue/0000000002: Permission denied' pop
    chmod 666 "$(segment 2)"
    as 0 '' pop -m 99
    prints '2\n3\n4\n5\n6\n7\n8\n9\n'
    new 19
    rm -r q.bf*
    as 0 created create
    chmod 555 .
    as 2 '/q\.bf\.queue: cannot be created: Permission denied' push
    as 1 '' pop
}

@test "one user's umask does not keep others out: a queue takes the mode of its filter, and is not more open" {
    public_directory
    chmod 777 .
    local mask filter modes
    while read -r mask filter modes; do
        rm -rf q.bf*
        exits 0 unseen create -p 1e-9 q.bf
        chmod "$filter" q.bf
        umask "$mask"
        exits 0 unseen push q.bf < <(seq 3)
        [[ $filter != 666 ]] || as 0 '' pop
        exits 0 unseen pop q.bf --tries 1 -x false
        [[ $(stat -c %a q.bf.queue q.bf.queue/0* q.bf.failed | xargs) == "$modes" ]] || complain "$(ls -la . q.bf.queue)"
    done <<'END'
077 666 777 666 666
000 600 700 600 600
END
}

# --- changed by others meanwhile ---------------------------------------------

removed() { rm -r q.bf.queue; }
moved() { mv q.bf.queue away; }
restored() { mv q.bf.queue away && cp -r backup q.bf.queue; }
filter_removed() { mv q.bf away; }
filter_restored() { mv q.bf away && cp away q.bf; }

@test "a queue or filter removed, moved or restored under push and workers: named; new lines are new, held ones wait" {
    local what options status said='q\.bf(\.queue)?: was .* during this run'
    for what in removed moved restored filter_removed filter_restored; do
        for options in '' --durable; do
            rm -rf away backup
            a_queue 1 5
            cp -r q.bf.queue backup
            works one -m 2
            works two -m 2
            converse "$UNSEEN" push $options q.bf
            say first
            until grep -qs first "$(segment 1)"; do sleep 0.01; done
            $what
            (say second) 2>/dev/null || true # it may have found out
            status=0
            farewell || status=$?
            [[ $status -eq 75 ]] && grep -Eq "$said" "$err" || complain "$what"
            ends one 0 75
            says "$said" || complain "$what"
            ends two 1 2
            says_lines 2 'sh: exited with 1$' "$said" || complain "$what"
            case $what in
            moved) mv away q.bf.queue ;;
            removed) mv backup q.bf.queue && echo ' first' >>"$(segment 1)" ;;
            restored) echo ' first' >>"$(segment 1)" ;;
            filter_removed) mv away q.bf ;;
            esac
            new second
            pops '1\n2\n3\n4\n5\nfirst\n' -m 9
        done
    done
    # Of a segment that is removed, what they hold is theirs, and nobody else's.
    a_queue 1 5
    works one -m 2
    works two -m 2
    rm "$(segment 1)"
    ends one 0 0
    ends two 1 3
    pops '3\n4\n' -m 9
}

# --- on disk -----------------------------------------------------------------

@test "push --durable: the lines are on disk before they are remembered" {
    local call
    seq 20000 >in
    need_strace
    # Neither the segment nor its name: nothing is remembered that was not flushed.
    for call in fdatasync fsync; do
        a_queue 1 3
        told 2 'q.bf.queue: cannot be flushed to disk: (Input/output|I/O) error' strace -qq -o trace -e inject=$call:error=EIO "$UNSEEN" push --durable q.bf in
        capture unseen query -c q.bf in
        prints '3\n'
    done
    # Each segment, where it makes several.
    seq -f "%07.0f $(printf 'x%.0s' {1..240})" 20000 >long
    a_queue
    exits 0 strace -qqy -o trace -e trace=fdatasync "$UNSEEN" push --durable q.bf long
    segments '1 2'
    grep -qF "/$(segment 1)>)" trace && grep -qF "/$(segment 2)>)" trace
}

@test "what fails is elsewhere, and on disk, before it is off: killed or refused there, it is twice at worst" {
    need_strace
    local call tries status left
    while IFS='|' read -r call tries status left; do
        by_hand ' 1\n 2\n'
        exits "$status" strace -qq -o trace -e "inject=$call:when=1" "$UNSEEN" pop q.bf -m 2 $tries -x false </dev/null
        [[ $status -ne 2 ]] || says_lines 2 '(Input/output|I/O) error \(the lines of false stay where they were\)$'
        reads 1 "$left"
    done <<'END'
pwrite64:signal=KILL||137| 1\n 2\n
pwrite64:error=EIO||2|11\n12\n
pwrite64:error=EIO|--tries 1|2|11\n12\n
fdatasync:signal=KILL||137| 1\n 2\n11\n12\n
fdatasync:error=EIO||2|11\n12\n11\n12\n
fdatasync:error=EIO|--tries 1|2|11\n12\n
END
    # The names of FILTER.failed and of the queue, too.
    by_hand ' 1\n'
    exits 0 strace -qqy -o trace -e trace=fsync "$UNSEEN" pop q.bf --tries 1 -x false </dev/null
    grep -qF "<$(pwd -P)>)" trace
    creates o.bf
    exits 0 strace -qqy -o trace -e trace=fsync "$UNSEEN" push o.bf < <(seq 1)
    grep -qF "<$(pwd -P)>)" trace
}
