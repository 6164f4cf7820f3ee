#!/usr/bin/env bats
# --pending FILE and commit: the filter is only read, and what was printed is
# remembered later, exactly, as often and in whatever order it is committed.

load helper
load crash

@test "prints the new lines, also a second time, each once, and only reads the filter" {
    local before
    input 30000 >in
    mixed_lines 20000 9000 >mixed
    exits 0 unseen --create -p 1e-9 f.bf < <(head -n 100 in)
    before=$(stat -c '%s %i %Y %y %Z %z' f.bf; cksum f.bf)
    succeeds unseen --pending keys f.bf in
    tail -n +101 in >wanted
    same "$out" wanted
    remembers 100 in
    succeeds unseen --pending keys.again f.bf in
    same "$out" wanted
    succeeds unseen --pending keys2 f.bf mixed
    lines_unique mixed >wanted
    same "$out" wanted
    # None is new: that, too, can be committed.
    exits 1 unseen -e --pending none f.bf < <(head -n 50 in)
    [[ $before == "$(stat -c '%s %i %Y %y %Z %z' f.bf; cksum f.bf)" ]]
    succeeds unseen commit f.bf none
    remembers 100 in
    no_debris
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
    sum=$(layer f.bf | cksum)
    for order in 'c b a' 'b a c' 'a c b b' 'a a b c a'; do
        cp empty.bf f.bf
        for i in $order; do
            succeeds unseen commit f.bf "keys.$i"
        done
        [[ $(layer f.bf | cksum) == "$sum" ]]
        counts 7000 || complain "$order"
        remembers 9000 a b c
    done
}

@test "to another filter: refused, nothing changed; a copy of the filter is the same one" {
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen create -p 1e-9 other.bf
    cp f.bf copy.bf
    succeeds unseen --pending keys f.bf in
    fails_with 2 '^unseen: keys: belongs to another filter' unseen commit other.bf keys
    fails_with 2 '^unseen: keys: belongs to another filter \(name another file for this filter\)$' unseen --pending keys other.bf in
    succeeds unseen commit copy.bf keys
    succeeds unseen query -c copy.bf in
    prints '5\n'
    # the filter made anew is another one
    exits 0 unseen create --force -p 1e-9 f.bf
    fails_with 2 'keys: belongs to another filter' unseen commit f.bf keys
}

# day N: the recipe of `unseen help commit`, with ./list; ./new is exactly N.
day() {
    exits 0 bash -c "unseen() { '$UNSEEN' \"\$@\"; }; FILTER=f.bf; $(unseen help commit | sed -nE 's/^  (unseen .*[^ ])  +.*/\1/p' | sed 's/FILTER/$&/')"
    printf '%b' "$1" | same new /dev/stdin
}

