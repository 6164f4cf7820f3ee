#!/usr/bin/env bats
# Tasks that are killed and run again: at every system call of the recipe, with filters of all kinds,
# alone and beside another task.

# shellcheck disable=SC2317
load ../helper
load ../crash
load ../retry

# shellcheck disable=SC2034 # at_each_call has it
every=$(($(scaled 100) >= 100 ? 1 : 4))

@test "one task, each call, a filter that has some of the lines: counting, a window, a stage" {
    with_stages
    need_strace
    local options
    { input 9000; input 4000 6000; } >in.1
    input 3000 2000 >old
    lines_unique old in.1 | tail -n +3001 >oracle
    for options in '--counting -n 1000 -p 1e-9' '--window 20000 -p 1e-9' '-n 300k -p 1e-9'; do
        rm -f made.bf
        read -ra how <<<"$options"
        "$UNSEEN" --create "${how[@]}" made.bf old >/dev/null 2>&1
        at_each_call is_oracle
    done
}

@test "one task, each call, at p = 0.5: the output is that of the first run" {
    need_strace
    how=(-n 1000 -p 0.5)
    { input 9000; input 4000 6000; } >in.1
    "$UNSEEN" --create "${how[@]}" made.bf < <(input 3000 2000) >/dev/null 2>&1
    "$UNSEEN" --pending keys made.bf in.1 >oracle
    holds "$(wc -l <oracle) < 9000"
    # Of lines that were not printed half seem to be in.
    only_printed() { :; }
    at_each_call is_oracle
}

# The other task has 3000 lines of this one. It runs whole between two attempts, or prints before
# the second and commits after it.
two_tasks() {
    lines_unique OUT.1 | same OUT.1 /dev/stdin && lines_unique OUT.2 | same OUT.2 /dev/stdin &&
        none_lost in.1 OUT.1 OUT.2 && none_lost in.2 OUT.1 OUT.2 && has seen.bf in.1 in.2
}

@test "two tasks with lines in common, one killed at each call: nothing is lost" {
    need_strace
    local turn
    { input 6000; input 2000 3000; } >in.1
    input 6000 3000 >in.2
    between() {
        [[ $1 -ne 1 ]] || turn=$((kills % 2))
        if [[ $turn -eq 0 ]]; then
            [[ $1 -eq 2 ]] || task 2
        elif [[ $1 -eq 1 ]]; then
            "$UNSEEN" --create "${how[@]}" --pending K.2 seen.bf <in.2 >tmp.2 2>>said && mv tmp.2 OUT.2
        else
            "$UNSEEN" commit seen.bf K.2 2>>said
        fi
    }
    at_each_call two_tasks
}
