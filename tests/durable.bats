#!/usr/bin/env bats
# --durable: a line is remembered once its output is on disk, in epochs of about a
# second. The power cut itself is in tests/torture; here: what is remembered when.

load helper
load crash

# traced RULE... -- ARGUMENT...: the program under strace with these injections.
traced() {
    local rules taken
    take_rules "$@"
    shift "$taken"
    strace -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=fdatasync,fsync,write "${rules[@]}" "$UNSEEN" "$@"
}

@test "the same bytes as without, to -o, to > and to >>; then nothing is new" {
    mixed_lines 20000 9000 >in
    lines_unique in >wanted
    exits 0 unseen create -n 500 -p 1e-9 f.bf
    exits 0 unseen --durable f.bf in -a got
    prints ''
    same got wanted
    remembers 20000
    no_debris
    exits 0 unseen create --force -n 500 -p 1e-9 f.bf
    exits 0 to got unseen --durable f.bf in
    same got wanted
    exits 0 unseen create --force -p 1e-9 f.bf
    exits 0 appending_to got unseen f.bf in --durable
    cat wanted wanted | cmp - got
    succeeds appending_to got unseen f.bf in --durable
    cat wanted wanted | cmp - got
    verify_usable
    # What is on no disk is refused (messages.txt), and nobody is waited for before.
    mkfifo fifo
    fails_with 2 'fifo is not a regular file' timeout 20 "$UNSEEN" --durable --create new.bf in -a fifo
}

@test "the last fdatasync fails: exit 2, nothing of the epoch is remembered, and the run says so" {
    need_strace
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 2 traced fdatasync:error=ENOSPC -- --durable f.bf in -a got
    says 'got: .*No space left .* 3000 lines .* come again'
    same got in
    remembers 0
    no_debris
    exits 0 unseen --durable f.bf in -a got2
    same got2 in
    remembers 3000
}

@test "fdatasync fails once, in the middle: what it was for is never remembered" {
    # The system reports a page that could not be written once, and takes it for clean then: a
    # second fdatasync says yes, and knows nothing.
    need_strace
    local pid feed
    # All of it goes into the pipe at once: if the epoch ends early, `cat` is done all the same.
    input 1000 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo pipe
    strace -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:error=EIO:when=1 \
        "$UNSEEN" --durable f.bf pipe -a got 2>said 3>&- &
    pid=$!
    exec {feed}>pipe
    cat in >&"$feed"
    # The epoch ends while no more input comes.
    filled said || { kill "$pid"; false; }
    exec {feed}>&-
    ended 2 "$pid"
    grep -Eq 'got: .*(Input/output|I/O) error' said
    remembers 0
    exits 0 unseen --durable f.bf in -a got2
    same got2 in
}

@test "nothing is remembered before fdatasync has returned, and others have it in flight; then all of it is" {
    need_strace
    local pid child
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    # Flushing takes ten minutes.
    strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:delay_enter=600000000 \
        "$UNSEEN" --durable f.bf in -a got 2>said 3>&- &
    pid=$!
    filled trace
    same got in
    child=$(tr -d ' ' <"/proc/$pid/task/$pid/children")
    remembers 0 || { kill -9 "$child" "$pid"; false; }
    exits 0 unseen f.bf in
    [[ ! -s $out ]] || { kill -9 "$child" "$pid"; false; }
    # strace waits for the end of the delay, and must go, too.
    kill -9 "$child" "$pid"
    wait "$pid" || true
    gone "$child"
    remembers 0
    exits 0 unseen --durable f.bf in -a got2
    same got2 in
    remembers 3000
    no_debris
}

@test "lines are in flight until, after about a second, they are remembered, even if no more input comes" {
    local pid
    input 10 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo pipe
    "$UNSEEN" --durable f.bf pipe -a got 3>&- &
    pid=$!
    exec {feed}>pipe
    cat in >&"$feed"
    filled got
    # in flight, or remembered by now: in neither case printed
    exits 0 unseen f.bf in
    prints ''
    until [[ $("$UNSEEN" query -c f.bf in || true) -eq 10 ]]; do sleep 0.01; done
    kill -0 "$pid"
    # killed now, it loses nothing and repeats nothing
    kill -9 "$pid"
    wait "$pid" || true
    exec {feed}>&-
    exits 0 unseen --durable f.bf in -a got
    same got in
}

# bats test_tags=torture
@test "kills -9 at random moments: 0 lost" {
    local i moment kills hits=0
    kills=$(rounds 10 300)
    input 20000 >in
    for ((i = 0; i < kills; i++)); do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        rm -f part got
        moment $((20000 * line_bytes))
        "$tools/killed" "${moment[@]}" "$UNSEEN" --durable f.bf in >part 2>said || hits=$((hits + 1))
        exits 0 unseen --durable f.bf in -a got
        none_lost in part got
        verify_usable
        no_debris
    done
    [[ $hits -gt 0 ]]
}

@test "-m, -e and an input that cannot be read go with it; more lines than an epoch holds are flushed in between" {
    need_strace
    input 300000 >in
    exits 0 unseen create -n 400k -p 1e-9 f.bf
    succeeds unseen -m 3000 --durable f.bf in -a got
    remembers 3000
    exits 2 traced -- --durable f.bf missing in -a got
    [[ $(grep -c '^fdatasync' "$BATS_TEST_TMPDIR/trace") -ge 2 ]]
    same got in
    remembers 300000
    exits 1 unseen -e --durable f.bf in -a got
    same got in
    no_debris
}

