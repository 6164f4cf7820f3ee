#!/usr/bin/env bats
# What depends on the file system that FILTER lies on: the times of files, and overlays.

load helper
load crash
load disk

# on_overlay OPTIONS SCRIPT: a bash in an overlay of two directories of a tmpfs, whose lower one has f.bf,
# with the line "before". OPTIONS are mount's.
on_overlay() {
    capture on tmpfs 32 bash -c '
        mkdir lower upper work merged
        echo before | "$UNSEEN" add --create -p 1e-9 lower/f.bf 2>/dev/null || exit 77
        mount -t overlay none -o "lowerdir=lower,upperdir=upper,workdir=work$1" merged || exit 77
        cd merged
        (eval "$2")
        status=$?
        cd .. && umount merged
        exit $status' bash "$1" "$2"
    [[ $code -ne 77 ]] || skip "cannot mount an overlay here: $(head -n 1 "$err")"
}

# --- readers on an overlay ----------------------------------------------------------

# The first writer gets a copy; who opened the file before keeps a map of the lower one.
@test "on an overlay, no reader that is older than the first writer takes for new what was added before the question" {
    need_mounts
    export form options
    for options in '' ,metacopy=on; do
        for form in 'query --tag f.bf' 'query -v f.bf' '--pending keys f.bf'; do
            on_overlay "$options" '
                # A copy without contents.
                [ -z "$options" ] || chown :1 f.bf
                mkfifo in out
                "$UNSEEN" $form <in >out & pid=$!
                exec 3>in 4<out
                echo a >&3
                read -r reply <&4 && [ "${reply#new?}" = a ] || exit 11
                echo b | "$UNSEEN" add f.bf || exit 12
                echo b >&3
                exec 3>&-
                reply=$(cat <&4)
                wait $pid
                echo "$? $reply"
                [ ! -e keys ] || exit 13'
            prints '75 \n' || complain "$form $options"
            says '^unseen: f\.bf: was copied by its first writer on an overlay during this run'
        done
    done
}

@test "on an overlay, --pending takes no line for new that a first writer had in flight before; then all is as anywhere" {
    need_mounts
    on_overlay '' '
        mkfifo in out
        "$UNSEEN" --pending keys f.bf <in >out & pid=$!
        exec 3>in 4<out
        echo a >&3
        read -r reply <&4 && [ "$reply" = a ] || exit 11
        echo b | "$UNSEEN" f.bf -x sh -c "cat; : >started; until [ -e go ]; do sleep 0.01; done" >first 3>&- 4<&- & writer=$!
        until [ -e started ]; do sleep 0.01; done
        echo b >&3
        exec 3>&-
        cat <&4
        wait $pid
        echo "$?"
        printf "a\nb\n" | "$UNSEEN" --pending keys f.bf
        : >go
        wait $writer && cat first && "$UNSEEN" commit f.bf keys
        printf "before\na\nb\nc\n" | "$UNSEEN" query --tag f.bf'
    prints '75\na\nb\nseen\tbefore\nseen\ta\nseen\tb\nnew\tc\n'
}

# --- the time of a file ------------------------------------------------------------------

# Lines go one by one to a run that stays, on a page that is dirty already. `aged` sets the time back, as if
# a backup had been made then; `moved` waits until a backup by size and seconds would see a change.
times='
    aged() { touch -d @978307200 f.bf; }
    moved() {
        for try in $(seq 500); do [ "$(stat -c %Y f.bf)" = 978307200 ] || return 0; sleep 0.01; done
        echo "$1: the time stands still"; exit 10
    }
    still() { [ "$(stat -c %Y f.bf)" = 978307200 ] || { echo "$1: the time has changed"; exit 11; }; }
    until_has() { until "$UNSEEN" query -q $2 f.bf <<<"$1"; do sleep 0.01; done; }
    create="create --force -n 50 --fixed -p 1e-9"
    for form in "--tag f.bf" "f.bf" "add f.bf" "push f.bf" "--durable f.bf -a got" "remove f.bf"; do
        rm -rf f.bf* in out invert
        "$UNSEEN" $create --counting f.bf 2>/dev/null && mkfifo in || exit 9
        [ "${form%% *}" != remove ] || { printf "a\nb\n" | "$UNSEEN" add f.bf && invert=-v; }
        "$UNSEEN" $form <in >/dev/null & pid=$!
        exec 3>in
        echo a >&3
        until_has a $invert
        aged
        echo b >&3
        until_has b $invert
        moved "$form, while it waits"
        exec 3>&-
        wait $pid || exit 12
        invert=
    done 2>/dev/null
    rm -rf f.bf*
    "$UNSEEN" $create f.bf 2>/dev/null
    seq 9 | "$UNSEEN" push f.bf && seq 20 29 | "$UNSEEN" --pending keys f.bf >/dev/null || exit 9
    aged
    for form in "query f.bf" "stats f.bf" "verify f.bf" "--pending other f.bf" "pop f.bf" "pop f.bf -x cat" f.bf; do
        seq 9 | "$UNSEEN" $form >/dev/null || exit 13
        still "$form"
    done
    "$UNSEEN" commit f.bf keys || exit 14
    moved commit'

@test "a file's time moves within a second of its bits, whatever the run waits for then, and not without them" {
    need_mounts
    local type
    for type in tmpfs ext4; do
        # A bare root has no loop devices.
        capture on "$type" 32 true
        [[ $code -eq 0 || $type == tmpfs ]] || continue
        exits 0 on "$type" 32 bash -c "$times"
        silent_on_stderr
    done
    on_overlay '' "rm f.bf; $times"
    [[ $code -eq 0 ]] || complain overlay
}

@test "the last bits of a run are in before its time is set, and a run without any sets none" {
    need_strace
    local form
    seq 9 >in
    creates -p 1e-9 f.bf
    for form in 'f.bf in' 'f.bf in -x cat' '--durable f.bf in -a got' 'add f.bf in' 'push f.bf in'; do
        exits 0 strace -qq -o trace -e trace=utimensat "$UNSEEN" $form
        exits 0 strace -qq -o trace2 -e trace=utimensat -e signal=none "$UNSEEN" $form
        [[ $(grep -c utimensat trace) -eq 1 && ! -s trace2 ]] || complain "$form"
        sed -i 's/^/1/' in
    done
}
