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
    # also after a fault of the input
    exits 2 unseen --create --csv -f 1 --dropped /dev/full rows.bf < <(printf '1\n1\n"2"3\n')
    prints '1\n'
    says_lines 2 '^unseen: /dev/full: No space left on device'
}

# long_rows COUNT BYTES: rows that are so long and have several lines.
long_rows() {
    awk -v n="$1" -v bytes="$2" 'BEGIN {
        while (length(fill) < bytes) fill = fill "7,8\n\"\"9\"\","
        for (i = 1; i <= n; i++) printf "%d,\"%s\"\n", i, fill
    }'
}

@test "a full disk cuts off a row in FILE of -a, --tee or --dropped: told with its line, and nothing is done until it is mended" {
    local form line size
    long_rows 400 5000 >in
    # what is printed has no limit
    on_small_disk() { (ulimit -f 300; "$@" | cat >/dev/null; exit "${PIPESTATUS[0]}"); }
    for form in -a --tee --dropped; do
        rm -f list
        exits 0 unseen create --force --csv -f 1 -p 1e-9 f.bf
        [[ $form != --dropped ]] || exits 0 unseen add f.bf in
        exits 2 on_small_disk unseen $form list f.bf in
        [[ $(bytes_of list) -eq 307200 ]]
        line=$(head -c 307200 in | awk '/^[0-9]+,"7,8$/ { at = NR } END { print at }')
        size=$(head -n $((line - 1)) in | wc -c)
        cp f.bf before.bf
        fails_with 2 "^unseen: list: line $line: quoted field is not closed \(.*: tail -n \+$line list; .*: truncate -s $size list\)$" \
            unseen $form list f.bf in
        cmp f.bf before.bf
        # the way out, and the rest
        eval "$(sed -E 's/.*: (truncate [^)]*)\)$/\1/' "$err")"
        exits 0 unseen $form list f.bf in
        # (what is dropped is not remembered, so all of it is dropped again)
        if [[ $form == --dropped ]]; then head -c "$size" in | cat - in | cmp - list; else cmp list in; fi
    done
    # CMD is not started for it
    printf '9,"half' >list
    printf '1,x\n' >new
    fails_with 2 'list: line 1: quoted field is not closed' unseen --dropped list f.bf new -x touch started
    # nor are lines that nothing is told of
    exits 0 unseen create -p 1e-9 lines.bf
    exits 0 unseen -a list lines.bf new
    same list <(printf '9,"half\n1,x\n')
}

