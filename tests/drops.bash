# Runs with --dropped that are killed; load it after crash.bash.

# shellcheck shell=bash

# doubtful: f.bf, in which thousands of the lines of ./in look like one that it has.
doubtful() {
    if [[ ! -e doubtful.bf ]]; then
        exits 0 unseen create -n 200k -p 0.5 doubtful.bf || return 1
        input 130000 5000000 | unseen add doubtful.bf || return 1
    fi
    rm -rf f.bf f.bf.queue
    cp doubtful.bf f.bf
}

# only_torn MOST FILE...: what is no line of ./in is the beginning of one; there are at most MOST.
only_torn() {
    local most=$1
    shift
    sort -u "$@" | comm -23 - <(sort -u in) >"$BATS_TEST_TMPDIR/torn"
    awk '{ gsub(/[0-9]/, "0") } $0 != substr("http://example.org/page/00000000/end", 1, length($0))' \
        "$BATS_TEST_TMPDIR/torn" | grep . && return 1
    [[ $(wc -l <"$BATS_TEST_TMPDIR/torn") -le $most ]] || { cat "$BATS_TEST_TMPDIR/torn"; return 1; }
}

# kill_with_drops HITS EACH OPTION...: kills runs over ./in at random moments until HITS of them were
# at work, EACH on one filter and one ./dropped, which is then run to its end: each line was printed or
# dropped, and nothing else was.
kill_with_drops() {
    local wanted=$1 each=$2 hits=0 tries=0 i size moment
    shift 2
    size=$(bytes_of in)
    while [[ $hits -lt $wanted ]]; do
        doubtful || return 1
        rm -f dropped part.*
        for ((i = 0; i < each; i++)); do
            tries=$((tries + 1))
            [[ $tries -le $((wanted * 20 + 100)) ]] ||
                { echo "only $hits of $tries kills came while it was at work"; return 1; }
            moment $((size * 3 / 4))
            code=0
            "$tools/killed" "${moment[@]}" "$UNSEEN" f.bf in --dropped dropped "$@" >"part.$i" 2>"$err" || code=$?
            [[ $code -eq 137 || $code -eq 0 ]] || { echo "exit code $code"; cat "$err"; return 1; }
            [[ $code -ne 137 || ! -s part.$i ]] || hits=$((hits + 1))
        done
        "$UNSEEN" f.bf in --dropped dropped >part.last 2>"$err" || { cat "$err"; return 1; }
        { none_lost in part.* dropped && only_torn "$each" dropped; } || { echo "after kill $tries"; return 1; }
    done
    echo "$hits kills at work of $tries, each line printed or dropped"
}

# some_killed_with_drops RUNS: in each run eight writers over ./in, three of them killed at random
# moments, all to one ./dropped; then it is run again.
some_killed_with_drops() {
    local runs=$1 run hits=0
    for ((run = 0; run < runs; run++)); do
        doubtful || return 1
        rm -f dropped
        { three_killed 16 --dropped dropped && none_lost in out.* dropped && only_torn 3 dropped; } ||
            { echo "run $run"; return 1; }
    done
    echo "$hits of $((3 * runs)) writers were killed at work, each line printed or dropped"
}
