#!/usr/bin/env bats
# --summary: what became of the lines, however the run ends.

load helper
load crash

number='[0-9][0-9.e+-]*'

# sums NAME READ WORD DONE SEEN WITHOUT: this is what stderr says, and nothing else.
sums() {
    local seen=dropped without=", $6 without a key"
    [[ $3 != new ]] || seen=seen
    [[ $6 != 0 ]] || without="($without)?" # of whole lines it says nothing
    says "^unseen: $1: $2 lines? read, $4 $3, $5 $seen$without; expected false drops: $number; rate now: $number\$"
}

# sums_json NAME READ WORD DONE SEEN WITHOUT: the same of JSON; NAME with its quotes, or null.
sums_json() {
    local seen=dropped
    [[ $3 != new ]] || seen=seen
    grep -Exq "\\{\"filter\":$1,\"read\":$2,\"$3\":$4,\"$seen\":$5,\"without_key\":$6,\"without_key_first\":null,\"not_json\":0,\"not_json_first\":null,\"several_lines\":0,\"several_lines_first\":null,\"headers_again\":0,\"false_drops\":$number,\"rate\":$number\\}" "$err" ||
        complain 'other numbers'
}

# anew COMMAND...: with a new f.bf.
anew() {
    rm -rf keys got f.bf.queue
    cp made.bf f.bf
    "$@"
}

@test "the numbers of the filter form, add and push, as text and as JSON" {
    local form word name
    mixed_lines 30000 12000 >in
    n=$(lines_unique in | wc -l)
    exits 0 unseen create -n 50k -p 1e-9 made.bf
    while IFS='|' read -r word form; do
        name=f.bf
        [[ $form == *f.bf* ]] || name='filter in memory'
        anew exits 0 unseen --summary $form <in
        sums "$name" 30000 "$word" "$n" $((30000 - n)) 0
        anew exits 0 unseen --summary --json $form <in
        [[ $name == f.bf ]] && name='"f.bf"' || name=null
        sums_json "$name" 30000 "$word" "$n" $((30000 - n)) 0
    done <<'END'
printed|f.bf
printed|-j 1 f.bf in
printed|-j 2 f.bf in
printed|--durable -a got f.bf
printed|--pending keys f.bf
printed|f.bf -x wc -l
printed|-p 1e-9
new|add f.bf
new|push f.bf in
END
    # the second time nothing is new
    exits 0 unseen add --summary f.bf in in
    sums f.bf 60000 new 0 60000 0
}

@test "lines without a key, header lines, -m, several inputs, an input that is missing, none" {
    local status options name numbers
    printf 'a,1\nb\nc,1\nd\n' >in
    exits 0 unseen --create -f 2 -t , f.bf </dev/null
    while IFS='|' read -r status options name numbers; do
        exits "$status" unseen --summary $options <in
        sums "$name" $numbers
    done <<'END'
0|-f 2 -t ,|filter in memory|4 printed 3 1 2
0|-f 2 -t , --header|filter in memory|3 printed 3 0 2
0|-f 2 -t , -m 2|filter in memory|2 printed 2 0 1
0|f.bf in in|f\.bf|8 printed 3 5 4
1|-e f.bf in|f\.bf|4 printed 0 4 2
0|-m 0|filter in memory|0 printed 0 0 0
END
    exits 2 unseen --summary f.bf in missing in
    says_lines 2 '^unseen: missing: No such file' '^unseen: f\.bf: 8 lines read, 0 printed, 8 dropped, 4 without a key'
    exits 0 unseen --summary --json </dev/null
    sums_json null 0 printed 0 0 0
}

@test "what is not JSON is counted, too, and the first of each; empty lines and brackets are not" {
    local form
    exits 0 unseen create --counting -p 1e-9 --jsonl -f id f.bf
    printf '{"id":1}\n\n{"x":1}\n[\n{"id":2\n{"x":2}\n{"id":3\n' >in
    echo '{"id":4' >half
    for form in f.bf 'add f.bf' 'push f.bf' 'shard 2 --like f.bf' 'shard 2 --like f.bf --files s.%d' 'remove f.bf'; do
        exits 0 unseen $form --summary in half
        grep -Eq '^unseen: .*: 8 lines read, (.* )?5 without a key \(3 not JSON\)' "$err" || complain "$form"
        exits 0 unseen $form --summary --json in half
        grep -q ',"without_key":5,"without_key_first":3,"not_json":3,"not_json_first":5,' "$err" || complain "$form"
        exits 0 unseen $form --summary --json half in
        grep -q ',"without_key":5,"without_key_first":1,"not_json":3,"not_json_first":1,' "$err" || complain "$form"
    done
    # only of those that were read
    exits 0 unseen --summary --json -m 2 -p 1e-9 --jsonl -f id <in
    grep -q '"read":2,.*"without_key":0,"without_key_first":null,"not_json":0,"not_json_first":null,' "$err" || complain -m
    succeeds unseen plan --jsonl -f id in
    grep -q "^without a key  *4 (no 'id', 2 not JSON: compared as whole lines)\$" "$out" || complain plan
}

