#!/usr/bin/env bats
# What fails around the program: system calls, disks, mapped files, names. Always a
# message and exit 2, never a signal, never exit 0 with loss.

# shellcheck disable=SC2086 # a form is several words
# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash
load sweep

# --- each system call, failed once -----------------------------------------------------
# Here with one errno a call; tests/torture has them all.

sweep() {
    need_strace
    sweep_start 60
    sweep_all "$@"
}

@test "the Nth of each system call fails: the filter form" { sweep 1 filter; }
@test "the Nth of each system call fails: -x" { sweep 1 exec; }
@test "the Nth of each system call fails: --pending, commit" { sweep 1 pending commit; }
@test "the Nth of each system call fails: remove" { sweep 1 remove; }
@test "the Nth of each system call fails: create, and --durable" { sweep 1 create durable; }
@test "the Nth of each system call fails: the first push, push" { sweep 1 queue push; }
@test "the Nth of each system call fails: pop, pop -x, and of a CMD that fails" { sweep 1 pop popexec popfailexec; }

@test "a write that always says EAGAIN: it waits, and SIGTERM ends it; nothing is remembered" {
    need_strace
    local pid child status=0
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    env --default-signal=TERM strace -qq -o trace -e trace=write -e inject=write:error=EAGAIN \
        "$UNSEEN" f.bf in >got 3>&- &
    pid=$!
    filled trace
    child=$(tr -d ' ' <"/proc/$pid/task/$pid/children")
    kill -TERM "$child"
    wait "$pid" || status=$?
    [[ $status -eq 143 ]]
    [[ ! -s got ]]
    exits 0 unseen f.bf in
    same "$out" in
}

# --- limits and full disks -----------------------------------------------------------------

# on_disk KILOBYTES COMMAND...: in ./disk, a file system of that size that is gone afterwards.
on_disk() {
    local size=$1
    shift
    mkdir -p disk
    unshare -m sh -c '
        mount -t tmpfs -o size="$1"k none disk || exit 77
        cd disk || exit 77
        shift
        "$@"' sh "$size" timeout --foreground -k 5 "$UNSEEN_TIMEOUT" "$@"
}

need_disk() {
    echo >in
    need_mounts on_disk 64 true
}

@test "the disk fills while it grows, at every size: exit 2, what was printed is in, the rest comes" {
    need_disk
    local percent size
    input 40000 >in
    exits 0 unseen --create -n 200 -p 1e-9 whole.bf in
    for percent in 30 40 60 80 90; do
        size=$(($(bytes_of whole.bf) * percent / 102400))
        exits 2 on_disk "$size" sh -c '
            "$UNSEEN" create -n 200 -p 1e-9 f.bf || exit 9
            "$UNSEEN" f.bf ../in >../first
            status=$?
            cp f.bf ../f.bf
            exit $status'
        grep -q 'f\.bf: .*No space left on device' "$err" || complain "at $percent %"
        verify_usable
        exits 0 unseen query -c f.bf first
        prints "$(wc -l <first)\\n"
        exits 0 unseen f.bf in
        cat first "$out" | cmp - in
    done
}

@test "the disk fills with -x, --durable, --pending, add, commit: exit 2, nothing lost" {
    need_disk
    local form
    input 20000 >in
    for form in '--durable f.bf ../in -a got' 'add f.bf ../in' 'f.bf ../in -x cat' '--pending keys f.bf ../in'; do
        capture on_disk 100 sh -c '
            "$UNSEEN" create -n 200 -p 1e-9 f.bf || exit 9
            "$UNSEEN" "$@"
            status=$?
            cp f.bf ../f.bf
            rm -f ../got
            [ ! -e got ] || cp got ../got
            exit $status' sh $form
        [[ $code -eq 2 ]] || complain "$form"
        grep -q 'No space left on device' "$err" || complain "$form"
        cp "$out" first
        verify_usable
        exits 0 unseen f.bf in
        case $form in
        add*) ;;
        --durable*) none_lost in got "$out" ;;
        *) none_lost in first "$out" ;;
        esac
        exits 0 unseen f.bf in
        prints ''
    done
}

@test "a filter with holes on a full disk: SIGBUS is caught, the file is named, exit 2" {
    need_disk
    local form
    input 2000 >in
    exits 0 unseen create -n 100k -p 1e-9 sparse.bf
    for form in 'f.bf ../in' 'add f.bf ../in' 'f.bf ../in -x cat'; do
        capture on_disk 1200 sh -c '
            cp --sparse=always ../sparse.bf f.bf || exit 9
            head -c 2000000 /dev/zero >filler 2>/dev/null
            "$UNSEEN" "$@"
            status=$?
            rm filler
            "$UNSEEN" verify f.bf >&2 || [ $? -eq 1 ] || exit 8
            "$UNSEEN" f.bf ../in >../rest || exit 7
            exit $status' sh $form
        [[ $code -eq 2 ]] || complain "$form"
        grep -Eq '^unseen: .*f\.bf.*: ' "$err" || complain "$form"
        [[ $form == add* ]] || none_lost in "$out" rest
    done
}

