#!/usr/bin/env bats
# Dask: a cluster on one machine, and a scheduler with workers on hosts, of which one process, one host
# or one cable goes while a part is at work.

# shellcheck disable=SC2154 # hosts, hosts_shared are set by hosts.bash
load ../helper
load engines
load hosts

# Debian's, which knows its own modules; in PATH there may be another.
python=/usr/bin/python3

teardown() { hosts_down; }

# dask_on N: N hosts, and the recipe, in an empty directory.
dask_on() {
    need dask-scheduler dask-worker
    version=$("$python" -c 'import distributed; print(distributed.__version__.split("+")[0])') ||
        skip "$python has no module distributed (to install it: src/build/deps.sh dask)"
    hosts_up "$1"
    mv "$hosts/bin/unseen" "$hosts/bin/unseen.real"
    ln -s unseen.real "$hosts/bin/unseen"
    recipe task parts.py
    make_list
    "$UNSEEN" shard 4 --files part.%d list
}

# hold I: the first attempt at part I stops half way, until there is a file `go`. Each attempt at it
# leaves the name of its host in `attempts`, the first one its process and its shell in `first`.
hold() {
    rm -rf first attempts go "$hosts/bin/unseen"
    cat >"$hosts/bin/unseen" <<END
#!/bin/bash
if [[ " \$* " == *" --pending keys.$1 "* ]]; then
    uname -n >>attempts
    if mkdir first 2>"$hosts/log.first"; then
        echo \$\$ >first/unseen
        echo \$PPID >first/shell
        exec "$hosts/bin/unseen.real" "\${@:1:\$#-1}" <(
            head -n 20000 part.$1
            until [[ -e go ]]; do sleep 0.1; done
            tail -n +20001 part.$1)
    fi
fi
exec "$hosts/bin/unseen.real" "\$@"
END
    chmod +x "$hosts/bin/unseen"
}

# at_work I: the attempt that is held has printed some of its lines, and moved nothing.
at_work() {
    [[ -n $(find . -name "out.$1.*" -size +0) && ! -e out.$1 && ! -s keys.$1 ]]
}

attempts() { [[ -e attempts && $(wc -l <attempts) -ge $1 ]]; }

# parts [SCHEDULER]: parts.py in the background, as a client on the controller.
parts() {
    controller timeout -k 5 120 "$python" parts.py "$@" >log 2>&1 3>&- &
    client=$!
}

# ends_well: parts.py.
ends_well() {
    wait "$client" || { cat log; return 1; }
}

# worker_of COMMAND...: the number of the worker that started the held attempt, as COMMAND's host has it.
worker_of() { "$@" ps -o ppid= -p "$(<"$PWD/first/shell")" | tr -d ' '; }

# remembered: the filters have all lines.
remembered() {
    local i
    for i in 1 2 3 4; do exits 1 "$UNSEEN" query -v "seen.$i" "part.$i" || return; done
}

# afresh DIRECTORY: the outputs to there, and no trace of the run.
afresh() {
    mkdir "$1"
    mv out.[1-4] "$1"
    rm -rf out.* keys.* seen.* first attempts go
}

# scheduler: on the controller. It misses a host that says nothing after seconds, not half a minute.
scheduler() {
    DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL=5s controller dask-scheduler \
        --host 10.77.0.254 --no-dashboard >"$hosts/scheduler" 2>&1 3>&- &
    disown
    address=tcp://10.77.0.254:8786
}

# worker I RESOURCES [OPTION...]: on host I.
worker() {
    local i=$1 resources=$2
    shift 2
    on "$i" dask-worker "$address" --no-dashboard --resources "$resources" "$@" \
        >>"$hosts/worker.$i" 2>&1 3>&- &
    disown
}

@test "dask: one machine, the same parts in a second run, a task that dies and is retried" {
    dask_on 0
    parts
    ends_well
    outcome "Dask $version" "one machine" - out.[1-4]
    remembered
    afresh one
    hold 3
    parts
    wait_until 30 at_work 3
    kill -9 "$(<first/unseen)"
    ends_well
    [[ $(wc -l <attempts) -eq 2 && $(find . -name 'out.3.*' -size +0 | wc -l) -eq 1 ]]
    outcome "Dask $version" "one machine" "a task" out.[1-4]
    same_parts one/out. out.
    remembered
    # Tomorrow's list has a directory of its own, and what comes late today changes nothing.
    mkdir -p next/first
    cp task parts.py next
    ln -s ../seen.{1..4} next
    sed 's/$/#new/' one/out.1 >new
    cat list new | "$UNSEEN" shard 4 --files next/part.%d
    sort new >whole
    pushd next
    parts
    ends_well
    popd
    outcome "Dask $version" "one machine, the next list" - next/out.[1-4]
    controller sh task 2
    same_parts one/out. out.
}

