#!/usr/bin/env bats
# Queues in the large sizes of tests/queue.bats.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load ../crawl
load scale
load disk

# drained: nothing waits, and nothing takes space.
drained() {
    exits 1 unseen pop "$1"
    [[ $(ls "$1.queue") == state ]]
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

@test "1000 runs of pushers and poppers, some killed: nothing lost, twice only what they had" {
    local runs i j pids hits=0 twice=0 status
    runs=$(scaled 1000)
    input 6000 >in
    for ((i = 0; i < runs; i++)); do
        rm -rf q.bf q.bf.queue out.*
        unseen create --queue -n 10000 -p 1e-9 q.bf
        pids=()
        for j in 0 1 2; do
            "$tools/killed" 0 $((RANDOM % 8000)) "$UNSEEN" push q.bf in >/dev/null 2>&1 3>&- &
            pids+=($!)
            "$tools/killed" 0 $((RANDOM % 8000)) "$UNSEEN" pop q.bf -m 3000 --until-done >"out.$j" 2>/dev/null 3>&- &
            pids+=($!)
        done
        for j in "${pids[@]}"; do
            status=0
            wait "$j" || status=$?
            [[ $status -eq 0 || $status -eq 1 || $status -eq 137 ]] || { echo "exit $status"; false; }
            [[ $status -ne 137 ]] || hits=$((hits + 1))
        done
        succeeds unseen push q.bf in
        capture unseen pop q.bf -m 1e6
        [[ $code -le 1 ]]
        cp "$out" out.rest
        none_lost in out.* || { echo "run $i"; false; }
        twice=$((twice + $(whole out.* | sort | uniq -d | wc -l)))
        drained q.bf
        # That a pusher died may be noted.
        capture unseen verify q.bf
        [[ $code -le 1 ]] && ! grep queue: "$out"
    done
    echo "$runs runs, $hits killed, $twice lines twice"
}

@test "300 runs of poppers with --tries, killed at any moment: nothing lost, given up only after two tries" {
    local runs i j pids hits=0 both=0 status
    runs=$(scaled 300)
    seq 40 >in
    cat >work <<'END'
#!/bin/sh
cat >tried.$$
! grep -q 7 tried.$$ || exit 1
cat tried.$$ >>finished
END
    chmod +x work
    for ((i = 0; i < runs; i++)); do
        rm -rf q.bf q.bf.queue tried.* finished dead
        : >finished
        : >dead
        unseen create --queue -n 10000 -p 1e-9 q.bf
        unseen push q.bf in
        pids=()
        for ((j = 0; j < 8; j++)); do
            "$tools/killed" 0 $((RANDOM % 30000)) "$UNSEEN" pop q.bf -m $((1 + RANDOM % 20)) --tries 2 --failed dead -x ./work >/dev/null 2>>said 3>&- &
            pids+=($!)
        done
        for j in "${pids[@]}"; do
            status=0
            wait "$j" || status=$?
            [[ $status -le 1 || $status -eq 137 ]] || { echo "exit $status"; false; }
            [[ $status -ne 137 ]] || hits=$((hits + 1))
        done
        while unseen pop q.bf -m 3 --until-done --tries 2 --failed dead -x ./work 2>>said; do :; done
        # The CMD of a popper that was killed may still be at work.
        for ((j = 0; j < 1000; j++)); do
            ! sort -un finished dead | cmp -s - in || break
            sleep 0.01
        done
        sort -un finished dead | cmp - in || complain "run $i"
        while read -r line; do
            [[ $(cat tried.* | grep -cx "$line") -ge 2 ]] || complain "run $i: $line after one try"
        done <dead
        both=$((both + $(sort dead finished | uniq -d | wc -l)))
        drained q.bf
    done
    grep -q 'begin from 0' said && return 1
    echo "$runs runs, $hits killed, $both lines twice"
    [[ $hits -gt $runs ]]
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
            "$UNSEEN" create --queue -n 100k -p 1e-9 --fixed q.bf || exit 9
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
