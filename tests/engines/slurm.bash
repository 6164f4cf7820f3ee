# A cluster of Slurm: munged, slurmctld and four nodes of one processor, in a network namespace of
# its own, so that each of several test runs can have one. Load it after engines.bash.

# shellcheck shell=bash
# shellcheck disable=SC2034 # engine is for the tests
# shellcheck disable=SC2154 # err and code are set by helper.bash

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
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket,cred_expire=5
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool.%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.%n.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
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

# start_cluster [COMMAND]: what a node runs first, in a mount namespace of its own.
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
    wait_until 20 test -S "$cluster/munge/socket"
    at_cluster slurmctld -D >"$cluster/slurmctld.out" 2>&1 &
    for node in n1 n2 n3 n4; do
        at_cluster unshare -m sh -c "cd / && ${1:-:} && exec slurmd -D -N $node" \
            >"$cluster/$node.out" 2>&1 &
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
        # shellcheck disable=SC2086 # numbers
        kill -9 $pids 2>/dev/null || true
        sleep 0.05
    done
    ip netns delete "$namespace"
}