@test "a limit on file size: filter, -x, --durable, --pending, commit" {
    local form
    input 20000 >in
    limited() { (ulimit -f 900; timeout 60 "$UNSEEN" "$@"); }
    exits 0 unseen create -n 200 -p 1e-9 f.bf
    exits 0 unseen --pending keys f.bf in
    cp f.bf empty.bf
    for form in 'f.bf in' '--durable f.bf in -a got' 'add f.bf in' 'f.bf in -x cat' 'commit f.bf keys'; do
        cp empty.bf f.bf
        rm -f got
        capture limited $form
        [[ $code -eq 0 || $code -eq 2 ]] || complain "$form"
        [[ $code -eq 0 ]] || grep -q 'File too large' "$err" || complain "$form"
        cp "$out" first
        verify_usable
        exits 0 unseen f.bf in
        case $form in
        add* | commit*) ;;
        --durable*) none_lost in got "$out" ;;
        *) none_lost in first "$out" ;;
        esac
    done
    fails_with 2 'File too large' limited create -n 10M large.bf
}

# --- the file under the map --------------------------------------------------------------------

@test "the filter is cut off while in use, at every place: SIGBUS message or exit 2, no signal" {
    local length form
    exits 0 unseen --create -n 1000 -p 1e-9 f.bf < <(seq 900)
    cp f.bf whole.bf
    for form in 'f.bf' '--durable f.bf -a got' 'f.bf -x cat' 'query --tag f.bf'; do
        for length in 0 4096 8192 12288 16384; do
            cp whole.bf f.bf
            : >got
            fed 'seq 901 905' "truncate -s $length f.bf" 'seq 906 1500' timeout -k 5 60 "$UNSEEN" $form
            [[ $code -eq 2 ]] || complain "$form cut to $length"
            grep -q '^unseen: f\.bf: ' "$err" || complain "$form cut to $length"
        done
    done
}

@test "the file of keys in flight is cut off: exit 2, no signal, nothing remembered" {
    local pid status=0 feed
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo pipe
    "$UNSEEN" f.bf pipe -x cat >got 2>said 3>&- &
    pid=$!
    exec {feed}>pipe
    head -n 2500 in >&"$feed"
    filled got
    until [[ -e f.bf.flight-0 ]]; do sleep 0.01; done
    truncate -s 0 f.bf.flight-0
    { tail -n +2501 in >&"$feed"; } 2>/dev/null || true
    exec {feed}>&-
    wait "$pid" || status=$?
    [[ $status -eq 2 ]]
    grep -q 'unseen: .*flight-0: ' said
    exits 1 unseen query -c f.bf in
    exits 0 unseen f.bf in
    same "$out" in
}

@test "the filter is replaced or removed while in use: noticed, exit 75, for every writer" {
    local form
    for form in 'f.bf' 'add f.bf' '--durable f.bf -a got' 'f.bf -x cat'; do
        exits 0 unseen create --force -p 1e-9 f.bf
        notices_change "$UNSEEN" $form
    done
}

# --- names --------------------------------------------------------------------------------------

# every_writer CODE PATTERN NAME: all forms that write to a filter of that name say so, and change nothing.
every_writer() {
    local form
    for form in "$3 in" "add $3 in" "--durable $3 in -a got" "commit $3 keys" "$3 in -x cat" \
        "--create $3 in" "create $3" "--pending keys2 $3 in"; do
        fails_with "$1" "$2" unseen $form || { echo "form: $form"; return 1; }
    done
}

@test "a directory, a FIFO, a device, a socket's place, a dangling link, a missing directory: each a message and exit 2" {
    seq 5 >in
    exits 0 unseen create -p 1e-9 g.bf
    exits 0 unseen --pending keys g.bf in
    mkdir d.bf
    every_writer 2 '^unseen: d\.bf: Is a directory$' d.bf
    mkfifo p.bf
    every_writer 2 '^unseen: p\.bf: is not a regular file' p.bf
    every_writer 2 '^unseen: /dev/null: is not a regular file' /dev/null
    every_writer 2 '^unseen: nodir/f\.bf: No such file or directory \(there is no directory nodir\)$' nodir/f.bf
    every_writer 2 '^unseen: in/f\.bf: (cannot be created: )?Not a directory' in/f.bf
    ln -s nowhere.bf l.bf
    every_writer 2 '^unseen: l\.bf: (No such file or directory|is a symbolic link to a file that does not exist)' l.bf
    ln -s loop.bf loop.bf
    every_writer 2 '^unseen: loop\.bf: (Too many levels of symbolic links|Symbolic link loop)' loop.bf
}

