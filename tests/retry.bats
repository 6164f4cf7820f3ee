#!/usr/bin/env bats
# Tasks that are run again: --pending with a file that is there, of a run that ended well or did
# not, or of one that is under way.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash
load retry

retried="this task was run before, and prints its"

# again OPTION...: the task once more: the same bytes as `wanted`, the same keys, one line said.
again() {
    cp keys keys.before
    exits 0 unseen --pending keys "$@" f.bf in || return 1
    grep -q "^unseen: keys: $retried $(wc -l <wanted) lines again (another task needs another file)$" "$err" || return 1
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
        # shellcheck disable=SC2086 # several words
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
        grep -q ': 0 lines remembered' "$err" || complain "$form"
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
    says ': 6 lines remembered'
    remembers 10
}

@test "the other options: -m, -a, --header, --dropped, --summary, -e, a recipe" {
    { echo id,name; seq -f '%.0f,x' 20; seq -f '%.0f,y' 5 25; } >in
    exits 0 unseen create -p 1e-9 -f 1 -t , f.bf
    exits 0 unseen f.bf < <(echo 3,)
    exits 0 unseen --pending keys f.bf in -m 12 --header
    cp "$out" wanted
    [[ $(wc -l <wanted) -eq 13 && -s keys ]]
    exits 0 unseen commit f.bf keys
    exits 0 unseen --pending keys f.bf in -m 12 --header --dropped dropped --summary -e -a got
    says_lines 2 'prints its 12 lines again' 'f\.bf: 13 lines read, 12 printed, 1 held back'
    same got wanted
    prints ''
    [[ $(cat dropped) == 3,x ]]
    # exactly N, the same and more
    exits 0 unseen --pending keys f.bf in -m 20 --header
    { cat wanted; sed -n '15,21p' in; echo 21,y; } | same "$out" /dev/stdin
    exits 1 unseen --pending none f.bf wanted --header -e
    exits 0 unseen commit f.bf keys
    exits 1 unseen --pending none f.bf wanted --header -e
    says 'none: .* its 0 lines again'
}

@test "less input than before: exit 2, and FILE stays, so that the whole input is right again" {
    seq 100 >in
    exits 0 unseen --create -p 1e-9 --pending keys f.bf in
    exits 0 unseen commit f.bf keys
    cp keys before
    exits 2 unseen --pending keys f.bf < <(seq 60)
    says_lines 2 'prints its 100 lines again' \
        'keys: 40 of its lines did not come again, so it stays as it was \(the same task needs the same input, another task another file\)'
    cmp keys before
    exits 2 unseen --pending keys f.bf in -m 99
    seq 99 | same "$out" /dev/stdin
    says_lines 2 'prints its 100 lines again' 'keys: 1 of its lines did not come again, '
    cp in wanted
    again
    # the other way round nothing is said: the first run could not know
    rm f.bf keys
    exits 0 unseen --create -p 1e-9 --pending keys f.bf < <(seq 60)
    exits 0 unseen commit f.bf keys
    exits 0 unseen --pending keys f.bf in
    same "$out" in
    exits 0 unseen commit f.bf keys
    remembers 100
}

@test "a counting filter: what is committed of a retry is counted once" {
    seq 50 >in
    exits 0 unseen --create --counting -p 1e-9 --pending keys f.bf in
    cp in wanted
    again
    exits 0 unseen commit f.bf keys
    again
    exits 0 unseen commit f.bf keys
    exits 0 unseen remove f.bf in
    remembers 0
}

@test "a filter that is merged with others under its own name: a commit before and one after count each line once" {
    seq 50 >in
    local who
    for who in f.bf g.bf; do
        exits 0 unseen create --counting -n 1000 -p 1e-9 f.bf
        exits 0 unseen create --like f.bf g.bf
        exits 0 unseen --pending keys f.bf in
        if [[ $who == f.bf ]]; then
            exits 0 unseen commit f.bf keys
        else
            exits 0 unseen add g.bf in
        fi
        exits 0 unseen merge --force -o f.bf f.bf g.bf
        exits 0 unseen commit --summary f.bf keys
        says ': 0 lines remembered' || complain "$who"
        exits 0 unseen remove f.bf in
        remembers 0
        rm f.bf g.bf keys
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
    for options in '' '-n 1000' '-p 1e-9' --counting '--window 100' '-f 1'; do
        rm -f f.bf keys
        # shellcheck disable=SC2086 # several words
        exits 0 unseen --create $options --pending keys f.bf in
        says '^unseen: f\.bf: created \(' || complain "$options"
        prints '1\n2\n3\n4\n5\n'
        remembers 0
        sum=$(stat -c '%i %Y %y %z' f.bf; cksum f.bf)
        # shellcheck disable=SC2086
        succeeds unseen $options --pending more f.bf < <(seq 9)
        [[ $sum == "$(stat -c '%i %Y %y %z' f.bf; cksum f.bf)" ]]
        rm more
        exits 0 unseen commit f.bf keys
        remembers 5
    done
    fails_with 2 'f\.bf: ' unseen --pending other -n 77 f.bf in
    fails_with 2 'in: exists, and is not a file of pending keys' unseen --create --pending in new.bf
    fails_with 2 'nodir/keys: No such file' unseen --create --pending nodir/keys new.bf in
    fails_with 2 'nodir/out: ' unseen --create --pending keys2 new.bf in -a nodir/out
}

