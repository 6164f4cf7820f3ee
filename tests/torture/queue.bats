#!/usr/bin/env bats
# Queues in the large sizes of tests/queue.bats.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load ../crawl
load ../sweep
load scale
load disk

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
    head -n $(($1 * $2)) in | tee >(cat >queued) | unseen add q.bf
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

@test "a crawl of 10,000 pages, one of 4 workers killed on the way: each is fetched, at most its line twice" {
    need_server
    local pages i victim twice
    pages=$(scaled 10000)
    site "$pages"
    serve
    the_crawler
    for ((i = 0; i < 5; i++)); do
        rm -f workers
        : >served
        crawl 99 &
        until [[ -s workers && $(wc -l <served) -gt $((pages * (i + 1) / 8)) ]]; do sleep 0.05; done
        # The shell of the worker, and the pop that it waits for.
        victim=$(sed -n "$((i % 4 + 1))p" workers)
        kill -STOP "$victim"
        # shellcheck disable=SC2046 # one number a word
        kill -KILL $(cat "/proc/$victim/task/$victim/children") "$victim"
        wait $! || true
        sort -n served | uniq -c >got
        seq 0 $((pages - 1)) | cmp - <(awk '{ print $2 }' got)
        twice=$(awk '$1 > 1' got | wc -l)
        echo "run $i: $twice of $pages pages fetched twice"
        [[ $twice -le 1 && $(awk '$1 > 2' got | wc -l) -eq 0 ]]
        drained todo.bf
    done
    kill "$server"
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
            # shellcheck disable=SC2086 # it is a word, or none
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

# killed_at_each FORM: kill -9 before the first, the second, ... of each system call of a form of sweep.bash.
killed_at_each() {
    local form=$1 call n='' made killed=0
    strace_it() {
        local fault=()
        [[ -z $n ]] || fault=(-e "inject=$call:signal=KILL:when=$n")
        strace -qq -o trace -e "trace=$call" "${fault[@]}" "$UNSEEN" "$@"
    }
    made=$(calls_of "$form") || return 1
    for call in $made; do
        ! [[ $call == execve || $call == exit_group ]] || continue
        for ((n = $(first_call "$call"); n < 2000; n++)); do
            start_over "$form"
            "form_$form" 2>said || true
            grep -q 'killed by SIGKILL' trace || break
            killed=$((killed + 1))
            its again "$form" || sweep_wrong "lost, killed before it" || return 1
            # Twice at most: the new place and the old one.
            [[ -z $(cat part rest f.bf.failed 2>/dev/null | sort | uniq -c | awk '$1 > 2') ]] || sweep_wrong 'three times' || return 1
            drained f.bf || sweep_wrong 'not drained' || return 1
        done
    done
    echo "$form: $killed kills, each before another system call"
    [[ $killed -gt 50 ]]
}

@test "kill -9 at any system call of push, pop, pop -x and --tries: nothing lost" {
    # shellcheck disable=SC2034 # sweep_wrong says it
    local form error=KILL
    need_strace
    sweep_start "$(scaled 300)"
    for form in queue push pop popfailexec; do
        killed_at_each $form
    done
}

# full_disk FILE_SYSTEM MEGABYTES
full_disk() {
    local unique runs=0 full=0
    local -x free
    need_disk_of "$@"
    input 60000 >in
    for free in 0 40 100 200 400 1000 1600; do
        rm -f first middle rest
        capture on "$@" sh -c '
            "$UNSEEN" create -n 100k -p 1e-9 --fixed q.bf || exit 9
            head -n 100 ../in | "$UNSEEN" push q.bf || exit 8
            eval "$fill"
            "$UNSEEN" push q.bf ../in 2>../said
            status=$?
            # Popping needs no room.
            "$UNSEEN" pop q.bf -m 50 >../first || exit 7
            "$UNSEEN" pop q.bf -m 50 -x sh -c "cat >/dev/null; exit 1" 2>>../said
            case $? in 2 | 3) ;; *) exit 6 ;; esac
            "$UNSEEN" verify q.bf >&2 || [ $? = 1 ] || exit 5
            "$UNSEEN" pop q.bf -m 1e6 >../middle || exit 4
            rm filler
            "$UNSEEN" push q.bf ../in || exit 3
            "$UNSEEN" pop q.bf -m 1e6 >../rest || [ $? = 1 ] || exit 10
            exit $status'
        runs=$((runs + 1))
        [[ $code -eq 0 || $code -eq 2 ]] || { cat said; complain "with $free K free"; }
        [[ $code -eq 0 ]] || { full=$((full + 1)) && grep -Eq 'No space left on device|the mapped file failed' said; }
        # A filter whose map fails has not remembered what the queue has.
        unique=
        ! grep -q 'the mapped file failed' said || unique=-u
        sort $unique first middle rest | cmp - in || complain "with $free K free"
    done
    echo "$*: $runs runs, $full ended by the full disk"
    [[ $full -gt 2 ]]
}

@test "a full tmpfs: what does not fit is not remembered, and all comes out once" { full_disk tmpfs 8; }
@test "a full ext4: what does not fit is not remembered, and all comes out once" { full_disk ext4 16; }
@test "a full xfs: what does not fit is not remembered, and all comes out once" { full_disk xfs 320; }
@test "a full btrfs: what does not fit is not remembered, and all comes out once" { full_disk btrfs 128; }
