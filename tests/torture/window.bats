#!/usr/bin/env bats
# Windows in large sizes: kills while a layer is emptied, writers.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load scale

# kills_in_window HITS CREATE_OPTION...: as kill_and_rerun of crash.bash, but each rerun begins with
# the last 400 lines that came out, all of which the window has, save a batch.
kills_in_window() {
    local wanted=$1 lines hits=0 tries=0 retired=0 next=0 from count moment rest
    shift
    lines=$(($(bytes_of in) / line_bytes))
    exits 0 unseen create --force -p 1e-9 "$@" f.bf || return 1
    while [[ $hits -lt $wanted ]]; do
        tries=$((tries + 1))
        rest=$((next > 400 ? next - 400 : 0))
        tail -c +$((rest * line_bytes + 1)) in >rest
        moment 60000
        code=0
        "$tools/killed" "${moment[@]}" "$UNSEEN" f.bf rest >part 2>"$err" || code=$?
        [[ $code -eq 137 || $code -eq 0 ]] || { echo "exit code $code"; cat "$err"; return 1; }
        piece part || return 1
        capture unseen verify f.bf
        [[ $code -le 1 ]] || { complain verify; return 1; }
        ! grep -q 'died while it emptied' "$out" || retired=$((retired + 1))
        [[ $count -gt 0 ]] || continue
        hits=$((hits + 1))
        [[ $from -le $next ]] || { echo "kill $tries: $((from - next)) lines lost"; return 1; }
        [[ $from -ge $((next - 64)) ]] ||
            { echo "kill $tries: $((next - from)) lines came twice"; return 1; }
        next=$((from + count))
        if [[ $next -ge $((lines - 3000)) ]]; then
            next=0
            exits 0 unseen create --force -p 1e-9 "$@" f.bf || return 1
        fi
    done
    echo "$hits kills at work of $tries, $retired while a layer was emptied, 0 lost"
    [[ $retired -gt 0 || $wanted -lt 100 ]]
}

@test "1000 kills -9 at work in a window" {
    input 60000 >in
    kills_in_window "$(scaled 1000)" --window 600
}

@test "200 runs of 4 writers through a window much smaller than their input" {
    local i run runs
    runs=$(scaled 200)
    for i in 0 1 2 3; do
        input 6000 $((i * 10000)) >"in.$i"
    done
    sort in.* >all
    for ((run = 0; run < runs; run++)); do
        exits 0 unseen create --force --window 300 -p 1e-9 f.bf
        writers 4 "$UNSEEN" f.bf in.%i
        sort out.* | cmp - all || { echo "run $run"; false; }
        input 300 $((1000000 + run * 300)) >last
        exits 0 unseen f.bf last
        exits 0 unseen query -c f.bf last
        prints '300\n'
    done
    exits 0 unseen verify f.bf
    echo "$runs runs, nothing lost, the last N always in"
}

@test "200 runs of 4 writers over one list, within the window: each line exactly once" {
    local i run runs
    runs=$(scaled 200)
    input 8000 >in
    for ((run = 0; run < runs; run++)); do
        # Never less than 8000 lines are remembered, whatever was in before.
        [[ $((run % 20)) -ne 0 ]] || exits 0 unseen create --force --window 8000 -p 1e-9 f.bf
        input 8000 $((run * 8000)) >in
        writers 4 "$UNSEEN" f.bf in
        sort out.* | cmp - in || { echo "run $run"; false; }
    done
    echo "$runs runs, each line exactly once"
}