@test "no permission, and a read-only file: each form that writes says so" {
    local form
    public_directory
    seq 5 >in
    "$UNSEEN" create -p 1e-9 f.bf
    "$UNSEEN" --pending keys f.bf in >"$out"
    chmod 444 f.bf
    for form in 'f.bf in' 'add f.bf in' 'commit f.bf keys' 'f.bf in -x cat'; do
        fails_with 2 '^unseen: f\.bf: cannot be opened for writing: Permission denied' as_nobody "$public/unseen" $form
    done
    fails_with 2 '^unseen: new\.bf: .*Permission denied' as_nobody "$public/unseen" --create new.bf in
    chmod 000 f.bf
    fails_with 2 '^unseen: f\.bf: Permission denied' as_nobody "$public/unseen" query f.bf in
    mkdir -m 777 open
    fails_with 2 '^unseen: f\.bf: Permission denied' as_nobody "$public/unseen" --pending open/keys f.bf in
}

# --- creation and growth, cut short ------------------------------------------------------------------

@test "a new layer that cannot be mapped for a while: exit 75, and the lines come again" {
    need_strace
    local n
    input 400 >in
    exits 0 unseen create -n 100 -p 1e-9 full.bf
    cp full.bf f.bf
    strace -qq -o trace -e trace=mmap,ftruncate "$UNSEEN" f.bf in >/dev/null 2>said
    n=$(($(sed '/ftruncate/,$d' trace | grep -c mmap) + 1))
    cp full.bf f.bf
    exits 75 strace -qq -o trace -e trace=mmap -e inject=mmap:error=EAGAIN:when=$n+ "$UNSEEN" f.bf in
    grep -q 'f\.bf: cannot be mapped: Resource temporarily unavailable' "$err" || complain
    cp "$out" first
    exits 0 unseen f.bf in
    cat first "$out" | same /dev/stdin in
}

@test "kill -9 at any system call of growth: the file is good, nothing is lost" {
    need_strace
    local call n runs=0
    input 400 >in
    for call in ftruncate fallocate fsync msync mmap; do
        for ((n = 1; n < 40; n++)); do
            exits 0 unseen create --force -n 100 -p 1e-9 f.bf
            code=0
            strace -qq -o trace -e trace="$call" -e inject="$call:signal=KILL:when=$n" "$UNSEEN" f.bf in >part 2>said || code=$?
            grep -q 'killed by SIGKILL' trace || break
            runs=$((runs + 1))
            verify_usable
            exits 0 unseen f.bf in
            none_lost in part "$out"
            verify_usable
        done
    done
    echo "$runs kills"
    [[ $runs -gt 10 ]]
}

# What NFS says of it, among others: a link gives the name there.
@test "where a rename cannot keep what is there, a link gives a new file its name; where that fails, nothing is left" {
    need_strace
    local error pid child status=0
    for error in EINVAL ENOSYS; do
        rm -f f.bf keys
        exits 0 strace -f -qq -o trace -e trace=renameat2 -e inject=renameat2:error=$error "$UNSEEN" create f.bf
        grep -q INJECTED trace
        exits 0 strace -f -qq -o trace -e trace=renameat2 -e inject=renameat2:error=$error \
            "$UNSEEN" --pending keys f.bf <<<one
        exits 0 unseen commit f.bf keys
        exits 1 unseen query -v f.bf <<<one
        [[ $(ls -A) == "$(printf '%s\n' f.bf keys trace)" ]]
    done
    rm f.bf
    exits 2 strace -f -qq -o trace -e trace=renameat2,?link,linkat -e inject=renameat2:error=EINVAL \
        -e inject=?link,linkat:error=EPERM "$UNSEEN" create f.bf
    says '^unseen: f\.bf: cannot be created: Operation not permitted$'
    [[ $(ls -A) == "$(printf '%s\n' keys trace)" ]]
    # Somebody else's file has the name by then.
    strace -qq -o trace -e trace=fsync,renameat2 -e inject=fsync:signal=STOP:when=1 \
        -e inject=renameat2:error=EINVAL "$UNSEEN" create f.bf 2>said 3>&- &
    pid=$!
    is_stopped
    echo mine >f.bf
    kill -CONT "$child"
    wait "$pid" || status=$?
    [[ $status -eq 2 ]]
    cmp f.bf - <<<mine
    grep -q '^unseen: f\.bf: File exists' said
    [[ $(ls -A) == "$(printf '%s\n' f.bf keys said trace)" ]]
}

@test "kill -9 at any system call of creation: the whole filter or none" {
    need_strace
    local call n runs=0
    for call in openat fallocate pwrite64 fsync renameat2 close; do
        for ((n = 1; n < 40; n++)); do
            rm -f f.bf* .f.bf*
            strace -qq -o trace -e trace="$call" -e inject="$call:signal=KILL:when=$n" "$UNSEEN" create -p 1e-9 f.bf 2>said || true
            grep -q 'killed by SIGKILL' trace || break
            runs=$((runs + 1))
            [[ ! -e f.bf ]] || succeeds unseen verify f.bf
            [[ -z $(find . -name 'f.bf?*') ]]
            exits 0 unseen --create -p 1e-9 f.bf <<<one
            prints 'one\n'
        done
    done
    echo "$runs kills"
    [[ $runs -gt 5 ]]
}
