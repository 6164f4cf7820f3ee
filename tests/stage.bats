#!/usr/bin/env bats
# Stages: lines gather in one before they go into a large layer. Nothing of it may show but in the time
# that it takes; and a run that is killed in it, or fails, loses nothing.
#
# The stages here take some 14000 lines, so that they are emptied often (with_stages).

load helper
load crash
with_stages

word() { od -An -v -tu8 -j "$1" -N 8 f.bf | tr -d ' '; }

# The state of layer 1: how often its stage got room and was emptied, twice for both; whether that is going on.
era() { word 9224; }
emptying=9264:0100000000000000

# stage: the bytes of that of layer 1.
stage() { tail -c +$(($(word 4136) + 1)) f.bf | head -c $(($(word 4144) * 4096)); }

# room_of FILE: how much it takes on the disk.
room_of() { echo $(($(stat -c '%b * %B' "$1"))); }

# filled_up CREATE_OPTION...: f.bf with ./old in its stage, and ./in, which is more than that takes.
filled_up() {
    exits 0 unseen create --force -p 1e-9 "${@--n50k}" f.bf || return 1
    input 12000 >old
    input 13000 12000 >in
    exits 0 unseen add f.bf old
    [[ $(era) -eq 1 ]]
}

# goes_on: after ./first came out all is in, and the next run prints the rest.
goes_on() {
    has f.bf old || return 1
    exits 0 unseen f.bf in || return 1
    none_lost in first "$out" || return 1
    exits 0 unseen verify f.bf || return 1
    exits 0 unseen f.bf in old && prints ''
}

@test "the same bytes as without, in one run and in many, and all is in" {
    local part
    awk 'BEGIN { srand(7); for (i = 0; i < 300000; i++) printf "http://example.org/%d\n", rand() * (i / 2 + 9) }' >in
    awk '!seen[$0]++' in >expected
    exits 0 unseen --create -p 1e-9 -n 200k f.bf in
    same "$out" expected
    [[ $(era) -gt 6 ]]
    has f.bf in
    exits 0 unseen verify f.bf
    exits 0 unseen f.bf in
    prints ''
    rm f.bf
    split -n l/10 in part.
    exits 0 unseen create -p 1e-9 -n 200k f.bf
    for part in part.*; do
        unseen f.bf "$part" || return 1
    done >many
    same many expected
}

@test "with many false positives, whatever came out or was added is in, and counted once" {
    local form
    seq 100000 >in
    for form in '' '-x cat' --durable add commit; do
        rm -f got
        exits 0 unseen create --force -n 100k -p 0.3 f.bf
        case $form in
        --durable) capture unseen f.bf in --durable -a got ;;
        add) capture unseen add f.bf in && cp in got ;;
        commit) capture unseen --pending keys f.bf in && cp "$out" got && capture unseen commit f.bf keys ;;
        *) capture unseen f.bf in $form && cp "$out" got ;;
        esac
        [[ $code -eq 0 && $(wc -l <got) -gt 50000 ]] || complain "$form"
        has f.bf got || complain "$form"
        exits 0 unseen verify f.bf
        exits 0 unseen f.bf got
        prints ''
    done
}

@test "a filter that grows; add, push, -x, --durable and --pending gather, too" {
    local first form
    exits 0 unseen create -p 1e-9 -n 5000 f.bf
    first=0
    for form in '' add --durable '-x cat' '--pending keys'; do
        input 40000 $first >in
        case $form in add) exits 0 unseen add f.bf in ;; *) exits 0 unseen f.bf in $form ;; esac
        [[ $form == add ]] || same "$out" in
        first=$((first + 50000))
    done
    exits 0 unseen commit f.bf keys
    for first in 0 50000 100000 150000 200000; do
        has f.bf <(input 40000 $first)
    done
    exits 0 unseen verify f.bf
    exits 0 unseen create -p 1e-9 -n 50k q.bf
    exits 0 unseen push q.bf in
    exits 0 unseen pop q.bf -m 1e6
    same "$out" in
}

@test "lines that come again by commit and add are in once, and counted once, in the stage and after it" {
    local i
    input 9000 >in
    exits 0 unseen create -p 1e-9 -n 200k f.bf
    exits 0 unseen --pending keys f.bf in
    exits 0 unseen commit f.bf keys
    exits 0 unseen commit f.bf keys
    exits 0 unseen add f.bf in
    for i in 9000 20000; do
        succeeds unseen verify f.bf
        exits 0 unseen stats --json f.bf
        holds "$(field lines) > $((i - 100)) && $(field lines) < $((i + 100))"
        # A writer that opens it mends no counter.
        exits 0 unseen f.bf < <(input 20000)
        [[ $(od -An -v -tu8 -j 9216 -N 8 f.bf) -eq 20000 ]]
    done
    [[ $(era) -eq 3 ]]
}

