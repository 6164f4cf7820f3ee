#!/usr/bin/env bats
# Hadoop streaming on the YARN cluster that Hadoop has for its own tests: the real resource manager, one
# node, retries and speculative execution. HDFS is the default file system, so that a path
# without file:// fails. It lives in namespaces, and all its processes end with them.

load ../helper
load engines
load registry
load attempts

version=3.3.4

# Hadoop 3.3 looks into classes that Java 17 closes.
options="-Xmx384m -XX:-UsePerfData --add-opens=java.base/java.lang=ALL-UNNAMED"

# start_cluster: for all tests. (A skip in setup_file is a failure to bats 1.8.)
start_cluster() {
    mkdir "$BATS_FILE_TMPDIR/cluster"
    pushd "$BATS_FILE_TMPDIR/cluster" || return
    configure
    JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
    export JAVA_HOME
    unshare --net --uts --pid --fork --kill-child --mount-proc bash -c '
        hostname localhost
        ip link set lo up
        exec java "$@"' - $options -cp "$PWD:$ENGINES/hadoop/*" -Djava.io.tmpdir="$PWD" \
        org.apache.hadoop.mapreduce.MiniHadoopClusterManager -format -nnport 9820 -rmport 8032 \
        -jhsport 10020 -writeConfig started >log 2>&1 </dev/null 3>&- &
    echo $! >pid
    disown # or its end is reported
    wait_until 120 test -s started || {
        tail log
        return 1
    }
    popd || return
}

teardown_file() {
    [[ ! -e $BATS_FILE_TMPDIR/cluster/pid ]] || kill -9 "$(<"$BATS_FILE_TMPDIR/cluster/pid")"
}

# Where all is and, for a small machine, how much of it. A reducer that does not go on is soon given a
# rival, where that is not switched off.
configure() {
    local name value
    {
        echo '<configuration>'
        while read -r name value; do
            echo "<property><name>$name</name><value>$value</value></property>"
        done
        echo '</configuration>'
    } >core-site.xml <<END
fs.defaultFS hdfs://localhost:9820
hadoop.tmp.dir $PWD/tmp
mapred.child.java.opts $options
mapreduce.framework.name yarn
mapreduce.job.speculative.retry-after-no-speculate 1000
mapreduce.jobhistory.address localhost:10020
mapreduce.map.memory.mb 512
mapreduce.reduce.memory.mb 512
mapreduce.task.io.sort.mb 50
yarn.app.mapreduce.am.command-opts $options
yarn.app.mapreduce.am.resource.mb 512
yarn.app.mapreduce.am.staging-dir $PWD/tmp/staging
yarn.is.minicluster true
yarn.minicluster.fixed.ports true
yarn.nodemanager.disk-health-checker.enable false
yarn.nodemanager.pmem-check-enabled false
yarn.nodemanager.vmem-check-enabled false
yarn.resourcemanager.hostname localhost
yarn.scheduler.minimum-allocation-mb 256
END
    # Each of them has defaults that would win.
    ln -s core-site.xml yarn-site.xml
    ln -s core-site.xml mapred-site.xml
}

