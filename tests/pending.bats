#!/usr/bin/env bats
# --pending FILE and commit: the filter is only read, and what was printed is
# remembered later, exactly, as often and in whatever order it is committed.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash

# layers FILE: the bits of the first layer, without what changes beside them.
layer_sum() {
    tail -c +$(($(od -An -v -tu8 -j 4096 -N 8 "$1") + 1)) "$1" | cksum
}

# filter_untouched COMMAND...: COMMAND leaves every byte and time of f.bf alone.
filter_untouched() {
    local before
    before=$(stat -c '%s %i %Y %y %Z %z' f.bf; cksum f.bf)
    "$@" || return 1
    [[ $before == "$(stat -c '%s %i %Y %y %Z %z' f.bf; cksum f.bf)" ]] || complain "f.bf was touched"
}

@test "prints the new lines and only reads the filter" {
    input 30000 >in
    mixed_lines 20000 9000 >mixed
    exits 0 unseen --create -p 1e-9 f.bf < <(head -n 100 in)
    filter_untouched succeeds unseen --pending keys f.bf in
    tail -n +101 in >wanted
    same "$out" wanted
    remembers 100 in
    # again: the same lines, since nothing was remembered
    filter_untouched succeeds unseen --pending keys.again f.bf in
    same "$out" wanted
    # a line comes once in a run, batches apart
    filter_untouched succeeds unseen --pending keys2 f.bf mixed
    lines_unique mixed >wanted
    same "$out" wanted
    [[ -z $(find . -name '*flight*') ]]
}

@test "commit remembers what was printed, and prints nothing" {
    input 30000 >in
    exits 0 unseen create -n 500 -p 1e-9 f.bf
    succeeds unseen --pending keys f.bf in -m 20000
    exits 0 unseen commit f.bf keys
    prints ''
    remembers 20000 in
    exits 0 unseen f.bf in
    tail -n +20001 in | cmp - "$out"
    verify_usable
}

@test "commit twice: the second time changes no bit and counts nothing" {
    input 5000 >in
    exits 0 unseen create -n 10k -p 1e-9 f.bf
    succeeds unseen --pending keys f.bf in
    succeeds unseen commit f.bf keys
    local sum
    sum=$(layer_sum f.bf)
    succeeds unseen stats --json f.bf
    cp "$out" stats
    succeeds unseen commit f.bf keys
    succeeds unseen commit f.bf keys keys keys
    [[ $(layer_sum f.bf) == "$sum" ]]
    succeeds unseen stats --json f.bf
    same "$out" stats
}

@test "two commits of the same lines at once: each line is counted once" {
    need_strace
    local form pid child
    seq 50 >in
    for form in '-n 100' '--counting' '--window 100'; do
        rm -f f.bf a b trace
        # shellcheck disable=SC2086 # several words
        exits 0 unseen create -p 1e-9 $form f.bf
        exits 0 unseen --pending a f.bf in
        exits 0 unseen --pending b f.bf in
        # It has checked all, and is stopped before it reads the keys that it is to settle.
        stopped_after pread64 4 a commit --summary f.bf a
        exits 0 unseen commit f.bf b
        kill -CONT "$child"
        wait "$pid"
        grep -q ': 0 lines remembered' said || complain "$form"
        remembers 50 in
    done
}

@test "commit in any order, together or one by one: the same filter" {
    local sum i
    input 3000 >a
    input 3000 2000 >b
    input 3000 4000 >c
    exits 0 unseen create -n 10k -p 1e-9 f.bf
    for i in a b c; do
        succeeds unseen --pending "keys.$i" f.bf "$i"
        same "$out" "$i"
    done
    cp f.bf empty.bf
    succeeds unseen commit f.bf keys.a keys.b keys.c
    sum=$(layer_sum f.bf)
    succeeds unseen stats --json f.bf
    cp "$out" stats
    local order
    for order in 'c b a' 'b a c' 'a c b b'; do
        cp empty.bf f.bf
        for i in $order; do
            succeeds unseen commit f.bf "keys.$i"
        done
        [[ $(layer_sum f.bf) == "$sum" ]]
        succeeds unseen stats --json f.bf
        same "$out" stats
        remembers 9000 a b c
    done
}

