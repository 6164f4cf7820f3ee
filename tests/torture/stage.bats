#!/usr/bin/env bats
# A stage of 13 MB before a layer of 107 MB, the size at which emptying takes long enough to be hit: kills at
# every moment while it fills and is emptied, full disks, and 10^8 lines through it.
#
# TORTURE_ROOM is where the filters lie: /dev/shm unless told, where a stage is emptied fastest.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load ../helper
load ../crash
load scale
load disk
with_stages

create=(create --force -p 1e-9 -n 20M)

# Lines that have still room in the stage of a template.
before=3000

# The state of layer 1 of f.bf: it is odd while its stage is in use; whether that is, or was, being emptied.
era() { od -An -v -tu8 -j 9224 -N 8 f.bf | tr -d ' '; }
marked() { [[ $(od -An -v -tu8 -j 9264 -N 8 f.bf) -ne 0 ]]; }

fresh() { cp --sparse=always template.bf f.bf; }

# template LINES: template.bf, whose stage still takes about $before lines; ./old, the lines in it; ./in, so
# many others. Sets `duration`, microseconds that a run over ./in takes, which are those of emptying but for
# a few.
template() {
    local where=${TORTURE_ROOM:-/dev/shm} room=700000 from
    [[ -d $where && -w $where ]] || skip "no directory $where (TORTURE_ROOM names another)"
    public=$(mktemp -d "$where/unseen-stage.XXXXXX")
    cd "$public" || return 1
    # As many as one run puts there.
    until exits 0 unseen "${create[@]}" f.bf && seq $room | "$UNSEEN" add f.bf && [[ $(era) -eq 1 ]]; do
        room=$((room - 2000))
        [[ $room -gt 0 ]] || return 1
    done
    seq $((room - before)) >old
    input "$1" >in
    exits 0 unseen "${create[@]}" f.bf || return 1
    exits 0 unseen add f.bf old || return 1
    mv f.bf template.bf
    fresh
    from=${EPOCHREALTIME/./}
    "$UNSEEN" f.bf in >"$out" || return 1
    duration=$((${EPOCHREALTIME/./} - from))
    [[ $(era) -eq 3 ]] || { echo 'the run did not empty a stage'; return 1; }
    echo "a stage of $room lines, emptied in less than $((duration / 1000)) ms"
}

# stage_moment: as `moment`: where the stage is not yet emptied three of four lie while it is, the others
# in what is printed before; then in all that is printed after.
stage_moment() {
    if marked; then
        moment=(0 $((RANDOM * (duration / 1000) * 750 / 32768)))
    elif [[ $(era) -gt 1 ]]; then
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
    has f.bf old in || return 1
    capture unseen verify f.bf
    [[ $code -le 1 ]] || complain verify || return 1
    ! grep -v 'a writer died with lines in flight' "$out"
}

# ends_well: the next run prints the rest, and all is in.
ends_well() {
    "$UNSEEN" f.bf in >part 2>"$err" || { cat "$err"; return 1; }
    follow part || return 1
    [[ $next -eq $lines ]] || { echo "$((lines - next)) lines lost"; return 1; }
    all_is_in
}

# kills_of_stage KILLS SIGNAL: as kill_and_rerun; up to twenty on each copy of the template, at most five of
# them after the stage was emptied.
kills_of_stage() {
    local wanted signal=$2 kills=0 tries=0 inside=0 repeated=0 next from count moment i after lines duration
    wanted=$(scaled "$1")
    lines=100000
    template $lines || return 1
    while [[ $kills -lt $wanted ]]; do
        fresh
        next=0 after=0
        for ((i = 0; i < 20 && next < lines; i++)); do
            stage_moment
            [[ $(era) -eq 1 ]] || after=$((after + 1))
            [[ $after -le 5 ]] || break
            tries=$((tries + 1))
            code=0
            "$tools/killed" "${moment[0]}" "${moment[1]}:$signal" env --default-signal=INT,TERM \
                "$UNSEEN" f.bf in >part 2>"$err" || code=$?
            [[ $code -eq $((128 + signal)) || $code -eq 0 ]] || complain "try $tries" || return 1
            whole part >kept
            follow kept || { echo "after try $tries"; return 1; }
            [[ $code -ne 0 ]] || continue
            if marked; then
                inside=$((inside + 1))
                kills=$((kills + 1))
                ((RANDOM % 8)) || has f.bf old || { echo "after try $tries"; return 1; }
            elif [[ $count -gt 0 && $next -lt $lines ]]; then
                kills=$((kills + 1))
            fi
        done
        ends_well || { echo "after try $tries"; return 1; }
    done
    echo "signal $signal: $kills at work of $tries, $inside of them while a stage was emptied; 0 lost, $repeated printed twice"
    [[ $inside -ge $((kills / 3)) || $kills -lt 30 ]]
}

