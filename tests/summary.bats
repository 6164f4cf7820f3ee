#!/usr/bin/env bats
# --summary: what became of the lines, however the run ends.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash

number='[0-9][0-9.e+-]*'

# sums NAME READ WORD DONE SEEN WITHOUT: this is what stderr says, and nothing else.
sums() {
    local seen=dropped without=", $6 without a key"
    [[ $3 != new ]] || seen=seen
    [[ $6 != 0 ]] || without="($without)?" # of whole lines it says nothing
    says "^unseen: $1: $2 lines? read, $4 $3, $5 $seen$without; false drops in this run: $number expected; rate now: $number\$"
}

# sums_json NAME READ WORD DONE SEEN WITHOUT: the same of JSON; NAME with its quotes, or null.
sums_json() {
    local seen=dropped
    [[ $3 != new ]] || seen=seen
    grep -Exq "\\{\"filter\":$1,\"read\":$2,\"$3\":$4,\"$seen\":$5,\"without_key\":$6,\"false_drops\":$number,\"rate\":$number\\}" "$err" ||
        complain 'other numbers'
}

@test "the numbers of the filter form, add and push, as text and as JSON" {
    local form
    mixed_lines 30000 12000 >in
    n=$(lines_unique in | wc -l)
    exits 0 unseen create -n 50k -p 1e-9 made.bf
    for form in '' '-j 1' '-j 2' '--durable -a got' '--pending keys' '-x wc -l'; do
        cp made.bf f.bf
        # shellcheck disable=SC2086 # several words
        exits 0 unseen --summary f.bf in $form
        sums 'f\.bf' 30000 printed "$n" $((30000 - n)) 0
        cp made.bf f.bf
        rm -f keys
        # shellcheck disable=SC2086
        exits 0 unseen --summary --json f.bf in $form
        sums_json '"f.bf"' 30000 printed "$n" $((30000 - n)) 0
    done
    # the second time nothing is new
    exits 0 unseen f.bf in
    exits 0 unseen --summary f.bf in
    sums 'f\.bf' 30000 printed 0 30000 0
    exits 0 unseen -p 1e-9 --summary <in
    sums '.*' 30000 printed "$n" $((30000 - n)) 0
    exits 0 unseen -p 1e-9 --summary --json <in
    sums_json null 30000 printed "$n" $((30000 - n)) 0
    cp made.bf f.bf
    exits 0 unseen add --summary f.bf in
    sums 'f\.bf' 30000 new "$n" $((30000 - n)) 0
    exits 0 unseen add --summary --json f.bf in in
    sums_json '"f.bf"' 60000 new 0 60000 0
    cp made.bf f.bf
    exits 0 unseen push --summary f.bf in
    sums 'f\.bf' 30000 new "$n" $((30000 - n)) 0
    exits 0 unseen push --summary --json f.bf in
    sums_json '"f.bf"' 30000 new 0 30000 0
}

@test "lines without a key, headings, -m, several inputs, an input that is missing" {
    printf 'a,1\nb\nc,1\nd\n' >in
    exits 0 unseen -f 2 -t , --summary <in
    sums '.*' 4 printed 3 1 2
    exits 0 unseen -f 2 -t , --header --summary <in
    sums '.*' 3 printed 3 0 2
    exits 0 unseen -f 2 -t , --summary -m 2 <in
    sums '.*' 2 printed 2 0 1
    exits 0 unseen --create -f 2 -t , f.bf </dev/null
    exits 0 unseen --summary f.bf in in
    sums 'f\.bf' 8 printed 3 5 4
    exits 2 unseen --summary f.bf in missing in
    says_lines 2 '^unseen: missing: No such file' '^unseen: f\.bf: 8 lines read, 0 printed, 8 dropped, 4 without a key'
    exits 1 unseen -e --summary f.bf in
    sums 'f\.bf' 4 printed 0 4 2
}

@test "an empty input, a name that JSON must quote" {
    exits 0 unseen --summary </dev/null
    sums '.*' 0 printed 0 0 0
    exits 0 unseen --summary --json </dev/null
    sums_json null 0 printed 0 0 0
    exits 0 unseen create $'a"b\\c.bf'
    exits 0 unseen --summary --json $'a"b\\c.bf' < <(echo x)
    sums_json '"a\\"b\\\\c\.bf"' 1 printed 1 0 0
}

