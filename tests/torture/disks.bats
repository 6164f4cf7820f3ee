#!/usr/bin/env bats
# Full disks of several file systems, mounted by loop devices.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load scale
load disk

# full_disk FILE_SYSTEM MEGABYTES
full_disk() {
    local type=$1 megabytes=$2 form free runs=0 full=0 bus=0
    need_disk_of "$type" "$megabytes"
    input 60000 >in
    # How much is left free: nothing, little, almost enough.
    for free in 0 40 100 200 400; do
        for form in 'f.bf ../in' 'f.bf ../in -o got' '--durable f.bf ../in -o got' 'f.bf ../in -x cat' \
            '--pending keys f.bf ../in' 'add f.bf ../in' 'create -n 100M g.bf' '-n 100M g.bf ../in'; do
            rm -f first rest copy.bf got
            capture on "$type" "$megabytes" sh -c '
                free=$1
                shift
                "$UNSEEN" create -n 300 -p 1e-9 f.bf || exit 9
                head -c "${free}K" /dev/zero >spare && sync
                cat /dev/zero >filler 2>/dev/null
                sync
                rm spare
                "$UNSEEN" $1 >../first 2>../said
                status=$?
                [ ! -e g.bf ] || [ $status = 0 ] || { echo "a filter was made, though it failed" >&2; exit 8; }
                rm -f filler
                [ ! -e got ] || cat got >>../first
                "$UNSEEN" verify f.bf >&2 || [ $? = 1 ] || exit 7
                "$UNSEEN" f.bf ../in >../rest || exit 6
                exit $status' sh "$free" "$form"
            cat said >>"$err"
            runs=$((runs + 1))
            [[ $code -ne 2 || $form == *100M* ]] || full=$((full + 1))
            ! grep -q 'the mapped file failed' said || bus=$((bus + 1))
            [[ $code -eq 0 || $code -eq 2 ]] || complain "$form with $free K free"
            [[ $code -eq 0 ]] || grep -Eq 'No space left on device|the mapped file failed' said || complain "$form with $free K free"
            [[ $form != *100M* || $code -eq 2 ]] || complain "$form should not fit"
            case $form in
            add* | *100M*) ;;
            *) none_lost in first rest || complain "$form with $free K free" ;;
            esac
        done
    done
    echo "$type: $runs runs, $full ended by the full disk, $bus of them in the map"
    [[ $full -gt 0 ]]
}

@test "full tmpfs" { full_disk tmpfs 8; }
@test "full ext4" { full_disk ext4 32; }
@test "full xfs" { full_disk xfs 320; }
@test "full btrfs" { full_disk btrfs 128; }
