#!/usr/bin/env bats
# Kafka: producers, a worker for each partition, and a consumer group, as in man/examples/, on a broker
# from Maven. Broker and clients run in a network namespace. Each in the background is a process
# group of its own.

load ../helper
load engines
load registry

export ENGINES=${ENGINES:-${UNSEEN%/*}/engines}
kafka=3.9.1
namespace=unskafka$$
declare -gA leader=() # of the process group NAME: its number

teardown() {
    local name
    for name in "${!leader[@]}"; do stop "$name"; done
    ip netns del "$namespace" 2>/dev/null || true
}

# background NAME COMMAND...: what it says goes to NAME.log. It dies with the test.
background() {
    local name=$1
    shift
    : >>"$name.log"
    setsid setpriv --pdeathsig KILL nsenter --net="/run/netns/$namespace" "$@" \
        </dev/null >>"$name.log" 2>&1 3>&- &
    leader[$name]=$!
}

# stop NAME: all of the group is killed by SIGKILL.
stop() {
    kill -KILL -- "-${leader[$1]}" 2>/dev/null || true
    wait "${leader[$1]}" 2>/dev/null || true
    unset "leader[$1]"
}

inside() {
    nsenter --net="/run/netns/$namespace" "$@" 3>&-
}

java_kafka() {
    inside java -Xmx200m -Dlog4j.configuration=file:log4j.properties -cp "$ENGINES/kafka/*" "$@"
}

# start_broker: one that was killed before starts again with its log. A broker that is gone is
# missed after broker.session.timeout.ms; until then it cannot come back.
start_broker() {
    background broker java -Xmx400m -Dlog4j.configuration=file:log4j.properties \
        -cp "$ENGINES/kafka/*" kafka.Kafka server.properties
    wait_until 120 broker_answers
}

broker_answers() {
    inside kcat -L -b "$BROKERS" -m 1 >broker.topics 2>&1
}

new_broker() {
    need kcat ip nsenter setpriv flock pgrep
    tools_in_path
    : >kcat.conf
    need_namespaces ip netns add "$namespace"
    ip -n "$namespace" link set lo up
    from_maven kafka "org.apache.kafka:kafka_2.13:$kafka" "org.apache.kafka:kafka-tools:$kafka"
    engine="Kafka $kafka, $(kcat -V | sed -n 's/^Version \([0-9.]*\).*/kcat \1/p')"
    export BROKERS=127.0.0.1:9092
    cat >server.properties <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:9093
listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093
controller.listener.names=CONTROLLER
log.dirs=$PWD/broker
num.partitions=4
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=2000
END
    cat >log4j.properties <<'END'
log4j.rootLogger=INFO, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.SimpleLayout
END
    java_kafka kafka.tools.StorageTool format -t uQFfGpD1TQ6OUuG0Ljs5Gw -c server.properties \
        >format.log 2>&1
    start_broker
}

# wrap COMMAND: from now on another of that name comes first in PATH, a script for sh, from stdin,
# in which $real is the command.
wrap() {
    mkdir -p wrapped
    {
        echo '#!/bin/sh'
        echo "name=$1 real=$(PATH=${PATH#"$PWD/wrapped:"} type -P "$1")"
        cat
    } >"wrapped/$1"
    chmod +x "wrapped/$1"
    [[ $PATH == "$PWD/wrapped:"* ]] || PATH=$PWD/wrapped:$PATH
}

# --- a worker for each partition -----------------------------------------------------------------

# wrap_workers: around what a worker runs. It takes $LIMIT lines at a time, looks for more ten times
# a second, but not while there is a file `gate`, and ends when it has read as many lines as `ends`
# says.
#
# With DEADLY=NUMBER:WHEN it is killed at the command of that number: `before` that does anything,
# `after` it is done, or `amid`, when it has put out 500 bytes. Or it alone is killed, and the
# command outlives it, an `orphan`, which goes on when there is a file `go`.
wrap_workers() {
    local name
    wrap sleep <<'END'
[ -n "$WORKER" ] || exec "$real" "$@"
[ "$(cat offset.$WORKER)" != "$(sed -n "${WORKER}p" ends)" ] || exit 1
[ "$(cat offset.$WORKER)" -eq 0 ] || while [ -e gate ]; do "$real" 0.1; done
exec "$real" 0.1
END
    for name in kcat tail cut unseen mv rm; do
        wrap $name <<'END'
[ -n "$WORKER" ] || exec "$real" "$@"
[ $name != kcat ] || set -- "$@" -c "$LIMIT"
PATH=${PATH#*:}
count=$(($(cat count.$WORKER) + 1))
echo $count >count.$WORKER
case $DEADLY in
$count:before) kill -KILL 0 ;;
$count:amid) "$real" "$@" | head -c 500 ;;
$count:orphan)
    kill -KILL $PPID
    while [ ! -e go ]; do sleep 0.1; done
    exec "$real" "$@"
    ;;