@test "two tasks at once on a FILTER that is not there: both work" {
    local i
    seq 200 >in
    for ((i = 0; i < 20; i++)); do
        rm -f f.bf keys.*
        "$UNSEEN" --create -p 1e-9 --pending keys.1 f.bf in >out.1 2>said.1 3>&- &
        "$UNSEEN" --create -p 1e-9 --pending keys.2 f.bf in >out.2 2>said.2 3>&- || { cat said.2; false; }
        wait "$!" || { cat said.1; false; }
        cmp out.1 in
        cmp out.2 in
        [[ $(cat said.1 said.2 | wc -l) -eq 1 ]]
        exits 0 unseen commit f.bf keys.1 keys.2
        remembers 200
    done
}

# --- who has FILE ------------------------------------------------------------------------

@test "two runs on one FILE: the second fails at once, exit 75, and touches nothing" {
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    converse "$UNSEEN" --pending keys f.bf
    say one
    hear one
    [[ -e keys && ! -s keys ]]
    cp "$err" before
    err=$BATS_TEST_TMPDIR/err2
    fails_with 75 '^unseen: keys: another run is writing it \(wait' unseen --pending keys f.bf in
    fails_with 75 'keys: another run' unseen --pending keys --create new.bf in -a out --dropped dropped
    fails_with 75 'keys: is empty: a run is still writing it \(commit it once' unseen commit f.bf keys
    # what lasts wins
    exits 2 unseen commit f.bf keys missing
    says_lines 2 'keys: is empty' 'missing: No such file'
    exits 2 unseen commit f.bf keys ''
    says_lines 2 'keys: is empty' "'': an empty name is not a FILE"
    farewell
    exits 0 unseen commit f.bf keys
    exits 0 unseen query -c f.bf < <(echo one)
    # a retry has it, too, and what was whole can be committed
    mkfifo go
    "$UNSEEN" --pending keys f.bf <go >got 3>&- 2>"$err" &
    pid=$!
    exec {ask}>go
    echo one >&"$ask"
    filled got
    fails_with 75 'keys: another run' unseen --pending keys f.bf in
    succeeds unseen commit f.bf keys
    exec {ask}>&-
    wait "$pid"
}

@test "a run that waits to be first: FILE was replaced before it was locked, and it is a retry" {
    need_strace
    local pid child
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    : >keys
    # It has opened the empty file, and is stopped before it locks it.
    stopped_after openat 1 keys --pending keys f.bf in
    exits 0 unseen --pending keys f.bf in
    kill -CONT "$child"
    wait "$pid"
    grep -q "$retried 5 lines again" said
    cmp late in
}

@test "FILE is removed, replaced or moved during the run: exit 75, and what is there stays" {
    local form
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    for form in 'rm keys' 'mv keys aside' 'echo mine >new; mv new keys' 'rm keys; mkdir keys' 'rm keys; ln -s in keys'; do
        rm -rf keys aside
        fed 'echo one' "$form" 'seq 2 4' timeout -k 5 60 "$UNSEEN" --pending keys f.bf
        [[ $code -eq 75 ]] || complain "$form"
        grep -q '^unseen: keys: was replaced or removed during this run (run it again' "$err" || complain "$form"
        case $form in
        echo*) [[ $(cat keys) == mine ]] ;;
        esac
        [[ -z $(find . -name 'keys.*') ]]
    done
    # cut off or written to: the name still leads there
    for form in ': >keys' 'echo scribble >keys' 'chmod 640 keys'; do
        rm -rf keys
        exits 0 unseen --pending keys f.bf < <(seq 4)
        fed 'seq 4' "$form" 'true' timeout -k 5 60 "$UNSEEN" --pending keys f.bf
        [[ $code -eq 0 ]] || complain "$form"
        exits 0 unseen commit f.bf keys || complain "$form"
    done
}

@test "FILE may be a link: its target is replaced, and keeps its mode" {
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkdir dir
    : >dir/real
    chmod 640 dir/real
    ln -s dir/real keys
    exits 0 unseen --pending keys f.bf in
    [[ -L keys && ! -L dir/real && -s dir/real ]]
    [[ $(stat -c %a dir/real) == 640 ]]
    exits 0 unseen --pending keys f.bf < <(seq 6)
    [[ -L keys && $(stat -c %a dir/real) == 640 ]]
    exits 0 unseen commit f.bf keys
    remembers 5
    # that leads nowhere yet: nothing is made where it leads
    ln -s new link
    local nowhere='^unseen: link: is a symbolic link to a file that does not exist \(name the file itself\)$'
    fails_with 2 "$nowhere" unseen --pending link f.bf in
    fails_with 2 "$nowhere" unseen --pending link f.bf in -a new
}

