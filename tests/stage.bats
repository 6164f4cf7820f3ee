#!/usr/bin/env bats
# Stages: lines gather in one before they go into a large layer. Nothing of it may show but in the
# time that it takes; and a run that is killed in it, or fails, loses nothing.
#
# The stages here are small, so that they are emptied often (with_stages).

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash
with_stages

# lines_in LAYER: how many a layer has, from 1 on, as stats tells.
lines_in() {
    "$UNSEEN" stats --json f.bf | grep -o '"layer":.*' | grep -o '{"keys":[0-9]*' | sed -n "$1s/.*://p"
}

# bytes_planned MEMBER FILE: a size, as plan --json and stats --json tell it.
bytes_planned() { grep -o "\"$1\":[0-9]*" "$2" | head -n 1 | grep -o '[0-9]*'; }

# room_of FILE: how much it takes on the disk.
room_of() { echo $(($(stat -c '%b * %B' "$1"))); }

# stage_takes: how many lines the stage of f.bf takes.
stage_takes() {
    "$UNSEEN" stats --json f.bf | grep -o '"layer":.*' | grep -o '"capacity":[0-9]*' | head -n 1 | grep -o '[0-9]*'
}

# repeated_lines COUNT: lines of which most come again, at all distances.
repeated_lines() {
    awk -v n="$1" 'BEGIN { srand(7); for (i = 0; i < n; i++) printf "http://example.org/%d\n", rand() * (i / 2 + 9) }'
}

@test "the same bytes as without, in one run and in many, and all is in" {
    local part
    repeated_lines 300000 >in
    awk '!seen[$0]++' in >expected
    exits 0 unseen --create -p 1e-9 -n 200k f.bf in
    same "$out" expected
    [[ $(lines_in 1) -gt 0 && $(lines_in 2) -gt 20000 ]]
    has f.bf in
    exits 0 unseen verify f.bf
    exits 0 unseen f.bf in
    prints ''
    rm f.bf
    split -n l/40 in part.
    exits 0 unseen create -p 1e-9 -n 200k f.bf
    for part in part.*; do
        unseen f.bf "$part" || return 1
    done >many
    same many expected
}

@test "with many false positives, the cut of the input changes nothing" {
    local options part expected=''
    seq 60000 >in
    for options in -j1 -j2 '-m 1e9'; do
        rm -f f.bf
        # shellcheck disable=SC2086 # options are words
        unseen --create -n 40k -p 0.3 $options f.bf in >here 2>/dev/null
        [[ -n $expected ]] || expected=$(cksum <here)
        [[ $(cksum <here) == "$expected" ]] || { echo "$options: other lines"; return 1; }
    done
    rm -f f.bf
    split -n l/50 in part.
    for part in part.*; do
        cat "$part"
        sleep 0.01
    done | unseen --create -n 40k -p 0.3 f.bf >here 2>/dev/null
    [[ $(cksum <here) == "$expected" ]]
    [[ $(wc -l <here) -lt 59000 ]]
}

@test "a filter that grows; add, push, -x, --durable and --pending gather, too" {
    input 40000 >in
    exits 0 unseen create -p 1e-9 -n 5000 f.bf
    exits 0 unseen f.bf in
    says 'holds 5000 of 5000 lines, and grows'
    same "$out" in
    has f.bf in
    exits 0 unseen add f.bf < <(input 40000 50000)
    exits 0 unseen f.bf --durable < <(input 40000 100000)
    input 40000 100000 | same "$out" /dev/stdin
    exits 0 unseen f.bf -x cat < <(input 40000 150000)
    exits 0 unseen f.bf --pending keys < <(input 40000 200000)
    exits 0 unseen commit f.bf keys
    for first in 0 50000 100000 150000 200000; do
        exits 0 unseen query -c f.bf < <(input 40000 $first)
        prints '40000\n'
    done
    exits 0 unseen verify f.bf
    exits 0 unseen create -p 1e-9 -n 50k q.bf
    exits 0 unseen push q.bf in
    exits 0 unseen pop q.bf -m 1e6
    same "$out" in
    exits 0 unseen query -c q.bf in
    prints '40000\n'
}

