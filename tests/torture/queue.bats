#!/usr/bin/env bats
# Queues in the large sizes of tests/queue.bats.

load ../helper
load ../crash
load ../sweep

# drained FILTER: nothing waits or is held, and one segment is left.
drained() {
    exits 1 unseen pop "$1" || return 1
    capture unseen stats --json "$1"
    [[ $(field waiting) == 0 && $(field held) == 0 && $(find "$1.queue" -type f | wc -l) -eq 1 ]] ||
        { ls -l "$1.queue"; complain "$1 should be drained"; }
}

# small_segments COUNT LINES: q.bf has the first lines of ./in, so many in each segment.
small_segments() {
    rm -rf q.bf*
    { creates -n 10000 -p 1e-9 q.bf && exits 0 unseen push q.bf </dev/null; } || return 1
    head -n $(($1 * $2)) in >queued
    exits 0 unseen add q.bf queued || return 1
    awk -v lines="$2" '{ printf " %s\n", $0 >sprintf("q.bf.queue/%010d", (NR - 1) / lines + 1) }' queued
}

# ended PID...: waits for them all. Adds to `hits`, how many were killed or ended by a signal.
ended() {
    local pid status
    for pid; do
        status=0
        wait "$pid" || status=$?
        [[ $status -le 1 || $status -eq 137 || $status -eq 143 ]] || { echo "exit $status"; cat said; return 1; }
        [[ $status -le 1 ]] || hits=$((hits + 1))
    done
}

@test "1000 runs of pushers and poppers, some killed or ended, while segments go: nothing lost, twice only what the killed had" {
    local runs i j pids signal hits=0 twice=0
    runs=$(scaled 1000)
    input 6000 >in
    for ((i = 0; i < runs; i++)); do
        rm -f out.* said
        small_segments 40 $((1 + i % 30)) || complain "run $i"
        [[ $((i % 3)) -eq 0 ]] && signal=15 || signal=9
        pids=()
        for j in '' --durable ''; do
            env --default-signal=TERM "$tools/killed" 0 "$((RANDOM % 8000)):$signal" "$UNSEEN" push $j q.bf in >>said 2>&1 3>&- &
            pids+=($!)
        done
        for j in 100 1000 3000; do
            env --default-signal=TERM "$tools/killed" 0 "$((RANDOM % 8000)):$signal" "$UNSEEN" pop q.bf -m $j --until-done >"out.$j" 2>>said 3>&- &
            pids+=($!)
        done
        ended "${pids[@]}" || complain "run $i"
        succeeds unseen push q.bf in
        capture unseen pop q.bf -m 1e6
        [[ $code -le 1 ]]
        cp "$out" out.rest
        none_lost in out.* || complain "run $i"
        whole out.* | sort | uniq -d >again
        [[ $signal -eq 9 || ! -s again ]] || complain "run $i: lines come twice, and nobody was killed"
        twice=$((twice + $(wc -l <again)))
        drained q.bf || complain "run $i"
        # That a pusher died may be noted.
        capture unseen verify q.bf
        if [[ $code -gt 1 ]] || grep -F q.bf.queue "$out"; then complain "run $i"; fi
    done
    echo "$runs runs, $hits killed or ended, $twice lines twice"
    [[ $hits -gt $runs ]]
}

@test "600 runs of poppers with -x and --tries, killed or ended: nothing lost, given up only after two tries" {
    local runs i j pids hits=0 both=0 line
    runs=$(scaled 600)
    seq 40 >in
    cat >work <<'END'
#!/bin/sh
cat >tried.$$
! grep -q 7 tried.$$ || exit 1
cat tried.$$ >>finished
END
    chmod +x work
    for ((i = 0; i < runs; i++)); do
        rm -f tried.* finished said
        small_segments 10 4 || complain "run $i"
        : >finished
        pids=()
        for ((j = 0; j < 8; j++)); do
            env --default-signal=TERM "$tools/killed" 0 "$((RANDOM % 30000)):$((RANDOM % 2 ? 9 : 15))" "$UNSEEN" \
                pop q.bf -m $((1 + RANDOM % 20)) --tries 2 -x ./work >/dev/null 2>>said 3>&- &
            pids+=($!)
        done
        ended "${pids[@]}" || complain "run $i"
        while unseen pop q.bf -m 3 --until-done --tries 2 -x ./work 2>>said; do :; done
        # The CMD of a popper that was killed may still be at work.
        for ((j = 0; j < 1000; j++)); do
            ! sort -un finished q.bf.failed | cmp -s - in || break
            sleep 0.01
        done
        sort -un finished q.bf.failed | cmp - in || complain "run $i"
        while read -r line; do
            [[ $(cat tried.* | grep -cx "$line") -ge 2 ]] || complain "run $i: $line after one try"
        done <q.bf.failed
        both=$((both + $(sort q.bf.failed finished | uniq -d | wc -l)))
        drained q.bf || complain "run $i"
    done
    echo "$runs runs, $hits killed or ended, $both lines twice"
    [[ $hits -gt $runs ]]
}

@test "kill -9 at any system call of push, pop, pop -x and --tries: nothing lost, a line twice at most" {
    local form
    need_strace
    sweep_start "$(scaled 300)"
    # Twice: in the new place and in the old one.
    in_the_end() { [[ -z $(cat part rest f.bf.failed 2>/dev/null | sort | uniq -c | awk '$1 > 2') ]] && drained f.bf; }
    for form in queue push pop popfailexec; do
        killed_at_each $form
    done
}
