#!/usr/bin/env bats
# What fails around the program: system calls, disks, mapped files, names. Always a
# message and exit 2, never a signal, never exit 0 with loss.

load helper
load crash
load sweep
load disk

# --- each system call, failed once -----------------------------------------------------
# Here with one errno a call; tests/torture/run has them all, longer runs, and more forms (calls.bats).

# sweep FORM...
sweep() {
    need_strace
    sweep_start "$(rounds 40 300)"
    sweep_all "$(rounds 1 9)" "$@"
}

# bats test_tags=torture
@test "the Nth of each system call fails: the filter form" { sweep filter; }
# bats test_tags=torture
@test "the Nth of each system call fails: -x" { sweep exec; }
# bats test_tags=torture
@test "the Nth of each system call fails: --pending, commit" { sweep pending commit; }
# bats test_tags=torture
@test "the Nth of each system call fails: remove" { sweep remove; }
# bats test_tags=torture
@test "the Nth of each system call fails: create, and --durable" { sweep create durable; }
# bats test_tags=torture
@test "the Nth of each system call fails: the first push" { sweep queue; }
# bats test_tags=torture
@test "the Nth of each system call fails: pop -x of a CMD that fails" { sweep popfailexec; }

# --- full disks ----------------------------------------------------------------------------

@test "a full disk, with -x, --durable, --pending, add and create: exit 2, what was printed is in, the rest comes" { full_filters tmpfs 8; }
@test "a full disk, of merge: exit 2, nothing is changed" { full_merges tmpfs 8; }
@test "a full disk, of push and pop: what does not fit is not remembered, and all comes out once" { full_queues tmpfs 8; }

