# Fails one system call of a run, the first, the second, ... until a run has no
# such call left, and judges what comes of it; load it behind crash.bash.
#
# What must hold, whatever fails: no death by a signal, no hang, exit 0 only if all
# was done, a filter that verify finds usable, and once the same is run again
# without a fault, no line lost.

# shellcheck shell=bash

# The calls that the program makes, and what each may say. Left out is brk: strace
# cannot make it fail as the kernel does, by returning the old break.
sweep_calls='
read EIO EINTR EISDIR
pread64 EIO EINTR
write EIO ENOSPC EDQUOT EFBIG EINTR EAGAIN
pwrite64 EIO ENOSPC EINTR
openat EMFILE ENFILE EACCES ENOMEM EINTR EOPNOTSUPP
mmap ENOMEM ENODEV
munmap EINVAL
madvise EINVAL EAGAIN
ftruncate EIO EFBIG EINTR
fallocate ENOSPC EIO EFBIG EOPNOTSUPP EINTR
fsync EIO ENOSPC
fdatasync EIO ENOSPC
msync EIO
fcntl ENOLCK EINTR EAGAIN EINVAL
newfstatat EIO ENOMEM
fstat EIO ENOMEM
fstatfs EIO
lseek ESPIPE
linkat EPERM ENOENT EEXIST EIO
link EPERM EIO
rename EIO EACCES
unlink EACCES
unlinkat EACCES EIO
mkdir EACCES ENOSPC
rmdir EACCES
getdents64 EIO
readlink EIO
poll EINTR ENOMEM
pipe2 EMFILE
vfork EAGAIN
clone EAGAIN
clone3 EAGAIN
wait4 EINTR ECHILD
close EIO EINTR
getrandom EAGAIN
access EACCES
rt_sigaction EINVAL
sigaltstack ENOMEM
'

# A form: what runs (form_NAME), what must stand before (prepare_NAME), what must be true of a run
# that says it went well (done_NAME) and, after a run that failed, once it was run again (again_NAME).
# Where one of these is not said, it is that of the filter form.
its() {
    if declare -F "$1_$2" >/dev/null; then "$1_$2"; else "$1_filter"; fi
}

all_in() {
    "$UNSEEN" query -v -c f.bf in >"$BATS_TEST_TMPDIR/missing" 2>&1
    [[ $(cat "$BATS_TEST_TMPDIR/missing") == 0 ]] || { echo "not remembered: $(cat "$BATS_TEST_TMPDIR/missing")"; return 1; }
}

prepare_filter() { cp made.bf f.bf; }
form_filter() { strace_it f.bf in >part; }
done_filter() { same part in && all_in; }
again_filter() {
    "$UNSEEN" f.bf in >rest 2>/dev/null || return 1
    none_lost in part rest && all_in
}

form_output() { strace_it f.bf in -a part; }
form_durable() { strace_it --durable f.bf in >part; }
form_exec() { strace_it f.bf in -x sh -c 'cat >part'; }

form_pending() { strace_it --pending keys f.bf in >part; }
done_pending() { same part in && "$UNSEEN" commit f.bf keys 2>/dev/null && all_in; }
again_pending() {
    # What it left is refused, or it is whole, and so is what was printed.
    if [[ -e keys ]] && "$UNSEEN" commit f.bf keys 2>/dev/null; then
        same part in && all_in
    else
        again_filter
    fi
}

prepare_commit() { prepare_filter; cp made.keys keys; }
form_commit() { strace_it commit f.bf keys; }
done_commit() { all_in; }
again_commit() { "$UNSEEN" commit f.bf keys 2>/dev/null && all_in; }

form_add() { strace_it add f.bf in; }
done_add() { all_in; }
again_add() { "$UNSEEN" add f.bf in 2>/dev/null && all_in; }

prepare_implied() { :; }
form_implied() { strace_it --create -n 100 -p 1e-9 f.bf in >part; }
again_implied() {
    "$UNSEEN" --create -n 100 -p 1e-9 f.bf in >rest 2>/dev/null || return 1
    none_lost in part rest && all_in
}

prepare_create() { :; }
form_create() { strace_it create -n 100 -p 1e-9 f.bf; }
done_create() { "$UNSEEN" f.bf in >part 2>/dev/null && same part in && all_in; }
again_create() {
    # A name that is there is a whole filter.
    [[ -e f.bf ]] || "$UNSEEN" create -n 100 -p 1e-9 f.bf || return 1
    done_create
}