@test "a reader that goes away: SIGPIPE ends it still, and the summary comes before" {
    need_signals
    local form
    input 300000 >in
    for form in 'f.bf in' '-j 1 f.bf in' '-p 1e-9'; do
        rm -f status
        exits 0 unseen create --force -p 1e-9 f.bf
        { env --default-signal=PIPE "$UNSEEN" --summary $form <in 2>"$err" || echo $? >status; } | head -n 1 >first
        [[ $(cat status) -eq 141 ]]
        head -n 1 in | cmp - first
        says '^unseen: .* lines read, .* printed, 0 dropped'
        # what it calls printed is remembered
        n=$(sed 's/.*read, \([0-9]*\) printed.*/\1/' "$err")
        holds "$n > 0 && $n < 300000"
        [[ $form == -p* ]] || remembers "$n"
    done
    # that lines have no key is said once, too
    { env --default-signal=PIPE "$UNSEEN" -p 1e-9 --jsonl -f id <in 2>"$err" || echo $? >status; } | head -n 1 >first
    [[ $(cat status) -eq 141 ]]
    says '^unseen: filter in memory: [0-9]* of [0-9]* lines '
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
    asleep "$pid" || return 1
    kill "-$signal" "$pid"
    code=0
    wait "$pid" || code=$?
    exec {feed}>&-
    [[ $code -eq $((128 + number)) ]] || complain "$signal: exit code $code"
}

@test "SIGINT, SIGTERM, SIGHUP while it waits for input: one summary, and it ends by the signal" {
    need_signals
    local signal form watched
    while IFS='|' read -r signal form; do
        rm -f f.bf dropped
        # What is dropped is written last.
        watched=got
        [[ $form != *dropped ]] || watched=dropped
        exits 0 unseen create -p 1e-9 f.bf
        ended_by $signal "$UNSEEN" --summary $form f.bf
        sums 'f\.bf' 150 printed 100 50 0
        seq 100 | cmp - got
        remembers 100 <(seq 200)
        [[ ! -e dropped ]] || seq 50 | cmp - dropped
    done <<'END'
INT 2|
INT 2|-j 1
TERM 15|-j 2 --dropped dropped
HUP 1|
END
    rm -f dropped
    watched=got ended_by INT 2 "$UNSEEN" --summary --json
    sums_json null 150 printed 100 50 0
    watched=dropped ended_by TERM 15 "$UNSEEN" add --summary --dropped dropped f.bf
    sums 'f\.bf' 150 new 0 150 0
    watched=got ended_by TERM 15 "$UNSEEN" --jsonl -f id -p 1e-9
    says '^unseen: filter in memory: 150 of 150 lines '
}

@test "SIGTERM in the middle of a file that is read without waiting: it ends soon, with a summary" {
    need_signals
    local form pid
    # Read again and again, so that it cannot be at its end when the signal comes.
    input 20000 >in
    mapfile -t names < <(yes in | head -n 20000)
    for form in '-j 1 f.bf' '-j 2 f.bf' 'add f.bf'; do
        rm -f f.bf
        exits 0 unseen create -p 1e-9 f.bf
        env --default-signal=TERM "$UNSEEN" --summary $form "${names[@]}" >got 2>"$err" 3>&- &
        pid=$!
        # Writing would be interrupted, and nothing is written once all lines are in.
        until [[ $("$UNSEEN" query -c f.bf in) -eq 20000 ]]; do
            kill -0 "$pid"
            sleep 0.01
        done
        kill -TERM "$pid"
        ended 143 "$pid" || complain "$form"
        says '^unseen: f\.bf: [0-9]* lines read, [0-9]* (printed|new), [0-9]* (dropped|seen)'
        holds "$(sed 's/.*bf: \([0-9]*\) lines.*/\1/' "$err") < 400000000"
    done
}

