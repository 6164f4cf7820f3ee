#!/usr/bin/env bats
# Full disks of several file systems, mounted by loop devices.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load scale
load disk

# full_disk FILE_SYSTEM MEGABYTES CREATE_OPTIONS FORM...
full_disk() {
    local type=$1 megabytes=$2 form runs=0 full=0 bus=0
    local -x free options=$3
    shift 3
    need_disk_of "$type" "$megabytes"
    input 60000 >in
    # How much is left free: nothing, little, almost enough.
    for free in 0 40 100 200 400; do
        for form; do
            rm -f first rest
            capture on "$type" "$megabytes" sh -c '
                "$UNSEEN" create $options -p 1e-9 f.bf || exit 9
                eval "$fill"
                "$UNSEEN" $1 >../first 2>../said
                status=$?
                [ ! -e g.bf ] || [ $status = 0 ] || { echo "a filter was made, though it failed" >&2; exit 8; }
                rm -f filler
                [ ! -e got ] || cat got >>../first
                "$UNSEEN" verify f.bf >&2 || [ $? = 1 ] || exit 7
                "$UNSEEN" f.bf ../in >../rest || exit 6
                # A window has forgotten the others.
                [ "$(tail -n 3000 ../in | "$UNSEEN" query -c f.bf)" = 3000 ] || exit 5
                exit $status' sh "$form"
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
    echo "$type, $options: $runs runs, $full ended by the full disk, $bus of them in the map"
    [[ $full -gt 0 ]]
}

all_forms=('f.bf ../in' 'f.bf ../in -a got' '--durable f.bf ../in -a got' 'f.bf ../in -x cat' 'add f.bf ../in')

# filters FILE_SYSTEM MEGABYTES
filters() {
    full_disk "$@" '-n 300' "${all_forms[@]}" '--pending keys f.bf ../in' 'create -n 100M g.bf' '--create -n 100M g.bf ../in'
}

# windows FILE_SYSTEM MEGABYTES: one that never grows, and one that does.
windows() {
    full_disk "$@" '--window 3000' "${all_forms[@]}"
    full_disk "$@" '--forget-after 1d -n 300' "${all_forms[@]}"
}

# merges FILE_SYSTEM MEGABYTES: into a new file, over another filter and over an input.
merges() {
    local type=$1 megabytes=$2 target runs=0 full=0
    local -x free
    need_disk_of "$type" "$megabytes"
    input 60000 >in
    for free in 0 40 100 200 300 400 600 1000; do
        for target in new.bf other.bf f.bf; do
            capture on "$type" "$megabytes" sh -c '
                "$UNSEEN" create -n 60000 -p 1e-9 f.bf && "$UNSEEN" create --like f.bf g.bf || exit 9
                head -n 30000 ../in | "$UNSEEN" add f.bf || exit 9
                tail -n 30000 ../in | "$UNSEEN" add g.bf || exit 9
                cp f.bf other.bf
                cksum ./*.bf >../before
                eval "$fill"
                force=
                [ $1 != other.bf ] || force=--force
                "$UNSEEN" merge $force -o $1 f.bf g.bf 2>../said
                status=$?
                rm filler
                cksum ./*.bf >../after
                [ $status != 0 ] || [ "$("$UNSEEN" query -c $1 ../in)" = 60000 ] || exit 8
                for filter in *.bf; do "$UNSEEN" verify $filter >&2 || exit 7; done
                exit $status' sh "$target"
            cat said >>"$err"
            runs=$((runs + 1))
            [[ $code -eq 0 || $code -eq 2 ]] || complain "$target with $free K free"
            # What failed has changed nothing, and nothing but OUT changes.
            [[ $code -eq 2 ]] || sed -i "/ \.\/$target\$/d" before after
            same after before || complain "$target with $free K free"
            [[ $code -eq 0 ]] || { full=$((full + 1)) && grep -q 'cannot be created: No space left on device' said; } ||
                complain "$target with $free K free"
        done
    done
    echo "$type: $runs merges, $full ended by the full disk"
    [[ $full -gt 0 && $full -lt $runs ]]
}

@test "full tmpfs" { filters tmpfs 8; }
@test "full ext4" { filters ext4 32; }
@test "full xfs" { filters xfs 320; }
@test "full btrfs" { filters btrfs 128; }

@test "windows on a full tmpfs" { windows tmpfs 8; }
@test "windows on a full ext4" { windows ext4 32; }
@test "windows on a full xfs" { windows xfs 320; }
@test "windows on a full btrfs" { windows btrfs 128; }

@test "merges on a full tmpfs" { merges tmpfs 8; }
@test "merges on a full ext4" { merges ext4 32; }
@test "merges on a full xfs" { merges xfs 320; }
@test "merges on a full btrfs" { merges btrfs 128; }
