#!/usr/bin/env bats
# The files in man/examples/ for Slurm, while tasks and nodes are killed. A cluster is munged,
# slurmctld and four nodes of one processor, in a network namespace of its own.

load ../helper
load engines

teardown() { stop_cluster; }

need_slurm() {
    need sbatch slurmctld slurmd munged ip nsenter unshare
    cluster=$BATS_TEST_TMPDIR/cluster
    namespace=uns-slurm-$BASHPID
    need_namespaces ip netns add "$namespace"
    export SLURM_CONF=$cluster/slurm.conf
}

# at_cluster COMMAND...: where the daemons can be reached. (ip netns exec would mount a /sys without
# cgroups, and slurmd ends at once.)
at_cluster() {
    nsenter --net="/run/netns/$namespace" "$@" 3>&-
}

write_configuration() {
    local host
    host=$(uname -n)
    # A requeued job waits until the credential of its first attempt has expired: cred_expire, at
    # least 5 s. sbatch --wait looks after 2 s, then after pauses that grow fourfold up to half of
    # MinJobAge.
    cat >"$cluster/slurm.conf" <<END
ClusterName=unseen
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket,cred_expire=5
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool.%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.%n.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.%n.log
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
RequeueExit=75
SlurmdTimeout=1
MinJobAge=16
MessageTimeout=1
SlurmdParameters=config_overrides
MailProg=/bin/true
PropagateResourceLimits=NONE
NodeName=n[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[17011-17014] CPUs=1
PartitionName=all Nodes=ALL Default=YES
END
    # Without this file slurmd looks for cgroups that it may use.
    echo CgroupAutomount=no >"$cluster/cgroup.conf"
}

nodes_idle() { [[ $(at_cluster sinfo -h -o %D -t idle 2>/dev/null) -eq 4 ]]; }

start_cluster() {
    local node
    mkdir "$cluster" "$cluster/state" "$cluster"/spool.n{1..4}
    install -d -m 755 "$cluster/munge"
    install -d -m 700 "$cluster/munge/private"
    # slurmd looks for an address that is not loopback's
    ip -n "$namespace" address add 10.78.0.1/32 dev lo
    ip -n "$namespace" link set lo up
    head -c 128 /dev/urandom >"$cluster/munge/private/key"
    chmod 600 "$cluster/munge/private/key"
    write_configuration
    engine="Slurm $(sbatch --version | sed 's/^[^0-9]*//')"
    at_cluster munged --foreground --force --socket="$cluster/munge/socket" \
        --key-file="$cluster/munge/private/key" --seed-file="$cluster/munge/private/seed" \
        --pid-file="$cluster/munge/pid" --log-file="$cluster/munge/log" \
        >"$cluster/munged.out" 2>&1 &
    wait_until 60 test -S "$cluster/munge/socket"
    at_cluster slurmctld -D >"$cluster/slurmctld.out" 2>&1 &
    for node in n1 n2 n3 n4; do
        at_cluster slurmd -D -N "$node" >"$cluster/$node.out" 2>&1 &
    done
    wait_until 60 nodes_idle || {
        tail -n 5 "$cluster"/*.log "$cluster"/*.out
        return 1
    }
}

stop_cluster() {
    local pids
    [[ -n ${namespace-} && -e /run/netns/$namespace ]] || return 0
    while pids=$(ip netns pids "$namespace") && [[ -n $pids ]]; do
        kill -9 $pids 2>/dev/null || true
        sleep 0.05
    done
    ip netns delete "$namespace"
}

# a_run: a new directory with the recipes and the shards of the list.
a_run() {
    mkdir "$work/run.$((++runs))"
    cd "$work/run.$runs" || return 1
    recipe task slurm-array slurm-run shared-create shared-task shared-commit
    unseen shard 4 --files shard.%d "$work/list"
    ln -s "$work/whole" .
}

# prepare: a cluster, a list, and a first directory.
prepare() {
    need_slurm
    tools_in_path
    unseen_pauses "$BATS_TEST_TMPDIR/bin"
    work=$PWD runs=0
    make_list
    a_run
    start_cluster
}

# on_nfs: to unseen, all directories of this test lie on NFS.
on_nfs() {
    need_preload network
    rm "$BATS_TEST_TMPDIR/bin/real/unseen"
    printf '#!/bin/sh\nexport %s %s FAKE_TYPE=6969 FAKE_MOUNTS=/dev/null\nexec %s "$@"\n' \
        "LD_PRELOAD=$preload" "FAKE_PLACE=$work" "$UNSEEN" >"$BATS_TEST_TMPDIR/bin/real/unseen"
    chmod +x "$BATS_TEST_TMPDIR/bin/real/unseen"
}

# submit [FILE [ARGUMENT]...]: runs it, slurm-run if none is named, in the background; `ends` waits.
submit() {
    [[ $# -gt 0 ]] || set -- slurm-run
    : >"$out" # not the number of the last one
    at_cluster sh "$@" >"$out" 2>"$err" &
    submitted=$!
    wait_until 60 has_number
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

# held RECIPE: runs it until the attempt at shard 3 is in the middle. Sets `attempt` to its process and
# `node` to where it is.
held() {
    : >pause.reading.3
    submit "$1"
    wait_until 60 half_printed || {
        cat "$out" "$err" slurm-*
        return 1
    }
    attempt=$(<paused.reading.3)
    node=$(tr '\0' '\n' <"/proc/$attempt/environ" | sed -n 's/^SLURMD_NODENAME=//p')
    [[ -n $node && ! -s keys.3 && ! -e out.3 ]]
}

half_printed() { [[ -n $(find . -name 'out.3.*' -size +10k) ]]; }

gone() { ! kill -0 "$attempt" 2>"$err"; }

all_remembered() {
    rm -f "$BATS_TEST_TMPDIR/all.bf"
    exits 0 unseen merge -o "$BATS_TEST_TMPDIR/all.bf" seen.[1-4]
    exits 1 unseen query -cv "$BATS_TEST_TMPDIR/all.bf" whole
    prints '0\n'
}

none_remembered() {
    exits 1 unseen query -c seen.1 shard.1
    prints '0\n'
    [[ ! -e new.1 ]]
}

log_has() { grep -Eq "$1" "$cluster/slurmctld.log"; }

# cut_node_off RECIPE: a node is set down while its attempt at shard 3 is at work, and goes on.
cut_node_off() {
    held "$1"
    kill -9 "$(<"$cluster/slurmd.$node.pid")"
    at_cluster scontrol update "NodeName=$node" State=DOWN Reason=silent
    wait_until 60 log_has "due to failure of node $node"
}

@test "slurm: an array of tasks, again with new filters, and a node that is cut off" {
    prepare
    submit slurm-array
    ends 0
    outcome "$engine" 'array of task' - out.[1-4]
    a_run
    submit slurm-array
    ends 0
    same_shards ../run.1/out. out.
    a_run
    cut_node_off slurm-array
    # A second attempt comes, and cannot work before the first has ended.
    wait_until 60 grep -q 'another run is writing to it' slurm-"${array}"_3.out
    run ! gone
    wait_until 60 log_has "JobId=${array}_3\(.*WEXITSTATUS 75"
    : >go
    wait_until 60 gone
    ends 0
    grep -q 'lines again' slurm-"${array}"_3.out
    outcome "$engine" 'array of task' 'slurmd: the attempt lives on' out.[1-4]
}

@test "slurm: on a network file system, tonight's list and tomorrow's, and a node that is cut off" {
    prepare
    on_nfs
    # What the page does not say for nothing: there, the tasks of slurm-array must not make filters.
    exits 2 sh task 1
    says 'seen\.1: .*on NFS'
    rm out.*
    submit
    ends 0
    outcome "$engine" slurm-run - new.[1-4]
    all_remembered
    # An attempt that comes too late, once the keys are removed.
    rm keys.3
    exits 0 sh shared-task 3
    [[ ! -s out.3 ]]
    outcome "$engine" slurm-run 'a late attempt' new.[1-4]
    rm new.? keys.* out.* shard.*
    { cat ../list; sed 's/$/?more/' whole; } | unseen shard 4 --files shard.%d
    submit
    ends 0
    cmp <(sort new.[1-4]) <(sed 's/$/?more/' whole | sort)
    a_run
    # No lock holds between two attempts there, and the first one ends last: in vain.
    cut_node_off slurm-run
    ends 0
    run ! gone
    : >go
    wait_until 60 grep -q 'keys\.3: was replaced or removed during this run' slurm-"${array}"_3.out
    wait_until 60 gone
    cmp out.3 new.3
    outcome "$engine" slurm-run 'slurmd: the attempt lives on' new.[1-4]
    all_remembered
}

@test "slurm: on a network file system, a shard that fails, and a task that is killed" {
    prepare
    on_nfs
    mv shard.3 elsewhere
    submit
    ends 2
    task_has 3 Restarts=0
    none_remembered
    mv elsewhere shard.3
    submit slurm-run 3
    ends 0
    outcome "$engine" 'slurm-run, slurm-run 3' 'task: no input' new.[1-4]

    a_run
    held slurm-run
    kill -9 "$attempt"
    ends 137
    task_has 3 JobState=FAILED
    none_remembered
    at_cluster scontrol requeue "${array}_3"
    wait_until 60 task_has 3 JobState=COMPLETED
    task_has 3 Restarts=1
    # Not one line more or less for a shard that was done; then all are remembered.
    cp out.3 before
    submit slurm-run 3
    ends 0
    cmp out.3 before
    outcome "$engine" slurm-run 'task, then scontrol requeue' new.[1-4]
    all_remembered
}
