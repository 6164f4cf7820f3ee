#!/usr/bin/env bats
# What a running command can still do: no more than it needs.

# shellcheck disable=SC2317 # each_form calls it
load helper
load crash

# The forms of all commands that read lines or filters, with what each may do in the directory where its
# files are: read, write, make to write, remove. The queue is in a directory of its own.
forms=(
    ' | memory in'
    'r | f.bf in'
    'r | f.bf in -a got'
    'r | --tee got f.bf in'
    'r | --dropped held f.bf in'
    'rd | --durable f.bf in -a got'
    'rd | --pending other f.bf in'
    ' | add f.bf in'
    ' | commit f.bf keys'
    ' | remove counting.bf in'
    'r | push queue.bf in'
    'rd | push --durable queue.bf in'
    ' | pop queue.bf'
    ' | query f.bf in'
    ' | stats f.bf'
    ' | stats queue.bf'
    ' | stats f.bf queue.bf'
    ' | verify queue.bf'
    ' | verify f.bf queue.bf'
    ' | plan in'
    'rwmd | merge -o new.bf f.bf queue.bf'
    'rwmd | merge -o f.bf f.bf'
    ' | key in'
    ' | shard 1/2 in'
    'd | shard 2 --files shard.%d in'
)

# need_landlock: the kernel has it, so the program has to use it. Sets `version`.
need_landlock() {
    need_preload landlock
    version=$("${preload%/*}/landlock")
    [[ $version -gt 0 ]] || skip "this kernel has no Landlock (Linux 5.13, and landlock in /sys/kernel/security/lsm)"
}

# prepare: the working directory is a new one, with filters and files; another one is $OUTSIDE.
prepare() {
    local template=$BATS_TEST_TMPDIR/template
    export OUTSIDE=$BATS_TEST_TMPDIR/outside
    if [[ ! -d $template ]]; then
        mkdir "$template" && cd "$template" || return 1
        seq 9 >in
        exits 0 unseen add --create -p 1e-9 f.bf < <(seq 3)
        exits 0 unseen --pending keys f.bf in
        exits 0 unseen add --create --counting -p 1e-9 counting.bf in
        exits 0 unseen push --create -p 1e-9 queue.bf in
        touch one two
    fi
    rm -rf "$OUTSIDE" "$BATS_TEST_TMPDIR/inside"
    mkdir "$OUTSIDE" && touch "$OUTSIDE/one" "$OUTSIDE/two"
    cp -a "$template" "$BATS_TEST_TMPDIR/inside" || return 1
    cd "$BATS_TEST_TMPDIR/inside" || return 1
}

# traced FORM [VARIABLE...]: runs it with the library; what it could do at its end is in `tried`.
traced() {
    local form=$1
    shift
    [[ $form != memory* ]] || form=
    : >"$BATS_TEST_TMPDIR/tried"
    capture env LD_PRELOAD="$preload" "$@" "$UNSEEN" $form <in 9>"$BATS_TEST_TMPDIR/tried"
    tried=$(cat "$BATS_TEST_TMPDIR/tried")
}

# confined VERSION HERE: the last one was confined as far as this version can, and may do HERE.
confined() {
    local could="outside= here=$2"
    [[ $1 -ge 4 ]] || could+=' tcp'
    [[ $1 -ge 6 ]] || could+=' kill'
    [[ $code -eq 0 && $tried == "$could" ]] || complain "should have: $could, could: $tried"
}

# each_form ACTION...: with the rights and the words of each, in a new directory.
each_form() {
    local row
    for row in "${forms[@]}"; do
        prepare || return 1
        "$@" "${row%% *}" "${row#*| }" || { echo "$row: $*"; return 1; }
    done
}

@test "the list of forms has all commands" {
    local command
    [[ $(commands | wc -l) -ge 14 ]]
    for command in $(commands); do
        # one makes a filter and reads no line, the other prints text
        [[ $command == create || $command == help ]] || printf '%s\n' "${forms[@]}" | grep -q "| $command " ||
            complain "$command"
    done
}

@test "what runs can open, make and remove nothing elsewhere, nor connect, signal others or gain rights" {
    need_landlock
    try() {
        traced "$2"
        confined "$version" "$1" && ! grep denied "$err"
    }
    each_form try
}

@test "so it is with each version of Landlock, as far as that goes" {
    need_landlock
    local old
    # one that only prints, one that appends, one that makes a file, one that reads several filters
    forms=(' | query f.bf in' 'r | f.bf in -a got' 'rd | --pending other f.bf in' ' | verify f.bf queue.bf')
    try() {
        traced "$2" FAKE_LANDLOCK="$old"
        confined "$old" "$1"
    }
    for ((old = 1; old < version; old++)); do
        each_form try || { echo "version $old"; false; }
    done
}

@test "where there is no Landlock all runs as ever, and says nothing of it" {
    need_landlock
    local error
    prepare
    # ENOSYS, EOPNOTSUPP, EPERM
    for error in 38 95 1; do
        traced 'query f.bf in' FAKE_LANDLOCK="0 $error"
        [[ $code -eq 0 && $tried == 'outside=rwmd here=rwmd tcp kill' ]] || complain "$tried"
        silent_on_stderr
        prepare
    done
}

