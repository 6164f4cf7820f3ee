#!/usr/bin/env bats
# GNU parallel over ssh, on four hosts.

# shellcheck disable=SC2154 # hosts is set by hosts.bash
load ../helper
load engines
load hosts

setup_hosts() {
    need parallel
    hosts_up 4
    make_list
    recipe task copy-parts on-hosts
}

teardown() { hosts_down; }

parallel_version() { parallel --version | sed -n '1s/^GNU //p'; }

paused() { on "$1" test -s "paused.$2"; }

@test "parallel: hosts are killed while they read, before they commit and after" {
    local i run
    setup_hosts
    controller sh copy-parts
    controller sh on-hosts
    outcome "$(parallel_version)" "tasks over ssh, 4 hosts" - out.[1-4]

    mkdir first
    mv out.[1-4] first
    for i in 1 2 3 4; do on "$i" sh -c 'rm seen.* keys.* out.*'; done
    unseen_pauses "$hosts/bin"
    on 1 touch pause.reading.1
    on 2 touch pause.committing.2
    on 3 touch pause.committed.3
    controller timeout 100 sh on-hosts 3>&- &
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
    same_parts first/out. out.
    # What the killed attempt had printed is left.
    on 1 sh -c 'test -s out.1.h1.*'
    on 4 sh -c 'test ! -e out.4.*'
    for i in 1 2 3 4; do [[ -z $(on "$i" unseen query -v "seen.$i" "part.$i") ]]; done
}

@test "parallel: a host is cut off, and works on while its part is tried again" {
    local run
    setup_hosts
    controller sh copy-parts
    unseen_pauses "$hosts/bin"
    on 1 touch pause.reading.1
    printf '#!/bin/sh\necho "$*" >>%s/calls\nexec %s "$@"\n' "$PWD" "$(command -v ssh)" >"$hosts/bin/ssh"
    chmod +x "$hosts/bin/ssh"
    controller timeout 100 sh on-hosts 3>&- &
    run=$!
    wait_until 60 paused 1 reading.1
    in_controller ip link set v1 down
    wait_until 60 tried_again
    in_controller ip link set v1 up
    # Two attempts more have come and gone, while the first one was there.
    wait_until 60 on 1 sh -c 'set -- out.1.*; [ $# -ge 3 ]'
    [[ ! -e out.1 ]]
    on 1 kill -9 "$(on 1 cat paused.reading.1)"
    wait "$run"
    outcome "$(parallel_version)" "tasks over ssh, 4 hosts" network out.[1-4]
}

tried_again() { [[ $(grep -c ' h1 ' calls) -ge 2 ]]; }

@test "parallel: what a killed host hands to ssh is lost" {
    local run
    setup_hosts
    controller sh copy-parts
    unseen_pauses "$hosts/bin"
    on 2 touch pause.reading.2
    controller parallel -j 0 --retries 100 --delay 1 'ssh -o ServerAliveInterval=5 {2} \
        unseen --create -n 1e6 --shard {1}/4 seen.{1} part.{1} >out.{1}' ::: 1 2 3 4 :::+ h1 h2 h3 h4 3>&- &
    run=$!
    wait_until 60 paused 2 reading.2
    wait_until 60 test -s out.2
    host_kill 2
    host_start 2
    wait "$run"
    # All that it had read and printed.
    loses=5000 outcome "$(parallel_version)" "plain, printed over ssh" host out.[1-4]
}

@test "parallel: a hundred million lines over four hosts, one of which is killed" {
    local i run distinct=60000000 printed=0 lost
    [[ -n ${ENGINES_LONG-} ]] || skip "takes ten minutes and 40 GB (ENGINES_LONG=1 runs it)"
    need parallel
    hosts_up 4
    recipe task copy-parts on-hosts
    "$UNSEEN_TOOLS/genlines" 100000000 $distinct 7 >list
    controller sh copy-parts
    rm list part.*
    controller sh on-hosts 3>&- &
    run=$!
    wait_until 60 on 2 sh -c 'find . -name "out.2.*" -size +100M | grep -q .'
    host_kill 2
    host_start 2
    on 2 test ! -e out.2
    wait "$run"
    on 2 sh -c 'test -s out.2.h2.*'
    for i in 1 2 3 4; do
        unseen shard $i/4 out.$i | cmp - out.$i
        [[ $(sort -u -S 1G out.$i | wc -l) -eq $(wc -l <out.$i) ]]
        printed=$((printed + $(wc -l <out.$i)))
    done
    # At a rate of 1e-6 about 60 of them are taken for seen; 107 is six sigma more.
    lost=$((distinct - printed))
    row "$(parallel_version)" "100,000,000 lines, 4 hosts" host $printed $lost 0
    [[ $lost -ge 0 && $lost -le 107 ]]
}