@test "what it only seems to have is in all the same once it is emptied" {
    # A key that was found in the stage by mistake, and so was not set, went with it.
    local form
    seq 200000 >in
    for form in '-x cat' '--durable' add commit; do
        rm -f f.bf got
        exits 0 unseen create -n 200k -p 0.3 f.bf
        case $form in
        -x*) capture unseen f.bf in -x cat && cp "$out" got ;;
        --durable) capture unseen f.bf in --durable -a got ;;
        add) capture unseen add f.bf in && cp in got ;;
        commit) capture unseen --pending keys f.bf in && cp "$out" got && capture unseen commit f.bf keys ;;
        esac
        [[ $code -eq 0 && $(wc -l <got) -gt 100000 ]] || complain "$form"
        has f.bf got || complain "$form"
        # Once more: nothing is counted.
        [[ $form != commit ]] || { exits 0 unseen commit --summary f.bf keys && says ' 0 lines remembered'; }
    done
}

@test "what it only seems to have is in, too, if it is emptied while add looks" {
    need_strace
    local pid
    exits 0 unseen create -n 2000000 -p 0.3 f.bf
    exits 0 unseen add f.bf < <(seq $(($(stage_takes) - 100)))
    exits 0 unseen query f.bf < <(seq 1000000 1200000)
    cp "$out" seeming
    [[ $(wc -l <seeming) -gt 50 ]]
    # It waits between its look and the lock.
    strace -qq -o trace -e trace=fcntl -e inject=fcntl:delay_enter=3000000:when=7 "$UNSEEN" add f.bf seeming 3>&- &
    pid=$!
    sleep 1
    # The stage is cleared, and not yet handed over, when it goes on.
    strace -qq -o trace.2 -e trace=fsync -e inject=fsync:delay_enter=5000000:when=1 \
        "$UNSEEN" f.bf < <(seq 60001 61000) >"$out" 3>&-
    wait "$pid"
    has f.bf seeming
}

@test "lines that come again by commit and add are in once, and counted once" {
    input 9000 >in
    exits 0 unseen create -p 1e-9 -n 200k f.bf
    exits 0 unseen --pending keys f.bf in
    exits 0 unseen commit f.bf keys
    exits 0 unseen commit f.bf keys
    exits 0 unseen add f.bf in
    for _ in 1 2; do
        succeeds unseen verify f.bf
        exits 0 unseen stats --json f.bf
        holds "$(field keys) > 8900 && $(field keys) < 9100 && $(field keys_left) > 190900"
        # A writer that opens it mends no counter.
        exits 0 unseen f.bf </dev/null
    done
    # Emptied, the layer has them.
    exits 0 unseen f.bf < <(input 5000 100000)
    succeeds unseen verify f.bf
    [[ $(od -An -v -tu8 -j 9216 -N 8 f.bf) -gt 9000 && $(od -An -v -tu8 -j 9216 -N 8 f.bf) -le 14000 ]]
    exits 0 unseen stats --json f.bf
    holds "$(field keys) > 13900 && $(field keys) < 14100"
}

@test "emptied with a stack of 64 KB" {
    plain_build "needs a larger stack"
    local form
    seq 200000 >in
    for form in 'f.bf in' 'add f.bf in' 'f.bf in -x cat'; do
        rm -f f.bf
        exits 0 unseen create -n 200k -p 1e-9 f.bf
        # shellcheck disable=SC2016,SC2086 # words; the inner shell's
        exits 0 bash -c 'ulimit -s 64 && exec "$@"' - "$UNSEEN" $form
        has f.bf in
    done
}

