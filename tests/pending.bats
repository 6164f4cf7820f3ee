#!/usr/bin/env bats
# --pending FILE and commit: the filter is only read, and what was printed is
# remembered later, exactly, as often and in whatever order it is committed.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash

# layer_sum FILE: the bits of the first layer, without what changes beside them.
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

@test "commit remembers what was printed, in a filter that has grown meanwhile and grows for it" {
    input 20000 >in
    input 30000 50000 >other
    exits 0 unseen create -n 500 -p 1e-9 f.bf
    succeeds unseen --pending keys f.bf in -m 15000
    exits 0 unseen add f.bf other
    exits 0 unseen commit f.bf keys
    prints ''
    remembers 45000 in other
    verify_usable
    exits 0 unseen f.bf other in
    tail -n +15001 in | cmp - "$out"
}

@test "commit in any order, together or one by one, once or twice: the same bits, each line counted once" {
    local sum i order
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
    for order in 'c b a' 'b a c' 'a c b b' 'a a b c a'; do
        cp empty.bf f.bf
        for i in $order; do
            succeeds unseen commit f.bf "keys.$i"
        done
        [[ $(layer_sum f.bf) == "$sum" ]]
        counts 7000 || complain "$order"
        remembers 9000 a b c
    done
}

@test "two commits and an add of the same lines at once: each line is counted once" {
    local form i
    input 20000 >in
    for form in '-n 500' --counting '--window 100k'; do
        for i in 1 2 3; do
            rm -f f.bf a b
            # shellcheck disable=SC2086 # several words
            exits 0 unseen create -p 1e-9 $form f.bf
            exits 0 unseen --pending a f.bf in
            exits 0 unseen --pending b f.bf in
            writers 2 sh -c '"$UNSEEN" add f.bf in & a=$!; "$UNSEEN" commit f.bf a && "$UNSEEN" commit f.bf b && wait $a'
            counts 20000 || complain "$form"
            remembers 20000
        done
    done
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

# left_nothing: what a run that did not end well leaves is nothing, or what the next run takes over.
left_nothing() {
    [[ ! -e keys && $(find . -name '*.unseen-new') == "${1-}" ]] || complain "$(ls -A)" || return 1
    fails_with 2 '^unseen: keys: No such file or directory \(a run with --pending FILE makes it, if it ends well\)$' \
        unseen commit f.bf keys && remembers 0
}

@test "kill -9 at random moments: there is no FILE, or it is whole" {
    local i none=0
    input 20000 >in
    exits 0 unseen create -p 1e-9 f.bf
    for ((i = 0; i < 30; i++)); do
        moment $((20000 * line_bytes))
        "$tools/killed" "${moment[@]}" "$UNSEEN" --pending keys f.bf in >got 2>said || true
        if [[ -e keys ]]; then
            exits 0 unseen commit f.bf keys
            same got in
            remembers 20000
            rm keys
            exits 0 unseen create --force -p 1e-9 f.bf
        elif [[ -e .keys.unseen-new ]]; then
            left_nothing ./.keys.unseen-new
            none=$((none + 1))
        fi
    done
    echo "$none of 30 left none"
    [[ $none -ge 10 ]]
    succeeds unseen --pending keys f.bf in
    same "$out" in
    [[ $(echo .keys*) == '.keys*' ]]
}

@test "a signal, an output that fails, an input, no room for the keys: exit 2 or the signal, and nothing is left" {
    need_signals
    local status says form
    input 50000 >in
    exits 0 unseen create -p 1e-9 f.bf
    # The keys are 800 KB, more than the limit; a pipe knows none.
    limited() { (ulimit -f 600; "$@"); }
    signalled() {
        mkfifo pipe
        { head -n 100 in; filled got; kill -s "$1" "$(cat pid)"; } >pipe 3>&- &
        sh -c 'echo $$ >pid; exec env --default-signal="$1" "$UNSEEN" --pending keys f.bf pipe >got' sh "$1" || status_of=$?
        rm pipe
        : >got
        return "$status_of"
    }
    while IFS='|' read -r status says form; do
        capture eval "$form"
        [[ $code -eq $status && $(<"$err") == *"$says"* ]] || complain "$form"
        left_nothing
    done <<'END'
143||signalled TERM
130||signalled INT
129||signalled HUP
2|No space left|unseen --pending keys f.bf in >/dev/full
141||env --default-signal=PIPE "$UNSEEN" --pending keys f.bf in > >(head -n 1 >/dev/null)
2|File too large|limited unseen --pending keys f.bf in -a part
2|File too large|limited unseen --pending keys f.bf in > >(cat >got)
2|missing: No such file|unseen --pending keys f.bf in missing
END
}

@test "beside a -x that lives: none of its lines comes a second time; once it is dead, all do" {
    local n
    for n in 10 30000; do
        rm -f f.bf* go read
        mkfifo go
        input "$n" >in
        exits 0 unseen create -p 1e-9 f.bf
        "$UNSEEN" f.bf in -x sh -c 'cat >got; echo all >read; read -r _ <go' 3>&- &
        pid=$!
        filled read
        exits 0 unseen --pending keys f.bf in <(echo new)
        prints 'new\n'
        kill -9 "$pid"
        wait "$pid" || true
        echo >go
        exits 0 unseen --pending others f.bf in
        same "$out" in
        rm keys others
    done
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

@test "what may stand where FILE goes: nothing, or a file of pending keys" {
    local says name
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    echo 'a precious list' >list
    head -c 7 /dev/zero >short
    : >empty
    mkdir dir
    mkfifo fifo
    while IFS='|' read -r says name; do
        fails_with 2 "^unseen: $says" unseen --pending "$name" f.bf in || complain "$name"
    done <<'END'
list: exists, and is not a file of pending keys \(name a new file\)$|list
short: exists, and is not|short
empty: exists, and is not|empty
f\.bf: is both FILTER and --pending|f.bf
in: is both --pending and input|in
dir: Is a directory|dir
fifo: is not a regular file|fifo
/dev/null: is not a regular file|/dev/null
nodir/keys: No such file or directory \(there is no directory nodir\)$|nodir/keys
|
END
    fails_with 2 'keys: is both -a and --pending' unseen --pending keys f.bf in -a keys
    fails_with 2 'missing\.bf: No such file' unseen --pending keys missing.bf in
    : >out
    exits 2 to out unseen --pending out f.bf in
}

@test "no permission for the pending file; a filter that may only be read is enough" {
    public_directory
    seq 5 >in
    "$UNSEEN" create -p 1e-9 f.bf
    chmod 444 f.bf
    fails_with 2 'keys: Permission denied \(nothing can be written to the directory' as_nobody "$public/unseen" --pending keys f.bf in
    fails_with 2 'f\.bf: cannot be opened for writing: Permission denied \(query, stats and verify only read it\)' \
        as_nobody "$public/unseen" f.bf in
    mkdir mine
    chmod 777 mine
    : >mine/secret
    chmod 600 mine/secret
    fails_with 2 'secret: Permission denied' as_nobody "$public/unseen" --pending mine/secret f.bf in
    succeeds as_nobody "$public/unseen" --pending mine/keys f.bf in
    same "$out" in
    # of another user's file: what may be read, may be committed
    chmod 666 f.bf
    cp mine/keys keys
    chmod 0 keys
    fails_with 2 '^unseen: keys: Permission denied ' as_nobody "$public/unseen" commit f.bf keys
    remembers 0
    chmod 444 keys
    succeeds as_nobody "$public/unseen" commit f.bf keys
    remembers 5
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

@test "every byte of a pending file that means something changed, every length: refused, nothing changed" {
    local i size
    bad_is_refused() {
        fails_with 2 'bad: ' unseen commit f.bf bad && fails_with 2 'bad: ' unseen --pending bad f.bf in
    }
    seq 3 >in
    exits 0 unseen create -n 100 -p 1e-9 f.bf
    succeeds unseen --pending keys f.bf in
    size=$(bytes_of keys)
    for i in {0..55} $(seq 4096 $((size - 1))); do
        cp keys bad
        printf '%b' "\\x$(printf %02x $((16#$(od -An -v -tx1 -j "$i" -N 1 keys | tr -d ' ') ^ 255)))" |
            dd of=bad bs=1 seek="$i" conv=notrunc status=none
        bad_is_refused
        head -c "$i" keys >bad
        bad_is_refused
    done
    { cat keys; echo; } >bad
    bad_is_refused
    { cat keys; head -c 16 /dev/zero; } >bad
    bad_is_refused
    head -c 100000 /dev/urandom >bad
    fails_with 2 'bad: is not a file of pending keys' unseen commit f.bf bad
    remembers 0
    succeeds unseen commit f.bf keys
    remembers 3
}

@test "commit: what it needs and what it refuses" {
    local says operands
    seq 3 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen create -p 1e-9 other.bf
    exits 0 unseen push --create -p 1e-9 q.bf </dev/null
    succeeds unseen --pending keys f.bf in
    ln -s nowhere dangling
    mkdir dir
    mkfifo fifo
    : >empty
    while IFS='|' read -r says operands; do
        fails_with 2 "$says" eval "unseen commit $operands" || complain "$operands"
    done <<'END'
FILE is missing|f.bf
FILTER|
No such file|missing.bf keys
keys: is not a filter|keys keys
'': an empty name is not a FILTER|'' keys
^unseen: -: standard input cannot be a FILTER|- keys
^unseen: '': an empty name is not a FILE \(is a variable empty\?\)$|f.bf keys ''
^unseen: missing: No such file or directory \(a run with --pending FILE makes it, if it ends well\)$|f.bf keys missing
^unseen: -: No such file or directory \(a run|f.bf - <keys
^unseen: dangling: No such file or directory \(a run|f.bf dangling
keys/x: Not a directory|f.bf keys/x
^unseen: dir: Is a directory \(name files that runs with --pending have left\)$|f.bf dir
^unseen: fifo: is not a regular file \(name files that runs with --pending have left\)$|f.bf fifo
^unseen: /dev/null: is not a regular file|f.bf /dev/null
^unseen: /dev/stdin: is not a regular file|f.bf /dev/stdin < <(cat keys)
^unseen: f\.bf: is a filter, not a file of pending keys \(to unite filters: unseen merge\)$|f.bf f.bf
^unseen: other\.bf: is a filter|f.bf keys other.bf
q\.bf\.queue: Is a directory|f.bf q.bf.queue
^unseen: in: is not a file of pending keys \(to remember the lines of a file: unseen add\)$|f.bf in
^unseen: empty: is not a file of pending keys|f.bf empty
END
    remembers 0
    # one file by several names
    ln -s keys link
    ln keys hard
    exits 0 unseen commit --summary f.bf link hard ./keys /dev/stdin <keys
    says ': 3 new lines'
    remembers 3
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
    holds "$(bytes_of keys) == 4096 + 16 * 1000000"
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
