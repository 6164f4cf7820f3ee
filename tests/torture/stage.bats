#!/usr/bin/env bats
# The stage that a large layer has by itself, at its full size: kills at every moment while it fills
# and is emptied, full disks, power cuts, and 10^8 lines through it.
#
# The filters have 540 MB, or 640 MB while their stage is full. TORTURE_ROOM is where they lie: /dev/shm
# unless told, where a stage is emptied fastest; 2.5 GB are needed there.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load scale
load disk

# Large enough that its one layer has a stage: at the default rate, and where verdicts show.
usual='-n 1.42e8'
tenth='-n 8.3e8 -p 0.1'
half='-n 2.3e9 -p 0.5'

# Lines that have still room in the stage of a template.
before=3000

go_to_room() {
    local where=${TORTURE_ROOM:-/dev/shm}
    [[ -d $where && -w $where ]] || skip "no directory $where (TORTURE_ROOM names another)"
    public=$(mktemp -d "$where/unseen-stage.XXXXXX")
    cd "$public" || return 1
}

# capacity CREATE_OPTION...: how many lines the stage of its one layer takes.
capacity() { "$UNSEEN" plan "$@" --json | sed -n 's/.*"stage":{"capacity":\([0-9]*\).*/\1/p'; }

# marked: a stage of f.bf is being emptied, or was when its writer died.
marked() { [[ $(od -An -v -tu8 -j 8208 -N 8 f.bf) -ne 0 ]]; }

# emptied: how often a stage of f.bf was emptied.
emptied() { od -An -v -tu8 -j 8200 -N 8 f.bf | tr -d ' '; }

fresh() { cp --sparse=always template.bf f.bf; }

# template LINES CREATE_OPTION...: template.bf, whose stage still takes $before lines; ./old, the lines in
# it; ./lines, so many others; ./in, what a run prints of these that nobody disturbs, and ./dropped, the
# rest. Sets `duration`, microseconds that this run took, which are those of emptying but for a few.
template() {
    local lines=$1 capacity from
    shift
    exits 0 unseen create --force "$@" template.bf || return 1
    capacity=$(capacity "$@")
    seq 1 99999999 | "$UNSEEN" template.bf -m $((capacity - before)) >old
    # shellcheck disable=SC2094 # the number, not the file
    input "$lines" >lines
    fresh
    from=${EPOCHREALTIME/./}
    "$UNSEEN" f.bf lines >in || return 1
    duration=$((${EPOCHREALTIME/./} - from))
    [[ $(emptied) -eq 1 ]] || { echo 'the run did not empty a stage'; return 1; }
    comm -23 lines in >dropped
    echo "$*: a stage of $capacity lines, emptied in less than $((duration / 1000)) ms"
}

# follow_part: as `follow part`. At high rates a stage drops lines by mistake, and no longer when it is
# emptied: those may come out later.
follow_part() {
    whole part | grep -vxFf dropped >kept
    follow kept
}

# stage_moment: as `moment`: where the stage is not yet emptied three of four lie while it is, the others
# in what is printed before; then in all that is printed after.
stage_moment() {
    if marked; then
        moment=(0 $((RANDOM * (duration / 1000) * 750 / 32768)))
    elif [[ $(emptied) -gt 0 ]]; then
        moment $(((lines - next) * line_bytes / 3))
    elif ((RANDOM % 4 == 0)); then
        moment $((before * line_bytes))
    else
        moment=($(((next + batch_lines < before ? before - batch_lines - next : 0) * line_bytes))
            $((RANDOM * (duration / 1000) * 750 / 32768)))
    fi
}

# all_is_in: all lines that came out before are still in, and nothing is wrong with the file, but that
# a dead writer's place may not have been taken by another yet.
all_is_in() {
    has f.bf old && has f.bf in || return 1
    capture unseen verify f.bf
    [[ $code -le 1 ]] || complain verify || return 1
    ! grep -v 'a writer died with lines in flight' "$out"
}