@test "what rows may be appended to: whole rows, an unfinished one without an open quote, a file that is none or cannot be read; what is no row is told" {
    local before after message options
    printf '5,"x\ny"\n' >in
    while IFS='|' read -r options before after message; do
        exits 0 unseen create --force --csv -f 1 $options f.bf
        printf '%b' "$before" >list
        cp list was
        if [[ -n $message ]]; then
            fails_with 2 "^unseen: list: $message" unseen f.bf in -a list && cmp list was || { echo "$options|$before"; return 1; }
        else
            succeeds unseen f.bf in -a list && same list <(printf '%b' "$after") || { echo "$options|$before"; return 1; }
        fi
    done <<'END'
||5,"x\ny"\n|
|1,"a\nb"\n|1,"a\nb"\n5,"x\ny"\n|
|1,"a\nb"|1,"a\nb"\n5,"x\ny"\n|
|1,5" disk\n2,a|1,5" disk\n2,a\n5,"x\ny"\n|
|1,a\rb\r\n|1,a\rb\r\n5,"x\ny"\n|
|1,"a\n||line 1: quoted field is not closed .*: truncate -s 0 list\)$
|1,a\n2,"b\n3,c\n4,""d\n||line 2: quoted field is not closed .*: truncate -s 4 list\)$
|1,"a\nb"\n2,"b"c\n3,"\n||line 3: bytes follow the closing quote of a field \(mend
|1,"a\nb"\n2, "b,c"\n||line 3: blanks stand before a quoted field \(mend
--trim|2, "b,c"\n|2, "b,c"\n5,"x\ny"\n|
-t ;|1,"a\n;"b"\n|1,"a\n;"b"\n5,"x\ny"\n|
-t ;|1;"a\n||line 1: quoted field is not closed
END
    exits 0 unseen create --force --csv -f 1 f.bf
    printf '1,"half' >list
    exits 0 unseen f.bf in -a /dev/null
    exits 0 unseen create --force --csv -f 1 f.bf
    mkfifo fifo
    cat fifo >got 3>&- &
    exits 0 unseen f.bf in -a fifo
    wait $!
    same got in
    # lines that end with NUL
    exits 0 unseen create --force --csv -f 1 f.bf
    printf '1,"a\nb"\0002,"c' >list
    fails_with 2 '^unseen: list: line 2: quoted field is not closed .*: tail -z -n \+2 list; .*: truncate -s 8 list' unseen -z f.bf -a list < <(printf '3\0')
    # a file of more than one read, and a row of more than that
    { long_rows 200 5000; long_rows 1 600000 | sed '$s/$/,5" disk/'; } >list
    cp list was
    exits 0 unseen f.bf in -a list
    cat was in | cmp - list
    head -c -20 was >list
    fails_with 2 "list: line $(($(long_rows 200 5000 | wc -l) + 1)): quoted field" unseen f.bf in -a list
}

@test "whoever appends meanwhile, or is stopped within a row, is seen by the next write: nothing is appended to that, or remembered" {
    local form
    for form in -a --tee --dropped; do
        exits 0 unseen create --force --csv -f 1 -p 1e-9 f.bf
        printf '1,x\n7,x\n' >list
        [[ $form != --dropped ]] || exits 0 unseen add f.bf < <(seq 9)
        mkfifo go
        "$UNSEEN" $form list f.bf <go >"$out" 2>"$err" 3>&- &
        exec {feed}>go
        rm go
        printf '2,"a\nb"\n' >&"$feed"
        until [[ $(wc -l <list) -eq 4 ]]; do kill -0 $! || return 1; sleep 0.01; done
        # a whole row of another run, and one that is cut
        printf '3,"c\nd"\n' >>list
        printf '4,x\n' >&"$feed"
        until [[ $(wc -l <list) -eq 7 ]]; do kill -0 $! || return 1; sleep 0.01; done
        printf '5,"half\n' >>list
        printf '6,x\n' >&"$feed"
        exec {feed}>&-
        ended 2 $! || return 1
        says '^unseen: list: line 8: quoted field is not closed .*truncate -s 28 list' || return 1
        same list <(printf '1,x\n7,x\n2,"a\nb"\n3,"c\nd"\n4,x\n5,"half\n') || return 1
        [[ $form == --dropped ]] || remembers 2 <(printf '2\n4\n6\n') || return 1
        # cut off, or emptied and begun again meanwhile
        truncate -s 28 list
        exits 0 unseen create --force --csv -f 1 -p 1e-9 f.bf
        [[ $form != --dropped ]] || exits 0 unseen add f.bf < <(seq 9)
        mkfifo go
        "$UNSEEN" $form list f.bf <go >"$out" 2>"$err" 3>&- &
        exec {feed}>go
        rm go
        printf '2,x\n' >&"$feed"
        until [[ $(wc -l <list) -eq 8 ]]; do kill -0 $! || return 1; sleep 0.01; done
        printf '8,"e\nf"\n' >list
        printf '4,x\n' >&"$feed"
        until [[ $(wc -l <list) -eq 3 ]]; do kill -0 $! || return 1; sleep 0.01; done
        printf '8,"e' >list
        printf '6,x\n' >&"$feed"
        exec {feed}>&-
        ended 2 $! || return 1
        says '^unseen: list: line 1: quoted field is not closed .*truncate -s 0 list' || return 1
        same list <(printf '8,"e') || return 1
    done
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
