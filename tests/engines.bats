#!/usr/bin/env bats
# The engines that start in no time, where they are installed; the others, and these over several
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

as_any_user() {
    tools_in_path
    export HOME=$BATS_TEST_TMPDIR
    mkdir -p "$HOME/.parallel"
    : >"$HOME/.parallel/will-cite"
}

parallel_version() { parallel --version | sed -n '1s/^GNU //p'; }

@test "parallel: writers share a filter, and one is killed" {
    need parallel
    as_any_user
    make_list 40000 24000
    recipe on-processors
    unseen create -n 1e6 seen.bf
    sh on-processors
    outcome "$(parallel_version)" "one filter, many writers" - new

    rm new seen.bf
    unseen create -n 1e6 seen.bf
    unseen_pauses "$BATS_TEST_TMPDIR/bin"
    : >pause.reading.bf
    sh on-processors 3>&- &
    kill_paused reading.bf new
    exits 1 wait $!
    sh on-processors
    # What the killed one had printed may come again.
    may_double=5000 outcome "$(parallel_version)" "one filter, many writers" writer new
}

@test "parallel: what goes through parallel itself is lost" {
    need parallel
    as_any_user
    make_list 40000 24000
    unseen create -n 1e6 seen.bf
    unseen_pauses "$BATS_TEST_TMPDIR/bin"
    : >pause.reading.bf
    parallel --pipe-part --block -1 -a list unseen seen.bf >new 3>&- &
    wait_until 60 test -s paused.reading.bf
    # Others may have ended well by now: it is this one whose lines are lost for sure.
    wait_until 60 printed_and_known
    kill -9 $!
    wait $! || true
    kill_paused reading.bf
    parallel --pipe-part --block -1 -a list unseen seen.bf >>new
    loses=24000 outcome "$(parallel_version)" "plain, printed by parallel" parallel new
}

# Its output is a file that parallel keeps, without a name.
printed_and_known() { "$UNSEEN" query -q seen.bf <"/proc/$(<paused.reading.bf)/fd/1"; }

mpi_version() { mpirun --version | sed -n '1s/^mpirun (\(.*\)) /\1 /p'; }

four_ranks() {
    need mpirun
    [[ $(mpirun --version) == *"Open MPI"* ]] || skip "this mpirun is not the one of Open MPI"
    as_any_user
    # Ranks are more than the processors of this machine (the second is for Open MPI 5); and where
    # this is root, root is nobody.
    export OMPI_MCA_rmaps_base_oversubscribe=1
    export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    capture mpirun -np 4 true
    [[ $code -eq 0 ]] || skip "mpirun does not start here: $(grep -m 1 '[a-z]' "$err")"
    make_list 40000 24000
    unseen shard 4 --files part.%d list
}

@test "mpi: a rank is killed, mpirun ends the others, and all run again" {
    local i
    four_ranks
    recipe task on-ranks
    sh on-ranks -np 4
    outcome "$(mpi_version)" "tasks, 4 ranks" - out.[1-4]

    mkdir first
    mv out.[1-4] first
    rm seen.* keys.*
    unseen_pauses "$BATS_TEST_TMPDIR/bin"
    : >pause.reading.1
    : >pause.reading.2
    : >pause.committing.3
    : >pause.committed.4
    sh on-ranks -np 4 3>&- &
    wait_until 60 test -s paused.reading.1
    wait_until 60 test -s paused.committing.3
    wait_until 60 test -s paused.committed.4
    wait_until 60 eval 'test -s out.2.*'
    [[ ! -e out.1 && ! -e out.2 && -e out.3 && -e out.4 ]]
    kill_paused reading.2
    capture wait $!
    [[ $code -ne 0 && ! -e out.1 && ! -e out.2 ]]
    sh on-ranks -np 4
    outcome "$(mpi_version)" "tasks, 4 ranks" rank out.[1-4]
    same_parts first/out. out.
    for i in 1 2 3 4; do [[ -z $("$UNSEEN" query -v "seen.$i" "part.$i") ]]; done
}