@test "a filter with holes on a full disk: SIGBUS is caught, the file is named, exit 2" {
    need_disk_of tmpfs 2
    local form
    input 2000 >in
    exits 0 unseen create -n 100k -p 1e-9 sparse.bf
    for form in 'f.bf ../in' 'add f.bf ../in' 'f.bf ../in -x cat'; do
        capture on tmpfs 2 sh -c '
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

# --- the file under the map --------------------------------------------------------------------

@test "the filter is cut off while in use, at every place: SIGBUS message or exit 2, no signal" {
    local length form
    exits 0 unseen --create -n 1000 -p 1e-9 f.bf < <(seq 900)
    cp f.bf whole.bf
    for form in 'f.bf' '--durable f.bf -a got' 'f.bf -x cat' '--tag f.bf' 'query --tag f.bf'; do
        for length in 0 4096 16384; do
            cp whole.bf f.bf
            : >got
            fed 'seq 901 905' "truncate -s $length f.bf" 'seq 906 1500' "$UNSEEN" $form
            [[ $code -eq 2 ]] || complain "$form cut to $length"
            grep -q '^unseen: f\.bf: ' "$err" || complain "$form cut to $length"
        done
    done
}

@test "the file of keys in flight is cut off: exit 2, no signal, nothing remembered" {
    local pid feed
    input 3000 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo pipe
    "$UNSEEN" f.bf pipe -x cat >got 2>said 3>&- &
    pid=$!
    exec {feed}>pipe
    head -n 2500 in >&"$feed"
    filled got
    until [[ -e f.bf.flight-0 ]]; do sleep 0.01; done
    asleep "$pid"
    truncate -s 0 f.bf.flight-0
    { tail -n +2501 in >&"$feed"; } 2>/dev/null || true
    exec {feed}>&-
    ended 2 "$pid"
    grep -q 'unseen: .*flight-0: ' said
    exits 1 unseen query -c f.bf in
    exits 0 unseen f.bf in
    same "$out" in
}

@test "no room for as many lines in flight as are expected: the blocks go back, and it grows by less" {
    need_strace
    input 40000 >in
    exits 0 unseen create -n 40000 f.bf
    exits 0 strace -qq -o trace -e trace=fallocate,ftruncate -e inject=fallocate:error=ENOSPC:when=1 "$UNSEEN" f.bf in -x cat
    same "$out" in
    sed -n 's/(.*//; 1,3p' trace | diff - <(printf '%s\n' fallocate ftruncate fallocate)
}

@test "the filter is replaced or removed while in use: noticed, exit 75" {
    local form
    for form in 'f.bf' '--tag f.bf' 'query --tag f.bf' 'add f.bf' '--durable f.bf -a got' 'f.bf -x cat' 'remove f.bf'; do
        exits 0 unseen create --force --counting -p 1e-9 f.bf
        exits 0 unseen add f.bf <<<one
        notices_change "$UNSEEN" $form
    done
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
    sweep_start 400
    killed_at_each filter ftruncate fallocate fsync msync mmap
}

@test "growth flushes what it has allocated before the layer is announced, the record before the count" {
    need_strace
    input 400 >in
    exits 0 unseen create -n 100 -p 1e-9 f.bf
    strace -qq -o trace -e trace=ftruncate,fallocate,fsync,msync "$UNSEEN" f.bf in >/dev/null
    sed '/^ftruncate/,$!d; s/(.*//' trace | head -n 5 | diff - <(printf '%s\n' ftruncate fallocate fsync msync msync)
}

# What NFS says of it, among others: a link gives the name there.
@test "where a rename cannot keep what is there, a link gives a new file its name; where that fails, nothing is left" {
    need_strace
    local error pid child
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
    ended 2 "$pid"
    cmp f.bf - <<<mine
    grep -q '^unseen: f\.bf: exists, and is not a filter' said
    [[ $(ls -A) == "$(printf '%s\n' f.bf keys said trace)" ]]
}

@test "kill -9 at any system call of creation: the whole filter or none" {
    need_strace
    sweep_start 10
    after_kill() { [[ ! -e f.bf ]] || succeeds unseen verify f.bf && [[ -z $(find . -name 'f.bf?*') ]]; }
    in_the_end() { [[ -z $(find . -name '.f.bf*') ]]; }
    killed_at_each create openat fcntl fallocate pwrite64 fsync renameat2 close
}

@test "what a killed create or merge leaves, the next one of that name removes; and nothing of others, or of who lives" {
    need_strace
    local n=0 long form call
    long=$(printf 'n%.0s' {1..250})
    creates -n 100 part.bf
    here() { find . -mindepth 1 -printf '%f\n' | sort; }
    here >before
    # stays NAME TEXT
    stays() { printf '%b' "$2" >"$1" && echo "$1" >>before; }
    stays .f.bf.unseen-1a2b3c 'my own lines\n'
    stays .f.bf.AbC123 '\x89unseen\n'
    stays .f.bf.unseen-1A2b3c '\x89unseen\n'
    stays .f.bf.unseen-1a2b3c~ '\x89unseen\n'
    stays .f.bf.unseen-new ''
    stays .g.bf.unseen-1a2b3c '\x89unseen\n'
    ln -s before .f.bf.unseen-aaaaaa && mkfifo .f.bf.unseen-bbbbbb && mkdir .f.bf.unseen-cccccc
    printf '%s\n' .f.bf.unseen-{aaaaaa,bbbbbb,cccccc} trace >>before
    for form in 'create f.bf' 'create --force f.bf' "create $long" 'merge -o f.bf part.bf' '--create f.bf before'; do
        for call in fcntl pwrite64 fallocate fsync; do
            exits 137 strace -qq -o trace -e trace=$call -e inject=$call:signal=KILL "$UNSEEN" $form
            n=$((n + $(here | grep -cvxFf before || true)))
            exits 0 unseen $form
            rm -f f.bf "$long"
            here | same - <(sort before)
        done
    done
    [[ $n -ge 15 ]]
    # Who lives keeps its file: here it finds the name taken in the end, and removes its own.
    stopped_after fallocate 1 '' create f.bf
    creates f.bf
    [[ $(find . -name '.f.bf.unseen-*' -type f -size +7 | wc -l) -eq 1 ]]
    kill -CONT "$child"
    ended 2 "$pid"
    grep -Eq '^unseen: f\.bf: .*exists' said
    rm f.bf late said
    here | same - <(sort before)
}