@test "commit to a filter that has grown meanwhile, and one that must grow for it" {
    input 20000 >in
    input 30000 50000 >other
    exits 0 unseen create -n 500 -p 1e-9 f.bf
    succeeds unseen --pending keys f.bf in
    exits 0 unseen add f.bf other
    exits 0 unseen commit f.bf keys
    remembers 50000 in other
    verify_usable
    exits 0 unseen f.bf in other
    prints ''
}

@test "a run without a new line leaves a file that can be committed" {
    seq 5 >in
    exits 0 unseen --create -p 1e-9 f.bf in
    succeeds unseen --pending keys f.bf in
    prints ''
    [[ -s keys ]]
    succeeds unseen commit f.bf keys
    succeeds unseen --pending keys2 f.bf </dev/null
    succeeds unseen commit f.bf keys2
    exits 1 unseen -e --pending keys3 f.bf in
    succeeds unseen commit f.bf keys3
}

@test "to another filter: refused, nothing changed; a copy of the filter is the same one" {
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen create -p 1e-9 other.bf
    cp f.bf copy.bf
    succeeds unseen --pending keys f.bf in
    fails_with 2 '^unseen: keys: belongs to another filter' unseen commit other.bf keys
    fails_with 2 '^unseen: keys: belongs to another filter \(name another file for this one\)$' unseen --pending keys other.bf in
    succeeds unseen commit copy.bf keys
    succeeds unseen query -c copy.bf in
    prints '5\n'
    # the filter made anew is another one
    exits 0 unseen create --force -p 1e-9 f.bf
    fails_with 2 'keys: belongs to another filter' unseen commit f.bf keys
}

@test "all files are looked at before any is committed" {
    seq 5 >in
    seq 6 9 >later
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen create -p 1e-9 other.bf
    succeeds unseen --pending good f.bf in
    succeeds unseen --pending bad other.bf later
    exits 2 unseen commit f.bf good bad
    says 'bad: belongs'
    exits 2 unseen commit f.bf good missing
    says 'missing: No such file'
    exits 2 unseen commit f.bf good in bad
    says_lines 2 'in: is not a file of pending keys' 'bad: belongs'
    remembers 0 in later
    succeeds unseen commit f.bf good
    remembers 5 in later
}

# --- a run that does not end well -----------------------------------------------------

@test "kill -9 at random moments: commit refuses what it left, or it was whole" {
    local i refused=0
    input 20000 >in
    exits 0 unseen create -p 1e-9 f.bf
    for ((i = 0; i < 30; i++)); do
        rm -f keys
        moment $((20000 * line_bytes))
        "$tools/killed" "${moment[@]}" "$UNSEEN" --pending keys f.bf in >got 2>said || true
        [[ -e keys ]] || continue
        capture unseen commit f.bf keys
        if [[ $code -eq 2 ]]; then
            says 'keys: is empty: the run that was to write it did not end well'
            [[ -z $(find . -name 'keys?*') ]]
            refused=$((refused + 1))
            remembers 0 in
        else
            [[ $code -eq 0 ]]
            same got in
            remembers 20000 in
            exits 0 unseen create --force -p 1e-9 f.bf
        fi
    done
    echo "$refused of 30 were refused"
    [[ $refused -ge 10 ]]
}

@test "SIGTERM, SIGINT, SIGHUP: it ends by the signal, and commit refuses what it left" {
    need_signals
    local signal pid feed status
    input 100 >in
    exits 0 unseen create -p 1e-9 f.bf
    for signal in 15 2 1; do
        rm -f pipe
        mkfifo pipe
        : >got
        env --default-signal=HUP,INT,TERM "$UNSEEN" --pending keys f.bf <pipe >got 3>&- &
        pid=$!
        exec {feed}>pipe
        cat in >&"$feed"
        filled got
        kill "-$signal" "$pid"
        status=0
        wait "$pid" || status=$?
        exec {feed}>&-
        [[ $status -eq $((128 + signal)) ]] || { echo "signal $signal: $status"; false; }
        fails_with 2 'keys: is empty: the run that was to write it did not end well' unseen commit f.bf keys
    done
    remembers 0 in
}

