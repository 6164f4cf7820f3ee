#!/usr/bin/env bats
# GNU parallel over ssh, on four hosts.

load ../helper
load engines
load hosts

teardown() { hosts_down; }

parallel_version() { parallel --version | sed -n '1s/^GNU //p'; }

paused() { on "$1" test -s "paused.$2"; }

@test "parallel: hosts are killed while they read, before they commit and after" {
    local i run
    need parallel
    hosts_up 4
    make_list
    recipe task parallel-copy parallel-hosts
    controller sh parallel-copy
    controller sh parallel-hosts
    outcome "$(parallel_version)" "tasks over ssh, 4 hosts" - out.[1-4]

    mkdir first
    mv out.[1-4] first
    for i in 1 2 3 4; do on "$i" sh -c 'rm seen.* keys.* out.*'; done
    unseen_pauses "$hosts/bin"
    on 1 touch pause.reading.1
    on 2 touch pause.committing.2
    on 3 touch pause.committed.3
    controller timeout 100 sh parallel-hosts 3>&- &
    run=$!
    wait_until 60 paused 1 reading.1
    wait_until 60 paused 2 committing.2
    wait_until 60 paused 3 committed.3
    wait_until 60 test -s out.4
    wait_until 60 on 1 sh -c 'test -s out.1.h1.*'
    on 2 test -s out.2
    on 3 test -s out.3
    [[ ! -e out.1 && ! -e out.2 && ! -e out.3 ]]
    for i in 1 2 3; do host_kill "$i"; done
    for i in 1 2 3; do host_start "$i"; done
    wait "$run"
    outcome "$(parallel_version)" "tasks over ssh, 4 hosts" "3 hosts" out.[1-4]
    same_shards first/out. out.
    # What the killed attempt had printed is left.
    on 1 sh -c 'test -s out.1.h1.*'
    on 4 sh -c 'test ! -e out.4.*'
    for i in 1 2 3 4; do [[ -z $(on "$i" unseen query -v "seen.$i" "shard.$i") ]]; done
}