# prepare: the list and the recipe. Not Hadoop's own script mapred, which nobody installed, but the same
# for all that the recipe needs; and $more options.
prepare() {
    need ip nsenter
    need_namespaces unshare --net --uts --pid --fork --mount-proc true
    # The test cluster's HDFS needs Mockito.
    from_maven hadoop "org.apache.hadoop:hadoop-streaming:$version" \
        "org.apache.hadoop:hadoop-minicluster:$version" junit:junit:4.13.2 org.mockito:mockito-core:2.28.2
    [[ -d $BATS_FILE_TMPDIR/cluster ]] || start_cluster
    [[ -s $BATS_FILE_TMPDIR/cluster/started ]]
    tools_in_path
    recipe reduce-shards reduce-commit hadoop-job
    make_list
    # empty, with tabs wherever they can be, of any bytes, and some of them twice
    printf '%b\n' '' 'a\tb' '\ta\t' 'e\t' e '\t' '\xff' '\xfe' '' 'a\tb' '\xff' >>list
    sort -u list >whole
    more=''
    export more
    cat >"$BATS_TEST_TMPDIR/bin/mapred" <<END
#!/bin/bash
exec nsenter --target="$(pgrep -P "$(<"$BATS_FILE_TMPDIR/cluster/pid")")" \
    --net --uts --pid --mount --root --wd="\$PWD" \
    java $options -cp "$BATS_FILE_TMPDIR/cluster:$ENGINES/hadoop/*" -Djava.io.tmpdir="$BATS_TEST_TMPDIR" \
    org.apache.hadoop.streaming.HadoopStreaming \
    -D mapreduce.map.env="PATH=\$PATH" -D mapreduce.reduce.env="PATH=\$PATH" \$more "\${@:2}"
END
    chmod +x "$BATS_TEST_TMPDIR/bin/mapred"
}

no_rivals='-D mapreduce.map.speculative=false -D mapreduce.reduce.speculative=false'

# job: ./hadoop-job to its end; Hadoop's log is in ./log.
job() {
    timeout -k 5 600 sh hadoop-job >log 2>&1 3>&- || {
        tail -n 30 log
        return 1
    }
}

# tasks COUNT KIND: how many attempts there were of a KIND, such as "Failed reduce", as Hadoop counted.
tasks() {
    grep -q "^[[:space:]]*$2 tasks=$1\$" log || {
        grep 'tasks=' log
        return 1
    }
}

# kill_stopped: the Java machine of the attempt that has stopped.
kill_stopped() {
    wait_until 600 test -e stopped
    # shellcheck disable=SC2046 # numbers
    kill -9 $(pgrep -f "YarnChild .*$(of_stopped mapreduce_task_attempt_id)")
    : >go_on
}

@test "hadoop: a mapper fails and a reducer is killed: both are retried, and each line comes once" {
    prepare
    more=$no_rivals
    stops 7/64
    # one mapper fails when it has handed on 1000 lines
    mv "$BATS_TEST_TMPDIR/bin/unseen" "$BATS_TEST_TMPDIR/bin/stops"
    cat >"$BATS_TEST_TMPDIR/bin/unseen" <<END
#!/bin/bash
if [[ "\$*" == "shard 64" ]] && mkdir '$PWD/mapper' 2>/dev/null; then
    head -n 1000 | '$UNSEEN' "\$@"
    exit 3
fi
exec stops "\$@"
END
    chmod +x "$BATS_TEST_TMPDIR/bin/unseen"
    job &
    kill_stopped
    wait $!
    tasks 1 'Failed map'
    tasks 1 'Failed reduce'
    outcome "Hadoop $version" 'streaming' 'a mapper, a reducer' new/part-*
    shards_remembered

    # Tomorrow's list, the same filters, more reducers.
    mv new second
    sort -r whole >list
    seq 500 | tee -a list | sort >whole
    sed -i s/reduces=4/reduces=6/ hadoop-job
    job
    outcome "Hadoop $version" 'streaming, the next list' - new/part-*
}

@test "hadoop: two attempts of a reducer at the same time, as speculative execution has them" {
    local attempt
    rival() { pgrep -f "YarnChild .*${attempt%0}1 " >/dev/null; }
    prepare
    more='-D mapreduce.map.speculative=false'
    # While it reads: once a reducer has been given all its lines, Hadoop takes it for nearly done.
    stops reading
    job &
    wait_until 600 test -e stopped
    attempt=$(of_stopped mapreduce_task_attempt_id)
    wait_until 600 rival
    : >go_on
    wait $!
    # More than there are reducers, and not since one failed.
    tasks '[5-9]' 'Launched reduce'
    run ! grep 'Failed reduce' log
    outcome "Hadoop $version" 'streaming, speculative' - new/part-*
}