# --- at p = 0.5, where a verdict that differs shows ---------------------------

# Filters of which some are too small for their input, one a line: options of create. The last has a stage.
doubtful='-n 1000 -p 0.5
-n 100000 -p 0.5
-n 300 -p 0.5 --fixed
--window 20000 -p 0.5
--counting -n 2000 -p 0.4
-n 40k -p 0.3'

# parted FILE: its lines, with a pause after the first third, longer than an epoch.
parted() {
    local lines
    lines=$(wc -l <"$1")
    head -n $((lines / 3)) "$1"
    sleep 1.3
    tail -n +$((lines / 3 + 1)) "$1"
}

# pausing NUMBER OPTION...: in a directory of that name, in all forms that hold lines.
pausing() {
    mkdir "$1" && cd "$1" && "$UNSEEN" create "${@:2}" f.bf && "$UNSEEN" f.bf ../before >printed
    cp f.bf paused.bf && cp f.bf pending.bf && cp f.bf durable.bf
    "$UNSEEN" f.bf ../in -x cat >wanted
    parted ../in | "$UNSEEN" paused.bf -x cat >paused &
    parted ../in | "$UNSEEN" --pending keys pending.bf >pending &
    parted ../in | "$UNSEEN" --durable durable.bf -a durable
    wait
}

@test "lines that are held are judged exactly: a pause and the size of batches change nothing, and each comes once" {
    local options number=0 i jobs=()
    mixed_lines 20000 9000 >in
    head -n 3000 in >before
    while IFS= read -r options; do
        number=$((number + 1))
        ([[ $number -ne 6 ]] || with_stages; pausing $number $options) 2>/dev/null 3>&- &
        jobs+=($!)
    done <<<"$doubtful"
    wait "${jobs[@]}"
    for ((i = 1; i <= number; i++)); do
        sed -n ${i}p <<<"$doubtful"
        [[ -s $i/printed && -s $i/wanted && -s $i/durable ]]
        same $i/paused $i/wanted
        same $i/pending $i/wanted
        # They are new to what was in before, and to nothing else.
        exits 0 unseen query $i/pending.bf in
        sort -u "$out" | comm -12 - <(sort -u $i/wanted) >both
        [[ ! -s both ]]
        # With epochs in between, another line may come out, but none a second time, and all are in.
        [[ -z $(sort $i/durable | uniq -d) ]]
        exits 1 unseen query -v -c $i/durable.bf $i/durable || [[ $i -eq 4 ]]
    done
}

# --- the filter on disk --------------------------------------------------------------------------------

# order NAME...: of which files, in this order, were flushed by what ./trace is of.
order() { sed -nE 's/^f(data)?sync\([0-9]+<[^>]*\/([^>/]*)>\).*/\2/p' trace | uniq | tr '\n' ' '; }

@test "exit 0 of --durable and of commit: the filter is on disk, after the output, even if nothing was new" {
    need_strace
    local form wanted
    input 3000 >in
    creates -p 1e-9 f.bf
    exits 0 unseen push f.bf </dev/null
    exits 0 unseen --pending keys f.bf in
    while IFS='|' read -r form wanted; do
        exits 0 strace -qqy -o trace -e trace=fdatasync,fsync "$UNSEEN" $form
        [[ $(order) == "$wanted " ]] || { cat trace; complain "$form"; }
        fails_to_flush 2 "$UNSEEN" $form
    done <<'END'
--durable f.bf in -a got|got f.bf
--durable f.bf in -a got|f.bf
commit f.bf keys|f.bf
commit f.bf keys|f.bf
END
    input 10 9000 >in
    exits 0 strace -qqy -o trace -e trace=fdatasync,fsync "$UNSEEN" push --durable f.bf in
    [[ $(order) == "f.bf.queue 0000000001 f.bf " ]] || complain "$(order)"
}

# fails_to_flush CODE COMMAND...: f.bf cannot be flushed; nothing was new.
fails_to_flush() {
    exits "$1" strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:error=EIO "${@:2}"
    says 'f\.bf: cannot be flushed to disk: (Input/output|I/O) error \(after a power cut, .* come again\)$'
}

@test "in a run that waits for input, the filter is flushed after its lines, and once, however long it waits" {
    need_strace
    local i tries
    creates -p 1e-9 f.bf
    mkfifo pipe
    strace -qqy -o trace -e trace=fdatasync "$UNSEEN" --durable f.bf pipe -a got 2>said 3>&- &
    pid=$!
    exec {feed}>pipe
    # The second flush must wait for ten times as long as the first took, which is less than a second.
    for i in 1 2 3; do
        input 10 $((i * 10)) >&"$feed"
        for ((tries = 0; tries < 500 && $(grep -c '/f\.bf>' trace) < i; tries++)); do sleep 0.01; done
    done
    exec {feed}>&-
    wait "$pid"
    [[ $(order) == 'got f.bf got f.bf got f.bf ' && $(grep -c '/f\.bf>' trace) -eq 4 ]]
}
