# Attempts of a task that stop, so that a kill finds them at work: nothing depends on luck. For the
# files in man/examples/. Load it after engines.bash.

# shellcheck shell=bash

# stops WHEN: unseen in PATH becomes a program that is unseen, but that stops once, WHEN:
#   cut       it has read 1000 of the lines that are to be split; if it goes on, they end there
#   reading   the same; if it goes on, it reads the others
#   2/4 7/64  it has read 100 lines of this shard
#   end       shard 7/64 is done
# Then ./stopped has the environment of the task, until it is killed or somebody makes ./go_on.
stops() {
    rm -rf stopped stops_once go_on "$BATS_TEST_TMPDIR/bin/unseen"
    cat >"$BATS_TEST_TMPDIR/bin/unseen" <<END
#!/bin/bash
stop() {
    env >'$PWD/stopping'
    mv '$PWD/stopping' '$PWD/stopped'
    until [[ -e '$PWD/go_on' ]]; do sleep 0.1; done
}
first() {
    local form=\$1
    shift
    [[ "$1: \$*" == \$form ]] && mkdir '$PWD/stops_once' 2>/dev/null
}
if first 'cut: shard 64 --files *' "\$@"; then
    { head -n 1000; stop; } | '$UNSEEN' "\$@"
elif first 'reading: shard 64 --files *' "\$@"; then
    { sed -u 1000q; stop; cat; } | '$UNSEEN' "\$@"
elif first '?*/*: * --shard $1 *' "\$@"; then
    '$UNSEEN' "\${@:1:\$#-1}" <(head -n 100 "\${!#}"; stop; tail -n +101 "\${!#}")
elif first 'end: * --shard 7/64 *' "\$@"; then
    '$UNSEEN' "\$@" && stop
else
    exec '$UNSEEN' "\$@"
fi
END
    chmod +x "$BATS_TEST_TMPDIR/bin/unseen"
}

# of_stopped NAME: this variable of the task that has stopped.
of_stopped() { sed -n "s/^$1=//p" stopped; }

# shards_remembered: each shard by its filter, and nothing is left over.
shards_remembered() {
    local shard
    unseen shard 64 --files 'shard.%d' list || return
    for shard in {1..64}; do
        exits 1 unseen query -v "seen.$shard" "shard.$shard" || return
        prints '' || return
    done
    [[ ! -e keys ]]
}
