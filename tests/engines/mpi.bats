#!/usr/bin/env bats
# Open MPI over four hosts.

load ../helper
load engines
load hosts

teardown() { hosts_down; }

mpi_version() { mpirun --version | sed -n '1s/^mpirun (\(.*\)) /\1 /p'; }

paused() { on "$1" test -s "paused.$2"; }

@test "mpi: a host is killed, mpirun ends the ranks on the others, and all run again" {
    local i run
    need mpirun
    hosts_up 4
    make_list
    recipe task mpi-ranks mpi-fetch
    unseen shard 4 --files shard.%d list
    for i in 1 2 3 4; do controller scp -q task "shard.$i" "h$i:"; done
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    controller sh mpi-ranks --host h1,h2,h3,h4
    controller sh mpi-fetch
    outcome "$(mpi_version)" "tasks, 4 hosts" - out.[1-4]

    mkdir first
    mv out.[1-4] first
    for i in 1 2 3 4; do on "$i" sh -c 'rm seen.* keys.* out.*'; done
    unseen_pauses "$hosts/bin"
    on 1 touch pause.reading.1
    on 2 touch pause.reading.2
    on 3 touch pause.committing.3
    on 4 touch pause.committed.4
    controller timeout 100 sh mpi-ranks --host h1,h2,h3,h4 3>&- &
    run=$!
    wait_until 60 paused 1 reading.1
    wait_until 60 paused 3 committing.3
    wait_until 60 paused 4 committed.4
    wait_until 60 on 2 sh -c 'test -s out.2.h2.*'
    on 3 test -s out.3
    host_kill 2
    host_start 2
    capture wait "$run"
    [[ $code -ne 0 ]]
    on 2 test ! -e out.2
    controller sh mpi-ranks --host h1,h2,h3,h4
    controller sh mpi-fetch
    outcome "$(mpi_version)" "tasks, 4 hosts" host out.[1-4]
    same_shards first/out. out.
    on 2 sh -c 'test -s out.2.h2.*'
    for i in 1 2 3 4; do [[ -z $(on "$i" unseen query -v "seen.$i" "shard.$i") ]]; done
}