@test "what it cannot go with, and --json without it: refused, nothing made" {
    local form
    seq 3 >in
    exits 0 unseen create f.bf
    exits 0 unseen create q.bf
    for form in '--create n.bf in' 'f.bf in' 'add f.bf in' 'add --create n.bf in' 'push q.bf in' 'pop q.bf' \
        'push --create n.bf in' '-p 0.1' '--dropped dropped f.bf in' 'remove f.bf in' 'verify f.bf' \
        'merge -o n.bf f.bf' 'commit f.bf in' 'shard 2 in'; do
        # shellcheck disable=SC2086 # several words
        fails_with 2 '^unseen: --json: needs --summary ' unseen --json $form <in || { echo "$form"; false; }
    done
}

@test "a reader that goes away: SIGPIPE ends it still, and the summary comes before" {
    need_signals
    local form
    input 300000 >in
    for form in '' '-j 1' '-p 1e-9'; do
        rm -f f.bf
        if [[ $form != -p* ]]; then
            exits 0 unseen create -p 1e-9 f.bf
            form="$form f.bf in"
        fi
        code=0
        # shellcheck disable=SC2086 # several words
        { env --default-signal=PIPE "$UNSEEN" --summary $form <in 2>"$err" || echo $? >status; } | head -n 1 >first
        [[ $(cat status) -eq 141 ]]
        head -n 1 in | cmp - first
        says '^unseen: .* lines read, .* printed, 0 dropped'
    done
    # what it calls printed is remembered
    rm -f f.bf
    exits 0 unseen create -p 1e-9 f.bf
    env --default-signal=PIPE "$UNSEEN" --summary f.bf in 2>"$err" | head -n 1 >first
    n=$(sed 's/.*read, \([0-9]*\) printed.*/\1/' "$err")
    exits 0 unseen query -c f.bf in
    prints "$n\\n"
    holds "$n > 0 && $n < 300000"
}

# ended_by SIGNAL NUMBER COMMAND...: COMMAND, which has printed to ./got what there was, or summed up in
# FILE that is named in `watched`, waits; SIGNAL ends it. Its messages are in $err.
ended_by() {
    local signal=$1 number=$2 feed pid
    shift 2
    rm -f feed got
    mkfifo feed
    env --default-signal=INT,TERM,HUP "$@" <feed >got 2>"$err" 3>&- &
    pid=$!
    exec {feed}>feed
    # In one piece: it must not be ended before it has read the rest.
    printf '%s\n' {1..100} {1..50} >&"$feed"
    filled "${watched:-got}" || return 1
    sleep 0.1
    kill "-$signal" "$pid"
    code=0
    wait "$pid" || code=$?
    exec {feed}>&-
    [[ $code -eq $((128 + number)) ]] || complain "$signal: exit code $code"
}

@test "SIGINT, SIGTERM, SIGHUP while it waits for input: one summary, and it ends by the signal" {
    need_signals
    local signal form watched
    for signal in 'INT 2' 'TERM 15' 'HUP 1'; do
        for form in '' '-j 1' '-j 2 --dropped dropped'; do
            rm -f f.bf dropped
            # What is dropped is written last.
            watched=got
            [[ $form != *dropped ]] || watched=dropped
            exits 0 unseen create -p 1e-9 f.bf
            # shellcheck disable=SC2086 # several words
            ended_by $signal "$UNSEEN" --summary $form f.bf
            sums 'f\.bf' 150 printed 100 50 0
            seq 100 | cmp - got
            remembers 100 <(seq 200)
            [[ ! -e dropped ]] || seq 50 | cmp - dropped
        done
        # shellcheck disable=SC2086
        watched=got ended_by $signal "$UNSEEN" --summary --json
        sums_json null 150 printed 100 50 0
        # shellcheck disable=SC2086
        watched=dropped ended_by $signal "$UNSEEN" add --summary --dropped dropped --create f.bf
        sums 'f\.bf' 150 new 0 150 0
        rm dropped
    done
}

