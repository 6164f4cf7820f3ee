#!/usr/bin/env bats
# The recipes of unseen-scale(7) on Slurm, while tasks and nodes are killed.
#
# The first attempt at part 3 reads a pipe, of which it gets a half: once it has printed some of that,
# it is in the middle of its work, and stays there until it is killed or fed the rest.

# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
# shellcheck disable=SC2154 # what is set by helper.bash and slurm.bash
load ../helper
load engines
load slurm

teardown() {
    stop_cluster
}

# a_run: a new directory with the recipes and the parts of the list.
a_run() {
    mkdir "$work/run.$((++runs))"
    cd "$work/run.$runs" || return 1
    recipe task slurm-array slurm-task slurm-run
    unseen shard 4 --files part.%d "$work/list"
    ln -s "$work/whole" .
}

# prepare [COMMAND]: a cluster (whose nodes run COMMAND first), a list, and a first directory.
prepare() {
    need_slurm
    tools_in_path
    work=$PWD runs=0
    make_list
    a_run
    start_cluster "$@"
}

# on_nfs: to unseen, all directories of this test lie on NFS.
on_nfs() {
    need_preload network
    rm "$BATS_TEST_TMPDIR/bin/unseen"
    printf '#!/bin/sh\nexport %s %s FAKE_TYPE=6969 FAKE_MOUNTS=/dev/null\nexec %s "$@"\n' \
        "LD_PRELOAD=$preload" "FAKE_PLACE=$work" "$UNSEEN" >"$BATS_TEST_TMPDIR/bin/unseen"
    chmod +x "$BATS_TEST_TMPDIR/bin/unseen"
    fails_with 2 'lies on NFS' command unseen create refused.bf
}

