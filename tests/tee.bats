#!/usr/bin/env bats
# --tee FILE: new lines are printed and appended to FILE, and remembered only if both took them whole.

# shellcheck disable=SC2034 # calls_of and others read these
load helper
load crash
load sweep

# kept FILE: each line of ./in that f.bf remembers is whole in FILE.
kept() {
    capture unseen query f.bf in
    [[ $code -le 1 ]] || complain query || return 1
    none_lost "$out" "$1"
}

@test "with other options: the same lines go to both; what does not go with it leaves all as it was" {
    local status arguments printed list remembered
    printf 'id\n1\n2\n1\n3\n' >a
    while IFS='|' read -r status arguments printed list remembered; do
        rm -f -- *.bf list dropped
        exits 0 unseen add --create -p 1e-9 f.bf < <(echo 3)
        exits "$status" eval "unseen $arguments" && prints "$printed" &&
            same <(cat list 2>/dev/null) <(printf '%b' "$list") &&
            [[ $(unseen query f.bf <(seq 9) | xargs) == "$remembered" ]] && silent_on_stderr ||
            { echo "row: $arguments"; return 1; }
    done <<'END'
0|--tee list f.bf a|id\n1\n2\n|id\n1\n2\n|1 2 3
0|--header --tee list f.bf a a|id\n1\n2\n|id\n1\n2\n|1 2 3
0|--header --tee list f.bf < <(printf 'id\n3\n')|||3
0|-m 2 --tee list f.bf a|id\n1\n|id\n1\n|1 3
1|-e --tee list f.bf < <(echo 3)|||3
0|-j 2 --dropped dropped --tee list f.bf a; cat dropped|id\n1\n2\n1\n3\n|id\n1\n2\n|1 2 3
0|-z --tee list f.bf < <(printf '1\0002\0001\0')|1\x002\x00|1\x002\x00|1 2 3
0|--durable --tee list f.bf a|id\n1\n2\n|id\n1\n2\n|1 2 3
0|--durable --tee list f.bf a >got; cat got|id\n1\n2\n|id\n1\n2\n|1 2 3
END
}

@test "a list that is there: an unfinished last line is ended, its header line is compared; the output is refused" {
    local before after
    printf 'h\n1\n2\n' >a
    while IFS='|' read -r before after; do
        exits 0 unseen create --force f.bf
        printf '%b' "$before" >list
        succeeds unseen --header --tee list f.bf a
        prints 'h\n1\n2\n'
        printf '%b' "$after" | cmp - list
    done <<'END'
|h\n1\n2\n
h\n7\n|h\n7\n1\n2\n
h\n7\nhalf|h\n7\nhalf\n1\n2\n
h\r\n|h\r\n1\n2\n
END
    echo i >list
    exits 0 unseen create --force f.bf
    fails_with 2 "^unseen: a: columns differ from list's$" unseen --header --tee list f.bf a
    # shellcheck disable=SC2094
    fails_with 2 'list: used for both output and --tee' appending_to list unseen --tee list f.bf a
    fails_with 2 '/dev/stdout: used for both output and --tee' appending_to list unseen --tee /dev/stdout f.bf a
}

@test "FILTER is made in this run, and a list has lines that it would not know: not with --tee, told with -a" {
    seq 3 >list
    seq 5 >in
    fails_with 2 '^unseen: list: has lines that s\.bf would not know \(first: unseen add --create -p 1e-9 s\.bf list\)$' \
        unseen --create -p 1e-9 --tee list s.bf in
    fails_with 2 'add --create -f 1 -z --header s\.bf list\)$' unseen --create --tee list -z --header -f 1 s.bf in
    # as it says
    exits 0 unseen add --create -p 1e-9 s.bf list
    succeeds unseen --create -p 1e-9 --tee list s.bf in
    prints '4\n5\n'
    same list in
    rm s.bf
    exits 0 unseen --create -a list s.bf in
    says_lines 2 '^unseen: list: has lines that s\.bf does not know, and which may come again \(to add them: unseen add s\.bf list\)$' 'created'
    seq 5 | cat - in | same list -
}

@test "a reader of the output that stands still holds up nobody; killed, its lines come again, and once" {
    input 20000 >in
    exits 0 unseen create -p 1e-9 f.bf
    stall "$UNSEEN" --tee list f.bf in
    input 3000 50000 >other
    exits 0 timeout 60 "$UNSEEN" --tee list f.bf other
    same "$out" other
    end_stalled first
    cat other >>in
    kept list
    exits 0 unseen --tee list f.bf in
    none_lost in first other "$out"
    each_once in list
}

@test "a signal between printing and appending: what was printed is appended, and remembered, before it ends" {
    need_signals
    local pid
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    touch list
    hold_lock list 4611686018427387904 list
    env --default-signal=TERM "$UNSEEN" --tee list f.bf in >got 3>&- &
    pid=$!
    filled got
    asleep "$pid"
    kill -TERM "$pid"
    asleep "$pid"
    [[ ! -s list ]]
    let_go list
    ended 143 "$pid"
    [[ -s got ]]
    same list got
    remembers "$(wc -l <got)"
}

@test "the disk of the list, or of the output, is full; the output is closed: the lesser of both is remembered" {
    need_full
    need_signals
    input 20000 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 2 to /dev/full unseen --tee list f.bf in
    says '^unseen: standard output: No space left on device \(printed and appended lines are remembered; free some space, then get the rest with the same input and >> FILE\)$'
    [[ ! -s list ]]
    remembers 0
    # a limit on the size of files stands for a full disk
    (ulimit -f 100; code=0; "$UNSEEN" --tee list f.bf in 2>said || code=$?; echo "$code" >code) | cat >printed
    [[ $(cat code) -eq 2 ]]
    grep -q '^unseen: list: File too large' said
    [[ -s list && $(wc -l <printed) -ge $(wc -l <list) ]]
    kept list
    # both fail within one batch: the output, which came first, is told
    yes x | head -c 102300 >printed
    yes x | head -c 102390 >list2
    exits 0 unseen create -p 1e-9 g.bf
    (ulimit -f 100; code=0; "$UNSEEN" --tee list2 g.bf in >>printed 2>said || code=$?; echo "$code" >code)
    [[ $(cat code) -eq 2 && $(stat -c %s printed list2 | xargs) == '102400 102400' ]]
    grep -q '^unseen: standard output: File too large' said
    # the reader goes away, and the unfinished line is ended
    env --default-signal=PIPE "$UNSEEN" --tee list f.bf in 2>said | head -n 1 >printed
    kept list
    [[ ! -s said && $(wc -l <printed) -eq 1 ]]
    exits 0 unseen --tee list f.bf in
    kept list
    [[ $(comm -13 <(sort in) <(sort list) | wc -l) -le 1 ]]
}

# Each form ends with a list beside what is printed.
prepare_tee() { rm -f list; prepare_filter; }
form_tee() { strace_it --tee list f.bf in >part; }
done_tee() { same part in && same list in && all_in; }
again_tee() {
    kept list && "$UNSEEN" --tee list f.bf in >rest 2>/dev/null || return 1
    none_lost in part rest && none_lost in list && all_in
}

# bats test_tags=torture
@test "the Nth of each system call fails" {
    need_strace
    sweep_start "$(rounds 40 300)"
    sweep_all "$(rounds 1 9)" tee
}

@test "kill -9 at any system call: each line remembered is whole in the list" {
    need_strace
    sweep_start 40
    after_kill() { kept list; }
    killed_at_each tee write fcntl pread64 openat
}