@test "plan and stats show it" {
    local more
    exits 0 unseen plan -n 1e6
    grep -Eq '^size +[0-9]+ bytes \(3.9 MB\), at most [0-9]+ \(4.[4-6] MB\)$' "$out"
    grep -Eq '^stage +[0-9]+ lines, 6[0-9]* kB while it has any$' "$out"
    unseen plan -n 1e6 --json >planned
    exits 0 unseen create -n 1e6 f.bf
    [[ $(bytes_of f.bf) -eq $(bytes_planned bytes_at_most planned) ]]
    # Besides the file system's notes of where the pieces lie.
    [[ $(room_of f.bf) -le $(($(bytes_planned bytes planned) + 65536)) ]]
    unseen f.bf < <(seq 1000) >/dev/null
    exits 0 unseen stats f.bf
    grep -Eq '^capacity +1000000$' "$out"
    grep -Eq '^lines +1000$' "$out"
    grep -Eq '^stage 1 +1000 of [0-9]+ lines' "$out"
    grep -Eq '^layer 2 +0 of 1000000 lines' "$out"
    grep -Eq "^size on disk +[0-9]+ bytes \(3.9 MB\), at most $(bytes_of f.bf) \(4.[4-6] MB\)$" "$out"
    exits 0 unseen stats --json f.bf
    [[ $(bytes_planned bytes_at_most "$out") -eq $(bytes_of f.bf) ]]
    more=$(($(bytes_of f.bf) - $(bytes_planned bytes "$out")))
    [[ $more -eq $(grep -o '"size":[0-9]*' planned | grep -o '[0-9]*$') ]]
    exits 2 unseen create --stage 1M f.bf
    says '^unseen: --stage: unknown option \(a filter of that size has a stage by itself\)$'
}

@test "merged filters have the lines that gathered" {
    local i
    for i in 1 2 3; do
        exits 0 unseen create -p 1e-9 -n 30k "$i.bf"
        input 14000 $((i * 100000)) | unseen add "$i.bf"
    done
    exits 0 unseen merge -o all.bf 1.bf 2.bf 3.bf
    for i in 1 2 3; do
        exits 0 unseen query -c all.bf < <(input 14000 $((i * 100000)))
        prints '14000\n'
    done
    exits 0 unseen all.bf < <(input 50000 0)
    input 50000 0 | same "$out" /dev/stdin
    exits 0 unseen stats --json all.bf 1.bf
}

@test "lines that are found in a full stage stay found, however the next new one comes" {
    local full
    exits 0 unseen create -n 1e7 -p 0.5 f.bf
    full=$(stage_takes)
    seq 1000000 | exits 0 unseen f.bf -m "$full"
    [[ $(lines_in 2) -eq 0 ]]
    # Lines that nobody printed and that are found all the same; then one that is not.
    seq 2000000 2900000 | unseen query f.bf | head -n 20 >found
    seq 2000000 2900000 | unseen query -v -m 1 f.bf >new
    [[ $(wc -l <found) -eq 20 ]]
    cp f.bf g.bf
    exits 0 unseen f.bf found new
    cp "$out" apart
    cat found new | exits 0 unseen g.bf
    same "$out" apart
    same "$out" new
    [[ $(lines_in 2) -gt 0 ]]
}

@test "merging a filter in use: what is emptied meanwhile is not missed" {
    local pid
    need_strace
    exits 0 unseen create -p 1e-9 -n 400k f.bf
    input $(($(stage_takes) - 3000)) | unseen add f.bf
    strace -qq -o trace -e trace=pwrite64 -e inject=pwrite64:delay_enter=50000 \
        "$UNSEEN" merge -o merged.bf f.bf 2>m.err 3>&- &
    pid=$!
    until [[ $(grep -c pwrite64 trace 2>/dev/null) -gt 10 ]]; do
        kill -0 $pid
        sleep 0.01
    done
    exits 0 unseen f.bf < <(input 6000 100000)
    [[ $(emptied) -eq 1 ]]
    kill -0 $pid
    wait $pid
    has merged.bf <(input $(($(stage_takes) - 3000)))
}

# --- killed ------------------------------------------------------------------------

@test "100 kills -9 at work: 0 lost, at most a batch twice" {
    input 60000 >in
    kill_and_rerun 100 5 -n 200k
}

@test "60 kills -9 at work while it grows: 0 lost, at most a batch twice" {
    input 60000 >in
    kill_and_rerun 60 4 -n 3000
}