*) "$real" "$@" || exit ;;
esac
case $DEADLY in $count:*) kill -KILL 0 ;; esac
END
    done
}

# start_worker I: kafka-worker, in the background, and not for ever, if it gets stuck.
start_worker() {
    echo 0 >"count.$1"
    KCAT_CONFIG=kcat.conf WORKER=$1 background "worker.$1" timeout --foreground 90 sh kafka-worker "$1"
}

# finish_workers I...: they end by themselves, with status 0, and leave no keys.
finish_workers() {
    local i
    for i; do
        wait "${leader[worker.$i]}" || return
        unset "leader[worker.$i]"
    done
    ! ls keys.* 2>/dev/null
}

# afresh: as before the first run.
afresh() {
    rm -f seen.* offset.* out.* keys.* try.*
    inside sh kafka-prepare 2>prepare.log
}

# outputs PREFIX: what the workers have put out, as PREFIX.1 to PREFIX.4.
outputs() {
    local i
    for i in 1 2 3 4; do cat "out.$i".* >"$1.$i"; done
}

all_have_begun() { ! grep -qx 0 offset.[1-4]; }

all_have_failed() {
    [[ $(grep -l 'Broker transport failure' worker.[1-4].log | wc -l) -eq 4 ]]
}

@test "kafka: shard i goes to partition i-1, and a worker for each; again, and the broker is killed" {
    new_broker
    make_list
    local i form="a worker for each partition"
    export LIMIT=20000
    recipe kafka-produce kafka-prepare kafka-worker
    inside sh kafka-produce list
    for i in 1 2 3 4; do
        unseen shard $i/4 list >wanted
        inside kcat -C -b "$BROKERS" -t urls -p $((i - 1)) -o 0 -e -q | cmp - wanted
        wc -l <wanted >>ends
    done
    wrap_workers
    afresh
    for i in 1 2 3 4; do start_worker $i; done
    finish_workers 1 2 3 4
    outputs first
    outcome "$engine" "$form" - first.[1-4]
    # New filters. The broker goes between two batches, and comes back.
    afresh
    : >gate
    for i in 1 2 3 4; do start_worker $i; done
    wait_until 60 all_have_begun
    stop broker
    rm gate
    wait_until 60 all_have_failed
    start_broker
    grep -q 'Recovering unflushed segment' broker.log
    finish_workers 1 2 3 4
    outputs second
    outcome "$engine" "$form" "the broker" second.[1-4]
    same_shards first. second.
    # by several batches
    [[ $(find . -name 'out.*' | wc -l) -ge 8 ]]
}

# add_lines I COUNT: the next lines of shard I, to partition I-1; `expected` is what is to come out.
add_lines() {
    local have
    have=$(sed -n "${1}p" ends)
    tail -n +$((have + 1)) "pool.$1" | head -n "$2" |
        inside kcat -P -b "$BROKERS" -t urls -p $(($1 - 1))
    sed -i "${1}s/.*/$((have + $2))/" ends
    head -n $((have + $2)) "pool.$1" | sort -u >expected
}

