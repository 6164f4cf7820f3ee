#!/usr/bin/env bats
# Counting filters: kills of remove, and many at once.

load ../helper
load ../crash
load ../counting

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
