#!/usr/bin/env bats
# The engine that starts in no time, where it is installed; the others, and this one over several
# hosts, are in tests/engines (make engines).

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load helper
load engines/engines

# Those that stand in the page for an engine are run on it.
@test "every recipe for an engine has a test" {
    local name missing=0
    # shellcheck disable=SC2013 # names are words
    for name in $(sed -n 's/^\.\\" file: //p' "$scale_page"); do
        grep -Eqs "^ *recipe (.* )?$name( |$)" "$repository"/tests/engines.bats \
            "$repository"/tests/engines/*.bats || {
            echo "no test runs the recipe $name"
            missing=1
        }
    done
    [[ $missing -eq 0 ]]
}

teardown() { end_paused; }

@test "parallel: writers share a filter, and one is killed" {
    need parallel
    tools_in_path
    export HOME=$BATS_TEST_TMPDIR
    mkdir "$HOME/.parallel"
    : >"$HOME/.parallel/will-cite"
    make_list 40000 24000
    recipe on-processors
    unseen create -n 1e6 seen.bf
    unseen_pauses "$BATS_TEST_TMPDIR/bin"
    : >pause.reading.bf
    sh on-processors 3>&- &
    kill_paused reading.bf new
    exits 1 wait $!
    sh on-processors
    # What the killed one had printed may come again.
    may_double=5000 outcome "$(parallel --version | sed -n '1s/^GNU //p')" "one filter, many writers" writer new
}
