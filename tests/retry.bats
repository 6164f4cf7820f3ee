#!/usr/bin/env bats
# Tasks that are run again: --pending with a file that is there, of a run that ended well or did
# not, or of one that is under way.

load helper
load crash
load sweep
load retry

retried="this task was run before; printing its"

# again OPTION...: the task once more: the same bytes as `wanted`, the same keys, one line said.
again() {
    cp keys keys.before
    exits 0 unseen --pending keys "$@" f.bf in || return 1
    grep -q "^unseen: keys: $retried $(wc -l <wanted) lines again " "$err" || return 1
    same "$out" wanted && cmp keys keys.before
}

# --- what a retry prints -----------------------------------------------------------------

@test "a retry prints what the run before it did, whatever was committed meanwhile, at p = 0.5" {
    with_stages
    local form
    mixed_lines 20000 9000 >in
    head -n 3000 in >before
    tail -n 4000 in >other
    for form in '-p 1e-9' '-p 0.5 -n 2000' '-p 0.5 -n 5000 --fixed' '-p 0.5 -n 3000 --counting' \
        '-p 0.5 -n 300k' '-p 0.5 --window 100k'; do
        rm -f f.bf keys*
        capture unseen --create $form f.bf before
        exits 0 unseen --pending keys f.bf in
        cp "$out" wanted
        holds "$(wc -l <wanted) > 1000"
        again || complain "$form"
        # part of it, then all of it, then other lines, too
        code=0
        "$tools/killed" 0 2000 "$UNSEEN" commit f.bf keys 2>said || code=$?
        again || complain "$form, part of it is committed"
        capture unseen commit f.bf keys
        again || complain "$form, committed"
        capture unseen f.bf other
        again -j 2 || complain "$form, and more"
        exits 0 unseen commit --summary f.bf keys
        grep -q ': 0 new lines' "$err" || complain "$form"
        [[ $form != *--counting ]] || exits 0 unseen remove f.bf wanted
    done
}

@test "what is in neither is new; what others have remembered meanwhile is not" {
    seq 10 >in
    exits 0 unseen --create -p 1e-9 --pending keys f.bf < <(seq 5)
    exits 0 unseen f.bf < <(seq 4 7)
    exits 0 unseen --pending keys f.bf in in
    prints '1\n2\n3\n4\n5\n8\n9\n10\n'
    # and that is what FILE has now
    exits 0 unseen commit --summary f.bf keys
    says ': 6 new lines'
    remembers 10
}

@test "with -m, -a, --header, --dropped and a recipe: the same lines, and with a larger -m the same and more" {
    { echo id,name; seq -f '%.0f,x' 20; seq -f '%.0f,y' 5 25; } >in
    exits 0 unseen create -p 1e-9 -f 1 -t , f.bf
    exits 0 unseen f.bf < <(echo 3,)
    exits 0 unseen --pending keys f.bf in -m 12 --header
    cp "$out" wanted
    [[ $(wc -l <wanted) -eq 13 ]]
    exits 0 unseen commit f.bf keys
    exits 0 unseen --pending keys f.bf in -m 12 --header --dropped dropped -a got
    same got wanted
    same dropped <(echo id,name; echo 3,x)
    exits 0 unseen --pending keys f.bf in -m 20 --header
    { cat wanted; sed -n '15,21p' in; echo 21,y; } | same "$out" /dev/stdin
}

@test "less input than before: exit 2, and FILE stays, so that the whole input is right again" {
    seq 100 >in
    cp in wanted
    exits 0 unseen --create -p 1e-9 --pending keys f.bf in
    exits 0 unseen commit f.bf keys
    cp keys before
    exits 2 unseen --pending keys f.bf < <(seq 60)
    says_lines 2 'printing its 100 lines again' 'keys: 40 of its lines are missing from the input, so the file is unchanged'
    exits 2 unseen --pending keys f.bf in -m 99
    says_lines 2 'printing its 100 lines again' 'keys: 1 of its lines is missing from the input, '
    cmp keys before
    again
    # The other way round nothing is said: the first run could not know.
    rm f.bf keys
    exits 0 unseen --create -p 1e-9 --pending keys f.bf < <(seq 60)
    exits 0 unseen commit f.bf keys
    exits 0 unseen --pending keys f.bf in
    same "$out" in
}

