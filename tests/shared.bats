#!/usr/bin/env bats
# A directory that all may write to, as /tmp: what another user prepares there, or swaps while a run
# looks, neither leads it elsewhere, nor holds it up for good, nor shows him anything.

load helper
load crash

tools=${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}
lock_byte=4611686018427387904
guards=(symlinks hardlinks regular fifos)

# Most systems forbid some of this by themselves: see proc(5), "protected_symlinks". Where they do, some of
# these tests cannot fail. A machine that is there for tests only may be asked not to: UNPROTECTED=1.
setup_file() {
    local guard
    [[ -n ${UNPROTECTED-} ]] || return 0
    for guard in "${guards[@]}"; do
        cat "/proc/sys/fs/protected_$guard" >"$BATS_FILE_TMPDIR/$guard"
        echo 0 >"/proc/sys/fs/protected_$guard"
    done
}

teardown_file() {
    local guard
    [[ -n ${UNPROTECTED-} ]] || return 0
    for guard in "${guards[@]}"; do
        cat "$BATS_FILE_TMPDIR/$guard" >"/proc/sys/fs/protected_$guard"
    done
}

# Whoever was started to stand in the way goes, whatever came of the test.
strangers=()
teardown() {
    if [[ ${#strangers[@]} -gt 0 ]]; then
        kill "${strangers[@]}" 2>/dev/null || true
        wait "${strangers[@]}" || true
    fi
    [[ -z ${public:-} ]] || rm -rf "$public"
}

# sticky_directory: goes to one, for three users: of whom `owner` has a file of their own outside,
# $precious, and `stranger` is the other. Sets `as_owner` and `as_stranger`.
sticky_directory() {
    [[ $(id -u) -eq 0 ]] || skip "needs root, to be several users"
    need setpriv
    public_directory
    cp "$tools/swapnames" "$tools/holdlock" "$public"
    chmod 1777 .
    mkdir "$public/home"
    precious=$public/home/precious
    echo precious >"$precious"
    : >"$public/home/empty"
    chmod 600 "$precious" "$public/home/empty"
    chown -R 65534:65534 "$public/home"
    elsewhere=$(cd "$public/home" && snapshot)
}

as_user() {
    local user=$1
    shift
    setpriv --reuid "$user" --regid "$user" --clear-groups timeout --foreground -k 5 "$UNSEEN_TIMEOUT" "$@"
}
owner() { as_user 65534 "$@"; }
stranger() { as_user 12345 "$@"; }
program() { owner "$public/unseen" "$@"; }

# nothing_elsewhere: what lies outside is as it was.
nothing_elsewhere() {
    [[ $(cd "$public/home" && snapshot) == "$elsewhere" ]] || {
        (cd "$public/home" && snapshot)
        complain "something elsewhere has changed"
    }
}

# prepared NAME KIND: the stranger has made it.
prepared() {
    case $2 in
    file) stranger sh -c 'umask 0; printf "unsflt1\0\001" >"$1"; truncate -s 69632 "$1"' sh "$1" ;;
    empty) stranger sh -c 'umask 0; : >"$1"' sh "$1" ;;
    fifo) stranger mkfifo -m 666 "$1" ;;
    directory) stranger mkdir -m 777 "$1" ;;
    dangling) stranger ln -s "$public/home/new" "$1" ;;
    link) stranger ln -s "$precious" "$1" ;;
    # Where the system lets nobody else do that, root does.
    hard) stranger ln "$precious" "$1" 2>/dev/null || ln "$precious" "$1" ;;
    esac
}
kinds='file empty fifo directory dangling link hard'

# swapping NAME THING...: starts the stranger who does so until `swapped`.
swapping() {
    rm -f "$BATS_TEST_TMPDIR/ready"
    setpriv --reuid 12345 --regid 12345 --clear-groups "$public/swapnames" 1000000 "$@" >"$BATS_TEST_TMPDIR/ready" 3>&- &
    swapper=$!
    strangers+=("$swapper")
    filled "$BATS_TEST_TMPDIR/ready"
}
swapped() {
    kill "$swapper" 2>/dev/null || true
    wait "$swapper" || true
    strangers=()
}

