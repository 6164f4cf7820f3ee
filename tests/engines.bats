#!/usr/bin/env bats
# The engine that starts in no time, where it is installed; the others, and this one over several
# hosts, are in tests/engines (tests/engines/run).

load helper
load engines/engines
load examples

teardown() { end_paused; }

@test "parallel: writers share a filter, and one is killed" {
    need parallel
    tools_in_path
    export HOME=$BATS_TEST_TMPDIR
    mkdir "$HOME/.parallel"
    : >"$HOME/.parallel/will-cite"
    make_list 40000 24000
    recipe parallel-local
    unseen create -n 1e6 seen.bf
    unseen_pauses "$BATS_TEST_TMPDIR/bin"
    : >pause.reading.bf
    sh parallel-local 3>&- &
    kill_paused reading.bf new
    exits 1 wait $!
    sh parallel-local
    # What the killed one had printed may come again.
    may_double=5000 outcome "$(parallel --version | sed -n '1s/^GNU //p')" "one filter, many writers" writer new
}

@test "unseen-scale(7) shows the task as it is installed" {
    page_examples "$repository/man/unseen-scale.7" page
    grep -v '^#' "$repository/man/examples/task" | cmp - page/task
}