# submit [FILE [ARGUMENT]...]: runs it, slurm-run if none is named, in the background; `ends` waits.
submit() {
    [[ $# -gt 0 ]] || set -- slurm-run
    rm -f "$err"
    at_cluster sh "$@" >"$out" 2>"$err" &
    submitted=$!
    wait_until 20 has_number
}

has_number() { array=$(sed -n 's/^Submitted batch job //p' "$out") && [[ -n $array ]]; }

# ends STATUS: what was submitted, and all of its tasks.
ends() {
    local status=0
    wait "$submitted" || status=$?
    [[ $status -eq $1 ]] || { cat "$out" "$err" slurm-*; echo "exit status $status"; return 1; }
    wait_until 90 nothing_queued
}

nothing_queued() { [[ -z $(at_cluster squeue -h) ]]; }

# task_has I NAME=VALUE: as scontrol shows it.
task_has() { at_cluster scontrol -o show job "${array}_$1" | grep -q " $2 "; }

# part_by_halves I: makes the part a pipe.
part_by_halves() {
    mkfifo "$BATS_TEST_TMPDIR/pipe"
    mv "part.$1" whole_part
    ln -s "$BATS_TEST_TMPDIR/pipe" "part.$1"
}

# feed_half I: until the attempt at part I is in the middle; the next attempt has a file to read.
# Sets `attempt` to its processes, `step` to the slurmstepd above them and `node` to where they are.
feed_half() {
    exec {feed}<>"$BATS_TEST_TMPDIR/pipe"
    head -c "$(($(wc -c <whole_part) / ${share:-2}))" whole_part >&"$feed" 3>&- &
    wait_until 20 half_printed "$1" || {
        cat "$out" "$err" slurm-*
        ls -l
        return 1
    }
    wait $!
    find_attempt "$1"
    [[ ! -s keys.$1 && ! -e out.$1 ]]
    mv whole_part "part.$1"
}

feed_rest() {
    tail -c "+$(($(wc -c <"part.$1") / ${share:-2} + 1))" "part.$1" >&"$feed"
    exec {feed}>&-
}

half_printed() { [[ -n $(find . -name "out.$1.*" -size +10k) ]]; }

find_attempt() {
    local pid environment=$BATS_TEST_TMPDIR/environment
    attempt=() node=''
    for pid in $(ip netns pids "$namespace"); do
        { tr '\0' '\n' <"/proc/$pid/environ" >"$environment"; } 2>/dev/null || continue
        grep -qx "SLURM_ARRAY_TASK_ID=$1" "$environment" || continue
        attempt+=("$pid")
        node=$(sed -n 's/^SLURMD_NODENAME=//p' "$environment")
    done
    for pid in "${attempt[@]}"; do
        step=$(awk '/^PPid:/ { print $2 }' "/proc/$pid/status")
        [[ " ${attempt[*]} " == *" $step "* ]] || break
    done
    [[ $(<"/proc/$step/comm") == slurmstepd && -n $node ]]
}

has_ended() {
    local pid
    for pid; do
        ! kill -0 "$pid" 2>/dev/null || return 1
    done
}

all_remembered() {
    exits 0 unseen merge -o "$BATS_TEST_TMPDIR/all.bf" seen.[1-4]
    exits 1 unseen query -cv "$BATS_TEST_TMPDIR/all.bf" whole
    prints '0\n'
}

none_remembered() {
    exits 1 unseen query -c seen.1 part.1
    prints '0\n'
    [[ ! -e new.1 ]]
}

log_has() { grep -Eq "$1" "$cluster/slurmctld.log"; }

@test "slurm: an array of tasks, and again with new filters" {
    prepare
    submit slurm-array
    ends 0
    outcome "$engine" 'array of task' - out.[1-4]
    a_run
    submit slurm-array
    ends 0
    same_parts ../run.1/out. out.
}

@test "slurm: on a network file system, tonight's list and tomorrow's, and again with new filters" {
    prepare
    on_nfs
    # What the page does not say for nothing: there, the tasks of slurm-array must not make filters.
    exits 2 sh task 1
    says 'seen\.1: lies on NFS'
    rm out.*
    submit
    ends 0
    outcome "$engine" slurm-run - new.[1-4]
    all_remembered
    # An attempt that comes too late, once the keys are removed.
    rm keys.3
    exits 0 env SLURM_ARRAY_TASK_ID=3 SLURM_JOB_ID=late sh slurm-task
    [[ ! -s out.3 ]]
    outcome "$engine" slurm-run 'a late attempt' new.[1-4]
    mkdir tonight
    mv new.? tonight
    rm keys.* out.* part.*
    { cat ../list; sed 's/$/?more/' whole; } | unseen shard 4 --files part.%d
    submit
    ends 0
    cmp <(sort new.[1-4]) <(sed 's/$/?more/' whole | sort)
    a_run
    submit
    ends 0
    same_parts ../run.1/tonight/new. new.
}

# cut_node_off RECIPE: a node is set down while its attempt at part 3 is at work, and goes on.
cut_node_off() {
    part_by_halves 3
    submit "$1"
    feed_half 3
    kill -9 "$(<"$cluster/slurmd.$node.pid")"
    at_cluster scontrol update "NodeName=$node" State=DOWN Reason=silent
    wait_until 60 log_has "due to failure of node $node"
}

# cut_off RECIPE NAME OUTPUT: a second attempt comes, and cannot work before the first has ended.
cut_off() {
    cut_node_off "$1"
    wait_until 60 grep -q 'another run is writing it' slurm-"${array}"_3.out
    run ! has_ended "${attempt[@]}"
    wait_until 30 log_has "JobId=${array}_3\(.*WEXITSTATUS 75"
    feed_rest 3
    wait_until 20 has_ended "${attempt[@]}"
    ends 0
    grep -q 'lines again' slurm-"${array}"_3.out
    outcome "$engine" "$2" 'slurmd: the attempt lives on' "$3".[1-4]
}

@test "slurm: a node that is cut off, so that two attempts are at work at once" {
    prepare
    cut_off slurm-array 'array of task' out
}

@test "slurm: on a network file system, a node that is cut off" {
    prepare
    on_nfs
    cut_off slurm-run slurm-run new
    all_remembered
}

@test "slurm: on a network file system, a node that dies, and its task with it" {
    prepare
    on_nfs
    part_by_halves 3
    submit
    feed_half 3
    kill -9 "$(<"$cluster/slurmd.$node.pid")" "$step" "${attempt[@]}"
    exec {feed}>&-
    ends 0
    log_has "due to failure of node $node"
    task_has 3 Restarts=1
    run ! task_has 3 "BatchHost=$node"
    outcome "$engine" slurm-run 'node: slurmd, slurmstepd, task' new.[1-4]
    all_remembered
}

@test "slurm: on a network file system, a task that is killed, and requeued by hand" {
    prepare
    on_nfs
    part_by_halves 3
    submit
    feed_half 3
    kill -9 "${attempt[@]}"
    exec {feed}>&-
    ends 1
    task_has 3 JobState=FAILED
    none_remembered
    at_cluster scontrol requeue "${array}_3"
    wait_until 60 task_has 3 JobState=COMPLETED
    task_has 3 Restarts=1
    # Not one line more or less for a part that was done; then all are remembered.
    cp out.3 before
    submit slurm-run 3
    ends 0
    cmp out.3 before
    outcome "$engine" slurm-run 'task, then scontrol requeue' new.[1-4]
    all_remembered
}

@test "slurm: on a network file system, a part that fails, and is run again alone" {
    prepare
    on_nfs
    mv part.3 elsewhere
    submit
    ends 2
    task_has 3 Restarts=0
    none_remembered
    mv elsewhere part.3
    submit slurm-run 3
    ends 0
    outcome "$engine" 'slurm-run, slurm-run 3' 'task: no input' new.[1-4]
    all_remembered
}

# on_sshfs DIRECTORY: sets `on_node` to a command for a node, after which DIRECTORY lies on a mount of
# its own there, whose server is a process beside it.
on_sshfs() {
    need sshfs
    make_sftp_server
    mkdir -p origin "$1"
    on_node="mount --bind '$PWD/$1' '$PWD/origin' &&
        sshfs -o no_contain_symlinks,ssh_command='$PWD/server' 'anywhere:$PWD/origin' '$PWD/$1'"
    capture unshare -m sh -c "$on_node && fusermount3 -u '$PWD/$1'"
    [[ $code -eq 0 ]] || skip "needs the right to mount (/dev/fuse): $(head -n 1 "$err")"
}

@test "slurm: a mount for each node, where no lock holds between two, and a node that is cut off" {
    local on_node
    on_sshfs run.1
    rmdir run.1
    prepare "$on_node"
    exits 2 at_cluster sbatch --wait -o refused --wrap 'unseen create refused.bf'
    grep -q 'lies on fuse.sshfs' refused
    # The first attempt gets few lines: it is to read most of the filter after the commit.
    share=100 cut_node_off slurm-run
    ends 0
    run ! has_ended "${attempt[@]}"
    share=100 feed_rest 3
    # What it finds in the filter by now is missing in its output; but new.3 is another file.
    wait_until 20 has_ended "${attempt[@]}"
    outcome "$engine" slurm-run 'slurmd: the attempt lives on, no locks' new.[1-4]
    all_remembered
}
