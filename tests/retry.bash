# A task that is killed and run again, in the recipe that the manual gives; load it behind
# crash.bash.
#
# The three programs of the recipe are numbered: the run with --pending, mv, commit. A kill comes at
# one of their system calls, which is a word like openat:3, the third one of that name.

# shellcheck shell=bash

deadly=0 # the program that is killed; 0: none
deadly_at=openat:1
kills=0
how=(-n 100 -p 1e-9) # the filter

# step NUMBER COMMAND...
step() {
    local number=$1
    shift
    if [[ $number -eq $deadly && $deadly_at == none ]]; then
        strace -qq -o trace "$@" 2>>said
    elif [[ $number -eq $deadly ]]; then
        strace -qq -o trace -e trace="${deadly_at%:*}" -e "inject=${deadly_at%:*}:signal=KILL:when=${deadly_at#*:}" "$@" 2>>said
    else
        "$@" 2>>said
    fi
}

# task NAME [OPTION...]
task() {
    local name=$1
    shift
    step 1 "$UNSEEN" --create "${how[@]}" "$@" --pending "K.$name" seen.bf <"in.$name" >"tmp.$name" &&
        step 2 mv "tmp.$name" "OUT.$name" &&
        step 3 "$UNSEEN" commit seen.bf "K.$name"
}

# list_calls NAME [OPTION...]: calls.1 to calls.3 are the calls of the task's programs, but for those
# of the loader, which end before those of a run that does nothing do. With $only, an extended
# regular expression, only these.
list_calls() {
    local number loader
    strace -qq -o trace "$UNSEEN" --version >/dev/null
    loader=$(($(wc -l <trace) - 6))
    for number in 1 2 3; do
        rm -f K.* OUT.* tmp.* seen.bf*
        [[ ! -e made.bf ]] || cp made.bf seen.bf
        deadly=$number
        deadly_at=none
        task "$@"
        awk -F'(' '/^[a-z]/ { print $1 ":" ++n[$1] }' trace >all
        if [[ $number -eq 2 ]]; then tail -n 12 all; else tail -n +"$loader" all; fi |
            grep -E "^(${only:-.*}):" >"calls.$number"
    done
    deadly=0
}

# dies NUMBER CALL NAME [OPTION...]: the task, killed there. `died` says whether it came to that.
dies() {
    local status=0
    deadly=$1
    deadly_at=$2
    shift 2
    task "$@" 2>/dev/null || status=$?
    deadly=0
    died=$((status == 137))
    kills=$((kills + died))
    [[ $status -eq 137 || $status -eq 0 ]] || { echo "exit $status, not killed:"; cat said; return 1; }
}

# only_printed NAME...: what is remembered of the tasks' lines stands in an OUT, or in ./old.
only_printed() {
    local name
    [[ -s seen.bf ]] || return 0
    for name; do
        "$UNSEEN" query seen.bf "in.$name" || [[ $? -eq 1 ]] || return 1
    done | sort -u | comm -23 - <(cat old OUT.* 2>/dev/null | sort -u) >unprinted
    [[ ! -s unprinted ]] || { echo "remembered, and in no output: $(wc -l <unprinted)"; return 1; }
}

# no_litter: nothing lies beside K and the filter, but what the next run removes.
no_litter() {
    local litter
    litter=$(find . -name 'K.*.*' -o -name 'seen.bf?*')
    [[ -z $litter ]] || { echo "litter: $litter"; return 1; }
}

# killed_twice NAME NUMBER CALL [OPTION...]: killed there; run again and killed at a random call; run
# to its end, and once more. `between` runs in between.
between() { :; }
killed_twice() {
    local name=$1 number=$2 call=$3 second=$((1 + RANDOM % 3)) calls
    mapfile -t calls <"calls.$second"
    shift 3
    rm -f K.* OUT.* tmp.* seen.bf* said
    [[ ! -e made.bf ]] || cp made.bf seen.bf
    dies "$number" "$call" "$name" "$@" || return 1
    only_printed "$name" && no_litter && between 1 || return 1
    dies "$second" "${calls[RANDOM % ${#calls[@]}]}" "$name" "$@" || return 1
    only_printed "$name" && no_litter && between 2 || return 1
    task "$name" "$@" || { echo "exit $?:"; cat said; return 1; }
    only_printed "$name" && no_litter || return 1
    cp "OUT.$name" once
    { task "$name" "$@" && cmp "OUT.$name" once; } || { echo 'not the same once more'; return 1; }
}

is_oracle() { same OUT.1 oracle && has seen.bf oracle; }

# at_each_call CHECK [OPTION...]: task 1, killed at each call of each program, or $every-th; then CHECK.
at_each_call() {
    local check=$1 number call
    shift
    list_calls 1 "$@"
    for number in 1 2 3; do
        while read -r call; do
            { killed_twice 1 "$number" "$call" "$@" && "$check"; } || { echo "$*: program $number, $call"; return 1; }
        done < <(awk -v every="${every:-1}" 'NR % every == 0' "calls.$number")
    done
    echo "${*:-plain}: $kills kills, 0 lost, 0 doubled"
    [[ $kills -gt 20 ]]
}
