#!/usr/bin/env bats
# Spark in local-cluster mode: two workers with an executor each, which is a process that can be killed.
# It lives in namespaces, and all its processes end with them.

load ../helper
load engines
load registry
load attempts

version=3.5.6

teardown() {
    [[ ! -e spark.pid ]] || kill -9 "$(<spark.pid)" 2>/dev/null || true
}

# prepare: the list and the recipe; a home for Spark, which keeps the directories of its workers there.
prepare() {
    need ip java
    need_namespaces unshare --net --uts --pid --fork --mount-proc true
    from_pip spark "pyspark==$version"
    tools_in_path
    recipe reduce-shards reduce-commit task spark-job.py spark-tasks.py
    make_list
    # empty, with tabs wherever they can be, and beyond ASCII; some of them twice
    printf '%b\n' '' 'a\tb' '\ta\t' 'e\t' e '\t' 'caf\xc3\xa9' '' 'a\tb' 'caf\xc3\xa9' >>list
    sort -u list >whole
    mkdir home
    ln -s "$ENGINES"/spark/pyspark/{bin,jars,python} home/
    export SPARK_HOME=$PWD/home PYTHONPATH=$ENGINES/spark
    PYSPARK_PYTHON=$(command -v python3)
    export PYSPARK_PYTHON
}

# job FILE [OPTION...]: to its end; Spark's log is in ./log. The default file system is an HDFS that is
# not there: the recipes must not ask it. With $hosts, the workers are on these: a rival of a task is
# never given to the host where the task is, and in local-cluster mode there is only one.
job() {
    local status=0
    export hosts=${hosts-}
    unshare --net --uts --pid --fork --kill-child --mount-proc bash -c '
        hostname localhost
        ip link set lo up
        PATH=$PATH:$SPARK_HOME/bin
        [[ -z $hosts ]] || {
            set -- --master spark://localhost:7077 "${@:3}"
            spark-class org.apache.spark.deploy.master.Master --host localhost --port 7077 &
            for host in $hosts; do
                spark-class org.apache.spark.deploy.worker.Worker --host "$host" --cores 1 --memory 1g \
                    spark://localhost:7077 &
            done
        }
        exec spark-submit "$@"' - --master 'local-cluster[2,1,1024]' \
        --conf spark.ui.enabled=false --conf spark.hadoop.fs.defaultFS=hdfs://localhost:9820 \
        --driver-java-options "-Djava.io.tmpdir=$BATS_TEST_TMPDIR" \
        --conf spark.local.dir="$BATS_TEST_TMPDIR" "${@:2}" "$1" >log 2>&1 3>&- &
    echo $! >spark.pid
    wait $! || status=$?
    rm spark.pid
    [[ $status -eq 0 ]] || tail -n 30 log
    return "$status"
}

# kill_stopped: the Java machine of the executor whose task has stopped. Its number is the name of the
# directory that the task was started in.
kill_stopped() {
    local directory
    wait_until 600 test -e stopped
    directory=$(of_stopped PWD)
    [[ $directory != "$PWD" ]] || directory=$(of_stopped OLDPWD)
    # shellcheck disable=SC2046 # numbers
    kill -9 $(pgrep -f "^[^ ]*java .*$SPARK_HOME/.* --executor-id ${directory##*/} ")
    : >go_on
}

# tried_again: the log tells that an executor was killed, and its task run a second time.
tried_again() {
    grep -q 'exited with code 137' log && grep -q 'Starting task [0-9]*\.1 in stage' log
}

@test "spark: an executor is killed while a task reads its input, and each line comes once" {
    prepare
    stops cut
    job spark-job.py &
    kill_stopped
    wait $!
    tried_again
    outcome "Spark $version" 'pipe' 'an executor' new/part-*
    shards_remembered

    # The same list and fresh filters: the same lines to the same partitions. This time the task has done
    # a shard when its executor is killed.
    mv new first
    rm seen.*
    stops end
    job spark-job.py &
    kill_stopped
    wait $!
    tried_again
    outcome "Spark $version" 'pipe' 'an executor, a shard done' new/part-*
    same_shards first/part- new/part-
}

@test "spark: two attempts of a task at the same time, as spark.speculation has them" {
    prepare
    stops 7/64
    hosts='127.0.0.2 127.0.0.3'
    job spark-job.py --conf spark.speculation=true --conf spark.speculation.quantile=0.5 &
    wait_until 600 test -e stopped
    # The rival comes to the same shard, and finishes it, while the first one is still there.
    rivals() { [[ $(find keys -name '7.*' | wc -l) -eq 1 && $(find keys -name '.7.*' | wc -l) -eq 1 ]]; }
    wait_until 600 rivals
    : >go_on
    wait $!
    grep -q 'Marking task .* (on .*) as speculatable' log
    outcome "Spark $version" 'pipe, speculative' - new/part-*
}

@test "spark: tasks that read their own shards, of any bytes; an executor is killed" {
    prepare
    printf '\xff\n\xfe\ncarriage\rreturn\nreturn\r\n\xff\n' >>list
    sort -u list >whole
    unseen shard 4 --files shard.%d list
    stops 2/4
    job spark-tasks.py &
    kill_stopped
    wait $!
    tried_again
    # What the first attempt had started may still have come to its end, before the second or after.
    outcome "Spark $version" 'tasks' 'an executor' out.[1-4]
}

@test "spark: a command that fails fails its job, and nothing is remembered" {
    prepare
    # One filter is that of another shard.
    unseen create --shard 8/64 seen.7
    run ! job spark-job.py
    [[ ! -e new/_SUCCESS ]]
    grep -rq 'seen.7: ' home/work
    for shard in seen.*; do exits 1 unseen query -v "$shard" /dev/null; done
}
