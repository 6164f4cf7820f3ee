#!/usr/bin/env bats
# Where several machines, or several mounts, write to one file: who asks, what is let through, and
# what is said.

load helper

# planted [OPTION]... ARGUMENT...: the program, with what FAKE_TYPE and so on say (preload/network.c).
planted() {
    LD_PRELOAD=$preload "$UNSEEN" "$@"
}

# need_planted: everything in this directory lies on NFS; filters of all kinds are there.
need_planted() {
    need_preload network
    export FAKE_TYPE=6969 FAKE_PLACE=$PWD FAKE_MOUNTS=/dev/null
    seq 5 >in
    exits 0 unseen --create f.bf in
    exits 0 unseen add --create --counting counting.bf in
    exits 0 unseen push --create queue.bf in
    exits 0 unseen --pending keys f.bf < <(seq 6 9)
}

# mounted TYPE: this directory lies on FUSE, on a mount of that type.
mounted() {
    local device
    export FAKE_TYPE=65735546 FAKE_MOUNTS=$BATS_TEST_TMPDIR/mounts
    device=$(stat -c %d .)
    device=$((device >> 8 & 0xfff)):$((device & 0xff | device >> 12 & 0xfff00))
    printf '%s / /elsewhere rw shared:1 - %s x rw\n' "9 1 $device" "$1" "8 1 1$device" fuseblk \
        "7 1 ${device}1" fuse.fuse-overlayfs >"$FAKE_MOUNTS"
}

# refused SYSTEM COMMAND...: nothing is changed.
refused() {
    local system=$1
    shift
    fails_with 2 "^unseen: [^ ]*: is on $system, .*--allow-network" "$@"
}

@test "all who write or make a filter are refused, and told the way out, which works" {
    need_planted
    local form
    for form in 'f.bf in' 'f.bf in -x cat' '--durable f.bf in -a got' 'add f.bf in' 'commit f.bf keys' \
        'remove counting.bf in' 'push queue.bf in' 'pop queue.bf' 'pop queue.bf -x cat' \
        'merge -o f.bf f.bf' 'merge -o new1.bf f.bf' 'create new2.bf' 'create --force f.bf' \
        '--create new4.bf in' 'add --create new5.bf in' 'push --create new6.bf in'; do
        refused NFS planted $form
        exits 0 planted --allow-network $form
    done
}

@test "all who only read are let through" {
    need_planted
    local form
    for form in 'query f.bf in' 'stats queue.bf' 'verify queue.bf' 'key in' '--pending more f.bf in'; do
        succeeds planted $form
    done
    exits 1 planted query f.bf < <(seq 90 99)
}

@test "a file or queue that lies elsewhere than its name, by a link" {
    need_planted
    mkdir there
    export FAKE_PLACE=$PWD/there
    touch there/empty.bf
    ln -s there/empty.bf empty.bf
    refused NFS planted create empty.bf
    cp f.bf there/full.bf
    ln -s there/full.bf full.bf
    refused NFS planted full.bf in
    refused NFS planted merge --force -o full.bf f.bf
    succeeds planted query -c full.bf in
    mv queue.bf.queue there/queue
    ln -s there/queue queue.bf.queue
    refused NFS planted push queue.bf < <(seq 10 12)
    refused NFS planted pop queue.bf
    succeeds planted verify queue.bf
    succeeds planted queue.bf in
    exits 0 planted push --allow-network queue.bf < <(seq 10 12)
    { seq 5; seq 10 12; } | same <(planted pop --allow-network queue.bf -m 9) /dev/stdin
}

@test "every system by its number, and FUSE, but for what has a disk to itself and the layers of containers; all others are let through" {
    need_planted
    local system type
    mounted fuseblk # is only asked where it matters
    for system in 6969:NFS 517b:SMB ff534d42:SMB fe534d42:SMB 1021997:9p bd00bd0:Lustre c36400:Ceph 5346414f:AFS \
        6b414653:AFS 47504653:GPFS 19830326:BeeGFS 20030528:OrangeFS 73757245:Coda 7461636f:OCFS2 1161970:GFS2 \
        786f4256:vboxsf bacbacbc:vmhgfs; do
        FAKE_TYPE=${system%:*} refused "${system#*:}" planted f.bf in
    done
    for system in ef53 1021994 794c7630 9123683e 58465342 2fc12fc1 0; do
        FAKE_TYPE=$system succeeds planted f.bf in
    done
    for type in fuse.sshfs fuse virtiofs fuseblks fuse.fuse-overlayfs2 fuse.fuseblk ext4; do
        mounted "$type"
        refused FUSE planted f.bf in
    done
    FAKE_TYPE=none refused FUSE planted f.bf in
    FAKE_MOUNTS=$PWD/none refused FUSE planted f.bf in
    for type in fuseblk fuseblk.ntfs-3g fuse.fuse-overlayfs; do
        mounted "$type"
        succeeds planted f.bf in
    done
}

# --- a real one, without a network ----------------------------------------------------------

# mount_here DIRECTORY: ./served, by sshfs, whose other end is a process beside it.
mount_here() {
    mkdir "$1"
    sshfs -o ssh_command="$PWD/server" "anywhere:$PWD/served" "$1"
}

need_sshfs() {
    need sshfs fusermount3
    make_sftp_server
    mkdir served
    capture mount_here a
    [[ $code -eq 0 ]] || skip "needs the right to mount (/dev/fuse): $(head -n 1 "$err")"
}

teardown() {
    local mount
    for mount in a b; do
        [[ ! -d $mount ]] || fusermount3 -u -z "$mount" 2>/dev/null || true
    done
    [[ -z ${public:-} ]] || rm -rf "$public"
}

@test "two mounts by sshfs: refused; through one of them, if that is allowed, nothing is lost" {
    need_sshfs
    seq 20000 >in
    exits 0 unseen create f.bf
    cp f.bf served/f.bf
    fails_with 2 '^unseen: a/f\.bf: is on FUSE, ' unseen a/f.bf in
    fails_with 2 '^unseen: a/new\.bf: is on FUSE, ' unseen create a/new.bf
    "$UNSEEN" --allow-network a/f.bf in >one 3>&- &
    "$UNSEEN" --allow-network a/f.bf in >two 3>&-
    wait $!
    each_once in one two
    # The other mount has nothing in memory yet.
    mount_here b
    succeeds unseen query -vc b/f.bf in || [[ $code -eq 1 ]]
    prints '0\n'
    fails_with 2 '^unseen: b/f\.bf: is on FUSE, ' unseen b/f.bf in
}

@test "one task through two mounts at once: the keys of a run that ended well are there" {
    local status=0
    need_sshfs
    mount_here b
    exits 0 unseen create -p 1e-9 served/f.bf
    converse "$UNSEEN" --pending a/keys a/f.bf
    say 1
    hear 1
    # No lock holds between the two.
    exits 0 unseen --pending b/keys b/f.bf < <(echo 1)
    farewell || status=$?
    [[ $status -eq 0 || $status -eq 75 ]] || { cat "$err"; echo "exit $status"; false; }
    exits 0 unseen commit served/f.bf served/keys
    exits 0 unseen query -c served/f.bf < <(echo 1)
    prints '1\n'
}
