#!/usr/bin/env bats
# Dask: a cluster on one machine, and a scheduler with workers on hosts, of which one process, one host
# or one cable goes while a shard is at work.

load ../helper
load engines
load hosts

# Debian's, which knows its own modules; in PATH there may be another.
python=/usr/bin/python3

teardown() { hosts_down; }

# dask_on N: N hosts, and the recipe, in an empty directory.
dask_on() {
    need dask
    version=$("$python" -c 'import distributed; print(distributed.__version__.split("+")[0])') ||
        skip "$python has no module distributed (to install it: src/build/deps.sh dask)"
    hosts_up "$1"
    unseen_pauses "$hosts/bin"
    recipe task dask-tasks.py shared-create shared-task shared-commit
    make_list
    "$UNSEEN" shard 4 --files shard.%d list
}

# at_work I: the attempt that is held has printed some of its lines, and moved nothing.
at_work() {
    [[ -n $(find . -name "out.$1.*" -size +0) && ! -e out.$1 && ! -s keys.$1 ]]
}

# attempts I COUNT: each has a file for what it prints, with the name of its host.
attempts() { [[ $(find . -name "out.$1.*" | wc -l) -ge $2 ]]; }

# shards [SCHEDULER]: dask-tasks.py in the background, as a client on the controller.
shards() {
    controller timeout -k 5 300 "$python" dask-tasks.py "$@" >log 2>&1 3>&- &
    client=$!
}

# ends_well: dask-tasks.py.
ends_well() {
    wait "$client" || { cat log; return 1; }
}

parent() { ps -o ppid= -p "$1" | tr -d ' '; }

# remembered: the filters have all lines.
remembered() {
    local i
    for i in 1 2 3 4; do exits 1 "$UNSEEN" query -v "seen.$i" "shard.$i" || return; done
}

# afresh DIRECTORY: the outputs to there, and no trace of the run.
afresh() {
    mkdir "$1"
    mv out.[1-4] "$1"
    rm -f out.* keys.* seen.* paused.* go
}

# scheduler: on the controller. It misses a host that says nothing after seconds, not half a minute.
scheduler() {
    DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL=5s controller dask scheduler \
        --host 10.77.0.254 --no-dashboard >"$hosts/scheduler" 2>&1 3>&- &
    disown
    address=tcp://10.77.0.254:8786
}

# worker I RESOURCES [OPTION...]: on host I.
worker() {
    local i=$1 resources=$2
    shift 2
    on "$i" dask worker "$address" --no-dashboard --resources "$resources" "$@" \
        >>"$hosts/worker.$i" 2>&1 3>&- &
    disown
}

@test "dask: one machine: a task that dies and is retried; a worker that dies, but not its task" {
    dask_on 0
    shards
    ends_well
    outcome "Dask $version" "one machine" - out.[1-4]
    remembered
    afresh one
    : >pause.reading.3
    shards
    wait_until 60 at_work 3
    kill -9 "$(<paused.reading.3)"
    ends_well
    # What it had printed is left.
    [[ $(find . -name 'out.3.*' -size +0 | wc -l) -eq 1 ]]
    outcome "Dask $version" "one machine" "a task" out.[1-4]
    same_shards one/out. out.
    remembered
    # What a killed worker has started is still at work: the retry waits for it.
    afresh two
    : >pause.reading.3
    shards
    wait_until 60 at_work 3
    kill -9 "$(parent "$(parent "$(<paused.reading.3)")")"
    wait_until 60 attempts 3 2
    wait_until 60 grep -q 'keys\.3: another run is writing to it' log
    at_work 3
    : >go
    ends_well
    grep -q 'keys\.3: this task was run before' log
    outcome "Dask $version" "one machine" "a worker, its task lives on" out.[1-4]
    same_shards one/out. out.
    remembered
}

@test "dask: hosts that share a directory, and one whose cable is pulled works on" {
    local i first
    dask_on 3
    mv dask-tasks.py shared-* list whole shard.* "$hosts_shared"
    cd "$hosts_shared"
    # as the recipe says: the tasks only print
    sed -i 's/"task"/"shared-task"/' dask-tasks.py
    grep -q shared-task dask-tasks.py
    controller sh shared-create
    scheduler
    for i in 1 2 3; do worker "$i" "shard.1=1 shard.2=1 shard.3=1 shard.4=1" --no-nanny; done
    : >pause.reading.3
    shards "$address"
    wait_until 60 at_work 3
    first=$(echo out.3.h*)
    first=${first#out.3.h}
    controller ip link set "v${first%%.*}" down
    wait_until 60 grep -q 'keys\.3: another run is writing to it' "$hosts"/worker.*
    at_work 3
    : >go
    ends_well
    controller sh shared-commit
    outcome "Dask $version" "three hosts, a shared directory" "a cable, its task lives on" new.[1-4]
    remembered
}

@test "dask: filters on the disks of the hosts: shards wait for their host, even one that was done" {
    dask_on 3
    scheduler
    local i host=(0 1 2 3 3) shards_of=("" shard.1=1 shard.2=1 "shard.3=1 shard.4=1")
    for i in 1 2 3; do
        on "$i" mkdir -p "$PWD"
        tar c task shard.* | on "$i" tar x -C "$PWD"
        worker "$i" "${shards_of[i]}" --nthreads 2
    done
    on 3 touch "$PWD/pause.reading.4"
    shards "$address"
    for i in 1 2 3; do wait_until 60 on "$i" test -e "$PWD/out.$i"; done
    wait_until 60 on 3 sh -c 'cd "$1" && find . -name "out.4.*" -size +0 | grep -q .' sh "$PWD"
    host_kill 3
    wait_until 60 grep -q 'Remove worker.*10\.77\.0\.3' "$hosts/scheduler"
    kill -0 "$client"
    host_start 3
    run ! grep -q 'was run before' "$hosts/worker.3"
    worker 3 "${shards_of[3]}"
    ends_well
    grep -q 'keys\.3: this task was run before' "$hosts/worker.3"
    for i in 1 2 3 4; do
        on "${host[i]}" cat "$PWD/out.$i" >"out.$i"
        on "${host[i]}" cat "$PWD/seen.$i" >"seen.$i"
    done
    outcome "Dask $version" "three hosts, their own disks" "a host, which comes back" out.[1-4]
    remembered
}