@test "SIGTERM in the middle of a file that is read without waiting: it ends soon, with a summary" {
    need_signals
    local form pid
    # Read again and again, so that it cannot be at its end when the signal comes.
    input 20000 >in
    mapfile -t names < <(yes in | head -n 20000)
    for form in 'add f.bf' 'f.bf' '-j 1 f.bf' '-j 2 f.bf' 'add -j 2 f.bf'; do
        rm -f f.bf
        exits 0 unseen create -p 1e-9 f.bf
        # shellcheck disable=SC2086 # several words
        env --default-signal=TERM "$UNSEEN" --summary $form "${names[@]}" >got 2>"$err" 3>&- &
        pid=$!
        # Writing would be interrupted, and nothing is written once all lines are in.
        until [[ $("$UNSEEN" query -c f.bf in) -eq 20000 ]]; do
            kill -0 "$pid"
            sleep 0.01
        done
        kill -TERM "$pid"
        code=0
        wait "$pid" || code=$?
        [[ $code -eq 143 ]] || complain "$form"
        says '^unseen: f\.bf: [0-9]* lines read, [0-9]* (printed|new), [0-9]* (dropped|seen)'
        holds "$(sed 's/.*bf: \([0-9]*\) lines.*/\1/' "$err") < 400000000"
    done
}

@test "SIGTERM while a slow reader keeps it waiting: what it counts as printed is remembered" {
    need_signals
    input 60000 >in
    exits 0 unseen create -p 1e-9 f.bf
    stall env --default-signal=TERM "$UNSEEN" --summary f.bf in
    kill -TERM "$stalled"
    code=0
    wait "$stalled" || code=$?
    [[ $code -eq 143 ]]
    drain got
    cp err.stalled "$err"
    n=$(sed 's/.*read, \([0-9]*\) printed.*/\1/' "$err")
    [[ $(wc -l <got) -eq $n && $n -gt 0 ]]
    says "^unseen: f\\.bf: .* $n printed"
    remembers "$n"
}

# --- false drops ---------------------------------------------------------------------------------

# drops_about WRONG: what stderr's JSON expects is near WRONG: within 6 sigma and a twentieth.
drops_about() {
    local expected
    expected=$(field false_drops "$err")
    echo "expected $expected, real $1"
    holds "($expected - $1) ^ 2 <= (6 * sqrt($1) + $1 / 20 + 1) ^ 2"
    holds "$1 > 100"
}

@test "false drops: about as many as there are, of a filter that is filled to capacity" {
    input 100000 >in
    exits 0 unseen create --fixed -n 100k -p 0.1 f.bf
    exits 0 unseen --summary --json f.bf in
    drops_about "$(field dropped "$err")"
    # past it
    input 100000 100000 >further
    exits 0 unseen --summary --json f.bf further
    grep -v ^unseen "$err" >json
    cp json "$err"
    drops_about "$(field dropped "$err")"
    # far past it: no more than were dropped
    input 600000 200000 >further
    exits 0 unseen --summary --json f.bf further
    grep -v ^unseen "$err" >json
    holds "$(field false_drops json) <= $(field dropped json)"
    # in memory; by add
    exits 0 unseen --summary --json --fixed -n 100k -p 0.1 <in
    drops_about "$(field dropped "$err")"
    exits 0 unseen create --force --fixed -n 100k -p 0.1 f.bf
    exits 0 unseen add --summary --json f.bf in
    drops_about "$(field seen "$err")"
}

@test "false drops: of a filter that grows, that is half full before, with repeats, small inputs" {
    input 100000 >in
    exits 0 unseen create -n 5000 -p 0.1 f.bf
    exits 0 unseen --summary --json f.bf in
    grep -v ^unseen "$err" >json
    cp json "$err"
    drops_about "$(field dropped "$err")"
    exits 0 unseen create --fixed -n 200k -p 0.1 g.bf
    input 100000 1000000 | exits 0 unseen add g.bf
    cp g.bf h.bf
    exits 0 unseen --summary --json g.bf in
    drops_about "$(field dropped "$err")"
    # Lines that came before are no false drops.
    cp h.bf g.bf
    input 100000 1000000 >old
    exits 0 unseen --summary --json g.bf in old
    drops_about $(($(field dropped "$err") - 100000))
    cp h.bf g.bf
    split -l 1000 in piece.
    exits 0 unseen --summary --json g.bf piece.*
    drops_about "$(field dropped "$err")"
    # with a window, and a stage
    exits 0 unseen create --window 100k -p 0.1 w.bf
    exits 0 unseen --summary --json w.bf in
    drops_about "$(field dropped "$err")"
}

