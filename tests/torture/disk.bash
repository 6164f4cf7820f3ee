# File systems of a few megabytes; load it after helper.bash.

# shellcheck shell=bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2154 # code and err are set by helper.bash

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