# --- keys in flight ----------------------------------------------------------------------------

@test "all places are taken by a stranger's files: who it is, and exit 75" {
    sticky_directory
    program create -p 1e-9 f.bf
    seq -f 'f.bf.flight-%.0f' 0 128 8064 | stranger xargs mkdir
    exits 75 program f.bf -x cat < <(seq 3000)
    says '^unseen: .*/f\.bf\.flight-8064: cannot create the file for lines in flight: File exists \(the file of that name belongs to user 12345, who can remove it\)$'
    # CMD has taken what it got until then.
    cp "$out" got
    exits 0 program query f.bf < <(seq 3000)
    cmp got "$out"
    # Whoever does not hold more than a batch needs none.
    exits 0 program f.bf -x cat < <(seq 2000)
    exits 0 program f.bf < <(seq 2001 9000)
    stranger rmdir f.bf.flight-128
    exits 0 program f.bf -x cat < <(seq 12000)
    seq 9001 12000 | cmp - "$out"
}

@test "a stranger swaps what has the name of keys in flight as fast as he can" {
    sticky_directory
    local i
    program create -p 1e-9 f.bf
    swapping "$PWD/f.bf.flight-0" "link:$precious" fifo "hard:$precious" directory file "link:$public/home/new"
    for ((i = 0; i < 15; i++)); do
        exits 0 program f.bf -x cat < <(seq $((3000 * (i + 1))))
        seq $((3000 * i + 1)) $((3000 * i + 3000)) | cmp - "$out"
    done
    kill -0 "$swapper"
    swapped
    nothing_elsewhere
}

# flying FILTER FIRST LAST: a run with -x over these lines, which waits for `landed`.
flying() {
    mkfifo gate
    chmod 666 gate
    owner "$public/unseen" "$1" -x sh -c 'cat >flown; read -r _ <gate' < <(seq "$2" "$3") 3>&- &
    flight=$!
    filled flown
}
landed() {
    echo >gate
    wait "$flight"
    rm gate flown
}

@test "a stranger's file in place of a living writer's is not believed" {
    sticky_directory
    program create -p 1e-9 f.bf
    owner ln f.bf "$public/home/f.bf"
    # The one that lives uses another name of the filter, so its keys lie elsewhere.
    flying "$public/home/f.bf" 1 3000
    # The stranger says of what is new that it is in flight: with true keys, of a filter of his own.
    stranger cp f.bf own.bf
    stranger "$public/unseen" own.bf -x sh -c 'cat >/dev/null; cp own.bf.flight-0 f.bf.flight-0' < <(seq 3001 6000)
    exits 75 program f.bf < <(seq 6000)
    prints ''
    says 'f\.bf\.flight-0: another process uses it by another name'
    exits 75 program f.bf -x cat < <(seq 6000)
    landed
    exits 0 program f.bf < <(seq 6000)
    seq 3001 6000 | cmp - "$out"
}

@test "several users write to a filter of their group in a sticky directory: each sees what others have in flight" {
    sticky_directory
    local pid
    member() {
        local user=$1
        shift
        setpriv --reuid "$user" --regid 700 --clear-groups sh -c 'umask 002; exec "$0" "$@"' "$public/unseen" "$@"
    }
    exits 0 member 501 create -p 1e-9 f.bf
    [[ $(stat -c '%u %g %a' f.bf) == '501 700 664' ]]
    mkfifo -m 666 gate
    member 502 f.bf -x sh -c 'cat >flown; read -r _ <gate' < <(seq 3000) 3>&- &
    pid=$!
    filled flown
    [[ $(stat -c '%u %g %a' f.bf.flight-0) == '502 700 664' ]]
    exits 0 member 501 f.bf < <(seq 3001)
    prints '3001\n'
    exits 0 member 503 f.bf -x cat < <(seq 3002)
    prints '3002\n'
    exits 0 member 503 push f.bf < <(seq 3003)
    # A queue that a member has made anew.
    exits 0 member 501 pop f.bf
    prints '3003\n'
    mv f.bf.queue away
    setpriv --reuid 502 --regid 700 --clear-groups mkdir -m 775 f.bf.queue
    exits 0 member 503 push f.bf < <(seq 3004)
    exits 0 member 501 pop f.bf
    prints '3004\n'
    echo >gate
    wait "$pid"
    # Where a directory gives its group to whatever anybody makes in it, a group proves nothing.
    rm -r f.bf.queue
    chgrp 700 .
    chmod 3777 .
    stranger mkdir -m 775 f.bf.queue
    [[ $(stat -c '%u %g' f.bf.queue) == '12345 700' ]]
    exits 2 member 501 push f.bf < <(echo new)
    says 'f\.bf\.queue: belongs to user 12345, who may not write to the filter'
}

