#!/usr/bin/env bats
# --dropped through kills and full disks: each line of the input is in the output or in FILE.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load ../drops
load scale
load disk

@test "2000 kills -9 at work, with one thread, two, small buffers, --durable" {
    input 60000 >in
    kill_with_drops "$(scaled 500)" 4 -j 1
    kill_with_drops "$(scaled 500)" 4 -j 2
    kill_with_drops "$(scaled 500)" 4
    kill_with_drops "$(scaled 500)" 4 --durable
}

@test "500 runs of 8 writers to one FILE, three of them killed, their input run again" {
    input 20000 >in
    some_killed_with_drops "$(scaled 500)"
}

# full WHERE FILE_SYSTEM: the disk is full for ./output, ./dropped or both; what is not there is above.
full() {
    local where=$1 type=$2 form runs=0 full=0
    local -x free output=../first dropped=../dropped
    need_disk_of "$type" 4
    [[ $where != *output* ]] || output=first
    [[ $where != *dropped* ]] || dropped=dropped
    input 60000 >in
    doubtful
    for free in 0 40 100 200 400 1000; do
        for form in '' '-j 1' '-j 2' '--durable'; do
            rm -f first dropped rest
            capture on "$type" 4 sh -c '
                cp ../f.bf g.bf || exit 9
                [ $output = first ] || : >../first
                eval "$fill"
                "$UNSEEN" g.bf ../in $1 --dropped $dropped >$output 2>../said
                status=$?
                rm -f filler
                cp g.bf ..
                [ ! -e first ] || cp first ..
                [ ! -e dropped ] || cp dropped ..
                exit $status' sh "$form"
            runs=$((runs + 1))
            touch dropped
            [[ $code -eq 0 || $code -eq 2 ]] || complain "$form with $free K free"
            if [[ $code -eq 2 ]]; then
                full=$((full + 1))
                grep -q 'No space left on device' said || { cat said; complain "$form with $free K free"; }
            fi
            exits 0 to rest unseen g.bf in --dropped dropped
            none_lost in first rest dropped || complain "$form with $free K free"
            only_torn 1 dropped || complain "$form with $free K free"
        done
    done
    echo "$type, $where: $runs runs, $full ended by the full disk"
    [[ $full -gt 0 ]]
}

@test "a full tmpfs for FILE, for the output, for both" {
    full dropped tmpfs
    full output tmpfs
    full 'output and dropped' tmpfs
}

@test "a full ext4 for FILE, for the output, for both" {
    full dropped ext4
    full output ext4
    full 'output and dropped' ext4
}