# kills_of_stage KILLS SIGNAL CREATE_OPTION...: as kill_and_rerun; up to twenty on each copy of the template, at most
# five of them after the stage was emptied.
kills_of_stage() {
    local wanted signal=$2 kills=0 tries=0 inside=0 copies=0 repeated=0 next from count moment i after lines duration
    wanted=$(scaled "$1")
    shift 2
    template 100000 "$@" || return 1
    lines=$(($(bytes_of in) / line_bytes))
    while [[ $kills -lt $wanted ]]; do
        fresh
        next=0 after=0
        copies=$((copies + 1))
        for ((i = 0; i < 20 && next < lines; i++)); do
            stage_moment
            [[ $(emptied) -eq 0 ]] || after=$((after + 1))
            [[ $after -le 5 ]] || break
            tries=$((tries + 1))
            code=0
            "$tools/killed" "${moment[0]}" "${moment[1]}:$signal" env --default-signal=INT,TERM \
                "$UNSEEN" f.bf lines >part 2>"$err" || code=$?
            [[ $code -eq $((128 + signal)) || $code -eq 0 ]] || complain "try $tries" || return 1
            follow_part || { echo "after try $tries"; return 1; }
            [[ $code -ne 0 ]] || continue
            if marked; then
                inside=$((inside + 1))
                kills=$((kills + 1))
                ((RANDOM % 8)) || has f.bf old || { echo "after try $tries"; return 1; }
            elif [[ $count -gt 0 && $next -lt $lines ]]; then
                kills=$((kills + 1))
            fi
        done
        "$UNSEEN" f.bf lines >part 2>"$err" || { cat "$err"; return 1; }
        follow_part || { echo "in the rerun after try $tries"; return 1; }
        [[ $next -eq $lines ]] || { echo "$((lines - next)) lines lost after try $tries"; return 1; }
        all_is_in || { echo "after try $tries"; return 1; }
    done
    echo "$* signal $signal: $kills at work of $tries, $inside of them while a stage was emptied, $copies filters; 0 lost, $repeated printed twice"
    [[ $inside -ge $((kills / 3)) || $kills -lt 30 ]]
}

@test "600 kills -9 while a stage fills and is emptied, at the default rate" {
    go_to_room
    # shellcheck disable=SC2086 # words
    kills_of_stage 600 9 $usual
}

@test "300 kills -9 at rates of 0.5 and 0.1, where all that is judged otherwise shows" {
    go_to_room
    # shellcheck disable=SC2086 # words
    kills_of_stage 200 9 $half
    # shellcheck disable=SC2086 # words
    kills_of_stage 100 9 $tenth
}

@test "100 times SIGINT and SIGTERM while a stage fills and is emptied" {
    go_to_room
    # shellcheck disable=SC2086 # words
    kills_of_stage 50 2 $usual
    # shellcheck disable=SC2086 # words
    kills_of_stage 50 15 $half
}

@test "100 times two writers of which one is killed while a stage fills and is emptied" {
    local wanted kills=0 tries=0 inside=0 twice=0 next=0 moment lines duration other extra
    wanted=$(scaled 100)
    go_to_room
    # shellcheck disable=SC2086 # words
    template 50000 $usual
    lines=50000
    while [[ $kills -lt $wanted ]]; do
        fresh
        tries=$((tries + 1))
        # It prints half of the lines, or all, or none.
        stage_moment
        "$UNSEEN" f.bf lines >other 2>err.other 3>&- &
        other=$!
        code=0
        "$tools/killed" $((moment[0] / 2)) "${moment[1]}" "$UNSEEN" f.bf lines >part 2>"$err" || code=$?
        ! marked || inside=$((inside + 1))
        wait $other || { cat err.other; false; }
        [[ $code -eq 137 || $code -eq 0 ]] || complain "try $tries"
        [[ $code -ne 137 ]] || kills=$((kills + 1))
        "$UNSEEN" f.bf lines >again
        none_lost in part other again || { echo "try $tries"; false; }
        extra=$(($(whole part other again | wc -l) - lines))
        [[ $extra -le $batch_lines ]] || { echo "try $tries: $extra lines came twice"; false; }
        twice=$((twice + extra))
        all_is_in || { echo "try $tries"; false; }
    done
    echo "$kills writers killed of $tries, while the stage was marked in $inside; 0 lost, $twice printed twice"
}

