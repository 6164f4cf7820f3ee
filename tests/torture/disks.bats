#!/usr/bin/env bats
# Full disks of several file systems, mounted by loop devices.

load ../helper
load ../crash
load ../disk

# full_disks FILE_SYSTEM MEGABYTES
full_disks() {
    need_disk_of "$1" "$2"
    full_filters "$@"
    full_windows "$@"
    full_merges "$@"
    full_queues "$@"
}

@test "full tmpfs" { full_disks tmpfs 8; }
@test "full ext4" { full_disks ext4 32; }
@test "full xfs" { full_disks xfs 320; }
@test "full btrfs" { full_disks btrfs 128; }
