#!/usr/bin/env bats
# Power cuts: what a disk holds when its power goes at any moment; see powerdisk.c for
# what is modelled. The file system is real, and mends itself when it is mounted again.

load ../helper
load ../crash

# Where powerdisk was built.
programs=${UNSEEN_TORTURE:-${UNSEEN%/*}/tests/torture}

need_powerdisk() {
    need_mounts
    [[ -c /dev/fuse ]] || skip "needs /dev/fuse"
    command -v mkfs.ext4 >/dev/null || skip "needs mkfs.ext4"
    [[ -x $programs/powerdisk ]] || skip "needs $programs/powerdisk: make programs builds it"
}

# record_run PREPARE COMMAND: makes an ext4 on a powerdisk and runs two shell texts there. PREPARE
# makes f.bf; COMMAND is what the power cuts are to hit, and has ../in. Meanwhile the filter's own
# pages are flushed again and again, as the system may at any time: that is what makes it dangerous.
# `note N` in COMMAND writes to ./marks that N is on disk from this byte of the log on; `flushed N`
# flushes f.bf first. With quiet=1 nothing flushes f.bf but the program. Leaves ./log; sets `first`, the log's length when PREPARE was on disk. The disk
# has 48 MB.
record_run() {
    mkdir -p fuse disk
    : >marks
    capture unshare -m sh -c '
        note() { echo "$(stat -c %s ../log) $1" >>../marks; }
        flushed() { sync -d f.bf && note "$1"; }
        "$1" serve fuse "$4" log || exit 77
        mkfs.ext4 -q -F fuse/disk >/dev/null 2>&1 || exit 78
        mount -o loop fuse/disk disk || exit 77
        cd disk || exit 77
        ( eval "$2" ) || exit 9
        sync
        stat -c %s ../log >../first
        ( while [ -z "${quiet-}" ] && [ ! -e ../ended ]; do sync -d f.bf; sleep 0.02; done ) &
        ( eval "$3" )
        status=$?
        : >../ended
        wait
        cd ..
        umount disk
        umount fuse
        exit $status' sh "$programs/powerdisk" "$1" "$2" 48
    [[ $code -ne 77 && $code -ne 78 ]] || skip "cannot mount a powerdisk here: $(head -n 1 "$err")"
    [[ $code -eq 0 ]] || complain "the run itself"
    first=$(cat first)
}

# look: a shell text that runs in the file system after a power cut. What the filter remembers goes to
# ./remembered, what the output has to ./printed.
look='
    [ -e f.bf ] || exit 11
    "$UNSEEN" verify f.bf || [ $? = 1 ] || exit 12
    "$UNSEEN" query f.bf ../in >../remembered || [ $? = 1 ] || exit 13
    if [ -e got ]; then cat got; fi >../printed'

# This one then adds the lines of ./new, and ./later gets what the filter remembers in the end.
go_on='
    "$UNSEEN" f.bf ../new >/dev/null || exit 14
    "$UNSEEN" verify f.bf || [ $? = 1 ] || exit 15
    "$UNSEEN" query f.bf ../in ../new >../later || exit 16'

# cuts POINTS [LOOK [JUDGE]]: so many power cuts. After each LOOK runs in the file system, and JUDGE
# outside; `noted` is the last N that was on disk by then, 0 if none was.
cuts() {
    local i last point noted
    last=$(bytes_of log)
    for ((i = 1; i <= $1; i++)); do
        point=$((first + (RANDOM << 15 | RANDOM) % (last - first + 1)))
        noted=$(awk -v point="$point" '$1 <= point { n = $2 } END { print n + 0 }' marks)
        rm -f image
        "$programs/powerdisk" cut log "$point" "$i" image || return 1
        capture unshare -m sh -c '
            noted=$1
            mount -o loop image disk || exit 10
            cd disk || exit 10
            eval "$2"
            cd .. && umount disk' sh "$noted" "$2"
        if [[ $code -ne 0 ]] || ! "$3"; then
            complain "the cut at byte $point of the log, seed $i, after $noted" || return 1
        fi
    done
}

# tally: adds to `lost`, lines that the filter knew and its output had not, and to `knew`.
tally() {
    knew=$((knew + $(wc -l <remembered)))
    lost=$((lost + $(whole printed | sort | comm -13 - <(sort remembered) | wc -l)))
}

# no_line_lost PREPARE COMMAND LOOK JUDGE: 200 power cuts.
no_line_lost() {
    local first points lost=0 knew=0
    points=$(scaled 200)
    record_run "$1" "$2"
    cuts "$points" "$3" "$4"
    echo "$points cuts of $(bytes_of log) bytes of writes; $knew lines remembered in all, $lost of them lost"
    [[ $lost -eq 0 && $knew -gt 0 ]]
}

# Lines come in slowly, so that several epochs are flushed.
slowly='for i in $(seq 60); do head -n $((i * 300)) ../in | tail -n 300; sleep 0.05; done'
small='"$UNSEEN" create -n 2000 -p 1e-9 f.bf'

@test "--durable in three runs and with another writer: 200 power cuts, no line lost" {
    need_powerdisk
    input 18000 >in
    no_line_lost "$small" '
        (for i in 1 2 3; do head -n $((i * 6000)) ../in | "$UNSEEN" --durable f.bf -a got; sleep 0.3; done) 2>/dev/null &
        first=$!
        tail -n 9000 ../in | "$UNSEEN" --durable f.bf -a got 2>/dev/null && wait $first' "$look" tally
}

@test "the judge can tell: without --durable a power cut loses lines" {
    # This is what the manual says; and if it were not so, the tests above would prove nothing.
    local first lost=0 knew=0
    need_powerdisk
    input 18000 >in
    record_run "$small" "($slowly)"' | "$UNSEEN" f.bf -a got 2>/dev/null'
    cuts 20 "$look" tally
    echo "20 cuts; $knew lines remembered in all, $lost of them lost"
    [[ $lost -gt 0 ]]
}

# --- what comes again --------------------------------------------------------------

# none_again PREPARE COMMAND: 100 power cuts, with no flush but the program's; the lines that were noted by
# then are remembered.
judge_again() {
    tally
    has_lines remembered 0 "$noted"
}

none_again() {
    local first points lost=0 knew=0
    local -x quiet=1
    points=$(scaled 100)
    record_run "$1" "$2"
    [[ $(wc -l <marks) -ge 5 ]] || complain "too few marks"
    cuts "$points" "$look" judge_again
    echo "$points cuts of $(bytes_of log) bytes of writes; $knew lines remembered in all, $lost of them lost"
    [[ $lost -eq 0 && $knew -gt 0 ]]
}

@test "after exit 0 of --durable, and of commit and rm keys: 100 power cuts, no line of these runs comes again" {
    need_powerdisk
    input 40000 >in
    each=2000
    none_again "$small" 'for i in $(seq 10); do
        head -n $((i * each)) ../in | tail -n $each | "$UNSEEN" --durable f.bf -a got 2>/dev/null && note $((i * each)) || exit
    done
    for i in $(seq 11 20); do
        head -n $((i * each)) ../in | tail -n $each | "$UNSEEN" --pending keys f.bf >>got && sync got || exit
        "$UNSEEN" commit f.bf keys 2>/dev/null && rm keys && note $((i * each)) || exit
    done'
}

# The bound of unseen-filters(7) is a second and eleven times the time of a flush, which is some milliseconds
# here, or a second on a busy machine: lines must be on disk four seconds after they were printed.
@test "in the middle of a --durable run: 100 power cuts, of what was printed four seconds ago no line comes again" {
    need_powerdisk
    input 36000 >in
    none_again "$small"' && : >got' '
        (for i in $(seq 120); do head -n $((i * 300)) ../in | tail -n 300; sleep 0.1; done) | "$UNSEEN" --durable f.bf -a got 2>/dev/null &
        run=$!
        while kill -0 $run 2>/dev/null; do
            (printed=$(wc -l <got); sleep 4; note $printed) &
            sleep 0.3
        done
        wait'
}

# A worker fails on the lines meanwhile: they go to the back, and then to f.bf.failed.
look_at_queue='
    "$UNSEEN" verify f.bf || [ $? = 1 ] || exit 12
    "$UNSEEN" query f.bf ../in >../remembered || [ $? = 1 ] || exit 13
    "$UNSEEN" pop f.bf -m 1e6 >../printed || [ $? = 1 ] || exit 14
    [ ! -e f.bf.failed ] || cat f.bf.failed >>../printed'

@test "push --durable and pop --tries: 200 power cuts, what is remembered waits or was given up" {
    need_powerdisk
    input 18000 >in
    no_line_lost "$small"' && "$UNSEEN" push f.bf </dev/null' "($slowly)"' | "$UNSEEN" push --durable f.bf 2>/dev/null &
        while kill -0 $! 2>/dev/null; do
            "$UNSEEN" pop f.bf -m 700 --tries 2 --wait 1s -x sh -c "cat >/dev/null; false" || true
        done
        wait $!' "$look_at_queue" tally
}

# --- what clears bits: windows and stages ---------------------------------------

# Each run brings the next $each lines, as many as a generation takes.
runs='for i in $(seq $(($(wc -l <../in) / each))); do
        head -n $((i * each)) ../in | tail -n $each | "$UNSEEN" --durable f.bf -a got 2>/dev/null || exit
        flushed $((i * each))
    done'
export each=2000

# has_lines FILE FROM TO: the lines from number FROM up to TO are all in FILE, which is sorted.
has_lines() {
    local from=$(($2 > 0 ? $2 : 0))
    [[ $from -lt $3 ]] || return 0
    input $(($3 - from)) "$from" | comm -23 - "$1" >missing
    [[ ! -s missing ]] || { echo "$1 lacks $(wc -l <missing) of the lines from $from up to $3"; return 1; }
}

# begins FILE FROM: no line below number FROM is in FILE.
begins() {
    awk -F / -v from="$2" '$5 < from { print "still in: " $0; exit 1 }' "$1"
}

# Of the lines on disk the last 8000 are in, less those that the next run may have pushed out, and nothing
# 10000 lines older than the newest. Four more generations push out all but the last one on disk, and the
# next.
judge_count() {
    tally
    has_lines remembered $((noted + each - 8000)) "$noted" &&
        begins remembered "$(awk -F / '{ newest = $5 } END { print newest - 9999 }' remembered)" &&
        has_lines later 100000 108000 && begins later $((noted - each))
}

@test "--window: 200 power cuts while it turns: no line lost, none forgotten early or late" {
    need_powerdisk
    input 80000 >in
    input 8000 100000 >new
    no_line_lost '"$UNSEEN" create --window 8000 --size 160K f.bf' "$runs" "$look; $go_on" judge_count
}

# A window whose layers hold two generations flushes nothing, and may forget a generation late.
judge_small() {
    tally
    has_lines remembered $((noted + each - 8000)) "$noted" && has_lines later 100000 108000
}

@test "--window: 200 power cuts while a small one turns: no line lost, none forgotten early" {
    need_powerdisk
    input 80000 >in
    input 8000 100000 >new
    no_line_lost '"$UNSEEN" create --window 8000 -p 1e-9 f.bf' "$runs" "$look; $go_on" judge_small
}

# Here nothing but the order of the writes keeps old bits from a new generation: lines that --durable hands on
# are settled after a flush of their own.
@test "--window: 200 power cuts while add turns it: none forgotten early or late" {
    need_powerdisk
    input 80000 >in
    input 8000 100000 >new
    no_line_lost '"$UNSEEN" create --window 8000 --size 160K f.bf && cp ../in got && sync' \
        "${runs/--durable f.bf -a got 2>\/dev\/null/add f.bf; sync f.bf}" "$look; $go_on" judge_count
}

# Nothing is ever forgotten.
judge_stage() {
    tally
    has_lines remembered 0 "$noted" && has_lines later 0 "$noted" && has_lines later 200000 212000
}

@test "200 power cuts while a stage is emptied: no line lost, none forgotten" {
    with_stages
    need_powerdisk
    each=3000
    input 108000 >in
    input 12000 200000 >new
    no_line_lost '"$UNSEEN" create -n 20000 -p 1e-9 f.bf' "$runs" "$look; $go_on" judge_stage
}

# --- merge -------------------------------------------------------------------------

# The first $noted merges are on disk; the next one may be.
judge_merge() {
    local i after=$((noted < 8 ? noted + 1 : 8))
    for i in 1 2 3 4 5 6 7 8; do
        cmp "after/shard.$i" "shard.$i" || return 1
        if [[ -e after/new.$i || $i -le $noted ]]; then
            [[ $i -le $after ]] && cmp "after/new.$i" "new.$i" || return 1
        fi
    done
    for i in f.bf other.bf; do
        cmp -s "after/$i" "$i.$noted" || cmp "after/$i" "$i.$after" || return 1
    done
}

@test "merge: 200 power cuts: all of it is there or none, what it replaces is whole, the inputs are as before" {
    local first points
    need_powerdisk
    points=$(scaled 200)
    input 36000 >in
    mkdir after
    record_run '"$UNSEEN" create -n 60000 -p 1e-9 f.bf || exit
        head -n 4000 ../in | "$UNSEEN" add f.bf || exit
        cp f.bf other.bf && cp f.bf ../f.bf.0 && cp f.bf ../other.bf.0 || exit
        for i in 1 2 3 4 5 6 7 8; do
            "$UNSEEN" create --like f.bf shard.$i || exit
            head -n $((i * 4000 + 4000)) ../in | tail -n 4000 | "$UNSEEN" add shard.$i || exit
            cp shard.$i .. || exit
        done' '
        for i in 1 2 3 4 5 6 7 8; do
            "$UNSEEN" merge -o new.$i f.bf shard.$i && cp new.$i .. || exit
            "$UNSEEN" merge --force -o other.bf f.bf shard.$i && cp other.bf ../other.bf.$i || exit
            "$UNSEEN" merge -o f.bf f.bf shard.$i && cp f.bf ../f.bf.$i || exit
            note $i
        done'
    exits 0 unseen query -c f.bf.8 in
    prints '36000\n'
    cuts "$points" 'rm -f ../after/* && cp *.bf shard.* new.* ../after/ 2>/dev/null
        for filter in *.bf new.*; do [ ! -e "$filter" ] || "$UNSEEN" verify "$filter" || exit 12; done' judge_merge
    echo "$points cuts of $(bytes_of log) bytes of writes; each file as before or whole"
}