prepare_remove() { cp counting.bf f.bf; }
form_remove() { strace_it remove f.bf in; }
done_remove() {
    "$UNSEEN" query f.bf in >rest 2>&1 || true
    [[ ! -s rest ]] || { echo "not removed: $(wc -l <rest)"; return 1; }
    "$UNSEEN" query f.bf kept | cmp - kept
}
again_remove() { "$UNSEEN" remove f.bf in 2>/dev/null && done_remove; }

# The same with a queue: what was pushed waits, and what was popped is off.
a_queue_for() {
    rm -rf "$1" "$1.queue"
    cp "$2" "$1"
    cp -r "$2.queue" "$1.queue"
}

pop_all() {
    code=0
    "$UNSEEN" pop f.bf -m 1e6 >"$1" 2>/dev/null || code=$?
    [[ $code -eq 0 || ($code -eq 1 && ! -s $1) ]]
}

prepare_push() { a_queue_for f.bf made-queue.bf; }
form_push() { strace_it push f.bf in; }
done_push() { pop_all part && same part in && all_in; }
again_push() { "$UNSEEN" push f.bf in 2>/dev/null && pop_all rest && none_lost in rest && all_in; }

prepare_pop() { a_queue_for f.bf full-queue.bf; }
form_pop() { strace_it pop f.bf -m 1e6 >part; }
done_pop() { same part in && pop_all rest && [[ ! -s rest ]]; }
again_pop() { pop_all rest && none_lost in part rest; }

prepare_popexec() { prepare_pop; }
form_popexec() { strace_it pop f.bf -m 1e6 -x sh -c 'cat >part'; }
done_popexec() { done_pop; }
again_popexec() { again_pop; }

# Lines that have failed before are given up, the others go to the back.
prepare_popfailexec() {
    prepare_pop
    "$UNSEEN" pop f.bf -m $(($(wc -l <in) / 2)) --tries 2 -x sh -c 'cat >/dev/null; false'
}
form_popfailexec() { strace_it pop f.bf -m 1e6 --tries 2 -x sh -c 'cat >/dev/null; false'; }
done_popfailexec() { again_popfailexec && sort rest f.bf.failed | cmp - in; }
again_popfailexec() {
    touch f.bf.failed
    pop_all rest && none_lost in rest f.bf.failed
}

# The first push, which makes the queue.
prepare_queue() { prepare_filter; }
form_queue() { form_push; }
done_queue() { done_push; }
again_queue() { again_push; }

# Calls that the loader makes, too, before there is a program that could answer for
# them: counting begins behind those of a run that does nothing.
loader_calls=' mmap munmap openat read pread64 access close '

first_call() {
    [[ $loader_calls == *" $1 "* ]] || { echo 1; return; }
    strace -qq -o trace -e trace="$1" "$UNSEEN" --version >/dev/null
    echo $(($(wc -l <trace) + 1))
}

# strace does not do the call that it makes fail. A close(2) that fails has closed
# the file all the same, so with a CMD on the other end that would wait for ever, the
# fault would be strace's.
sweep_skips() { [[ $1 == *exec && $2 == close ]]; }

# sweep_start LINES: the input and what the forms start from. The filter grows several times.
sweep_start() {
    input "$1" >in
    "$UNSEEN" create -n 100 -p 1e-9 made.bf
    "$UNSEEN" --pending made.keys made.bf in >/dev/null
    input 50 100000 >kept
    "$UNSEEN" create --counting -n 100 -p 1e-9 counting.bf
    "$UNSEEN" add counting.bf in kept 2>/dev/null
    "$UNSEEN" create -n 100 -p 1e-9 made-queue.bf
    "$UNSEEN" push made-queue.bf </dev/null
    a_queue_for full-queue.bf made-queue.bf
    "$UNSEEN" push full-queue.bf in 2>/dev/null
}

strace_it() {
    local fault=()
    [[ -z $error ]] || fault=(-e "inject=$call:$how:when=$n")
    timeout --foreground -k 5 60 strace -qq -o trace -e "trace=$call" "${fault[@]}" "$UNSEEN" "$@"
}

sweep_wrong() {
    echo "form $form, call $n of $call fails with $error, exit code $code: $*"
    cat said
    tail -n 3 trace
    return 1
}