@test "FILE that cannot be replaced is refused before a line is read" {
    public_directory
    seq 5 >in
    "$UNSEEN" create -p 1e-9 f.bf
    : >keys
    chmod 666 keys
    # a directory that may not be written to
    fails_with 2 'keys: no new file can be made beside it: Permission denied' as_nobody "$public/unseen" --pending keys f.bf in
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

@test "what lies where the new file gets its name: removed if a killed run left it, else left alone" {
    need_strace
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen --pending first f.bf < <(seq 5)
    retry() {
        cp first keys
        exits 0 unseen --pending keys f.bf < <(seq 6) && exits 0 unseen commit f.bf keys || return 1
        [[ -z $(find . -name '*keys.??????') ]]
    }
    local form kind
    # a whole one; the beginning of one; nothing yet
    for form in 'cp first .keys.unseen-new' 'truncate -s 1000 .keys.unseen-new' ': >.keys.unseen-new'; do
        eval "$form"
        retry
        [[ ! -e .keys.unseen-new ]] || complain "$form"
    done
    echo list >list
    for form in 'cp list .keys.unseen-new' 'ln -s list .keys.unseen-new' 'ln first .keys.unseen-new' \
        'ln -s nowhere .keys.unseen-new' 'mkdir .keys.unseen-new' 'mkfifo .keys.unseen-new' 'head -c 9 first >.keys.unseen-new'; do
        eval "$form"
        kind=$(stat -c '%i %F %s' .keys.unseen-new)
        retry
        [[ $(stat -c '%i %F %s' .keys.unseen-new) == "$kind" ]] || complain "$form"
        rm -r .keys.unseen-new
    done
    [[ $(cat list) == list ]]
    # somebody has it
    cp first .keys.unseen-new
    hold_lock pending 4611686018427387904 .keys.unseen-new
    retry
    let_go pending
    cmp first .keys.unseen-new
    retry
    [[ ! -e .keys.unseen-new ]]
    if [[ $(id -u) -eq 0 ]]; then
        cp first .keys.unseen-new
        chown 65534 .keys.unseen-new
        retry
        cmp first .keys.unseen-new
    fi
}

@test "FILE with the longest name" {
    need_strace
    local name
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    name=$(printf 'k%.0s' {1..255})
    exits 0 unseen --pending "$name" f.bf in
    exits 0 unseen --pending "$name" f.bf < <(seq 6)
    exits 0 unseen commit f.bf "$name"
    remembers 6 <(seq 7)
    [[ $(find . -type f | wc -l) -eq 3 ]]
    # that of the new one is cut off
    exits 0 strace -qq -o trace -e trace=openat "$UNSEEN" --pending "$name" f.bf < <(seq 7)
    grep -Fq "/.${name:0:243}.unseen-new\"" trace
}

# --- killed at every call ----------------------------------------------------------------

@test "the recipe, killed at each call of its three programs and again: the output is the oracle's" {
    need_strace
    # Those that change something: what a kill at another one leaves is what one at the next of these
    # does. The torture tests take all.
    local number call
    # shellcheck disable=SC2034 # for list_calls
    local only='openat|p?write(64)?|unlink|link(at)?|rename.*|fsync|fallocate|ftruncate|fchmod|fchown|fcntl|exit_group'
    { input 250; input 200 100; } >in.1
    lines_unique in.1 >oracle
    list_calls 1
    for number in 1 2 3; do
        while read -r call; do
            { killed_twice 1 "$number" "$call" && same OUT.1 oracle && has seen.bf oracle; } ||
                { echo "program $number, $call"; false; }
        done <"calls.$number"
    done
    echo "$kills kills, 0 lost, 0 doubled"
    [[ $kills -gt 50 ]]
}

# killed_retry CALL: a retry with two lines more, killed at CALL, and run again.
killed_retry() {
    local call=$1
    cp first keys
    capture strace -qq -o trace -e trace="openat,${call%:*}" -e "inject=${call%:*}:signal=KILL:when=${call#*:}" \
        "$UNSEEN" --pending keys f.bf in
    [[ $code -eq 137 ]] || return 0
    kills=$((kills + 1))
    cmp -s keys first || cmp -s keys second || complain 'FILE is neither' || return 1
    [[ $(echo keys*) == keys && $(echo .keys*) == .keys?(.unseen-new|\*) ]] || complain "$(echo keys* .keys*)" || return 1
    left=$((left + $(find . -name '.keys*' | wc -l)))
    exits 0 unseen --pending keys f.bf in || return 1
    same "$out" in && cmp keys second || return 1
    [[ $(echo keys* .keys*) == 'keys .keys*' ]] || complain "$(echo keys* .keys*)"
}

@test "a retry with more lines, killed at each call: what it leaves beside FILE, the next run removes" {
    need_strace
    local call left=0
    seq 5 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen --pending first f.bf < <(seq 3)
    cp first keys
    exits 0 strace -qq -o trace "$UNSEEN" --pending keys f.bf in
    cp keys second
    awk -F'(' '/^[a-z]/ { print $1 ":" ++n[$1] }' trace | tail -n 60 >calls
    while read -r call; do
        killed_retry "$call" || { echo "$call"; false; }
    done <calls
    holds "$kills > 30 && $left >= 10"
}