@test "an output that fails, an input, no room for the keys: exit 2 or the signal, and commit refuses what it left" {
    need_signals
    local form
    input 50000 >in
    exits 0 unseen create -p 1e-9 f.bf
    # The keys are 800 KB, more than the limit; a pipe knows none.
    limited() { (ulimit -f 600; "$@"); }
    while IFS='|' read -r status form says; do
        capture eval "$form"
        [[ $code -eq $status && $(<"$err") == *"$says"* ]] || complain "$form"
        fails_with 2 'keys: is empty: the run that was to write it did not end well' unseen commit f.bf keys
    done <<'END'
2|unseen --pending keys f.bf in >/dev/full|No space left
141|env --default-signal=PIPE "$UNSEEN" --pending keys f.bf in > >(head -n 1 >/dev/null)|
2|limited unseen --pending keys f.bf in -a part|File too large
2|limited unseen --pending keys f.bf in > >(cat >got)|File too large
2|unseen --pending keys f.bf in missing|missing: No such file
END
    remembers 0 in
    # Whole at last.
    succeeds unseen --pending keys f.bf in
    succeeds unseen commit f.bf keys
    remembers 50000 in
}

@test "commit killed at random moments, run again: all of it is in, and counted once" {
    local kind i
    input 30000 >in
    for kind in '-n 500' '--counting -n 1M'; do
        rm -f f.bf keys
        # shellcheck disable=SC2086 # several words
        exits 0 unseen create -p 1e-9 $kind f.bf
        cp f.bf empty.bf
        exits 0 unseen --pending keys f.bf in
        for ((i = 0; i < $(fewer 20); i++)); do
            cp empty.bf f.bf
            "$tools/killed" 0 $((RANDOM % 8000 + 500)) "$UNSEEN" commit f.bf keys 2>said || true
            verify_usable
            exits 0 unseen commit f.bf keys
            remembers 30000 in
            [[ $kind != --counting* ]] || { exits 0 unseen remove f.bf in && remembers 0 in; }
        done
    done
}

# --- what may stand where the pending file goes -----------------------------------------

@test "only an empty file or an earlier pending file is replaced" {
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    echo 'a precious list' >list
    fails_with 2 '^unseen: list: exists, and is not a file of pending keys \(name a new file\)' \
        unseen --pending list f.bf in
    head -c 7 /dev/zero >short
    fails_with 2 'short: exists' unseen --pending short f.bf in
    fails_with 2 'f\.bf: is the file' unseen --pending f.bf f.bf in
    fails_with 2 'in: (exists|is the file for pending keys)' unseen --pending in f.bf in
    mkdir dir
    fails_with 2 'dir: Is a directory' unseen --pending dir f.bf in
    mkfifo fifo
    fails_with 2 'fifo: is not a regular file' unseen --pending fifo f.bf in
    fails_with 2 '/dev/null: is not a regular file' unseen --pending /dev/null f.bf in
    fails_with 2 '^unseen: nodir/keys: No such file or directory \(there is no directory nodir\)$' unseen --pending nodir/keys f.bf in
    fails_with 2 'unseen: ' unseen --pending '' f.bf in
    fails_with 2 'keys: is the file for pending keys' unseen --pending keys f.bf in -a keys
    : >out
    exits 2 to out unseen --pending out f.bf in
    : >empty
    succeeds unseen --pending empty f.bf in
    exits 0 unseen --pending empty f.bf in
    says 'empty: this task was run before, and prints its 5 lines again'
    succeeds unseen commit f.bf empty
}

@test "no permission for the pending file; a filter that may only be read is enough" {
    public_directory
    seq 5 >in
    "$UNSEEN" create -p 1e-9 f.bf
    chmod 444 f.bf
    : >secret
    chmod 600 secret
    fails_with 2 'secret: Permission denied' as_nobody "$public/unseen" --pending secret f.bf in
    fails_with 2 'f\.bf: cannot be opened for writing: Permission denied \(query, stats and verify only read it\)' \
        as_nobody "$public/unseen" f.bf in
    mkdir mine
    chmod 777 mine
    succeeds as_nobody "$public/unseen" --pending mine/keys f.bf in
    same "$out" in
}