@test "what is made beside a filter never has more rights than the filter" {
    sticky_directory
    need_strace
    seq 3000 >in
    (umask 077 && exits 0 unseen create -p 1e-9 f.bf)
    umask 000
    traced() { strace -f -qq -o trace -e trace=openat,open,mkdir,chmod,fchmod,fchmodat "$@"; }
    exits 0 traced "$UNSEEN" f.bf -x sh -c 'cat >/dev/null; stat -c %a f.bf.flight-0' <in
    prints '600\n'
    grep -q 'f.bf.flight-0.*O_EXCL.* 0600' trace
    exits 0 traced "$UNSEEN" push f.bf < <(echo new)
    grep -q '/0000000001".*O_EXCL.* 0600' trace
    exits 3 traced "$UNSEEN" pop f.bf -x false
    exits 0 traced "$UNSEEN" pop f.bf --tries 1 -x false
    grep -q 'f.bf.failed".*O_EXCL.* 0600' trace
    [[ -z $(find f.bf* -perm /077) ]]
    # A file that takes the place of another, from its first byte on.
    local form
    exits 0 unseen --pending keys f.bf <in
    for form in '--pending keys f.bf' 'merge -o f.bf f.bf'; do
        chmod 600 keys f.bf
        exits 0 strace -qq -o trace -e trace=openat,chmod,fchmod "$UNSEEN" $form <in
        grep -q 'O_CREAT.* 0600' trace
        ! grep chmod trace | grep -qv ' 0600)' || complain "$form"
        [[ $(stat -c %a keys f.bf | sort -u) == 600 ]]
    done
}