# dies DEADLY I: worker I is killed there; more lines come; it is started again, and finishes. What
# it called final before it died has not changed.
dies() {
    local status=0 i=$2 offset file
    afresh
    : >final
    DEADLY=$1 start_worker "$i"
    wait "${leader[worker.$i]}" || status=$?
    stop "worker.$i"
    [[ $status -eq 137 && $(<"count.$i") -eq ${1%:*} ]] || return
    offset=$(<"offset.$i")
    for file in out.*; do
        [[ ! -e $file || ${file##*.} -ge $offset ]] || cksum "$file" >>final
    done
    [[ $more -eq 0 ]] || add_lines "$i" "$more"
    start_worker "$i"
    finish_workers "$i" || return
    cut -d ' ' -f 3 final | xargs -r cksum | cmp - final
}

# dies_everywhere FIRST I: at each of the 8 commands of a batch; FIRST is the number of its kcat.
# All that comes out goes to `all`, and what should to `whole`.
dies_everywhere() {
    local command when
    for command in {0..7}; do
        for when in before after amid; do
            # tail, mv, commit and rm put nothing out
            [[ $when != amid || $command =~ [023] ]] || continue
            if ! { dies $(($1 + command)):$when "$2" && each_once expected "out.$2".*; }; then
                echo "killed $when command $command:"
                cat "worker.$2.log"
                return 1
            fi
            sed "s/^/$2 $command $when /" "out.$2".* >>all
            sed "s/^/$2 $command $when /" expected >>whole
        done
    done
    sort -o whole whole
}

waits_for_lock() {
    pgrep -g "${leader[worker.1]}" -x flock >/dev/null
}

@test "kafka: a worker is killed before, after and amid each command, or without what it runs" {
    local i status=0
    new_broker
    make_list 20000 5000
    rm whole
    recipe kafka-prepare kafka-worker
    for i in 1 2; do unseen shard $i/4 list >pool.$i; done
    printf '%s\n' 0 0 0 0 >ends
    wrap_workers
    # At the end of a partition kcat waits for half a second, else.
    echo fetch.wait.max.ms=10 >kcat.conf
    # the second of four batches
    add_lines 1 1000
    more=0
    LIMIT=300 dies_everywhere 9 1
    # the first and only one, which is longer when it comes again
    add_lines 2 200
    more=20
    LIMIT=100000 dies_everywhere 1 2
    outcome "$engine" "a worker for each partition" "the worker, at each of 38 places" all

    # In the second batch unseen outlives the worker, and the next one waits for it.
    afresh
    head -n 1000 pool.1 | sort -u >expected
    export LIMIT=300
    DEADLY=12:orphan start_worker 1
    wait "${leader[worker.1]}" || status=$?
    [[ $status -eq 137 && $(<offset.1) -eq 300 ]]
    leader[orphan]=${leader[worker.1]}
    start_worker 1
    wait_until 30 waits_for_lock
    : >go
    finish_workers 1
    each_once expected out.1.*
}

@test "kafka: what the broker has deleted is not skipped, and a full disk leaves no half line" {
    local status=0
    new_broker
    recipe kafka-prepare kafka-worker
    printf '%s\n' 0 0 0 0 >ends
    seq -f '%050g' 6000 | unseen shard 1/4 | head -n 1200 >pool.1
    add_lines 1 1200
    export LIMIT=200000
    wrap_workers
    afresh
    # 64 KiB hold its 1200 lines, but not with their offsets; kcat finds out when it ends
    echo 0 >count.1
    background worker.1 bash -c 'trap "" XFSZ; ulimit -f 64; WORKER=1 exec sh kafka-worker 1'
    wait_until 60 grep -q 'Write error' worker.1.log
    stop worker.1
    [[ $(<offset.1) -eq 0 && ! -e out.1.0 ]]
    start_worker 1
    finish_workers 1
    each_once pool.1 out.1.*
    # the next 100 lines are deleted before they are read
    seq -f '%060g' 900 | unseen shard 1/4 | head -n 200 >>pool.1
    add_lines 1 200
    echo '{"version": 1, "partitions": [{"topic": "urls", "partition": 0, "offset": 1300}]}' >delete
    java_kafka org.apache.kafka.tools.DeleteRecordsCommand --bootstrap-server "$BROKERS" \
        --offset-json-file delete >deleted 2>&1
    start_worker 1
    wait_until 60 grep -q 'Offset out of range' worker.1.log
    stop worker.1
    [[ $(<offset.1) -eq 1200 ]]
    # you have decided to go on
    echo 1300 >offset.1
    start_worker 1
    finish_workers 1
    { head -n 1200 pool.1; tail -n 100 pool.1; } | sort -u >expected
    each_once expected out.1.*
}

# --- a consumer group ----------------------------------------------------------------------------

start_member() {
    background "$1" env KCAT_CONFIG=kcat.conf STUCK="${2-}" sh kafka-member
}

printed() { [[ -e new && $(wc -l <new) -ge $1 ]]; }

@test "kafka: a member of a group is killed, and another one gets its partitions" {
    new_broker
    make_list
    recipe kafka-member
    unseen create -n 1e6 seen.bf 2>/dev/null
    # A member that is killed is missed sooner than after the usual 45 seconds.
    printf '%s\n' session.timeout.ms=4000 heartbeat.interval.ms=500 >kcat.conf
    # Having read as many bytes as $STUCK says, it does not go on until it is killed.
    wrap unseen <<'END'
[ -n "$STUCK" ] || exec "$real" "$@"
{ head -c "$STUCK"; : >stuck; exec sleep 100; } | "$real" "$@"
END
    # A line can be in several partitions.
    split -n r/4 --numeric-suffixes list quarter.0
    for i in 0 1 2 3; do inside kcat -P -b "$BROKERS" -t urls -p $i -l "quarter.00$i"; done
    start_member one 4000000
    wait_until 60 test -e stuck
    wait_until 60 printed 1000
    start_member two
    stop one
    lost whole new >missing
    [[ -s missing ]]
    wait_until 90 printed "$(wc -l <whole)"
    stop two
    may_double=2048 outcome "$engine" "a consumer group" "a member (rebalance)" new
}
