#!/usr/bin/env bats
# Counting filters in large sizes: a million lines, half of them removed; kills; many at once.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load ../counting
load scale

# within_six_sigma HITS TRIALS RATE: as many as a chance of RATE gives.
within_six_sigma() {
    awk -v hits="$1" -v n="$2" -v p="$3" 'BEGIN {
        off = (hits - n * p) / sqrt(n * p * (1 - p))
        printf "%d of %d, %.1f expected: %+.2f sigma\n", hits, n, n * p, off
        exit off > 6 || off < -6
    }'
}

@test "10^6 lines added, half of them removed in random order: no other is lost, the rate is the model's" {
    local n probes p hits rate
    n=$(scaled 1000000)
    probes=$(scaled 3000000)
    input "$n" >in
    sort -R --random-source=<(yes) in >shuffled
    head -n $((n / 2)) shuffled >gone
    tail -n $((n - n / 2)) shuffled >kept
    input "$probes" 10000000 >others
    for p in 1e-2 1e-3; do
        rm -f f.bf added
        # What is dropped on the way in was not added.
        exits 0 unseen --create --counting -n "$n" -p $p -a added f.bf in
        sort added >sorted
        sort gone | comm -12 - sorted >gone.in
        sort kept | comm -12 - sorted >kept.in
        exits 0 unseen stats --json f.bf
        rate=$(field rate "$out")
        hits=$(unseen query -c f.bf others) || true
        within_six_sigma "$hits" "$probes" "$rate" || { echo "p = $p, all in"; false; }
        exits 0 unseen plan --json --counting -n "$n" -p $p
        awk -v now="$rate" -v plan="$(field rate "$out")" 'BEGIN { exit !(now < plan * 1.05 && now > plan * 0.9) }' ||
            { echo "p = $p: rate $rate, the model says $(field rate "$out")"; false; }

        sort -R --random-source=<(yes) gone.in >in.order
        exits 0 unseen remove f.bf in.order
        [[ ! -s $err ]] || grep -q 'in more than one layer, to all appearances' "$err"
        exits 1 unseen query -v f.bf kept.in
        remembers "$(wc -l <kept.in)" kept.in
        made_of kept.in -n "$n" -p $p
        exits 0 unseen stats --json f.bf
        rate=$(field rate "$out")
        hits=$(unseen query -c f.bf others) || true
        awk -v e="$probes" -v r="$rate" 'BEGIN { exit !(e * r >= 20) }' ||
            { echo "p = $p: half full, a rate of $rate is not measured by $probes lines: $hits"; continue; }
        within_six_sigma "$hits" "$probes" "$rate" || { echo "p = $p, half in"; false; }
    done
}

@test "10^6 lines come and go ten times: the same size, the same rate, nothing left in the end" {
    local i n rate
    n=$(scaled 1000000)
    exits 0 unseen create --counting -n "$n" -p 1e-9 f.bf
    for ((i = 0; i < 10; i++)); do
        input "$n" $((i * n)) >now
        succeeds unseen add f.bf now
        [[ $i -gt 0 ]] || { exits 0 unseen stats --json f.bf; rate=$(field rate "$out"); }
        succeeds unseen remove f.bf < <(shuf --random-source=<(yes) now)
    done
    succeeds unseen stats --json f.bf
    [[ $(field layers "$out") -eq 1 ]] || complain 'it has grown'
    [[ $(layer f.bf | tr -d '\0' | wc -c) -eq 0 ]] || complain "something is left, after a rate of $rate"
}

@test "300 kills of remove: each line is removed whole or not at all, no other is lost" {
    input 4000 >gone
    input 6000 10000 >kept
    kill_removals "$(scaled 300)"
}

@test "removers killed while others remove, query and print: what stays is never missed" {
    local i runs pids status
    runs=$(scaled 60)
    input 8000 >gone
    input 3000 50000 >kept
    split -n l/2 gone half.
    exits 0 unseen add --create --counting -n 20k -p 1e-9 full.bf gone kept
    for ((i = 0; i < runs; i++)); do
        cp full.bf f.bf
        pids=()
        "$tools/killed" 0 $((RANDOM * 15000 / 32768)) "$UNSEEN" remove f.bf half.aa 2>said.a 3>&- &
        pids+=($!)
        "$UNSEEN" remove f.bf half.ab 2>said.b 3>&- &
        pids+=($!)
        exits 1 unseen query -v f.bf kept || { echo "run $i"; false; }
        exits 0 unseen f.bf kept || { echo "run $i"; false; }
        [[ ! -s $out ]] || complain "run $i: a line that was in came out"
        status=0
        wait "${pids[0]}" || status=$?
        [[ $status -eq 0 || $status -eq 137 ]]
        wait "${pids[1]}"
        [[ ! -s said.b ]] || complain "run $i: $(cat said.b)"
        exits 0 unseen add f.bf </dev/null
        unseen query f.bf half.aa >left || true
        cat kept left >rest
        made_of rest -n 20k -p 1e-9 || { echo "run $i"; false; }
    done
    echo "$runs runs, nothing missed"
}