@test "600 kills -9 while a stage fills and is emptied" {
    kills_of_stage 600 9
}

@test "100 times SIGINT and SIGTERM while a stage fills and is emptied" {
    kills_of_stage 50 2
    cd ..
    kills_of_stage 50 15
}

@test "100 times two writers of which one is killed while a stage fills and is emptied" {
    local wanted kills=0 tries=0 inside=0 next=0 moment lines duration other extra
    wanted=$(scaled 100)
    lines=50000
    template $lines
    while [[ $kills -lt $wanted ]]; do
        fresh
        tries=$((tries + 1))
        # It prints half of the lines, or all, or none.
        stage_moment
        "$UNSEEN" f.bf in >other 2>err.other 3>&- &
        other=$!
        code=0
        "$tools/killed" $((moment[0] / 2)) "${moment[1]}" "$UNSEEN" f.bf in >part 2>"$err" || code=$?
        ! marked || inside=$((inside + 1))
        wait $other || { cat err.other; false; }
        [[ $code -eq 137 || $code -eq 0 ]] || complain "try $tries"
        [[ $code -ne 137 ]] || kills=$((kills + 1))
        "$UNSEEN" f.bf in >again
        none_lost in part other again || { echo "try $tries"; false; }
        extra=$(($(whole part other again | wc -l) - lines))
        [[ $extra -le $batch_lines ]] || { echo "try $tries: $extra lines came twice"; false; }
        all_is_in || { echo "try $tries"; false; }
    done
    echo "$kills writers killed of $tries, while the stage was marked in $inside; 0 lost"
}

@test "killed at each call of emptying a stage: 0 lost" {
    local call most n all lines duration kills=0 inside=0 repeated next from count
    need_strace
    lines=12000
    template $lines
    for call in fallocate:9 fsync:9 fdatasync:9 sync_file_range:9 msync:9 madvise:20 fcntl:40 pread64:20; do
        most=$(scaled "${call#*:}") call=${call%:*}
        fresh
        strace -qq -o trace -e "trace=$call" "$UNSEEN" -j1 f.bf in >"$out"
        all=$(wc -l <trace)
        for ((n = 1; n <= all; n++)); do
            ((all <= most || RANDOM * all / 32768 < most)) || continue
            fresh
            next=0 repeated=0 code=0
            { strace -qq -o trace -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" \
                "$UNSEEN" -j1 f.bf in >part || code=$?; } 2>"$err"
            [[ $code -eq 137 ]] || complain "$call $n of $all"
            ! marked || inside=$((inside + 1))
            whole part >kept
            { follow kept && has f.bf old && ends_well; } || { echo "after $call $n"; false; }
            kills=$((kills + 1))
        done
    done
    echo "$kills kills at a call, $inside of them while the stage was marked; 0 lost"
    [[ $inside -gt 0 ]]
}

@test "a disk that is full, or fills up once a stage was emptied: lines go to their layer, and none is lost" {
    local -x free
    need_disk_of tmpfs 140
    seq 1500000 >in
    # In KB: nothing, too little for the stage, enough.
    for free in 0 5000 20000; do
        capture on tmpfs 140 sh -c '
            "$UNSEEN" create -p 1e-9 -n 20M f.bf || exit 11
            eval "$fill"
            "$UNSEEN" f.bf ../in >../got || exit 12
            rm filler
            "$UNSEEN" query -v f.bf ../in && exit 13
            "$UNSEEN" verify f.bf || exit 14'
        [[ $code -eq 0 ]] || complain "with $free K free"
        same got in
    done
}

@test "10^8 lines and their repeats: each once, with one thread and two, in one run and in ten" {
    local lines distinct threads piece
    lines=$(scaled 130000000)
    distinct=$(scaled 100000000)
    "$tools/genlines" "$lines" "$distinct" 17 24 32 | split -d -l $(((lines + 9) / 10)) - piece.
    for threads in 1 2; do
        exits 0 unseen create --force -p 1e-12 -n "$distinct" f.bf
        "$UNSEEN" "-j$threads" f.bf piece.?? >all
        exits 0 unseen create --force -p 1e-12 -n "$distinct" g.bf
        for piece in piece.??; do
            "$UNSEEN" "-j$threads" g.bf <"$piece"
        done | same all -
        [[ $(wc -l <all) -eq $distinct && $(era) -gt 1 ]]
        exits 0 unseen verify f.bf g.bf
    done
}