# killed_at_calls CALL MOST CREATE_OPTION...: runs are killed at their calls of CALL, from the first
# one that is not in a run over what is in already: at most MOST, the others left out by chance.
killed_at_calls() {
    local call=$1 most=$2 n all kept=0 repeated=0 next from count
    strace -qq -o trace -e "trace=$call" "$UNSEEN" -j1 f.bf lines >"$out"
    all=$(wc -l <trace)
    for ((n = 1; n <= all; n++)); do
        ((all <= most || RANDOM * all / 32768 < most)) || continue
        fresh
        next=0
        code=0
        { strace -qq -o trace -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" \
            "$UNSEEN" -j1 f.bf lines >part || code=$?; } 2>"$err"
        [[ $code -eq 137 ]] || complain "$call $n of $all" || return 1
        ! marked || kept=$((kept + 1))
        follow_part || { echo "$call $n"; return 1; }
        has f.bf old || { echo "$call $n"; return 1; }
        "$UNSEEN" f.bf lines >part || return 1
        follow_part || { echo "in the rerun after $call $n"; return 1; }
        [[ $next -eq $lines ]] || { echo "$((lines - next)) lines lost after $call $n"; return 1; }
        all_is_in || { echo "after $call $n"; return 1; }
        kills=$((kills + 1))
    done
    inside=$((inside + kept))
}

@test "killed at each call of emptying a stage: 0 lost" {
    local call lines duration kills=0 inside=0
    need_strace
    go_to_room
    # shellcheck disable=SC2086 # words
    template 12000 $half
    lines=$(($(bytes_of in) / line_bytes))
    for call in fallocate:9 fsync:9 fdatasync:9 sync_file_range:9 msync:9 madvise:20 fcntl:40 pread64:20 pwrite64:30; do
        fresh
        killed_at_calls "${call%:*}" "$(scaled "${call#*:}")" || return 1
    done
    echo "$kills kills at a call, $inside of them while the stage was marked; 0 lost"
    [[ $inside -gt 0 ]]
}

# --- full disks ----------------------------------------------------------------------

# A shell text: the lines of ../first are in f.bf, and no other line is lost.
judge_full='
    "$UNSEEN" query -v f.bf ../first >../missing || [ $? = 1 ] || exit 14
    [ ! -s ../missing ] || exit 15
    rm filler
    "$UNSEEN" f.bf ../lines >../rest || exit 16
    cat ../first ../rest | cmp - ../lines || exit 17
    "$UNSEEN" verify f.bf || exit 18'

@test "a disk that is full when a stage needs room: exit 2, all that came out is in, and no more is remembered" {
    local -x free options=$usual
    need_disk_of tmpfs 760
    seq 2500000 >lines
    # In KB: nothing, too little for the bits of the stage, for the journal of a million lines, of two, of three.
    for free in 0 2000 25000 40000 55000; do
        capture on tmpfs 760 sh -c '
            "$UNSEEN" create $options f.bf || exit 11
            eval "$fill"
            "$UNSEEN" f.bf ../lines >../first 2>../said
            [ $? = 2 ] || exit 12
            grep -q "^unseen: f.bf: no room for new lines: No space left on device" ../said || exit 13
            eval "$1"' sh "$judge_full"
        [[ $code -eq 0 ]] || { cat said; complain "with $free K free"; }
        echo "$free K free: $(wc -l <first) lines came out"
    done
}

@test "a disk that fills up once a stage was emptied: there is room for the lines that are let in" {
    local -x free=0 options=$usual capacity
    # shellcheck disable=SC2086 # words
    capacity=$(capacity $usual)
    need_disk_of tmpfs 760
    seq $((capacity + 6000)) >lines
    mkfifo feed
    capture on tmpfs 760 sh -c '
        "$UNSEEN" create $options f.bf || exit 11
        "$UNSEEN" f.bf <../feed >../first 2>../said &
        exec 4>../feed
        head -n $((capacity + 3000)) ../lines >&4
        until [ "$(wc -l <../first)" -eq $((capacity + 3000)) ]; do sleep 0.1; kill -0 $! || exit 12; done
        eval "$fill"
        tail -n 3000 ../lines >&4
        exec 4>&-
        wait $! || exit 13
        eval "$1"' sh "$judge_full"
    [[ $code -eq 0 ]] || { cat said; complain "of $capacity lines"; }
}

# --- 10^8 lines ----------------------------------------------------------------------

@test "10^8 lines and their repeats: the same comes out with one thread and two, in one run and in ten" {
    local lines distinct options threads first='' sum runs piece
    lines=$(scaled 130000000)
    distinct=$(scaled 100000000)
    "$tools/genlines" "$lines" "$distinct" 17 24 32 | split -d -l $(((lines + 9) / 10)) - piece.
    for options in "$usual" "$half"; do
        first=''
        for threads in 1 2; do
            for runs in one ten; do
                # shellcheck disable=SC2086 # words
                exits 0 "$UNSEEN" create --force $options f.bf
                if [[ $runs = one ]]; then
                    "$UNSEEN" "-j$threads" f.bf piece.?? >all
                else
                    for piece in piece.??; do
                        "$UNSEEN" "-j$threads" f.bf <"$piece"
                    done >all
                fi
                sum="$(wc -l <all) lines, $(cksum <all), a stage emptied $(emptied) times"
                echo "$options -j$threads, $runs: $sum"
                [[ ${first:=$sum} == "$sum" ]]
                [[ $options != "$usual" || $(wc -l <all) -eq $distinct ]]
                exits 0 "$UNSEEN" verify f.bf
            done
        done
    done
}
