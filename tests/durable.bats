#!/usr/bin/env bats
# --durable: a line is remembered once its output is on disk, in epochs of about a
# second. The power cut itself is in tests/torture; here: what is remembered when.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
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
}

@test "an output that is no file on disk: refused, nothing changed" {
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    to_pipe() { "$@" | cat; return "${PIPESTATUS[0]}"; }
    exits 2 to_pipe unseen --durable f.bf in
    says '^unseen: --durable: standard output is not a regular file \(use -a FILE, or > FILE\)'
    prints ''
    exits 2 to /dev/null unseen --durable f.bf in
    fails_with 2 '\-\-durable: /dev/null is not a regular file' unseen --durable f.bf in -a /dev/null
    mkfifo fifo
    sleep 100 <>fifo 3>&- &
    local holder=$!
    exits 2 unseen --durable f.bf in -a fifo
    kill "$holder"
    exits 1 unseen query -c f.bf in
    prints '0\n'
    # A FIFO is not waited for, and nothing is made.
    fails_with 2 'fifo is not a regular file' timeout 20 "$UNSEEN" --durable --create new.bf in -a fifo
    exits 2 to_pipe unseen --durable --create new.bf in
    [[ ! -e new.bf ]]
}

@test "what --durable needs and what it cannot go with" {
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    fails_with 2 'FILTER' unseen --durable
    fails_with 2 'choose one' unseen --durable f.bf in -x cat
    fails_with 2 'choose one' unseen --durable --pending keys f.bf in -a o.txt
    fails_with 2 '\-\-durable' unseen add --durable f.bf in
    fails_with 2 '\-\-durable' unseen query --durable f.bf in
    fails_with 2 '\-\-durable' unseen commit --durable f.bf in
}

@test "the last fdatasync fails: exit 2, nothing of the epoch is remembered, and the run says so" {
    need_strace
    input 3000 >in
    exits 0 unseen push --create -p 1e-9 f.bf </dev/null
    exits 2 traced fdatasync:error=ENOSPC -- push --durable f.bf in
    says 'f\.bf\.queue: .*No space left .* 3000 lines .* come again'
    remembers 0
    exits 2 traced fdatasync:error=EIO -- --durable f.bf in -a got
    says 'got: .*(Input/output|I/O) error .* 3000 lines .* come again'
    same got in
    remembers 0
    no_debris
    exits 2 traced fdatasync:error=ENOSPC -- --durable f.bf in -a got
    says 'got: .*No space left .* 3000 lines .* come again'
    remembers 0
    exits 0 unseen --durable f.bf in -a got2
    same got2 in
    remembers 3000
}

@test "fdatasync fails once, in the middle: what it was for is never remembered" {
    # The system reports a page that could not be written once, and takes it for clean then: a
    # second fdatasync says yes, and knows nothing.
    need_strace
    local pid feed status=0
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
    wait "$pid" || status=$?
    [[ $status -eq 2 ]]
    grep -Eq 'got: .*(Input/output|I/O) error' said
    remembers 0
    exits 0 unseen --durable f.bf in -a got2
    same got2 in
}

@test "nothing is remembered before fdatasync has returned; then all of it is" {
    need_strace
    local pid child early
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:delay_enter=600000000 \
        "$UNSEEN" --durable f.bf in -a got 2>said 3>&- &
    pid=$!
    filled trace
    same got in
    # All is written, and flushing takes ten minutes. What is found now is judged when no
    # process of this test is left.
    capture unseen query -c f.bf in
    early=$(cat "$out")
    capture unseen f.bf in
    cp "$out" others
    # It dies then; strace must go, too, since it waits for the end of the delay.
    child=$(tr -d ' ' <"/proc/$pid/task/$pid/children")
    kill -9 "$child"
    sleep 0.1
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" || true
    gone "$child"
    [[ $early -eq 0 && ! -s others ]]
    remembers 0
    exits 0 unseen --durable f.bf in -a got2
    same got2 in
    remembers 3000
    no_debris
}

@test "each epoch is flushed before it is remembered: the order of calls" {
    need_strace
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 traced -- --durable f.bf in -a got
    # the last write of lines comes before the last flush
    awk '/^write/ { w = NR } /^f(data)?sync/ { s = NR } END { exit !(w > 0 && s > w) }' "$BATS_TEST_TMPDIR/trace"
}

# A run, `pid`, has printed ten lines and waits for more, from `feed`.
ten_lines_and_a_pause() {
    input 10 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo pipe
    "$UNSEEN" --durable f.bf pipe -a got 3>&- &
    pid=$!
    exec {feed}>pipe
    cat in >&"$feed"
    filled got
}

@test "lines are remembered after about a second, even if no more input comes" {
    local i pid
    ten_lines_and_a_pause
    for ((i = 0; i < 3000; i++)); do
        capture unseen query -c f.bf in
        [[ $(cat "$out") -lt 10 ]] || break
        sleep 0.01
    done
    remembers 10
    kill -0 "$pid"
    # killed now, it loses nothing and repeats nothing
    kill -9 "$pid"
    wait "$pid" || true
    exec {feed}>&-
    exits 0 unseen --durable f.bf in -a got
    same got in
}

@test "until then they are in flight: no other writer prints them, no reader has them in" {
    local pid
    ten_lines_and_a_pause
    # in flight, or remembered by now: in neither case printed
    exits 0 unseen f.bf in
    prints ''
    exec {feed}>&-
    wait "$pid"
    same got in
    remembers 10
}