# killed_at CALL N [DONE]: a writer over 13000 new lines is killed in its Nth CALL: while a stage is
# emptied, or when that was DONE but for giving back its room. All that came out stays in, for a reader
# too, and the next run prints the rest.
killed_at() {
    local half kept
    exits 0 unseen create --force -p 1e-9 -n 50k f.bf || return 1
    input 9000 | unseen add f.bf
    input 13000 9000 >in
    code=0
    strace -qq -o trace -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" "$UNSEEN" f.bf in >first 2>"$err" || code=$?
    [[ $code -eq 137 ]] || { echo "$1 $2: exit code $code"; return 1; }
    head -c $(($(bytes_of first) / line_bytes * line_bytes)) first >whole
    half=$(($(bytes_of whole) / line_bytes))
    capture unseen verify f.bf
    if [[ ${3-} ]]; then
        [[ $code -eq 0 ]] || complain "$1 $2: verify" || return 1
    else
        [[ $code -eq 1 ]] || complain "$1 $2: verify" || return 1
        grep -q 'f.bf: a writer died while it emptied a stage (' "$out" ||
            complain "$1 $2: verify does not say it" || return 1
    fi
    kept=$(cat whole <(input 9000) | "$UNSEEN" query -c f.bf)
    # Of the last batch nothing need be in.
    [[ $kept -ge $((9000 + half - batch_lines)) ]] ||
        { echo "$1 $2: only $kept of $((9000 + half)) are in"; return 1; }
    has f.bf <(input 9000) || return 1
    exits 0 unseen f.bf in || return 1
    none_lost in whole "$out" || return 1
    exits 0 unseen verify f.bf || return 1
    exits 0 unseen f.bf in <(input 9000) || return 1
    prints ''
}

@test "killed at each call while it is emptied: nothing is lost, the next one does it again" {
    local n before
    need_strace
    # The reads of the journal come behind those of the file's head.
    exits 0 unseen create -p 1e-9 -n 50k f.bf
    input 9000 | unseen add f.bf
    input 13000 9000 >in
    strace -qq -o trace -e trace=pread64 "$UNSEEN" f.bf in >"$out"
    before=$(grep -n ', 8192, ' trace | head -n 1 | cut -d : -f 1)
    [[ $before -gt 1 ]]
    for ((n = before; n < before + 5; n++)); do
        killed_at pread64 "$n" || return 1
    done
    killed_at sync_file_range 1
    killed_at fdatasync 1
    killed_at fsync 1
    # Two calls ask for room, then the stage is given back, then its journal.
    killed_at fallocate 3
    killed_at fdatasync 2 emptied
    killed_at fallocate 4 emptied
}

@test "the layer is on disk before bits go, and so on to the journal: the order of calls" {
    need_strace
    exits 0 unseen create -p 1e-9 -n 50k f.bf
    input 9000 | unseen add f.bf
    input 13000 9000 >in
    strace -qq -o trace -e trace=fallocate,fsync,fdatasync "$UNSEEN" f.bf in >"$out"
    sed -nE 's/^fallocate.*PUNCH_HOLE.*/gone/p; s/^f(data)?sync.*/flushed/p' trace >order
    # The layer; the stage's bits, then that they are gone; that its lines are the layer's; its journal.
    printf '%s\n' flushed gone flushed flushed gone | same order /dev/stdin
}

@test "Ctrl-C while it is emptied: what came out is in, and the next run goes on" {
    need_strace
    exits 0 unseen create -p 1e-9 -n 50k f.bf
    input 9000 | unseen add f.bf
    input 13000 9000 >in
    local n
    strace -qq -o trace -e trace=pread64 "$UNSEEN" query f.bf </dev/null || true
    n=$(($(wc -l <trace) + 12))
    code=0
    strace -qq -o trace -e trace=pread64 -e "inject=pread64:signal=INT:when=$n" "$UNSEEN" f.bf in >first 2>"$err" || code=$?
    [[ $code -eq 130 ]] || { cat "$err" trace; echo "exit code $code"; return 1; }
    [[ ! -s $err ]]
    has f.bf first
    exits 0 unseen f.bf in
    cat first "$out" | same /dev/stdin in
}