@test "a filter that is merged with others under its own name: a commit before and one after count each line once" {
    local who
    seq 50 >in
    for who in 'commit f.bf keys' 'add g.bf in'; do
        rm -f ./*.bf keys
        exits 0 unseen create --counting -n 1000 -p 1e-9 f.bf
        exits 0 unseen create --like f.bf g.bf
        exits 0 unseen --pending keys f.bf in
        exits 0 unseen $who
        exits 0 unseen merge --force -o f.bf f.bf g.bf
        exits 0 unseen commit --summary f.bf keys
        says ': 0 new lines' || complain "$who"
        exits 0 unseen remove f.bf in
        remembers 0
    done
}

@test "a retry that fails leaves FILE as it was, and nothing beside it" {
    need_full
    input 5000 >in
    cp in wanted
    exits 0 unseen --create -p 1e-9 --pending keys f.bf in
    cp keys before
    exits 2 to /dev/full unseen --pending keys f.bf in
    exits 2 unseen --pending keys f.bf in missing
    # It cannot come to its end before it is killed: its input stays open.
    mkfifo pipe
    exec {hold}<>pipe
    cat in >pipe 3>&- {hold}>&- &
    exits 137 "$tools/killed" 1 0 "$UNSEEN" --pending keys f.bf pipe
    exec {hold}>&-
    cmp keys before
    rm before pipe
    [[ $(echo *) == 'f.bf in keys wanted' ]]
    again
}

# --- FILTER is made ----------------------------------------------------------------------

@test "--pending makes FILTER if it is asked to, and only reads it from then on" {
    local options sum
    seq 5 >in
    for options in '' '-n 1000 -p 1e-9' --counting '--window 100' '-f 1'; do
        rm -f f.bf keys
        exits 0 unseen --create $options --pending keys f.bf in
        says '^unseen: f\.bf: created \(' || complain "$options"
        prints '1\n2\n3\n4\n5\n'
        remembers 0
        sum=$(stat -c '%i %Y %y %z' f.bf; cksum f.bf)
        succeeds unseen $options --pending more f.bf < <(seq 9)
        [[ $sum == "$(stat -c '%i %Y %y %z' f.bf; cksum f.bf)" ]]
        rm more
        exits 0 unseen commit f.bf keys
        remembers 5
    done
    fails_with 2 'nodir/keys: No such file' unseen --create --pending nodir/keys new.bf in
    fails_with 2 'nodir/out: ' unseen --create --pending keys2 new.bf in -a nodir/out
}

# --- who has FILE ------------------------------------------------------------------------

@test "two runs on one FILE: the second fails at once, exit 75, and touches nothing" {
    local first
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo go
    # A first run, and a retry, of which what was whole can be committed.
    for first in yes no; do
        rm -f got
        "$UNSEEN" --pending keys f.bf <go >got 3>&- 2>said &
        pid=$!
        exec {ask}>go
        echo one >&"$ask"
        filled got
        asleep $pid
        fails_with 75 '^unseen: keys: another run is writing to it' unseen --pending keys f.bf in
        fails_with 75 'keys: another run' unseen --pending keys --create new.bf in -a out --dropped dropped
        [[ $first == no ]] || fails_with 2 'keys: No such file' unseen commit f.bf keys
        [[ $first == yes ]] || succeeds unseen commit f.bf keys
        exec {ask}>&-
        wait "$pid"
    done
    exits 0 unseen query -c f.bf < <(echo one)
}

@test "a run that waits to be first: another one ended before it had the lock, and it is a retry" {
    need_strace
    local pid child
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    # It has opened the new file, and is stopped before it locks that.
    stopped_after openat 1 .keys.unseen-new --pending keys f.bf in
    exits 0 unseen --pending keys f.bf in
    kill -CONT "$child"
    wait "$pid"
    grep -q "$retried 5 lines again" said
    cmp late in
}

@test "FILE, or the new one beside it, is made, removed, replaced or moved during the run: exit 75, and what is there stays" {
    local there form
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen --pending first f.bf < <(seq 4)
    while IFS='|' read -r there form; do
        rm -rf keys aside .keys*
        $there
        fed 'seq 2' "$form" 'seq 3 4' "$UNSEEN" --pending keys f.bf
        [[ $code -eq 75 ]] || complain "$there, $form"
        grep -q '^unseen: keys: was replaced or removed during this run (run it again' "$err" || complain "$form"
        [[ $form != *mine* || $(cat keys .keys* 2>/dev/null) == mine ]] || complain "$form"
        [[ $form == *new* || $(echo .keys*) == '.keys*' ]] || complain "$form"
    done <<'END'
true|echo mine >keys
true|mkdir keys
true|ln -s in keys
true|cp first keys
true|rm .keys.unseen-new
true|mv .keys.unseen-new aside
true|rm .keys.unseen-new; echo mine >.keys.unseen-new
cp first keys|rm keys
cp first keys|mv keys aside
cp first keys|cp first other; mv other keys
cp first keys|rm keys; echo mine >keys
END
    # cut off or written to: the name still leads there
    for form in ': >keys' 'echo scribble >keys' 'chmod 640 keys'; do
        cp first keys
        fed 'seq 4' "$form" 'true' "$UNSEEN" --pending keys f.bf
        [[ $code -eq 0 ]] || complain "$form"
        exits 0 unseen commit f.bf keys || complain "$form"
    done
}

@test "FILE may be a link: its target is replaced, and keeps its mode" {
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkdir dir
    exits 0 unseen --pending dir/real f.bf in
    chmod 640 dir/real
    ln -s dir/real keys
    exits 0 unseen --pending keys f.bf < <(seq 6)
    [[ -L keys && $(stat -c %a dir/real) == 640 ]]
    exits 0 unseen commit f.bf keys
    remembers 6 <(seq 7)
    # One that leads nowhere yet: nothing is made where it leads.
    ln -s new link
    fails_with 2 '^unseen: link: is a symbolic link to a file that does not exist' unseen --pending link f.bf in
    # The longest name.
    exits 0 unseen --pending "$(printf 'k%.0s' {1..255})" f.bf in
}

@test "FILE that cannot be replaced is refused before a line is read; what is replaced keeps its mode and owner" {
    public_directory
    seq 5 >in
    "$UNSEEN" create -p 1e-9 f.bf
    exits 0 unseen --pending keys f.bf in
    chmod 666 keys
    # a directory that may not be written to
    fails_with 2 'keys: cannot create a file beside it' as_nobody "$public/unseen" --pending keys f.bf in
    # another user's in a sticky one
    chmod 1777 .
    fails_with 2 'keys: belongs to another user, and is not replaced in a directory with the sticky bit' \
        as_nobody "$public/unseen" --pending keys f.bf in
    chmod 777 .
    exits 0 as_nobody "$public/unseen" --pending keys f.bf in
    [[ $(stat -c %a keys) == 666 ]]
    exits 0 unseen commit f.bf keys
    # as root, another user's stays that user's
    if [[ $(id -u) -eq 0 ]]; then
        chown 65534 keys
        exits 0 unseen --pending keys f.bf < <(seq 6)
        [[ $(stat -c %u keys) == 65534 ]]
    fi
}

@test "what lies where the new file is made: taken over if a killed run left it, else refused and left alone" {
    local form
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen --pending first f.bf in
    mkfifo pipe
    "$UNSEEN" --pending keys f.bf <pipe >got 3>&- &
    pid=$!
    exec {feed}>pipe
    seq 3 >&"$feed"
    filled got
    kill -9 "$pid"
    exec {feed}>&-
    wait "$pid" || true
    cp .keys.unseen-new killed
    for form in 'cp killed .keys.unseen-new' 'cp first .keys.unseen-new' ': >.keys.unseen-new'; do
        eval "$form"
        exits 0 unseen --pending keys f.bf in
        same "$out" in
        cmp keys first
        rm keys
        [[ $(echo .keys*) == '.keys*' ]] || complain "$form"
    done
    echo list >list
    for form in 'cp list .keys.unseen-new' 'ln -s list .keys.unseen-new' 'ln first .keys.unseen-new' \
        'ln -s nowhere .keys.unseen-new' 'mkdir .keys.unseen-new' 'mkfifo .keys.unseen-new' \
        'head -c 9 first >.keys.unseen-new' 'cp first .keys.unseen-new; chown 65534 .keys.unseen-new'; do
        [[ $form != *chown* || $(id -u) -eq 0 ]] || continue
        eval "$form"
        fails_with 2 '\.keys\.unseen-new: exists, but is the name of the temporary file for keys|^unseen: keys: cannot create a file beside it' \
            unseen --pending keys f.bf in || complain "$form"
        rm -r .keys.unseen-new
    done
}

# --- killed at every call ----------------------------------------------------------------

# Those that change something: what a kill at another one leaves is what one at the next of these does.
# Torture tests take all.
only='openat|p?write(64)?|unlink|link(at)?|rename.*|fsync|fallocate|ftruncate|fchmod|fchown|fcntl|exit_group'
# shellcheck disable=SC2034 # list_calls has it
[[ -z ${TORTURE_SCALE-} ]] || only=

# bats test_tags=torture
@test "the recipe, killed at each call of its three programs and again: the output is the oracle's" {
    need_strace
    local n
    n=$(rounds 50 1800)
    { input $((5 * n)); input $((4 * n)) $((2 * n)); } >in.1
    lines_unique in.1 >oracle
    at_each_call is_oracle
}

prepare_retry() { prepare_filter && cp first keys; }
form_retry() { strace_it --pending keys f.bf in >part; }
again_retry() {
    "$UNSEEN" --pending keys f.bf in >part 2>/dev/null && same part in && cmp keys second &&
        [[ $(echo keys* .keys*) == 'keys .keys*' ]]
}

@test "a retry with more lines, killed at each call: what it leaves beside FILE, the next run removes" {
    need_strace
    sweep_start 5
    "$UNSEEN" --pending first made.bf < <(head -n 3 in)
    cp first second
    "$UNSEEN" --pending second made.bf in
    after_kill() {
        { cmp -s keys first || cmp -s keys second; } && [[ $(echo keys*) == keys && $(echo .keys*) == .keys?(.unseen-new|\*) ]]
    }
    killed_at_each retry openat write pwrite64 unlink link linkat rename renameat2 fsync fallocate ftruncate fchmod fchown fcntl
}