@test "40 kills -9 at random moments: 0 lost" {
    local i moment kills
    kills=$(fewer 40)
    input 20000 >in
    for ((i = 0; i < kills; i++)); do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        rm -f part got
        moment $((20000 * line_bytes))
        "$tools/killed" "${moment[@]}" "$UNSEEN" --durable f.bf in >part 2>said || true
        exits 0 unseen --durable f.bf in -a got
        none_lost in part got
        verify_usable
        no_debris
    done
}

@test "SIGTERM: what was written is flushed and remembered, or comes again; the rest comes" {
    need_signals
    local pid status=0
    input 2000 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo pipe
    env --default-signal=TERM "$UNSEEN" --durable f.bf pipe -a first 3>&- &
    pid=$!
    exec {feed}>pipe
    head -n 1000 in >&"$feed"
    filled first
    kill -TERM "$pid"
    wait "$pid" || status=$?
    exec {feed}>&-
    [[ $status -eq 143 ]]
    exits 0 unseen f.bf in
    none_lost in first "$out"
    no_debris
}

@test "a full disk: exit 2; what was written and flushed is remembered, the rest comes again" {
    input 30000 >in
    limited() { (ulimit -f 600; "$@"); }
    exits 0 unseen create -n 100k -p 1e-9 f.bf
    exits 2 limited unseen --durable f.bf in -a first
    says 'File too large'
    exits 0 unseen --durable f.bf in -a second
    none_lost in first second
    verify_usable
}

@test "-m, -e and an input that cannot be read go with it" {
    input 5000 >in
    exits 0 unseen create -p 1e-9 f.bf
    succeeds unseen -m 3000 --durable f.bf in -a got
    remembers 3000
    exits 2 unseen --durable f.bf missing in -a got
    same got in
    remembers 5000
    exits 1 unseen -e --durable f.bf in -a got
    same got in
}

@test "more lines than an epoch holds: flushed in between, all remembered" {
    need_strace
    input 1300000 >in
    exits 0 unseen create -n 1500k -p 1e-9 f.bf
    exits 0 traced -- --durable f.bf in -a got
    same got in
    [[ $(grep -c '^fdatasync' "$BATS_TEST_TMPDIR/trace") -ge 2 ]]
    remembers 1300000
    no_debris
}

# --- what comes out depends on lines and filter alone ---------------------------
#
# At p = 0.5 a verdict that differs shows.

# Filters of which some are too small for their input, one a line: options of create.
doubtful='-n 1000 -p 0.5
-n 100 -p 0.5
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

# with_doubtful FUNCTION: in the directories 1 to 7, and at once, each with the empty filter f.bf; that of
# the last one has a stage.
with_doubtful() {
    local options number=0 jobs=()
    while IFS= read -r options; do
        number=$((number + 1))
        # shellcheck disable=SC2086 # options are words
        ([[ $number -ne 7 ]] || with_stages
            mkdir $number && cd $number && "$UNSEEN" create $options f.bf && "$1") 2>/dev/null 3>&- &
        jobs+=($!)
    done <<<"$doubtful"
    wait "${jobs[@]}"
    [[ $number -eq 7 ]]
}

durably() {
    cp f.bf paused.bf && cp f.bf small.bf
    "$UNSEEN" f.bf ../in >wanted
    parted ../in | "$UNSEEN" --durable paused.bf -a paused
    "$UNSEEN" --durable small.bf ../in -a small
}

@test "the same lines as without, at p = 0.5: with a pause, in batches of any size" {
    local options number=0
    mixed_lines 90000 60000 >in
    with_doubtful durably
    while IFS= read -r options; do
        number=$((number + 1))
        echo "create $options"
        [[ -s $number/wanted ]]
        same $number/paused $number/wanted
        same $number/small $number/wanted
        exits 1 unseen query -v -c $number/paused.bf $number/paused || [[ $options == --window* ]]
    done <<<"$doubtful"
    [[ $number -eq 7 ]]
}

@test "the same lines for push, at p = 0.5, with a pause" {
    mixed_lines 20000 9000 >in
    exits 0 unseen create -n 500 -p 0.5 plain.bf
    exits 0 unseen create -n 500 -p 0.5 paused.bf
    unseen push plain.bf in 2>/dev/null
    parted in | unseen push --durable paused.bf 2>/dev/null
    exits 0 unseen pop plain.bf -m 1e6
    cp "$out" wanted
    exits 0 unseen pop paused.bf -m 1e6
    same "$out" wanted
}

exactly() {
    "$UNSEEN" f.bf ../before >printed
    cp f.bf paused.bf && cp f.bf pending.bf
    "$UNSEEN" f.bf ../in -x cat >wanted
    parted ../in | "$UNSEEN" paused.bf -x cat >paused &
    parted ../in | "$UNSEEN" --pending keys pending.bf >pending
    wait
}

@test "-x and --pending judge exactly, at p = 0.5: a pause and the size of batches change nothing" {
    local options number=0
    mixed_lines 20000 9000 >in
    head -n 3000 in >before
    with_doubtful exactly
    while IFS= read -r options; do
        number=$((number + 1))
        echo "create $options"
        [[ -s $number/printed && -s $number/wanted ]]
        same $number/paused $number/wanted
        same $number/pending $number/wanted
        # They are new to what was in before, and to nothing else.
        exits 0 unseen query $number/pending.bf in
        sort -u "$out" | comm -12 - <(sort -u $number/wanted) >both
        [[ ! -s both ]]
    done <<<"$doubtful"
    [[ $number -eq 7 ]]
}