@test "a merge has the lines that leave a stage meanwhile" {
    local pid child
    need_strace
    filled_up -n 400k
    # Stopped when it has opened f.bf, and has written some of the new file.
    stopped_after pwrite64 10 '' merge -o merged.bf f.bf
    exits 0 unseen f.bf in
    [[ $(era) -eq 3 ]]
    kill -CONT "$child"
    wait "$pid"
    has merged.bf old
}

@test "an empty layer is not looked into; who opened it then finds what came since" {
    local asked to
    exits 0 unseen create -p 1e-9 -n 200k f.bf
    mkfifo ask
    "$UNSEEN" query --tag f.bf <ask >answers 3>&- &
    asked=$!
    exec {to}>ask
    echo 0 >&"$to"
    filled answers
    exits 0 unseen f.bf < <(seq 60000)
    [[ $(era) -gt 4 ]]
    seq 60000 >&"$to"
    exec {to}>&-
    wait "$asked" # $! is that of a <(...) by now
    seq 60000 | sed 's/^/seen\t/' | cat <(printf 'new\t0\n') - | same answers /dev/stdin
}

# --- killed, told to stop, refused -------------------------------------------------

# bats test_tags=torture
@test "kills -9 at work, in one layer and while it grows: 0 lost, at most a batch twice" {
    input 60000 >in
    kill_and_rerun "$(rounds 15 500)" 5 -n 200k
    kill_and_rerun "$(rounds 12 500)" 4 -n 3000
}

@test "killed at each call while it is emptied, or the call fails: nothing is lost, and the next writer goes on" {
    local call fault
    need_strace
    while read -r call fault; do
        filled_up
        capture strace -qq -o trace -e "trace=$call" -e "inject=$call:$fault" "$UNSEEN" f.bf in
        cp "$out" first
        case $fault in
        signal*)
            [[ $code -eq 137 ]] || complain "$call"
            has f.bf first old
            exits 0 unseen verify f.bf
            grep -q 'f.bf: layer 1: emptying its staging area was interrupted' "$out" || complain "$call: verify"
            ;;
        *)
            [[ $code -eq 2 ]] || complain "$call"
            says '^unseen: f\.bf: cannot be written: '
            ;;
        esac
        goes_on || { echo "$call $fault"; false; }
    done <<'END'
sync_file_range signal=KILL:when=1
fdatasync signal=KILL:when=1
fallocate signal=KILL:when=2
fdatasync error=EIO
fdatasync error=ENOSPC
sync_file_range error=EIO
END
}

@test "the layer is on disk before the stage goes" {
    need_strace
    filled_up
    strace -qq -o trace -e trace=fallocate,fsync,fdatasync "$UNSEEN" f.bf in >"$out"
    sed -nE 's/^fallocate.*PUNCH_HOLE.*/gone/p; s/^f(data)?sync.*/flushed/p' trace | uniq >order
    printf 'flushed\ngone\n' | same order /dev/stdin
}

@test "Ctrl-Z and Ctrl-C while it is emptied take effect at once, and others go on" {
    # The layer has 107 MB, which are seven pieces; its stage takes some 620000 lines.
    seq 700000 >in
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
    ended 130 "$pid"
    [[ $(era) -eq 1 ]]
    has f.bf got
    exits 0 unseen f.bf in
    cat got "$out" | same - in
}

# --- its room in the file ----------------------------------------------------------

@test "a stage is a hole: it gets its room before lines come, and gives it back when it is emptied" {
    local rest stage
    exits 0 unseen plan -n 2M -p 1e-9 --json
    stage=$(($(field size_bytes_staged) - $(field size_bytes)))
    exits 0 unseen create -p 1e-9 -n 2M f.bf
    rest=$(room_of f.bf)
    [[ $rest -le $(($(bytes_of f.bf) - stage + 65536)) ]]
    exits 0 unseen f.bf < <(seq 100)
    # Besides the file system's notes of where the pieces lie.
    [[ $(room_of f.bf) -ge $((rest + stage)) && $(room_of f.bf) -le $((rest + stage + 65536)) ]]
    exits 0 unseen f.bf < <(seq 100000)
    [[ $(era) -eq 3 ]]
    has f.bf <(seq 100000)
    exits 0 unseen verify f.bf
}