@test "dask: a worker is killed, and what it has started is still at work: the retry waits for it" {
    dask_on 0
    hold 3
    parts
    wait_until 30 at_work 3
    kill -9 "$(worker_of env)"
    wait_until 30 attempts 2
    wait_until 30 grep -q 'keys\.3: another run is writing it' log
    at_work 3
    : >go
    ends_well
    attempts 3
    grep -q 'keys\.3: this task was run before' log
    outcome "Dask $version" "one machine" "a worker, its task lives on" out.[1-4]
    remembered
}

@test "dask: hosts that share a directory: a worker, a host, a cable" {
    dask_on 3
    mv task parts.py list whole part.* "$hosts_shared"
    cd "$hosts_shared"
    # as the page says: the tasks only print
    sed -i 's/ --create -n 1e6 --shard $i\/4//; s/out.$i &&$/out.$i/; /commit/d' task
    run ! grep -e commit -e shard task
    scheduler
    local i all="part.1=1 part.2=1 part.3=1 part.4=1"
    for i in 1 2 3; do worker "$i" "$all" --no-nanny; done
    day() {
        for i in 1 2 3 4; do "$UNSEEN" create -n 1e6 --shard "$i/4" "seen.$i"; done
        for i in 1 2 3; do : >"$hosts/worker.$i"; done
        hold 3
        parts "$address"
        wait_until 30 at_work 3
        first=$(head -n 1 attempts)
    }
    evening() {
        ends_well
        [[ $(sed -n 2p attempts) != "$first" ]]
        for i in 1 2 3 4; do "$UNSEEN" commit --allow-network "seen.$i" "keys.$i"; done
        outcome "Dask $version" "three hosts, a shared directory" "$1" out.[1-4]
        remembered
    }
    day
    on "${first#h}" kill -9 "$(worker_of on "${first#h}")"
    wait_until 30 attempts 2
    wait_until 30 grep -q 'keys\.3: another run is writing it' "$hosts"/worker.*
    at_work 3
    : >go
    evening "a worker, its task lives on"
    attempts 3
    afresh one
    worker "${first#h}" "$all"

    day
    host_kill "${first#h}"
    evening "a host"
    [[ $(find . -name "out.3.$first.*" -size +0 | wc -l) -eq 1 ]]
    same_parts one/out. out.
    afresh two
    host_start "${first#h}"
    worker "${first#h}" "$all"

    day
    controller ip link set "v${first#h}" down
    wait_until 60 grep -q 'keys\.3: another run is writing it' "$hosts"/worker.*
    at_work 3
    : >go
    evening "a cable, its task lives on"
    same_parts one/out. out.
}

@test "dask: filters on the disks of the hosts: parts wait for their host, even one that was done" {
    dask_on 3
    scheduler
    local i host=(0 1 2 3 3) parts_of=("" part.1=1 part.2=1 "part.3=1 part.4=1")
    for i in 1 2 3; do
        on "$i" mkdir -p "$PWD"
        tar c task part.* | on "$i" tar x -C "$PWD"
        worker "$i" "${parts_of[i]}" --nthreads 2
    done
    hold 4
    parts "$address"
    for i in 1 2 3; do wait_until 30 on "$i" test -e "$PWD/out.$i"; done
    # shellcheck disable=SC2016 # the shell on the host expands it
    wait_until 30 on 3 sh -c 'cd "$1" && find . -name "out.4.*" -size +0 | grep -q .' sh "$PWD"
    host_kill 3
    wait_until 60 grep -q 'Remove worker.*10\.77\.0\.3' "$hosts/scheduler"
    kill -0 "$client"
    host_start 3
    run ! grep -q 'was run before' "$hosts/worker.3"
    worker 3 "${parts_of[3]}"
    ends_well
    [[ $(on 3 cat "$PWD/attempts") == h3$'\n'h3 ]]
    grep -q 'keys\.3: this task was run before' "$hosts/worker.3"
    for i in 1 2 3 4; do
        on "${host[i]}" cat "$PWD/out.$i" >"out.$i"
        on "${host[i]}" cat "$PWD/seen.$i" >"seen.$i"
    done
    outcome "Dask $version" "three hosts, their own disks" "a host, which comes back" out.[1-4]
    remembered
}