# --- false drops ---------------------------------------------------------------------------------

# drops_about KNOWN: what stderr's JSON expects is near the number of lines that were dropped, but for KNOWN
# that came before: within 6 sigma and a twentieth.
drops_about() {
    local expected dropped
    sed -n '/^{/p' "$err" >json
    expected=$(field false_drops json)
    dropped=$(($(field dropped json) + $(field seen json) - $1))
    echo "expected $expected, real $dropped"
    holds "($expected - $dropped) ^ 2 <= (6 * sqrt($dropped) + $dropped / 20 + 1) ^ 2"
    holds "$dropped > 100"
}

@test "false drops: about as many as there are, of fixed, growing and half full filters, windows, in memory" {
    local made known form
    input 100000 >in
    input 100000 100000 >further
    input 100000 1000000 >old
    split -l 1000 in piece.
    exits 0 unseen create --fixed -n 200k -p 0.1 half.bf
    exits 0 unseen add half.bf old
    while IFS='|' read -r made known form; do
        cp half.bf f.bf
        [[ -z $made ]] || exits 0 unseen create --force $made -p 0.1 f.bf
        eval "exits 0 unseen --summary --json $form"
        drops_about "$known"
    done <<'END'
--fixed -n 100k|0|f.bf in
--fixed -n 100k|0|add f.bf in
--fixed -n 100k|0|f.bf in further
--window 100k|0|f.bf in
-n 5000|0|f.bf in
|0|f.bf in
|0|f.bf piece.*
|100000|f.bf in old
-n 9|0|--fixed -n 100k -p 0.1 <in
END
    # far past its capacity: no more than were dropped
    exits 0 unseen create --force --fixed -n 100k -p 0.1 f.bf
    exits 0 unseen --summary --json f.bf in further old <(input 300000 200000)
    sed -n '/^{/p' "$err" >json
    holds "$(field false_drops json) <= $(field dropped json)"
}

@test "with -x, what CMD did not take does not count as printed; remove and shard count after a signal" {
    need_signals
    local form pid
    exits 0 unseen create --counting f.bf
    seq 5 >in
    for form in false nosuchcommand; do
        capture unseen --summary --json f.bf in -x $form
        grep -q '"read":5,"printed":0,' "$err" || complain "$form"
    done
    capture env --default-signal=INT "$UNSEEN" --summary --json f.bf in -x sh -c 'cat >/dev/null; kill -INT $PPID; exit 1'
    grep -q '"read":5,"printed":0,' "$err" || complain stopped
    capture unseen --summary --json f.bf -x sh -c 'read -r line' < <(seq 20000)
    printed=$(grep -o '"printed":[0-9]*' "$err" | cut -d : -f 2)
    capture unseen query -c f.bf < <(seq 20000)
    prints "$printed\\n"
    # Half of a batch was added when there was no more room.
    seq 300000 >many
    exits 0 unseen create many.bf
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
        env --default-signal=TERM "$UNSEEN" $form --summary pipe >/dev/null 2>"$err" 3>&- &
        pid=$!
        exec {feed}>pipe
        asleep "$pid"
        kill -TERM "$pid"
        ended 143 "$pid"
        exec {feed}>&-
        grep -q '0 lines read' "$err" || complain "$form"
    done
}

@test "in memory, what could not be written does not count as printed" {
    need_signals
    exits 2 to /dev/full unseen --summary < <(seq 5)
    grep -q ': 5 lines read, 0 printed, 0 dropped' "$err" || complain 'printed'
    # So it is not said of these lines that they have no key.
    exits 2 to /dev/full unseen --jsonl -f id < <(seq 5)
    says_lines 1 'standard output: No space left on device'
    # Of an output that takes a part, its whole lines do.
    seq 100000 >in
    limited() { (ulimit -f 100; "$@" >part); }
    exits 2 limited unseen --summary <in
    says_lines 2 'File too large$' " lines read, $(wc -l <part) printed"
    # A pipe takes what fits into it, and then nobody reads.
    stall env --default-signal=PIPE sh -c 'exec "$UNSEEN" --summary <in'
    exec {hold}>&-
    wait "$stalled" || true
    cp err.stalled "$err"
    says ' [0-9]+ lines read, [0-9]+ printed'
    holds "$(sed -E 's/.* ([0-9]+) printed.*/\1/' "$err") < $(sed -E 's/.* ([0-9]+) lines read.*/\1/' "$err")"
}
