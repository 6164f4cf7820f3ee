#!/usr/bin/env bats
# Power cuts: what a disk holds when its power goes at any moment; see powerdisk.c for
# what is modelled. The file system is real, and mends itself when it is mounted again.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load scale

need_powerdisk() {
    unshare -m true 2>/dev/null || skip "needs the right to mount"
    [[ -c /dev/fuse ]] || skip "needs /dev/fuse"
    command -v mkfs.ext4 >/dev/null || skip "needs mkfs.ext4"
    [[ -x $programs/powerdisk ]] || skip "needs $programs/powerdisk: make torture builds it"
}

# record_run COMMAND: makes an ext4 on a powerdisk, a filter on it, and runs the shell
# text COMMAND there, with f.bf and ../in. Meanwhile the filter's own pages are flushed
# again and again, as the system may at any time: that is what makes it dangerous.
# Leaves ./log; sets `first`, the log's length when the filter had been made.
record_run() {
    mkdir -p fuse disk
    capture unshare -m sh -c '
        "$1" serve fuse 48 log || exit 77
        mkfs.ext4 -q -F fuse/disk >/dev/null 2>&1 || exit 78
        mount -o loop fuse/disk disk || exit 77
        cd disk || exit 77
        "$UNSEEN" create -n 2000 -p 1e-9 f.bf || exit 9
        sync -d f.bf
        stat -c %s ../log >../first
        ( while [ ! -e ../ended ]; do sync -d f.bf; sleep 0.02; done ) &
        eval "$2"
        status=$?
        : >../ended
        wait
        cd ..
        umount disk
        umount fuse
        exit $status' sh "$programs/powerdisk" "$1"
    [[ $code -ne 77 && $code -ne 78 ]] || skip "cannot mount a powerdisk here: $(head -n 1 "$err")"
    [[ $code -eq 0 ]] || complain "the run itself"
    first=$(cat first)
}

# cut POINT SEED: the file system after a power cut there. What the filter remembers goes to
# ./remembered, what the output has to ./printed.
cut() {
    rm -f image remembered printed
    "$programs/powerdisk" cut log "$1" "$2" image || return 1
    capture unshare -m sh -c '
        mount -o loop image disk || exit 10
        cd disk || exit 10
        [ -e f.bf ] || exit 11
        "$UNSEEN" verify f.bf || [ $? = 1 ] || exit 12
        "$UNSEEN" query f.bf ../in >../remembered || [ $? = 1 ] || exit 13
        if [ -e got ]; then cat got; fi >../printed
        cd .. && umount disk'
    [[ $code -eq 0 ]] || complain "the cut at byte $1 of the log, seed $2"
}

# cuts POINTS: sets `lost`, lines that some filter knew and its output had not, and `knew`.
cuts() {
    local i last point
    lost=0 knew=0
    last=$(bytes_of log)
    for ((i = 1; i <= $1; i++)); do
        point=$((first + (RANDOM << 15 | RANDOM) % (last - first + 1)))
        cut "$point" "$i" || return 1
        knew=$((knew + $(wc -l <remembered)))
        lost=$((lost + $(whole printed | sort | comm -13 - <(sort remembered) | wc -l)))
    done
}

# Lines come in slowly, so that several epochs are flushed.
slowly='for i in $(seq 60); do head -n $((i * 300)) ../in | tail -n 300; sleep 0.05; done'

@test "--durable: 200 power cuts, no line lost, the file always opens" {
    local first lost knew points
    need_powerdisk
    points=$(scaled 200)
    input 18000 >in
    record_run "($slowly)"' | "$UNSEEN" --durable f.bf -o got 2>/dev/null'
    cuts "$points"
    echo "$points cuts of $(bytes_of log) bytes of writes; $knew lines remembered in all, $lost of them lost"
    [[ $lost -eq 0 && $knew -gt 0 ]]
}

@test "--durable in three runs and with another writer: 200 power cuts, no line lost" {
    local first lost knew points
    need_powerdisk
    points=$(scaled 200)
    input 18000 >in
    record_run '(for i in 1 2 3; do head -n $((i * 6000)) ../in | "$UNSEEN" --durable f.bf -o got; sleep 0.3; done) 2>/dev/null &
        first=$!
        tail -n 9000 ../in | "$UNSEEN" --durable f.bf -o got 2>/dev/null && wait $first'
    cuts "$points"
    echo "$points cuts of $(bytes_of log) bytes of writes; $knew lines remembered in all, $lost of them lost"
    [[ $lost -eq 0 && $knew -gt 0 ]]
}

@test "the judge can tell: without --durable a power cut loses lines" {
    # This is what the manual says; and if it were not so, the tests above would prove nothing.
    local first lost knew points
    need_powerdisk
    points=20
    input 18000 >in
    record_run "($slowly)"' | "$UNSEEN" f.bf -o got 2>/dev/null'
    cuts "$points"
    echo "$points cuts; $knew lines remembered in all, $lost of them lost"
    [[ $lost -gt 0 ]]
}