@test "a working directory with one above it that may not be searched: refused, and nothing left" {
    public_directory
    mkdir -p hidden/here
    exits 0 unseen create hidden/here/seen.bf
    chmod 777 hidden/here
    # root, whom the tests may run as, gives the rights up after it has come there
    chmod 700 hidden
    [[ $(id -u) -eq 0 ]] || skip "takes root, who can be in such a directory"
    cd hidden/here
    seq 3 >in
    fails_with 2 'keys: Permission denied' as_nobody "$public/unseen" --pending keys seen.bf in
    [[ ! -e keys ]]
}

@test "a read-only file system for the filter, the pending file elsewhere" {
    need_mounts
    seq 5 >in
    mkdir ro
    "$UNSEEN" create -p 1e-9 ro/f.bf
    exits 0 unshare -m sh -c 'mount --bind ro ro && mount -o remount,bind,ro ro && cd . && exec "$UNSEEN" --pending keys ro/f.bf in'
    same "$out" in
    succeeds unseen commit ro/f.bf keys
    succeeds unseen query -c ro/f.bf in
    prints '5\n'
}

# --- a file that is not what it was ---------------------------------------------------------

@test "every byte of a pending file changed, every length: refused, nothing changed" {
    local i size before
    seq 3 >in
    exits 0 unseen create -n 100 -p 1e-9 f.bf
    succeeds unseen --pending keys f.bf in
    succeeds unseen commit f.bf keys # it was good
    exits 0 unseen create --force -n 100 -p 1e-9 f.bf
    rm keys
    succeeds unseen --pending keys f.bf in
    size=$(bytes_of keys)
    before=$(layer_sum f.bf)
    for ((i = 0; i < size; i++)); do
        cp keys bad
        printf '%b' "\\x$(printf %02x $((16#$(od -An -v -tx1 -j "$i" -N 1 keys | tr -d ' ') ^ 255)))" |
            dd of=bad bs=1 seek="$i" conv=notrunc status=none
        exits 2 unseen commit f.bf bad
        says 'bad: '
        fails_with 2 'bad: ' unseen --pending bad f.bf in
        head -c "$i" keys >bad
        exits 2 unseen commit f.bf bad
        says 'bad: '
        [[ $i -eq 0 ]] || fails_with 2 'bad: ' unseen --pending bad f.bf in
    done
    { cat keys; echo; } >bad
    exits 2 unseen commit f.bf bad
    { cat keys; head -c 16 /dev/zero; } >bad
    exits 2 unseen commit f.bf bad
    head -c 100000 /dev/urandom >bad
    exits 2 unseen commit f.bf bad
    says 'bad: is not a file of pending keys'
    [[ $(layer_sum f.bf) == "$before" ]]
    succeeds unseen commit f.bf keys
    remembers 3 in
}

