#!/usr/bin/env bats
# Kills and many writers in the large sizes of tests/writers.bats.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load scale

@test "2000 kills -9 at work, a filter of fixed size" {
    input 60000 >in
    kill_and_rerun "$(scaled 2000)" 5 -n 200k
}

@test "2000 kills -9 at work, a filter that grows" {
    input 40000 >in
    kill_and_rerun "$(scaled 2000)" 4 -n 300
}

@test "500 kills -9 at work, a tiny filter with tiny batches" {
    input 4000 >in
    kill_and_rerun "$(scaled 500)" 3 -n 50
}

@test "500 kills -9 at work, a large filter, one million lines" {
    input 1000000 >in
    kill_and_rerun "$(scaled 500)" 5 -n 1M
}

@test "1000 kills -9 at work, lines that gather in a stage, in filters of fixed size and that grow" {
    with_stages
    input 60000 >in
    kill_and_rerun "$(scaled 500)" 5 -n 200k
    kill_and_rerun "$(scaled 500)" 4 -n 3000
}

@test "1000 runs of 8 writers, three of them killed, their input run again" {
    local hits
    input 12000 >in
    some_killed "$(scaled 1000)" -n 2000
    [[ $hits -gt 0 ]]
}

@test "500 runs of 8 writers without faults: each line exactly once" {
    local i runs
    runs=$(scaled 250)
    overlapping 8000 3000
    for ((i = 0; i < runs; i++)); do
        exits 0 unseen create --force -n 2000 -p 1e-9 f.bf
        writers 8 "$UNSEEN" f.bf in.%i
        each_once in out.* || { echo "run $i, overlapping"; false; }
        exits 0 unseen create --force -n 2000 -p 1e-9 f.bf
        rm -f all.txt
        writers 8 "$UNSEEN" f.bf in -a all.txt
        each_once in all.txt || { echo "run $i, one file"; false; }
    done
    echo "$((2 * runs)) runs, each line exactly once"
}

# signalled RUN: some writers over ./in, of which the first is sent a signal, or two, in the midst of its
# work; then all is run again. Adds to `hits`, `forgotten` and `again`.
signalled() {
    local i to signals pids=() moment status=0 writers=$(($1 / 3 % 8 + 1))
    local kinds=('' --durable push) sizes=('' '-n 500') ends=(:2 :15 :1 :15:15 :2:15 :1:1)
    local kind=${kinds[$1 % 3]} size=${sizes[$1 / 144 % 2]}
    signals=${ends[$1 / 24 % 6]}
    rm -rf f.bf* out.* err.*
    # shellcheck disable=SC2086 # it is two words, or none
    exits 0 unseen create -p 1e-9 $size f.bf
    # What push puts into the queue is in this file.
    [[ $kind != push ]] || exits 0 unseen push f.bf < <(head -n 1 in)
    for ((i = 0; i < writers; i++)); do
        moment $(($(bytes_of in) / writers))
        [[ $i -eq 0 ]] || moment=(0 600000000)
        to=out.$i
        [[ $kind != push ]] || to=f.bf.queue/0000000001
        env --default-signal=HUP,INT,TERM "$tools/killed" "${moment[0]}" "${moment[1]}$signals" \
            "$UNSEEN" ${kind:+"$kind"} f.bf in >>"$to" 2>"err.$i" 3>&- &
        pids+=($!)
    done
    for i in "${!pids[@]}"; do
        status=0
        wait "${pids[i]}" || status=$?
        [[ $status -eq 0 || ($i -eq 0 && $status -gt 128 && $status -lt 144) ]] ||
            { echo "writer $i: exit code $status"; cat "err.$i"; return 1; }
        [[ $status -eq 0 ]] || hits=$((hits + 1))
    done
    [[ $kind != push ]] || unseen pop f.bf -m 100000 >out.0
    whole out.* >printed
    forgotten=$((forgotten + $(unseen query -vc f.bf printed || true)))
    # shellcheck disable=SC2086 # it is a word, or none
    unseen ${kind/--durable/} f.bf in >>printed 2>err.again
    [[ $kind != push ]] || unseen pop f.bf -m 100000 >>printed || true
    again=$((again + $(sort printed | uniq -d | wc -l)))
    none_lost in printed
}

@test "2000 signals to one of 1 to 8 writers, plain, --durable and push: 0 lines forgotten, 0 come again" {
    need_signals
    local run hits=0 forgotten=0 again=0 wanted
    wanted=$(scaled 2000)
    input 6000 >in
    for ((run = 0; hits < wanted; run++)); do
        signalled $run || { echo "run $run"; false; }
    done
    echo "$hits of $run runs were ended by a signal: $forgotten lines forgotten, $again came again"
    [[ $forgotten -eq 0 && $again -eq 0 ]]
}

@test "A stalls with lines in flight, B delivers 10^7, A is killed: all of B's are in" {
    local n
    n=$(scaled 10000000)
    input 30000 >in
    exits 0 unseen create -n 1M -p 1e-9 f.bf
    stall
    input "$n" 100000 | exits 0 unseen f.bf
    run -1 grep waiting "$err"
    input "$n" 100000 | cmp - "$out"
    kill -0 "$stalled"
    end_stalled first
    input "$n" 100000 | exits 0 unseen query -c f.bf
    prints "$n\\n"
    exits 0 unseen f.bf in
    none_lost in first "$out"
    echo "$n lines of B, all in"
}