@test "what takes the place of a filter keeps owner, group and mode, or is open to fewer users" {
    local run mode kept by
    sticky_directory
    chmod 777 .
    exits 0 unseen create "$public/a.bf"
    for run in 'create --force' "merge --force $public/a.bf -o" 'create --force --secret'; do
        while read -r mode kept by; do
            rm -f f.bf
            exits 0 unseen create f.bf
            chown 65534:700 f.bf
            chmod "$mode" f.bf
            exits 0 $by $run f.bf
            [[ $run != *secret ]] || kept=600,${kept#*,}
            [[ $(stat -c '%a %u %g' f.bf) == "${kept//,/ }" ]] || complain "$run, $mode: $(stat -c '%a %u %g' f.bf)"
        done <<END
660 660,65534,700 unseen
664 664,65534,700 unseen
660 600,65534,65534 as_nobody $public/unseen
664 644,65534,65534 as_nobody $public/unseen
604 600,65534,65534 as_nobody $public/unseen
END
    done
}

# --- the queue ---------------------------------------------------------------------------------

@test "a queue that a stranger has prepared is refused" {
    sticky_directory
    local kind
    stranger "$public/unseen" push --create his.bf </dev/null
    owner mkdir "$public/home/lines"
    elsewhere=$(cd "$public/home" && snapshot)
    his_link() { stranger ln -s "$public/home/lines" "$1"; }
    his_queue() { stranger cp -r his.bf.queue "$1"; }
    his_directory() { stranger mkdir -m 777 "$1"; }
    for kind in his_link his_queue his_directory; do
        # Where the first push makes one: root could take an empty directory away.
        exits 0 program create new.bf
        $kind new.bf.queue
        for run in program unseen; do
            [[ $run$kind != unseenhis_* || $kind == his_link ]] || continue
            fails_with 2 'new\.bf\.queue: cannot be created: File exists \(move it away\)$' $run push new.bf < <(seq 3)
        done
        rm -r new.bf new.bf.queue
        # In place of one that was moved away.
        exits 0 program push --create there.bf </dev/null
        owner mv there.bf.queue away
        $kind there.bf.queue
        for command in push pop; do
            fails_with 2 'there\.bf\.queue: belongs to user 12345, who may not write to the filter \(move it away\)$' \
                program $command there.bf < <(seq 3)
        done
        exits 2 program stats there.bf
        exits 0 program there.bf < <(seq 3)
        rm -r there.bf away there.bf.queue
        nothing_elsewhere || complain "$kind"
    done
}

# while_swapped COMMAND...: fifteen times, as the owner, with three lines; its exit status is one of `allowed`.
while_swapped() {
    local i
    for ((i = 0; i < 15; i++)); do
        capture program "$@" < <(echo one; echo "line $i"; echo three)
        [[ " $allowed " == *" $code "* ]] || complain "exit code" || return 1
        then_the_owner || complain "$*" || return 1
    done
    swapped
    nothing_elsewhere
}

@test "a stranger swaps the directory of a queue, the file for failed lines, FILE of --pending, a FILTER that is made" {
    sticky_directory
    then_the_owner() {
        [[ $code -ne 0 ]] || { exits 0 program pop f.bf -m 9 && [[ $(wc -l <"$out") -eq 3 ]] && owner rm -r f.bf.queue; } || return 1
        owner rm f.bf
    }
    swapping "$PWD/f.bf.queue" "link:$public/home" directory file fifo
    allowed='0 2' while_swapped push --create f.bf
    rm -rf f.bf.queue

    exits 0 program push --create -p 1e-9 q.bf < <(seq 100)
    then_the_owner() { :; }
    swapping "$PWD/q.bf.failed" "link:$precious" file "link:$public/home/new"
    allowed='0 2' while_swapped pop q.bf --tries 1 -x false

    program create -p 1e-9 p.bf
    then_the_owner() {
        [[ $code -ne 0 ]] || { exits 0 program commit p.bf keys && owner rm p.bf keys && exits 0 program create p.bf; }
    }
    swapping "$PWD/keys" file "hard:$precious" fifo directory "link:$precious"
    allowed='0 2 75' while_swapped p.bf --pending keys

    then_the_owner() {
        [[ $code -ne 0 ]] || { [[ $(stat -c %u n.bf) -eq 65534 ]] && exits 0 program n.bf < <(seq 3) && owner rm n.bf; }
    }
    swapping "$PWD/n.bf" file fifo "link:$precious" "hard:$precious" directory "link:$public/home/new"
    allowed='0 2 75' while_swapped create n.bf
}

# --- files that are named -----------------------------------------------------------------------

@test "what a stranger has prepared where a FILTER or FILE of --pending is to be made: refused, and nothing elsewhere is changed" {
    sticky_directory
    local kind run refused="is a symbolic link that another user may have made, and is not followed|Permission denied"
    program create -p 1e-9 f.bf
    program create "$public/home/there.bf"
    elsewhere=$(cd "$public/home" && snapshot)
    for kind in $kinds; do
        prepared keys "$kind"
        prepared new.bf "$kind"
        for run in program unseen; do
            fails_with 2 '^unseen: keys: ' $run f.bf --pending keys < <(seq 3)
            fails_with 2 '^unseen: new\.bf: ' $run create new.bf
            fails_with 2 '^unseen: new\.bf: ' $run --create new.bf < <(seq 3)
        done
        nothing_elsewhere || complain "$kind"
        rm -r keys new.bf
    done
    # Links to what could be replaced.
    stranger ln -s "$public/home/empty" keys
    stranger ln -s "$public/home/empty" new.bf
    stranger ln -s "$public/home/there.bf" other.bf
    for run in program unseen; do
        fails_with 2 "^unseen: keys: ($refused)" $run f.bf --pending keys < <(seq 3)
        fails_with 2 "^unseen: new\\.bf: ($refused)" $run create new.bf
        fails_with 2 "^unseen: other\\.bf: ($refused)" $run create --force other.bf
        fails_with 2 "^unseen: other\\.bf: ($refused)" $run merge --force -o other.bf f.bf
        nothing_elsewhere || complain "$run"
    done
    # One's own link is followed.
    rm keys
    exits 0 program f.bf --pending "$public/home/keys" < <(seq 3)
    owner ln -s "$public/home/keys" keys
    exits 0 program f.bf --pending keys < <(seq 4)
    [[ -L keys ]]
    exits 0 program commit --summary f.bf "$public/home/keys"
    says ': 4 new lines'
}

@test "a symbolic link to the filter that leads elsewhere by and by: what lies beside stays beside the first" {
    sticky_directory
    need_strace
    local pid child
    exits 0 unseen create -p 1e-9 f.bf
    echo no filter >other
    echo kept >other.flight-0
    stranger ln -s f.bf link.bf
    # Stopped once the filter is open, and nothing is beside it.
    strace -qq -o trace -P "$PWD/f.bf" -e trace=fcntl -e inject=fcntl:signal=STOP:when=1 \
        "$UNSEEN" link.bf -x cat < <(seq 3) >got 2>said 3>&- &
    pid=$!
    is_stopped || complain "$(cat said)" || return 1
    stranger ln -sfn other link.bf
    kill -CONT "$child"
    ended 75 "$pid"
    grep -q 'link.bf: was replaced during this run' said
    [[ $(cat other.flight-0) == kept && -z $(find . -name 'other.*' ! -name other.flight-0) ]]
    exits 0 unseen f.bf < <(seq 3)
    prints '1\n2\n3\n'
}

# --- locks -------------------------------------------------------------------------------------

# read_locked NUMBER FILE BYTE [LENGTH]: the stranger has a lock for reading on it.
read_locked() {
    mkfifo "$public/gate.$1"
    setpriv --reuid 12345 --regid 12345 --clear-groups "$public/holdlock" -r "${@:2}" <"$public/gate.$1" >"$public/held.$1" 3>&- &
    strangers+=($!)
    eval "exec {kept_$1}>\"\$public/gate.$1\""
    filled "$public/held.$1"
}

@test "whoever may read can hold up writers for as long as he likes: they say so, and Ctrl-C ends the wait; readers never wait" {
    sticky_directory
    local i form pids=()
    for i in 1 2 3; do program create -p 1e-9 $i.bf; done
    exits 0 program push 3.bf < <(seq 3)
    read_locked 1 1.bf "$lock_byte"
    read_locked 2 2.bf $((lock_byte + 1)) 128
    read_locked 3 3.bf $((lock_byte + 4097))
    for form in 1.bf 2.bf 'pop 3.bf'; do
        i=${form//[^1-3]/}
        setpriv --reuid 65534 --regid 65534 --clear-groups "$public/unseen" $form < <(seq 3) \
            >"$public/got.$i" 2>"$public/said.$i" 3>&- &
        pids[i]=$!
    done
    exits 1 program query 1.bf < <(seq 3)
    for i in 1 2 3; do
        filled "$public/said.$i"
        kill -TERM "${pids[i]}"
        exits 143 wait "${pids[i]}"
        [[ ! -s $public/got.$i && $(wc -l <"$public/said.$i") -eq 1 ]]
        grep -q ': waiting for ' "$public/said.$i"
    done
    owner touch empty.bf
    read_locked 5 empty.bf "$lock_byte"
    fails_with 75 'empty\.bf: another process is creating it' program create empty.bf
    # A line of which he has locked all, or a part, is passed over, as one that a worker holds.
    exits 0 program push --create 4.bf < <(printf 'one two\nthree\nfour\n')
    read_locked 4 4.bf.queue/0000000001 0 4
    exits 0 program pop -m 9 4.bf
    prints 'three\nfour\n'
    [[ $(cat 4.bf.queue/*) == $' one two\n-three\n-four' ]]
    exits 0 program f.bf --create --pending keys < <(seq 3)
    owner cp keys .keys.unseen-new
    read_locked 6 .keys.unseen-new "$lock_byte"
    exits 75 program f.bf --pending keys < <(seq 3)
    says 'keys: another run is writing to it'
}
