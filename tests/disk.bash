# File systems of a few megabytes that are full, and what runs do there; load it after
# crash.bash. Each ends with exit 2 and says why, and once there is room no line is lost.

# shellcheck shell=bash

# on FILE_SYSTEM MEGABYTES COMMAND...: in ./disk, a new file system, gone afterwards.
on() {
    local type=$1 megabytes=$2
    shift 2
    mkdir -p disk
    if [[ $type != tmpfs ]]; then
        rm -f image
        truncate -s "${megabytes}M" image
        case $type in
        ext4) mkfs.ext4 -q image ;;
        xfs) mkfs.xfs -q -f image ;;
        btrfs) mkfs.btrfs -q -f image ;;
        esac >mkfs.log 2>&1 || { cat mkfs.log; return 77; }
    fi
    unshare -m sh -c '
        case $1 in
        tmpfs) mount -t tmpfs -o size="$2"M none disk ;;
        *) mount -t "$1" -o loop image disk ;;
        esac || exit 77
        cd disk || exit 77
        shift 2
        "$@"
        status=$?
        cd .. && umount disk
        exit $status' sh "$type" "$megabytes" "$@"
}

# need_disk_of FILE_SYSTEM MEGABYTES: skips where it cannot be mounted.
need_disk_of() {
    need_mounts
    [[ $1 == tmpfs ]] || command -v "mkfs.$1" >/dev/null || skip "needs mkfs.$1"
    capture on "$1" "$2" true
    [[ $code -eq 0 ]] || skip "cannot mount $1 here: $(head -n 1 "$err")"
}

# A shell text: fills the disk up to $free kilobytes. `rm filler` makes room again.
fill='
    head -c ${free}K /dev/zero >spare && sync
    cat /dev/zero >filler 2>/dev/null
    sync
    rm spare'
export fill

# filled_by FREE...: sets `frees`, how many KB are left free: here two of them, in tests/torture/run all.
filled_by() {
    frees=("$@")
    [[ -n ${TORTURE_SCALE-} ]] || frees=("$1" "$3")
}

# ends_full SAID WHERE...: the last captured run ended well, or by the full disk, which SAID must name. Adds
# to `runs` and `full`.
ends_full() {
    runs=$((runs + 1))
    [[ $code -eq 0 || $code -eq 2 ]] || complain "${@:2}" || return 1
    [[ $code -eq 0 ]] || full=$((full + 1))
    [[ $code -eq 0 ]] || grep -Eq 'No space left on device|the mapped file failed' "$1" || { cat "$1"; complain "${@:2}"; }
}

# full_for FILE_SYSTEM MEGABYTES CREATE_OPTIONS FORM...
full_for() {
    local type=$1 megabytes=$2 form runs=0 full=0 frees
    local -x free options=$3
    need_disk_of "$type" "$megabytes"
    input 60000 >in
    filled_by 0 40 100 200 400
    for free in "${frees[@]}"; do
        for form in "${@:4}"; do
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
                # What was printed is remembered, and the others come. (A window forgets.)
                case $options in *--window* | *--forget*) ;; *)
                    [ "${1%% *}" != f.bf ] || [ "${1% -x *}" != "$1" ] || ! head -n -1 ../first | "$UNSEEN" query -v f.bf || exit 4
                esac
                "$UNSEEN" f.bf ../in >../rest || exit 6
                [ "$(tail -n 3000 ../in | "$UNSEEN" query -c f.bf)" = 3000 ] || exit 5
                exit $status' sh "$form"
            ends_full said "$form with $free K free" || return 1
            [[ $form != *100M* || $code -eq 2 ]] || complain "$form should not fit" || return 1
            [[ $form == add* || $form == *100M* ]] || none_lost in first rest || complain "$form with $free K free" || return 1
        done
    done
    echo "$type, $options: $runs runs, $full ended by the full disk"
    [[ $full -gt 0 ]]
}

each_form=('f.bf ../in' 'f.bf ../in -a got' '--durable f.bf ../in -a got' 'f.bf ../in -x cat' 'add f.bf ../in')

# full_filters FILE_SYSTEM MEGABYTES
full_filters() {
    full_for "$@" '-n 300' "${each_form[@]}" '--pending keys f.bf ../in' 'create -n 100M g.bf' '--create -n 100M g.bf ../in'
}

# full_windows FILE_SYSTEM MEGABYTES: one that never grows, and one that does.
full_windows() {
    full_for "$@" '--window 3000' "${each_form[@]}" && full_for "$@" '--forget-after 1d -n 300' "${each_form[@]}"
}

# full_merges FILE_SYSTEM MEGABYTES: into a new file, over another filter and over an input. What fails
# changes nothing, and nothing but OUT changes.
full_merges() {
    local target runs=0 full=0 frees
    local -x free
    need_disk_of "$@"
    input 60000 >in
    filled_by 100 0 1000 40 200 300 400 600
    for free in "${frees[@]}"; do
        for target in new.bf other.bf f.bf; do
            capture on "$@" sh -c '
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
            ends_full said "$target with $free K free" || return 1
            [[ $code -eq 2 ]] || sed -i "/ \.\/$target\$/d" before after
            same after before || complain "$target with $free K free" || return 1
        done
    done
    echo "$1: $runs merges, $full ended by the full disk"
    [[ $full -gt 0 && $full -lt $runs ]]
}

# full_queues FILE_SYSTEM MEGABYTES: what does not fit is not remembered, and all comes out once; popping
# needs no room.
full_queues() {
    local unique runs=0 full=0 frees
    local -x free
    need_disk_of "$@"
    input 60000 >in
    filled_by 0 40 400 100 200 1000 1600
    for free in "${frees[@]}"; do
        rm -f first middle rest
        capture on "$@" sh -c '
            "$UNSEEN" create -n 100k -p 1e-9 --fixed q.bf || exit 9
            head -n 100 ../in | "$UNSEEN" push q.bf || exit 8
            eval "$fill"
            "$UNSEEN" push q.bf ../in 2>../said
            status=$?
            "$UNSEEN" pop q.bf -m 50 >../first || exit 7
            "$UNSEEN" pop q.bf -m 50 -x sh -c "cat >/dev/null; exit 1" 2>>../said
            case $? in 2 | 3) ;; *) exit 6 ;; esac
            "$UNSEEN" verify q.bf >&2 || [ $? = 1 ] || exit 5
            "$UNSEEN" pop q.bf -m 1e6 >../middle || exit 4
            rm filler
            "$UNSEEN" push q.bf ../in || exit 3
            "$UNSEEN" pop q.bf -m 1e6 >../rest || [ $? = 1 ] || exit 10
            exit $status'
        ends_full said "with $free K free" || return 1
        # A filter whose map fails has not remembered what the queue has.
        unique=
        ! grep -q 'the mapped file failed' said || unique=-u
        sort $unique first middle rest | cmp - in || complain "with $free K free" || return 1
    done
    echo "$*: $runs runs, $full ended by the full disk"
    [[ $full -gt 1 ]]
}
