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
    input 60000 >in
    kill_and_rerun "$(scaled 500)" 5 -n 200k --stage 256K
    kill_and_rerun "$(scaled 500)" 4 -n 3000 --stage 256K
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