@test "a stage whose room cannot be had, or not be given back: nothing shows" {
    local error
    need_strace
    seq 60000 >in
    for error in ENOSPC EOPNOTSUPP; do
        exits 0 unseen create --force -p 1e-9 -n 200k f.bf
        exits 0 strace -qq -o trace -e trace=fallocate -e "inject=fallocate:error=$error" "$UNSEEN" f.bf in
        same "$out" in
        [[ $(era) -eq 0 && $(stage | tr -d '\0' | wc -c) -eq 0 ]]
        has f.bf in
        exits 0 unseen verify f.bf
        # Another run uses it.
        exits 0 unseen f.bf < <(seq 60001 120000)
        [[ $(era) -gt 4 ]]
        has f.bf <(seq 120000)
    done
    exits 0 unseen create --force -p 1e-9 -n 200k f.bf
    exits 0 strace -qq -o trace -e trace=fallocate -e inject=fallocate:error=EOPNOTSUPP:when=2+2 "$UNSEEN" f.bf in
    # Cleared all the same: some 14000 lines fill it again, no fewer.
    [[ $(era) -gt 4 && $(era) -le 9 ]] || complain "era $(era)"
    has f.bf in
    # It is in use, but in this file, as in a copy with holes, it has no room.
    filled_up -n 200k
    stage >before
    exits 0 strace -qq -o trace -e trace=fallocate -e inject=fallocate:error=ENOSPC "$UNSEEN" f.bf in
    cmp before <(stage)
    has f.bf old in
}

@test "which filters have room for a stage: large layers; not small ones, of other kinds, or of a given size" {
    local kind
    exits 0 unseen create --size 3000000 f.bf
    [[ $(bytes_of f.bf) -le 3000000 ]]
    exits 0 unseen add f.bf < <(seq 900000)
    [[ $(bytes_of f.bf) -le 3000000 && $(room_of f.bf) -le 3010000 ]]
    UNSEEN=${tools%/tests/tools}/unseen
    for kind in '-n 1e8' '-n 2e8 --counting' '-n 2e8 --forget-after 1d' '--window 2e8'; do
        exits 0 unseen plan $kind --json
        [[ $(field size_bytes_staged) -eq $(field size_bytes) ]] || complain "$kind"
    done
    exits 0 unseen plan -n 2e8 --json
    holds "$(field size_bytes_staged) > $(field size_bytes) * 1.12 && $(field size_bytes_staged) < $(field size_bytes) * 1.13"
}

# --- copies, and several writers ---------------------------------------------------

@test "a copy with holes, or with none, is as good; copies made by cp while it is emptied open, and have all that was in" {
    local how pid i had
    need_strace
    filled_up -n 200k
    for how in always never; do
        cp --sparse=$how f.bf copy.bf
        has copy.bf old
        exits 0 unseen copy.bf < <(seq 60000)
        exits 0 unseen verify copy.bf
        has copy.bf old <(seq 60000)
    done
    input 60000 >in
    exits 0 unseen create --force -p 1e-9 -n 100k f.bf
    : >a.out # the first copy may be made before strace runs
    strace -qq -o trace -e trace=fdatasync,fallocate -e inject=fdatasync,fallocate:delay_enter=50000:delay_exit=50000 \
        "$UNSEEN" f.bf in >a.out 2>a.err 3>&- &
    pid=$!
    while kill -0 $pid 2>/dev/null; do
        had=$(($(bytes_of a.out) / line_bytes - batch_lines))
        cp f.bf copy.bf
        [[ $had -le 0 ]] || has copy.bf <(head -n $had a.out) ||
            { echo "a copy misses some of the first $had"; return 1; }
    done
    wait $pid
    same a.out in
}

@test "8 writers, overlapping inputs: each line exactly once, 3 runs" {
    local i
    # What eight writers have in flight is little beside a stage: else keys find it full before it can
    # be emptied, and the pages of the layer get them where it is crowded, not by chance.
    overlapping 60000 30000
    for ((i = 0; i < 3; i++)); do
        exits 0 unseen create --force -n 100k -p 1e-9 f.bf
        writers 8 "$UNSEEN" f.bf in.%i
        each_once in out.* || { echo "run $i"; false; }
        exits 0 unseen verify f.bf
    done
    [[ $(era) -gt 1 ]]
}

# bats test_tags=torture
@test "8 writers of which three are killed, their input run again: 0 lost" {
    local hits
    input 30000 >in
    some_killed "$(rounds 4 100)" -n 20k
    [[ $hits -gt 0 ]] || sanitized
}

@test "while it is emptied readers find all, and writers settle what they have in flight" {
    local pid child settled drained
    need_strace
    filled_up
    # B has lines in flight that nobody takes yet.
    input 4000 500000 >b.in
    stall "$UNSEEN" f.bf b.in
    # A stands behind the flush, between setting the layer and clearing the stage.
    strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:signal=STOP:when=1 "$UNSEEN" f.bf in >a.out 2>a.err 3>&- &
    pid=$!
    is_stopped
    has f.bf old
    settled=$("$UNSEEN" query -c f.bf b.in || true)
    drain b.out 3>&- &
    drained=$!
    exec {hold}>&-
    until [[ $("$UNSEEN" query -c f.bf b.in) -gt $settled ]]; do
        sleep 0.01
    done
    kill -CONT "$child"
    wait $pid
    wait "$stalled"
    wait "$drained"
    same a.out in
    same b.out b.in
    has f.bf in b.in old
}
