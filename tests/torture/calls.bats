#!/usr/bin/env bats
# Each system call and each allocation failed, and short reads and writes.

load ../helper
load ../crash
load ../sweep

# The other forms are in faults.bats.
@test "the Nth of each system call fails, with all errnos: -a, add, creation on the way, push, pop, pop -x" {
    need_strace
    sweep_start "$(scaled 300)"
    sweep_all 9 output add implied push pop popexec
}

# --- with the library of tests/torture/preload ------------------------------------------

all_forms=(memory filter output durable exec pending commit add implied create remove queue push pop popexec popfailexec patterns)

# To check a recipe takes memory, too: without it, the filter is not damaged.
prepare_patterns() { "$UNSEEN" create -n 100 -p 1e-9 --without '#' --without '^ +' f.bf 2>/dev/null; }
form_patterns() { form_filter; }
again_patterns() { ! grep damaged said && again_filter; }

prepare_memory() { :; }
form_memory() { strace_it -p 1e-9 --without '~' --without '(~|x?)*y' <in >part; }
done_memory() { same part in; }
again_memory() { :; }

# with_library SETTINGS LINES: the forms run with it from here on, over so many lines, and so does CMD.
with_library() {
    local library=${UNSEEN_TORTURE:-${UNSEEN%/*}/tests/torture}/faults.so
    plain_build "has its own allocator"
    [[ -e $library ]] || skip "needs $library: tests/torture/run makes it"
    LD_PRELOAD=$library true || skip "libraries cannot be preloaded here"
    sweep_start "$2"
    eval "strace_it() { LD_PRELOAD='$library' $1 timeout --foreground -k 5 60 \"\$UNSEEN\" \"\$@\"; }"
}

@test "reads and writes cut short, to files and pipes, by all forms: the same bytes" {
    local seed form
    with_library 'FAULT_SHORT=$seed' 3000
    for ((seed = $(scaled 50); seed > 0; seed--)); do
        for form in "${all_forms[@]}"; do
            start_over "$form"
            "form_$form" 2>said || [[ $form == popfailexec ]] || complain "$form"
            its 'done' "$form" || complain "$form"
        done
    done
}

@test "each allocation fails, in all forms: exit 2, and nothing is lost" {
    local form runs=0
    with_library 'FAULT_MALLOC=$n FAULT_MALLOC_LOG=trace' 300
    for form in "${all_forms[@]}"; do
        sweep_one "$form" malloc ENOMEM
    done
    echo "$runs allocations failed"
    [[ $runs -gt 20 ]]
}
