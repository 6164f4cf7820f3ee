#!/usr/bin/env bats
# Each system call failed with each errno, each allocation, and short reads and writes.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load ../sweep
load scale

sweep_form() {
    need_strace
    sweep_start "$(scaled 300)"
    sweep_all 9 "$1"
}

@test "all calls, all errnos: filter" { sweep_form filter; }
@test "all calls, all errnos: -o" { sweep_form output; }
@test "all calls, all errnos: --durable" { sweep_form durable; }
@test "all calls, all errnos: -x" { sweep_form exec; }
@test "all calls, all errnos: --pending" { sweep_form pending; }
@test "all calls, all errnos: commit" { sweep_form commit; }
@test "all calls, all errnos: add" { sweep_form add; }
@test "all calls, all errnos: remove" { sweep_form remove; }
@test "all calls, all errnos: creation on the way" { sweep_form implied; }
@test "all calls, all errnos: create" { sweep_form create; }
@test "all calls, all errnos: query" { sweep_form query; }
@test "all calls, all errnos: stats" { sweep_form stats; }
@test "all calls, all errnos: the first push" { sweep_form queue; }
@test "all calls, all errnos: push" { sweep_form push; }
@test "all calls, all errnos: pop" { sweep_form pop; }
@test "all calls, all errnos: pop -x" { sweep_form popexec; }
@test "all calls, all errnos: pop -x --tries" { sweep_form popfailexec; }

# --- with the library of tests/torture/preload ------------------------------------------

need_library() {
    plain_build "has its own allocator"
    [[ -e $programs/faults.so ]] || skip "needs $programs/faults.so: tests/torture/run makes it"
    LD_PRELOAD=$programs/faults.so true || skip "libraries cannot be preloaded here"
}

@test "reads and writes cut short, to files and pipes, by all forms: the same bytes" {
    local seed seeds form
    need_library
    input 5000 >in
    "$UNSEEN" create -n 500 -p 1e-9 made.bf
    seeds=$(scaled 50)
    short() { LD_PRELOAD=$programs/faults.so FAULT_SHORT=$seed "$UNSEEN" "$@"; }
    for ((seed = 1; seed <= seeds; seed++)); do
        cp made.bf f.bf
        exits 0 short f.bf in
        same "$out" in
        cp made.bf f.bf
        # shellcheck disable=SC2002 # a pipe is what is wanted
        cat in | short f.bf 2>/dev/null | cat >got
        same got in
        cp made.bf f.bf
        exits 0 short f.bf in -x cat
        same "$out" in
        cp made.bf f.bf
        rm -f keys
        exits 0 short --pending keys f.bf in
        same "$out" in
        exits 0 short commit f.bf keys
        exits 0 short query f.bf in
        same "$out" in
        rm -f got
        cp made.bf f.bf
        exits 0 short --durable f.bf in -a got
        same got in
        rm -f new.bf
        exits 0 short create -p 1e-9 new.bf
        succeeds unseen verify new.bf
        exits 0 short stats f.bf
    done
    echo "$seeds seeds of 9 forms"
}

@test "each allocation fails, in all forms: exit 2, nothing remembered that was not delivered" {
    local form n runs=0 status
    need_library
    input 300 >in
    "$UNSEEN" create -n 100 -p 1e-9 made.bf
    "$UNSEEN" --pending made.keys made.bf in >/dev/null
    for form in 'f.bf in' 'f.bf in -x cat' '--pending keys f.bf in' '--durable f.bf in -a got' \
        'add f.bf in' 'commit f.bf made.keys' 'query f.bf in' 'stats f.bf' 'verify f.bf' 'create new.bf' 'in-memory'; do
        for ((n = 1; n < 1000; n++)); do
            cp made.bf f.bf
            rm -f got keys new.bf reached
            code=0
            # shellcheck disable=SC2086
            if [[ $form == in-memory ]]; then
                LD_PRELOAD=$programs/faults.so FAULT_MALLOC=$n FAULT_MALLOC_LOG=reached \
                    timeout 60 "$UNSEEN" <in >"$out" 2>"$err" || code=$?
            else
                LD_PRELOAD=$programs/faults.so FAULT_MALLOC=$n FAULT_MALLOC_LOG=reached \
                    timeout 60 "$UNSEEN" $form >"$out" 2>"$err" || code=$?
            fi
            # CMD gets the same library: what fails in it is its own trouble, exit 3
            [[ -e reached ]] || break
            runs=$((runs + 1))
            case $code in
            0) [[ $form != f.bf\ in* ]] || same "$out" in ;; # stdio does without its buffer
            1) [[ $form == query* || $form == verify* ]] || complain "$form, allocation $n" ;;
            2) grep -q '^unseen: ' "$err" || complain "$form, allocation $n: without a word" ;;
            3) [[ $form == *-x* ]] || complain "$form, allocation $n" ;;
            *) complain "$form, allocation $n" ;;
            esac
            [[ ! -e new.bf || $code -eq 0 ]] || complain "$form, allocation $n: made, though it failed"
            status=$code
            cp "$out" first
            verify_usable
            [[ $status -eq 0 ]] || case $form in
            'f.bf in')
                exits 0 unseen f.bf in
                none_lost in first "$out"
                ;;
            *-x* | --pending*)
                exits 0 unseen f.bf in
                same "$out" in || [[ $form == *-x* && $code -eq 2 ]]
                ;;
            --durable*)
                touch got
                exits 0 unseen f.bf in
                none_lost in got "$out"
                ;;
            esac
        done
    done
    echo "$runs allocations failed"
    [[ $runs -gt 20 ]]
}