@test "what fails while it is emptied is said, and nothing is lost" {
    local call
    need_strace
    for call in fdatasync:1:EIO fsync:1:EIO fdatasync:1:ENOSPC; do
        local name=${call%%:*} rest=${call#*:}
        exits 0 unseen create --force -p 1e-9 -n 50k f.bf
        input 9000 | unseen add f.bf
        input 13000 9000 >in
        exits 2 strace -qq -o trace -e "trace=$name" -e "inject=$name:error=${rest#*:}:when=${rest%%:*}" \
            "$UNSEEN" f.bf in
        says '^unseen: f\.bf: cannot be written: '
        cp "$out" first
        has f.bf first
        exits 0 unseen f.bf in
        cat first "$out" | same /dev/stdin in || { echo "$call"; return 1; }
    done
}

@test "a journal that cannot be written to: lines go to their place at once" {
    need_strace
    exits 0 unseen create -p 1e-9 -n 50k f.bf
    input 9000 >in
    exits 0 strace -qq -o trace -e trace=pwrite64 -e inject=pwrite64:error=EIO "$UNSEEN" f.bf in
    same "$out" in
    exits 0 unseen query -c f.bf in
    prints '9000\n'
    [[ $(lines_in 1) -eq 0 && $(lines_in 2) -gt 8900 ]]
}

# --- its room in the file ---

@test "a stage is a hole: it gets its room before its keys come, and gives it back when it is emptied" {
    local rest room
    exits 0 unseen create -p 1e-9 -n 36M f.bf
    rest=$(room_of f.bf)
    [[ $rest -lt $(($(bytes_of f.bf) - 32000000)) ]]
    # The bits of all, and the journal of a million.
    exits 0 unseen f.bf < <(seq 100)
    room=$(room_of f.bf)
    [[ $((room - rest)) -gt 16000000 && $((room - rest)) -lt 28000000 ]]
    exits 0 unseen f.bf < <(seq 1400000)
    [[ $(room_of f.bf) -gt $((rest + 32000000)) ]]
    [[ $(emptied) -eq 0 ]]
    exits 0 unseen f.bf < <(seq 1500000)
    # But for the file system's notes of where the pieces lie: they grow as pages are written one by one.
    [[ $(emptied) -eq 1 && $(room_of f.bf) -ge $room && $(room_of f.bf) -lt $((room + 262144)) ]]
    has f.bf <(seq 1500000)
    exits 0 unseen verify f.bf
}

# emptied: how often f.bf emptied a stage.
emptied() { od -An -t u8 -j 8200 -N 8 f.bf | tr -d ' '; }

# asked ARGUMENT...: f.bf is new; the program, in the background, has it open, was asked for line 0 and has
# written to ./answers. It reads more from ${to}.
asked() {
    exits 0 unseen create -p 1e-9 -n 200k f.bf
    mkfifo ask
    "$UNSEEN" "$@" <ask >answers 3>&- &
    asked=$!
    exec {to}>ask
    echo 0 >&"$to"
    until [[ -s answers ]]; do sleep 0.01; done
}

# all_found LAST: it is asked for 1 to LAST, and finds them all.
all_found() {
    seq "$1" >&"$to"
    exec {to}>&-
    wait "$asked" # $! is that of a <(...) by now
    seq "$1" | sed 's/^/seen\t/' | cat <(printf 'new\t0\n') - | same answers /dev/stdin
}

@test "an empty layer is not looked into; who opened it then finds what came since" {
    asked query --tag f.bf
    # Its stage is emptied again and again.
    exits 0 unseen f.bf < <(seq 60000)
    [[ $(emptied) -gt 2 ]]
    all_found 60000
}

@test "an empty layer is looked into once lines went there past a stage that could not be written to" {
    need_strace
    asked query --tag f.bf
    exits 0 strace -qq -o trace -e trace=pwrite64 -e inject=pwrite64:error=EIO "$UNSEEN" f.bf < <(seq 9000)
    [[ $(emptied) -eq 0 && $(lines_in 2) -gt 8900 ]]
    all_found 9000
}

@test "an empty layer is looked into once its stage was emptied, whatever a killed writer left for its count" {
    asked f.bf
    exits 0 unseen f.bf < <(seq 12000)
    [[ $(emptied) -eq 1 && $(lines_in 2) -gt 11000 ]]
    dd if=/dev/zero of=f.bf bs=8 seek=1152 count=1 conv=notrunc status=none
    capture unseen verify f.bf
    grep -q "layer 2: its counter says 0" "$out"
    seq 12000 >&"$to"
    exec {to}>&-
    wait "$asked"
    echo 0 | same answers -
}

@test "a stage whose room cannot be had: exit 2, and all that came out is in" {
    local n
    need_strace
    seq 2000000 >in
    for n in 1 2 3 4 7; do
        exits 0 unseen create --force -p 1e-9 -n 36M f.bf
        capture strace -qq -o trace -e trace=fallocate -e inject=fallocate:error=ENOSPC:when="$n" "$UNSEEN" f.bf in
        [[ $code -eq 2 || $n -eq 4 ]] || complain "call $n"
        [[ $n -eq 4 ]] || says '^unseen: f\.bf: no room for new lines: No space left on device'
        cp "$out" first
        has f.bf first || complain "call $n"
        exits 0 unseen f.bf in
        cat first "$out" | same /dev/stdin in
    done
}

@test "a stage on a file system that knows no holes: the file has its room from the start" {
    need_strace
    seq 300000 >in
    local trace=(strace -qq -o trace -e trace=fallocate -e "inject=fallocate:error=EOPNOTSUPP")
    exits 0 "${trace[@]}" "$UNSEEN" create -p 1e-9 -n 1M f.bf
    [[ $(room_of f.bf) -ge $(($(bytes_of f.bf) - 8192)) ]]
    exits 0 "${trace[@]}" "$UNSEEN" f.bf in
    same "$out" in
    [[ $(emptied) -gt 0 && $(room_of f.bf) -ge $(($(bytes_of f.bf) - 8192)) ]]
    has f.bf in
    exits 0 unseen verify f.bf
}

@test "a large layer has a stage by itself, a small one has none, and neither has one in memory" {
    UNSEEN=${tools%/tests/tools}/unseen
    exits 0 unseen plan -n 1e8 --json
    run -1 grep -q '"stage"' "$out"
    exits 0 unseen plan -n 2e8 --json
    holds "$(bytes_planned bytes_at_most "$out") < $(bytes_planned bytes "$out") * 1.17"
    [[ $(grep -o '"stage":{"capacity":[0-9]*' "$out" | grep -o '[0-9]*$') -gt 5900000 ]]
    for kind in '-n 2e8 --counting' '-n 2e8 --forget-after 1d' '--window 2e8'; do
        # shellcheck disable=SC2086 # words
        exits 0 unseen plan $kind --json
        run -1 grep -q '"stage"' "$out"
    done
    exits 0 unseen -n 2e8 f.bf --create < <(seq 1000)
    says '^unseen: f\.bf: created \(for 200000000 lines, 762 MB, at most 889 MB, '
    [[ $(lines_in 1) -eq 1000 && $(lines_in 2) -eq 0 ]]
    [[ $(room_of f.bf) -lt 820000000 ]]
    exits 0 unseen create --like f.bf g.bf
    [[ $(bytes_of g.bf) -eq $(bytes_of f.bf) ]]
    exits 0 unseen --size 1G < <(seq 10)
}

@test "a size that was given is all there is: no stage beside it" {
    exits 0 unseen create --size 3000000 f.bf
    [[ $(bytes_of f.bf) -le 3000000 && $(room_of f.bf) -ge 2980000 ]]
    exits 0 unseen add f.bf < <(seq 900000)
    [[ $(bytes_of f.bf) -le 3000000 && $(room_of f.bf) -le 3010000 ]]
}

@test "a copy with holes, or with none, of a filter with a stage is as good" {
    local how
    seq 20000 >in
    exits 0 unseen create -p 1e-9 -n 1M f.bf
    exits 0 unseen f.bf in
    for how in always never auto; do
        cp --sparse=$how f.bf copy.bf
        has copy.bf in
        exits 0 unseen copy.bf < <(seq 300000)
        exits 0 unseen verify copy.bf
        has copy.bf <(seq 300000)
    done
}

# --- several -----------------------------------------------------------------------

@test "8 writers, overlapping inputs: each line exactly once, 5 runs" {
    local i
    overlapping 12000 5000
    for ((i = 0; i < 5; i++)); do
        exits 0 unseen create --force -n 20k -p 1e-9 f.bf
        writers 8 "$UNSEEN" f.bf in.%i
        each_once in out.* || { echo "run $i"; false; }
        exits 0 unseen verify f.bf
    done
    [[ $(lines_in 2) -gt 10000 ]]
}

@test "15 times 8 writers of which three are killed, their input run again: 0 lost" {
    local hits
    input 30000 >in
    some_killed 15 -n 20k
    [[ $hits -gt 0 ]]
}

@test "while it is emptied readers find all, and writers settle what they have in flight" {
    local pid settled drained
    need_strace
    exits 0 unseen create -p 1e-9 -n 50k f.bf
    input 9000 | unseen add f.bf
    # B has lines in flight that nobody takes yet.
    input 4000 500000 >b.in
    stall "$UNSEEN" f.bf b.in
    input 13000 9000 >in
    # A stands in the flush between setting the layer and clearing the stage.
    strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:delay_enter=8s:when=1 "$UNSEEN" f.bf in >a.out 2>a.err 3>&- &
    pid=$!
    until grep -q fdatasync trace 2>/dev/null; do
        kill -0 $pid
        sleep 0.05
    done
    has f.bf <(input 9000)
    settled=$("$UNSEEN" query -c f.bf b.in || true)
    drain b.out 3>&- &
    drained=$!
    exec {hold}>&-
    until [[ $("$UNSEEN" query -c f.bf b.in) -gt $settled ]]; do
        sleep 0.05
    done
    kill -0 $pid
    wait $pid
    wait "$stalled"
    wait "$drained"
    same a.out in
    same b.out b.in
    has f.bf in b.in <(input 9000)
}

@test "copies made by cp while it is emptied open, and have all that was in" {
    local pid i had
    need_strace
    input 60000 >in
    exits 0 unseen create -p 1e-9 -n 100k f.bf
    : >a.out # the first copy may be made before strace runs
    strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:delay_enter=50000:delay_exit=50000 \
        "$UNSEEN" f.bf in >a.out 2>a.err 3>&- &
    pid=$!
    for ((i = 0; i < 25; i++)); do
        had=$(($(bytes_of a.out) / line_bytes - batch_lines))
        cp f.bf copy.bf
        [[ $had -gt 0 ]] || { sleep 0.02; continue; }
        has copy.bf <(head -n $had a.out) || { echo "copy $i misses some of the first $had"; return 1; }
        sleep 0.02
    done
    wait $pid
    same a.out in
}

@test "Ctrl-Z and Ctrl-C while it is emptied take effect at once, and others go on" {
    # The layer has 107 MB, which are seven pieces; its stage takes 794821 lines.
    local emptying=8208:0100000000000000
    seq 800000 >in
    seq 900000 912000 >later
    exits 0 unseen create -n 20M -p 1e-9 f.bf
    interrupted $emptying TSTP "$UNSEEN" f.bf in
    stops $emptying
    exits 0 timeout 60 "$UNSEEN" f.bf later
    same "$out" later
    kill -CONT "$pid"
    wait "$pid"
    same got in
    exits 0 unseen verify f.bf
    has f.bf in later

    rm f.bf
    exits 0 unseen create -n 20M -p 1e-9 f.bf
    interrupted $emptying INT env --default-signal=INT "$UNSEEN" f.bf in
    code=0
    wait "$pid" || code=$?
    [[ $code -eq 130 ]]
    [[ $(od -An -v -tx1 -j 8208 -N 1 f.bf) == ' 01' ]]
    has f.bf got
    exits 0 unseen f.bf in
    cat got "$out" | same - in
}

@test "any error of a disk while it is emptied is told, and nothing is lost" {
    need_strace
    local error
    seq 12000 >in
    for error in EIO ENODATA ETIMEDOUT; do
        rm -f f.bf
        exits 0 unseen create -n 100k -p 1e-9 f.bf
        exits 2 strace -qq -o trace -e trace=sync_file_range \
            -e "inject=sync_file_range:error=$error:when=2" "$UNSEEN" f.bf in
        cp "$out" got
        exits 0 unseen f.bf in
        cat got "$out" | same - in
    done
}