@test "where it is there and fails nothing is read, and nothing remembered" {
    need_landlock
    local call form
    prepare
    seq 20 >longer
    # EINVAL, EMFILE, ENOMEM, E2BIG
    for call in '0 22' '1 24' '2 12' '3 7'; do
        for form in 'f.bf in' 'f.bf in -a got' 'query f.bf in' 'push queue.bf longer' 'stats queue.bf'; do
            traced "$form" FAKE_LANDLOCK="$call"
            [[ $code -eq 2 && ! -s $out && ! -s got ]] || complain "$form: $call"
            says '^unseen: Landlock: cannot restrict this process: '
        done
    done
    exits 0 unseen f.bf in
    same "$out" <(seq 4 9)
}

@test "a CMD, and a run that has one, can do all that the user can" {
    need_landlock
    local form
    for form in 'f.bf in' 'pop queue.bf'; do
        prepare
        traced "$form -x cat"
        # two processes
        [[ $code -eq 0 && $tried == 'outside=rwmd here=rwmd tcp kill gains'$'\n''outside=r'* && $tried == *gains ]] ||
            complain "$form: $tried"
    done
}

@test "it comes before the first line is read and before a thread starts" {
    need_landlock
    need_strace
    seq 300000 >in
    exits 0 unseen create f.bf
    exits 0 strace -f -qq -o trace -e trace=read,openat,prctl,444,445,446,clone,clone3 "$UNSEEN" -j 2 f.bf in
    run awk '
        /O_PATH/ { next }
        /prctl\(PR_SET_NO_NEW_PRIVS, 1/ { privileges = NR }
        /(landlock_restrict_self|syscall_0x1be)\(.* = 0$/ { confined = NR; file = "" }
        /openat\(.*"in"/ { file = $NF }
        file != "" && index($0, " read(" file ",") { if (!first) first = NR }
        / clone3?\(/ { if (!thread) thread = NR }
        END { exit !(privileges && privileges < confined && confined < first && confined < thread) }' trace
    [[ $status -eq 0 ]] || complain "$(cat trace)"
}

@test "inputs of all kinds can still be opened, each when its turn comes" {
    need_landlock
    local i
    seq 3 >a
    mkfifo pipe
    mkdir directory there
    ln -s ../a there/link
    cat a >pipe 3>&- &
    local writer=$!
    # shellcheck disable=SC2094 # it is read more than once
    succeeds unseen key a there/link - /dev/stdin pipe /proc/self/fd/8 /dev/null < <(seq 4 6) 8<a || {
        kill $writer
        return 1
    }
    prints '1\n2\n3\n1\n2\n3\n4\n5\n6\n1\n2\n3\n1\n2\n3\n'
    exits 2 unseen key directory absent a
    prints '1\n2\n3\n'
    says_lines 2 'directory: Is a directory' 'absent: No such file'
    # more of them than can be open
    for ((i = 0; i < 40; i++)); do echo $i >n$i; done
    exits 0 bash -c 'ulimit -n 16; "$UNSEEN" key n*'
    holds "$(wc -l <"$out") == 40"
}

@test "a FILE that was replaced during the run is not read, and this is said" {
    need_landlock
    seq 3 >a
    mkfifo pipe
    exec {pipe}<>pipe
    capture unseen key pipe a {pipe}>&- 3>&- &
    # it reads
    echo 0 >&"$pipe"
    until [[ -s $out ]] || ! kill -0 $!; do sleep 0.01; done
    seq 5 >new
    mv new a
    exec {pipe}>&-
    wait $! || true
    prints '0\n'
    grep -qx 'unseen: a: Permission denied (if it was made or replaced during this run: run unseen again)' "$err" || complain
}

@test "nor is a filter that was replaced, by stats and verify" {
    need_landlock
    need_strace
    local command pid child
    for command in stats verify; do
        exits 0 unseen create --force a.bf
        exits 0 unseen create --force b.bf
        exits 0 unseen create --force c.bf
        stopped_after prctl 1 '' $command a.bf b.bf
        mv c.bf b.bf
        kill -CONT "$child"
        ended 2 "$pid" || complain "$command"
        mv said "$err"
        says '^unseen: b\.bf: Permission denied \(if it was made or replaced during this run: run unseen again\)'
    done
}

@test "a directory that is given for a file: nothing in it can be opened" {
    need_landlock
    local form
    for form in 'key ../outside in' 'f.bf ../outside in' 'stats f.bf ../outside'; do
        prepare
        traced "$form"
        [[ $code -eq 2 && $tried == 'outside= here='* ]] || complain "$form: $tried"
        says '^unseen: \.\./outside: Is a directory'
    done
}

@test "an ordinary user is confined, too, and may name files in a directory that can only be searched" {
    need_landlock
    public_directory
    cp "$preload" "$public/landlock.so"
    preload=$public/landlock.so
    mkdir outside hidden
    touch one two outside/one outside/two
    seq 9 >hidden/in
    exits 0 unseen create -p 1e-9 hidden/f.bf
    chmod 666 hidden/f.bf
    chmod 711 . hidden
    export OUTSIDE=$PWD/outside
    exec 9>"$BATS_TEST_TMPDIR/tried"
    exits 0 as_nobody env LD_PRELOAD="$preload" "$public/unseen" hidden/f.bf hidden/in
    exec 9>&-
    same "$out" hidden/in
    tried=$(cat "$BATS_TEST_TMPDIR/tried")
    confined "$version" ''
    exits 0 as_nobody "$public/unseen" query -c hidden/f.bf hidden/in
    prints '9\n'
}