@test "with -x, what CMD did not take does not count as printed; remove and shard count after a signal" {
    need_signals
    local form pid status
    exits 0 unseen create --counting f.bf
    seq 5 >in
    for form in false nosuchcommand; do
        capture unseen --summary --json f.bf in -x $form
        grep -q '"read":5,"printed":0,' "$err" || complain "$form"
    done
    # shellcheck disable=SC2016 # for that shell
    capture env --default-signal=INT "$UNSEEN" --summary --json f.bf in -x sh -c 'cat >/dev/null; kill -INT $PPID; exit 1'
    grep -q '"read":5,"printed":0,' "$err" || complain stopped
    capture unseen --summary --json f.bf -x sh -c 'read -r line' < <(seq 20000)
    printed=$(grep -o '"printed":[0-9]*' "$err" | cut -d : -f 2)
    capture unseen query -c f.bf < <(seq 20000)
    prints "$printed\\n"
    # Half of a batch was added when there was no more room.
    seq 300000 >many
    exits 0 unseen create many.bf
    # shellcheck disable=SC2016 # for that shell
    exits 2 sh -c 'trap "" XFSZ; ulimit -f 2000; exec "$UNSEEN" add --summary --json many.bf many' 2>"$err"
    new=$(grep -o '"new":[0-9]*' "$err" | cut -d : -f 2)
    exits 0 unseen query -c many.bf many
    prints "$new\\n"
    # What a command that a signal ended has had is still in the queue.
    exits 0 unseen push --create q.bf in
    env --default-signal=TERM "$UNSEEN" pop q.bf -m 2 --summary -x sh -c 'echo >here; exec sleep 60' 2>"$err" 3>&- &
    pid=$!
    filled here
    kill -TERM "$pid"
    wait "$pid" || true
    grep -qx 'unseen: q.bf: 0 lines popped, 0 put back, 0 given up' "$err" || complain pop
    mkfifo pipe
    for form in 'remove f.bf' 'shard 2'; do
        # shellcheck disable=SC2086 # several words
        env --default-signal=TERM "$UNSEEN" $form --summary pipe >/dev/null 2>"$err" 3>&- &
        pid=$!
        exec {feed}>pipe
        asleep "$pid"
        kill -TERM "$pid"
        status=0
        wait "$pid" || status=$?
        exec {feed}>&-
        [[ $status -eq 143 ]]
        grep -q '0 lines read' "$err" || complain "$form"
    done
}

@test "in memory, what could not be written does not count as printed" {
    exits 2 to /dev/full unseen --summary < <(seq 5)
    grep -q ': 5 lines read, 0 printed, 0 dropped' "$err" || complain 'printed'
    # A pipe takes what fits into it, and then nobody reads.
    mkfifo pipe
    { sleep 0.5; head -n 1 >/dev/null; } <pipe 3>&- &
    seq 100000 | env --default-signal=PIPE "$UNSEEN" --summary 2>"$err" >pipe || true
    wait $!
    grep -Eq ' [0-9]+ lines read, ([0-9]+) printed' "$err" || complain 'no summary'
    holds "$(sed -E 's/.* ([0-9]+) printed.*/\1/' "$err") < $(sed -E 's/.* ([0-9]+) lines read.*/\1/' "$err")"
}

@test "one line is a line, and without a recipe nothing is said of keys" {
    exits 0 unseen --summary --create f.bf < <(echo one)
    says_lines 2 'created' "^unseen: f\.bf: 1 line read, 1 printed, 0 dropped; false drops in this run: $number expected; rate now: $number\$"
    exits 0 unseen --summary -f 2 < <(echo one)
    says '^unseen: filter in memory: 1 line read, 1 printed, 0 dropped, 1 without a key; '
}