@test "commit: what it needs and what it refuses" {
    seq 3 >in
    exits 0 unseen create -p 1e-9 f.bf
    succeeds unseen --pending keys f.bf in
    fails_with 2 'FILE is missing' unseen commit f.bf
    fails_with 2 'FILTER' unseen commit
    fails_with 2 'No such file' unseen commit missing.bf keys
    fails_with 2 'keys: is not a filter' unseen commit keys keys
    fails_with 2 "'': an empty name is not a FILTER" unseen commit '' keys
    fails_with 2 '^unseen: -: standard input cannot be a FILTER' unseen commit - keys
    fails_with 2 "^unseen: '': an empty name is not a FILE \\(is a variable empty\\?\\)$" unseen commit f.bf keys ''
    local none='No such file or directory \(a run with --pending FILE makes it\)$'
    local regular='is not a regular file \(name files that runs with --pending have left\)$'
    fails_with 2 "^unseen: missing: $none" unseen commit f.bf keys missing
    fails_with 2 "^unseen: -: $none" unseen commit f.bf - <keys
    ln -s nowhere dangling
    fails_with 2 "^unseen: dangling: $none" unseen commit f.bf dangling
    fails_with 2 'keys/x: Not a directory$' unseen commit f.bf keys/x
    mkdir dir
    fails_with 2 '^unseen: dir: Is a directory \(name files that runs' unseen commit f.bf dir
    mkfifo fifo
    fails_with 2 "^unseen: fifo: $regular" unseen commit f.bf fifo
    fails_with 2 "^unseen: /dev/null: $regular" unseen commit f.bf /dev/null
    fails_with 2 "^unseen: /dev/zero: $regular" unseen commit f.bf /dev/zero
    fails_with 2 "^unseen: /dev/stdin: $regular" unseen commit f.bf /dev/stdin < <(cat keys)
    local filter='is a filter, not a file of pending keys \(to unite filters: unseen merge\)$'
    exits 0 unseen create -p 1e-9 other.bf
    fails_with 2 "^unseen: f\\.bf: $filter" unseen commit f.bf f.bf
    fails_with 2 "^unseen: other\\.bf: $filter" unseen commit f.bf keys other.bf
    exits 0 unseen push --create -p 1e-9 q.bf </dev/null
    fails_with 2 'q\.bf\.queue: Is a directory' unseen commit f.bf q.bf.queue
    fails_with 2 'in: is not a file of pending keys \(to remember the lines of a file: unseen add\)$' unseen commit f.bf in
    : >empty
    fails_with 2 'empty: is empty: the run that was to write it did not end well \(run it again' unseen commit f.bf empty
    remembers 0
    # one file by several names
    ln -s keys link
    ln keys hard
    exits 0 unseen commit --summary f.bf link hard ./keys /dev/stdin <keys
    says ': 3 lines remembered'
    remembers 3
}

@test "commit of another user's file: what may be read, may be committed" {
    public_directory
    seq 3 >in
    "$UNSEEN" create -p 1e-9 f.bf
    chmod 666 f.bf
    "$UNSEEN" --pending keys f.bf in
    chmod 0 keys
    fails_with 2 '^unseen: keys: Permission denied$' as_nobody "$public/unseen" commit f.bf keys
    remembers 0
    chmod 444 keys
    succeeds as_nobody "$public/unseen" commit f.bf keys
    remembers 3
}

@test "--pending: what it needs and what it cannot go with" {
    seq 3 >in
    exits 0 unseen create -p 1e-9 f.bf
    fails_with 2 'FILTER' unseen --pending keys
    fails_with 2 'missing\.bf: No such file' unseen --pending keys missing.bf in
    fails_with 2 'choose one' unseen --pending keys --durable f.bf in -a out.txt
    fails_with 2 '\-\-pending' unseen add --pending keys f.bf in
    fails_with 2 '\-\-pending' unseen query --pending keys f.bf in
}

@test "memory does not grow with the keys, of a first run or a retry: 1 M lines in 12 MB" {
    plain_build "has memory of its own"
    need_signals
    input 1000000 >in
    exits 0 unseen create --fixed -n 1000 -p 1e-9 f.bf
    for run in first retry; do
        exits 0 sh -c 'ulimit -d 12000; exec "$UNSEEN" --pending keys f.bf in'
        same "$out" in || complain "$run"
    done
    holds "$(bytes_of keys) < 64 + 16 * 1000001"
    # A retry without input: what it does is to read FILE, and SIGTERM ends that.
    mkfifo pipe
    exec {hold}<>pipe
    env --default-signal=TERM "$UNSEEN" --pending keys f.bf pipe 3>&- {hold}>&- &
    sleep 0.05
    kill "$!"
    exits 143 wait "$!"
    exec {hold}>&-
}

@test "a file of pending keys is no list of lines" {
    local command
    exits 0 unseen --create f.bf --pending keys < <(seq 9)
    echo a >in
    for command in 'f.bf' 'add f.bf' 'query f.bf' 'shard 4' 'plan'; do
        # shellcheck disable=SC2086 # words
        unchanged fails_with 2 '^unseen: keys: is a file of pending keys, not a list of lines \(to remember its lines: unseen commit FILTER keys\)$' \
            unseen $command in keys
    done
    unchanged fails_with 2 '^unseen: standard input: is a file of pending keys, not a list of lines \(.* FILTER FILE\)$' \
        unseen add f.bf <keys
}
