# What tests of engines share. Load it after helper.bash.
#
# A test makes a list (make_list), takes a recipe from man/examples/ (recipe), runs it as it stands on
# the engine, kills something on the way, runs again what the engine does not run again by itself,
# and at last compares what came out with what should have (outcome), which also is its row of the
# table. Nothing is done in the machine's own network; see hosts.bash.

# shellcheck shell=bash

# Recipes call unseen by its name, also on the hosts.
tools_in_path() {
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    ln -sf "$UNSEEN" "$BATS_TEST_TMPDIR/bin/unseen"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

# need_namespaces COMMAND...: that makes some.
need_namespaces() {
    local said=$BATS_TEST_TMPDIR/said
    [[ $(id -u) -eq 0 ]] || skip "needs root, for network namespaces"
    "$@" 2>"$said" ||
        skip "cannot make namespaces (in a container: --privileged): $(head -n 1 "$said")"
}

# make_list [LINES DISTINCT SEED]: `list`, as long, and `whole`, the lines of it sorted, each once.
make_list() {
    "${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}/genlines" "${1:-200000}" "${2:-120000}" "${3:-7}" >list
    sort -u list >whole
}

# recipe NAME...: man/examples/NAME, to ./NAME.
recipe() {
    local name
    for name; do cp "$repository/man/examples/$name" .; done
}

# outcome ENGINE WHAT KILLED FILE...: what came out, in the FILEs, one for each shard, against `whole`.
# ENGINE is its name and version, WHAT the recipe, KILLED what was killed ("-": nothing). It is a
# failure if a line is lost, foreign, on two shards, or comes twice. A form that promises less may
# double as many lines as $may_double says.
outcome() {
    local engine=$1 what=$2 killed=$3 lines lost foreign shared doubled
    shift 3
    lines=$(cat -- "$@" | wc -l)
    sort -u -- "$@" >"$BATS_TEST_TMPDIR/union"
    lost=$(comm -13 "$BATS_TEST_TMPDIR/union" whole | wc -l)
    foreign=$(comm -23 "$BATS_TEST_TMPDIR/union" whole | wc -l)
    shared=$(for file; do sort -u -- "$file"; done | sort | uniq -d | wc -l)
    doubled=$((lines - $(wc -l <"$BATS_TEST_TMPDIR/union")))
    printf '%s\t%s\t%s\t%d\t%d\t%d\n' "$engine" "$what" "$killed" "$lines" "$lost" "$doubled" |
        tee -a "${ENGINES_TABLE:-/dev/null}"
    echo "$foreign foreign, $shared on two shards"
    [[ $lost -eq 0 && $foreign -eq 0 && $doubled -le ${may_double:-0} && $shared -le ${may_double:-0} ]]
}

# same_shards PREFIX PREFIX: PREFIX1, PREFIX2, ... of two runs hold the same lines, whatever their order.
same_shards() {
    local file count=0
    for file in "$1"*; do
        cmp <(sort "$file") <(sort "$2${file#"$1"}") || return
        count=$((count + 1))
    done
    [[ $count -gt 1 ]]
}

# wait_until SECONDS COMMAND...: until COMMAND succeeds.
wait_until() {
    local limit=$((SECONDS + $1))
    shift
    until "$@"; do
        [[ $SECONDS -lt $limit ]] || {
            echo "waited in vain for: $*"
            return 1
        }
        sleep 0.1
    done
}

# unseen_pauses DIRECTORY: puts an unseen there that stops where a file in the current directory says so,
# once, so that a kill hits it there: pause.reading.I, having read some lines of a shard I (the end of its
# last argument), until there is a file `go`; pause.committing.I, before it commits shard I, and
# pause.committed.I, after, for good. The file is then paused.MOMENT.I, and in it the number of the
# process.
unseen_pauses() {
    mkdir -p "$1/real"
    cp --remove-destination "$UNSEEN" "$1/real/unseen"
    rm -f "$1/unseen"
    cat >"$1/unseen" <<END
#!/bin/bash
unseen=$1/real/unseen
END
    cat >>"$1/unseen" <<'END'
shard=${!#}
shard=${shard##*.}
stops() {
    mv "pause.$1.$shard" "paused.$1.$shard.$$" 2>/dev/null || return
    echo $$ >"paused.$1.$shard.$$" && mv "paused.$1.$shard.$$" "paused.$1.$shard"
}
if [[ $1 = commit ]]; then
    ! stops committing || exec tail -f /dev/null
    "$unseen" "$@" || exit
    ! stops committed || exec tail -f /dev/null
elif [[ $1 != add ]] && stops reading; then
    # What holds the input open ends with the process that reads it.
    [[ ${!#} != shard.* ]] || { exec <"${!#}"; set -- "${@:1:$#-1}"; }
    exec "$unseen" "$@" < <(sed -u 5000q; while [[ ! -e go ]]; do kill -0 $$ 2>/dev/null || exit; sleep 0.1; done; cat)
else
    exec "$unseen" "$@"
fi
END
    chmod +x "$1/unseen"
}

# kill_paused MOMENT.PART [FILE]: kills it with SIGKILL once it stops there, and FILE is not empty.
kill_paused() {
    wait_until 60 test -s "paused.$1"
    [[ $# -eq 1 ]] || wait_until 60 filled "$2"
    kill -9 "$(<"paused.$1")"
}

# For teardown: what stopped and was not killed.
end_paused() {
    local file
    for file in paused.*; do
        [[ ! -e $file ]] || kill -9 "$(<"$file")" 2>/dev/null || true
    done
}