@test "the recipe of help commit holds for another list every day; where keys was left, a run says what to do" {
    local way
    exits 0 unseen create -p 1e-9 f.bf
    seq 2 >list
    day '1\n2\n'
    silent_on_stderr
    seq 2 4 >list
    day '3\n4\n'
    silent_on_stderr
    # Left by who was killed before rm, committed or not.
    for way in '' 'unseen commit f.bf keys'; do
        rm -f f.bf keys
        exits 0 unseen create -p 1e-9 f.bf
        exits 0 unseen --pending keys f.bf <(seq 5)
        $way
        seq 4 8 >list
        exits 2 unseen --pending keys f.bf list
        says_lines 2 'printing its 5 lines again \(for another input, once the output of that run is safe: unseen commit f.bf keys && rm keys\)$' \
            '3 of its lines are missing .*unseen commit f.bf keys && rm keys, and run this again\)$'
        unseen commit f.bf keys && rm keys
        day '6\n7\n8\n'
        exits 1 unseen query -v f.bf <(seq 8)
    done
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

# left_nothing: so does a run that did not end well.
left_nothing() {
    [[ -z $(find . -name '*keys*') ]] || complain "$(ls -A)" || return 1
    fails_with 2 '^unseen: keys: No such file or directory \(a run with --pending FILE makes it when it succeeds\)$' \
        unseen commit f.bf keys && remembers 0
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
2|File too large|limited unseen --pending keys f.bf in > >(cat >/dev/null)
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

# bats test_tags=torture
@test "commit killed at random moments, run again: all of it is in, and counted once" {
    local kind i kills hits=0
    kills=$(rounds 6 200)
    input 30000 >in
    for kind in '-n 500' '--counting -n 1M'; do
        rm -f f.bf keys
        exits 0 unseen create -p 1e-9 $kind f.bf
        cp f.bf empty.bf
        exits 0 unseen --pending keys f.bf in
        for ((i = 0; i < kills; i++)); do
            cp empty.bf f.bf
            "$tools/killed" 0 $((RANDOM % 8000 + 500)) "$UNSEEN" commit f.bf keys 2>said || hits=$((hits + 1))
            verify_usable
            exits 0 unseen commit f.bf keys
            remembers 30000 in
            [[ $kind != --counting* ]] || { exits 0 unseen remove f.bf in && remembers 0 in; }
        done
    done
    [[ $hits -gt 0 ]]
}

# --- what may stand where the pending file goes -----------------------------------------

@test "no permission for the pending file; a filter that may only be read is enough" {
    public_directory
    seq 5 >in
    "$UNSEEN" create -p 1e-9 f.bf
    chmod 444 f.bf
    fails_with 2 'keys: Permission denied \(no files can be created in the directory' as_nobody "$public/unseen" --pending keys f.bf in
    fails_with 2 'f\.bf: cannot be opened for writing: Permission denied \(query, stats and verify need only read access\)' \
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

# --- a file that is not what it was ---------------------------------------------------------

# refused NAME: it is no file to commit, nor one to be replaced.
refused() {
    local command status
    for command in "commit f.bf $1" "--pending $1 f.bf in"; do
        status=0
        "$UNSEEN" $command >"$out" 2>"$err" || status=$?
        [[ $status -eq 2 && ! -s $out && $(<"$err") == "unseen: $1: "* ]] || complain "$command: $status" || return 1
    done
}

# each_byte_counts: of ./keys every byte that means something is changed, and every length is tried.
each_byte_counts() {
    local i size bytes
    size=$(bytes_of keys)
    mapfile -t bytes < <(od -An -v -tu1 -w1 keys)
    for i in {0..55} $(seq 4096 $((size - 1))); do
        cp keys bad
        printf '%b' "\\x$(printf %02x $((bytes[i] ^ 255)))" | dd of=bad bs=1 seek="$i" conv=notrunc status=none
        refused bad || return 1
        head -c "$i" keys >bad
        refused bad || return 1
    done
}

@test "every byte of a pending file that means something changed, every length: refused, nothing changed" {
    local before
    seq 2 >in
    exits 0 unseen create -n 100 -p 1e-9 f.bf
    succeeds unseen --pending keys f.bf in
    before=$(cksum f.bf)
    each_byte_counts
    { cat keys; echo; } >bad
    refused bad
    { cat keys; head -c 16 /dev/zero; } >bad
    refused bad
    head -c 100000 /dev/urandom >bad
    refused bad
    [[ $(cksum f.bf) == "$before" ]]
    succeeds unseen commit f.bf keys
    remembers 2
}

@test "commit: what comes as no file of its own is refused; one by several names counts once" {
    local said operands
    seq 3 >in
    exits 0 unseen create -p 1e-9 f.bf
    fails_with 2 'keys: used for both -a and --pending' unseen --pending keys f.bf in -a keys
    succeeds unseen --pending keys f.bf in
    mkfifo fifo
    while IFS='|' read -r said operands; do
        fails_with 2 "^unseen: $said" eval "unseen commit f.bf $operands" || complain "$operands"
    done <<'END'
-: No such file or directory|- <keys
fifo: is not a regular file|fifo
/dev/stdin: is not a regular file|/dev/stdin < <(cat keys)
END
    remembers 0
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
    asleep "$!"
    kill "$!"
    exits 143 wait "$!"
    exec {hold}>&-
}