start_over() {
    rm -rf f.bf* part rest keys trace
    : >part
    its prepare "$1"
}

# calls_of FORM: those that it makes while none fails, with a space around each.
calls_of() {
    local call=all error='' code=0
    start_over "$1"
    "form_$1" 2>said || code=$?
    [[ $code -eq 0 ]] || { cat said >&2; return 1; }
    sed -n 's/^\([a-z_0-9]*\)(.*/\1/p' trace | sort -u | paste -sd ' ' | sed 's/.*/ & /'
}

# sweep_one FORM CALL ERROR: N from 1 until a run is clean. Adds to `runs`.
sweep_one() {
    local form=$1 call=$2 error=$3 how=error=$3 n code
    ! sweep_skips "$form" "$call" || return 0
    for ((n = $(first_call "$call"); n < 2000; n++)); do
        start_over "$form"
        code=0
        "form_$form" 2>said || code=$?
        grep -q INJECTED trace || return 0
        runs=$((runs + 1))
        # The loader's own trouble is not the program's.
        [[ $code -ne 127 ]] || ! grep -q 'error while loading' said || continue
        case $code in
        0) its 'done' "$form" || { sweep_wrong 'says that it is done'; return 1; } ;;
        1) [[ $form == pop* ]] && { sweep_wrong 'nothing found'; return 1; } ;;
        2 | 3 | 75 | 126)
            grep -q '^unseen: ' said || { sweep_wrong 'without a word'; return 1; }
            its again "$form" || { sweep_wrong 'lost'; return 1; }
            ;;
        *) sweep_wrong 'died or hung'; return 1 ;;
        esac
        if [[ -e f.bf ]]; then
            code=0
            "$UNSEEN" verify f.bf >>said 2>&1 || code=$?
            [[ $code -le 1 ]] || { sweep_wrong 'damaged filter'; return 1; }
        fi
        [[ $form != create || $code -lt 2 || -z $(find . -name 'f.bf?*') ]] || { sweep_wrong 'debris'; return 1; }
    done
    sweep_wrong 'no end'
}

# What all forms do alike before there are lines: with one errno a call, it fails in the filter form alone.
sweep_shared=' madvise munmap rt_sigaction sigaltstack getrandom access '

# sweep_all ERRORS FORM...: all calls, the first ERRORS errnos of each.
sweep_all() {
    local most=$1 form call errors error failed=0 i before made
    shift
    runs=0
    for form; do
        before=$runs
        made=$(calls_of "$form") || return 1
        while read -r call errors; do
            [[ -n $call && $made == *" $call "* ]] || continue
            [[ $most -gt 1 || $form == filter || $sweep_shared != *" $call "* ]] || continue
            i=0
            for error in $errors; do
                [[ $i -lt $most ]] || break
                i=$((i + 1))
                sweep_one "$form" "$call" "$error" || failed=$((failed + 1))
            done
        done <<<"$sweep_calls"
        echo "$form: $((runs - before)) runs with a failed call"
    done
    [[ $failed -eq 0 && $runs -gt 0 ]] || { echo "$failed kinds of failure are wrong"; return 1; }
}

# killed_at_each FORM [CALL...]: kill -9 at the first, the second, ... of each of its system calls, or of
# these alone. After each, the filter is sound, `after_kill` holds, the same run again loses nothing, and
# `in_the_end` holds.
after_kill() { :; }
in_the_end() { :; }
killed_at_each() {
    local form=$1 call n calls=${*:2} error=KILL how=signal=KILL code killed=0
    [[ -n $calls ]] || calls=$(calls_of "$form") || return 1
    for call in $calls; do
        ! [[ $call == execve || $call == exit_group ]] || continue
        for ((n = $(first_call "$call"); n < 2000; n++)); do
            start_over "$form"
            "form_$form" 2>said || true
            grep -q 'killed by SIGKILL' trace || break
            killed=$((killed + 1))
            code=0
            [[ ! -e f.bf ]] || "$UNSEEN" verify f.bf >>said 2>&1 || code=$?
            [[ $code -le 1 ]] || sweep_wrong 'damaged filter' || return 1
            after_kill || sweep_wrong 'killed there' || return 1
            { its again "$form" && in_the_end; } || sweep_wrong 'lost' || return 1
        done
    done
    echo "$form: $killed kills, each at another system call"
    [[ $killed -gt 5 ]]
}
