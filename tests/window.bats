#!/usr/bin/env bats
# Windows: filters that forget, by count and by time. The model is `window_model`: sets without any
# error, cut into generations as the manual says. Rates here are so low that it is exact.

load helper
load crash

# window_model N: the lines of stdin that a window of N lines prints.
window_model() {
    awk -v n="$1" '
        BEGIN { each = int((n + 3) / 4); filling = 0 }
        $0 in born { next }
        {
            if (keys[filling] == each) {
                filling++
                for (line in born)
                    if (born[line] < filling - 4) delete born[line]
            }
            keys[filling]++
            born[$0] = filling
            print
        }'
}

# a_stream COUNT RANGE [SEED]: lines that come again at all distances up to several RANGEs: numbers
# that wander upwards, each with a random step back.
a_stream() {
    awk -v n="$1" -v range="$2" -v x="${3:-1}" 'BEGIN {
        for (i = 0; i < n; i++) {
            x = x * 16807 % 2147483647
            printf "http://example.org/%d/page\n", i / 2 + x % range
        }
    }'
}

@test "--window: prints what the model prints, in memory and with a file, in one run and in many, in pieces" {
    local n part
    for n in 1 4 100 1000; do
        a_stream "$((80 + 6 * n))" $((3 * n + 3)) >in
        window_model "$n" <in >expected
        exits 0 unseen --window "$n" <in
        same "$out" expected || complain "in memory: $n"
        exits 0 unseen create --force --window "$n" w.bf
        awk '{ print; if (NR % 17 == 0) fflush() }' in | exits 0 unseen w.bf
        same "$out" expected || complain "in pieces: $n"
        exits 0 unseen create --force --window "$n" w.bf
        rm -f parts
        split -n l/7 in part.
        for part in part.*; do
            exits 0 unseen w.bf "$part"
            cat "$out" >>parts
        done
        same parts expected || complain "in many runs: $n"
        exits 0 unseen verify w.bf
    done
}

@test "--window: add, query and -m keep to the window" {
    # 15 at most, 12 at least: 33 generations are full, and one line is in the next.
    exits 0 unseen add --create --window 12 w.bf < <(seq 100)
    exits 0 unseen query w.bf < <(seq 100)
    seq 88 100 | same "$out" -
    exits 0 unseen create --force --window 12 w.bf
    exits 0 unseen -m 25 w.bf < <(seq 1 1000)
    seq 25 | same "$out" -
    exits 0 unseen query w.bf < <(seq 25)
    seq 13 25 | same "$out" -
}

@test "--window: the file never grows, and each layer is as full as it may be" {
    unseen create --window 5000 w.bf
    size=$(stat -c %s w.bf)
    seq 200000 | unseen w.bf | tail -n 1 >last
    [[ $(stat -c %s w.bf) -eq $size ]]
    exits 0 unseen stats --json w.bf
    [[ $(field window) -eq 5000 && $(field layer_count) -eq 5 ]]
    holds "$(field lines) > 5000 * 0.97 && $(field lines) < 6250 * 1.03"
    exits 0 unseen verify w.bf
}

@test "--window: stats says what is forgotten next, as text and as JSON" {
    unseen create --window 1000 w.bf
    succeeds unseen stats w.bf
    grep -Eq '^window +the last 1000 lines, at most 1250$' "$out"
    grep -Eq '^forgotten next +nothing yet$' "$out"
    grep -Eq '^generation full in +250 lines$' "$out"
    grep -Eq '^growth +none \(--window\)$' "$out"
    seq 1100 | unseen w.bf >all
    succeeds unseen stats w.bf
    grep -Eq '^forgotten next +2[45][0-9] lines, after 150 more$' "$out"
    grep -Eq '^generation full in +150 lines$' "$out"
    grep -Eq '^layer 5: .*; state: filling; generation: 5; began: 20' "$out"
    succeeds unseen stats --json w.bf
    grep -q '"forgotten_next":{"lines":2[45][0-9],"after":150}' "$out"
    # So it is: 150 more, and the first 250 are in; one more, and they are not.
    seq 2001 2150 | unseen w.bf >all
    seq 250 | exits 0 unseen query -c w.bf
    prints '250\n'
    echo 9999 | unseen w.bf >all
    seq 250 | exits 1 unseen query -c w.bf
    prints '0\n'
    succeeds unseen stats --json w.bf
    grep -q '"forgotten_next":{"lines":2[45][0-9],"after":249}' "$out"
    # Before that the layers that are free are filled.
    unseen create --window 1000 few.bf
    seq 300 | unseen few.bf >all
    succeeds unseen stats few.bf
    grep -Eq '^forgotten next +2[45][0-9] lines, after 950 more$' "$out"
    seq 251 1100 | exits 0 unseen query -c w.bf
    prints '850\n'
}

@test "--window: plan says how large it will be, and any two of N, -p and --size give the third" {
    local words
    for words in '--window 1M' '--window 30001 -p 1e-3' '--window 100k --size 1M' \
        '--forget-after 7d -n 1M'; do
        succeeds unseen plan --json $words
        cp "$out" planned
        creates --force $words w.bf
        [[ $(field size_bytes planned) -eq $(stat -c %s w.bf) ]] || complain "$words: size"
        [[ $words != *--size* ]] || holds "$(field size_bytes planned) > 900000 && $(field size_bytes planned) <= 1048576"
        succeeds unseen stats --json w.bf
        [[ $(field false_positive_rate planned) == "$(field false_positive_rate)" ]] || complain "$words: rate"
        holds "$(field rate planned) <= $(field false_positive_rate planned)"
        [[ $(field capacity planned)/$(field bits_per_key planned) == $(field capacity)/$(field bits_per_key) ]]
    done
}

@test "--window: with -x, --durable and --pending, lines enter it in their order" {
    local form
    seq 5000 >in
    for form in '-x cat' '--durable -a got' '--pending keys'; do
        rm -f got
        exits 0 unseen create --force --window 1000 w.bf
        exits 0 unseen w.bf in $form
        [[ $form == *-a* ]] || cp "$out" got
        same got in
        [[ $form != --pending* ]] || exits 0 unseen commit w.bf keys
        exits 0 unseen query w.bf in
        seq 4001 5000 >last
        run -1 grep -vxFf "$out" last
        [[ $(wc -l <"$out") -le 1250 && $(head -n 1 "$out") -gt 3750 ]] || complain "$form"
    done
}

@test "--window: --durable forgets in time; what -x and --pending have in flight is seen as long as it is" {
    local form lines
    { seq 5000; seq 5000; } >in
    window_model 1000 <in >expected
    while IFS='|' read -r form lines; do
        rm -f got
        exits 0 unseen create --force --window 1000 w.bf
        exits 0 unseen w.bf in $form
        [[ $form == *-a* ]] || cp "$out" got
        same got <(head -n "$lines" expected) || complain "$form"
    done <<'END'
--durable -a got|10000
-x cat|5000
--pending keys|5000
END
}

@test "--window: what is added or committed again takes no room in its generation, and is young again in the next" {
    local i
    seq 250 >a
    exits 0 unseen create --window 1000 w.bf
    exits 0 unseen --pending keys w.bf a
    exits 0 unseen add w.bf < <(seq 1001 1200)
    for ((i = 0; i < 10; i++)); do
        exits 0 unseen add w.bf < <(seq 1001 1200)
    done
    exits 0 unseen commit w.bf keys
    exits 0 unseen add w.bf < <(seq 2001 2200)
    exits 0 unseen commit w.bf keys
    exits 0 unseen add w.bf a
    # Since then, fewer than 1000.
    exits 0 unseen add w.bf < <(seq 3001 3990)
    exits 0 unseen query -c w.bf a
    prints '250\n'
}

@test "--window: 4 writers, one list: within the window each line comes out of one of them" {
    local i
    for i in 0 1 2 3; do
        # Each is a little behind the others, by far less than the window.
        { seq "$((i * 100 + 1))" 40000; seq "$((i * 100))"; } >"in.$i"
    done
    unseen create --window 90000 w.bf
    writers 4 "$UNSEEN" w.bf in.%i
    sort -n out.* | cmp - <(seq 40000)
}

# bats test_tags=torture
@test "--window: 4 writers through a window much smaller than their input: nothing lost, the last N always in" {
    local i run
    for i in 0 1 2 3; do
        seq "$((i * 1000000))" "$((i * 1000000 + 4999))" >"in.$i"
    done
    for ((run = $(rounds 1 200); run > 0; run--)); do
        unseen create --force --window 200 s.bf
        writers 4 "$UNSEEN" s.bf in.%i
        sort -n out.* | cmp - <(sort -n in.*)
        seq 5000000 5000199 | unseen s.bf >last
        exits 0 unseen query -c s.bf last
        prints '200\n'
        exits 0 unseen verify s.bf
    done
}

@test "--window: a writer killed while it empties a layer: verify says it, the next one mends it; or no room: 2" {
    need_strace
    # Of a size that does not hold two generations: clearing is flushed.
    exits 0 unseen create --window 8000 --size 160K w.bf
    exits 0 unseen w.bf < <(seq 10000)
    cp w.bf other.bf
    echo 20001 >next
    exits 137 strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:signal=KILL:when=1 "$UNSEEN" w.bf next
    exits 0 unseen verify w.bf
    grep -q '^w.bf: layer 1: a writer died while it emptied this layer, or this is a copy made in use (the next writer ' "$out"
    exits 0 unseen query -c w.bf < <(seq 2001 10000)
    prints '8000\n'
    exits 0 unseen w.bf next
    prints '20001\n'
    exits 0 unseen verify w.bf
    exits 0 unseen query -c w.bf < <(seq 2002 10000; echo 20001)
    prints '8000\n'

    seq 9600 50400 >next
    exits 2 strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:error=EIO "$UNSEEN" other.bf next
    says 'other.bf: cannot forget: (Input/output|I/O) error'
    cp "$out" first
    exits 0 unseen other.bf next
    cat first "$out" | same - <(seq 10001 50400)
}

@test "--window: a small one turns without a flush; a generation that a power cut brings back keeps the rate" {
    local n
    need_strace
    for n in 3 65536; do
        exits 0 unseen create --force --window $n -p 1e-3 w.bf
        exits 0 strace -qq -o trace -e trace=fdatasync,sync_file_range "$UNSEEN" add w.bf < <(seq $((2 * n)))
        [[ ! -s trace ]] || complain "$n: flushed"
    done
    exits 0 unseen create --force --window 65540 -p 1e-3 large.bf
    exits 0 strace -qq -o trace -e trace=fdatasync "$UNSEEN" add large.bf < <(seq 90000)
    grep -q fdatasync trace
    # Each layer has its old bits under the numbers and counters of new generations, of which the
    # newest is just begun.
    exits 0 unseen create --force --window 65536 -p 1e-3 w.bf
    exits 0 unseen add w.bf < <(seq 81920)
    cp w.bf old.bf
    exits 0 unseen add w.bf < <(seq 100001 165537)
    dd if=w.bf of=old.bf bs=4096 skip=2 seek=2 count=1 conv=notrunc status=none
    exits 0 unseen add old.bf < <(seq 200001 216383)
    exits 0 unseen query -c old.bf < <(seq 200001 216383)
    prints '16383\n'
    exits 0 unseen query -c old.bf < <(seq 10000001 10400000)
    holds "$(<"$out") <= 400 + 6 * sqrt(400)" || complain "$(<"$out")"
    exits 0 unseen query -c old.bf < <(seq 65537 81920)
    prints '16384\n'
}

@test "--window: bits without a counter that a power cut has left do not become a new generation" {
    seq 3 >in
    exits 0 unseen create --window 10M f.bf
    exits 0 unseen f.bf in
    # The first layer is free, says the page that changes; the bits are there.
    dd if=/dev/zero of=f.bf bs=64 seek=144 count=1 conv=notrunc status=none
    exits 0 unseen f.bf <<<4
    prints '4\n'
    exits 0 unseen f.bf in
    same "$out" in
    exits 0 unseen verify f.bf
}

# --- by time --------------------------------------------------------------------

noon=1800000000

# at SECONDS[/UPTIME] COMMAND...: with a clock that is so far from noon; UPTIME only if the clock is set, else time
# passes.
at() {
    local uptime=${1#"${1%%/*}"}
    echo "$((noon + ${1%%/*})) ${uptime#/}" >clock
    shift
    timeout --foreground -k 5 "$UNSEEN_TIMEOUT" \
        env FAKE_CLOCK="$PWD/clock" LD_PRELOAD="$preload" "$UNSEEN" "$@"
}

# times: as `answers`, in each row first the SECONDS; what is said on stderr is not looked at.
times() {
    local seconds arguments input wanted status
    while IFS='|' read -r seconds arguments input wanted status; do
        { exits "${status:-0}" at "$seconds" $arguments < <(printf '%b' "$input") && prints "$wanted"; } ||
            { echo "row: $seconds|$arguments|$input"; return 1; }
    done
}

need_clock() {
    need_preload clock
    at 0 stats --help >help 2>&1 || skip "cannot fake the clock here: $(head -n 1 help)"
}

day=86400

@test "--forget-after: a line is printed again after the time, and not before" {
    need_clock
    exits 0 at 0 create --forget-after 7d t.bf
    # Others, all the time, and repeats of a, which do not refresh it. In the end nobody has
    # written for a month: query knows it, too.
    times <<END
0|t.bf|a\\n|a\\n
$(for i in {1..28}; do printf '%s|t.bf|%s\\na\\n|%s\\n\n' $((i * day / 4 - 1)) $i $i; done)
$((35 * day / 4))|t.bf|later\\na\\n28\\n|later\\na\\n
$((9 * day))|query t.bf|a\\nlater\\n28\\n|a\\nlater\\n28\\n
$((40 * day))|query t.bf|a\\nlater\\n28\\n||1
END
    exits 0 at $((40 * day)) stats --json t.bf
    grep -q '"lines":0,' "$out"
    grep -q '"forget_after":604800,' "$out"
    grep -q '"forgotten_next":null' "$out"
}

@test "--forget-after: in memory, while it runs" {
    need_clock
    echo $noon >clock
    FAKE_CLOCK=$PWD/clock LD_PRELOAD=$preload converse "$UNSEEN" --forget-after 10m
    say a
    hear a
    say a
    say b
    hear b
    echo $((noon + 599)) >clock
    say a
    say c
    hear c
    echo $((noon + 751)) >clock
    say a
    hear a
    say c
    say d
    hear d
    farewell
}

@test "--forget-after: a generation that gets keys while it is found empty is not cleared" {
    local pid child
    need_strace
    need_own_calls
    need_clock
    echo a | exits 0 at 0 --create --forget-after 1h t.bf
    # A power cut has left the bits of a, and no counter of them.
    dd if=/dev/zero of=t.bf bs=8 seek=1152 count=1 conv=notrunc status=none
    # Its time is over. Who is to clear it is held up on its way to the lock, and another settles b.
    echo c >in
    echo "$noon" >earlier
    echo "$((noon + 3000))" >clock
    FAKE_CLOCK=$PWD/clock strace -qq -o trace -E LD_PRELOAD="$preload" -e trace=lseek \
        -e inject=lseek:signal=STOP:when=1 "$UNSEEN" t.bf in >got 2>said 3>&- &
    pid=$!
    is_stopped
    grep -q SEEK_DATA trace
    echo b | exits 0 env FAKE_CLOCK="$PWD/earlier" LD_PRELOAD="$preload" "$UNSEEN" t.bf
    prints 'b\n'
    kill -CONT "$child"
    wait "$pid"
    same got in
    # Both are counted: a generation without a count is taken for an empty one.
    times <<<'3000|query t.bf|b\nc\n|b\nc\n'
    exits 0 at 3000 stats --json t.bf
    grep -q '"lines":2,' "$out"
    exits 0 at 3000 verify t.bf
}

@test "--forget-after: a clock that is set back forgets late, never early; writers say so, and the way out works" {
    need_clock
    echo a | exits 0 at 0 --create --forget-after 1h t.bf
    # Set back by ten hours, for two hours, and right again.
    echo b | exits 0 at -36000 t.bf
    prints 'b\n'
    says 't\.bf: was last written at 2027-01-15 08:00:00 UTC, which is in the future, .* unseen create --like t\.bf NEW'
    exits 1 at -36000 verify t.bf
    grep -q 'the clock was set back (its lines will be forgotten late)' "$out"
    # It is noon + 2 h then; b and c may have come a minute ago.
    times <<'END'
-32000|t.bf|a\nb\n|
-30000|t.bf|b\nc\n|c\n
7200|t.bf|b\nc\n|
7201|t.bf|d\n|d\n
10800|query t.bf|b\nc\n|b\nc\n
15301|t.bf|a\nb\nc\nd\n|a\nb\nc\nd\n
END
    # Set back to a time after the generation began: b does not go with what comes then.
    echo a | exits 0 at 0 --create --forget-after 1h u.bf
    times <<'END'
800|u.bf|b\n|b\n
400|u.bf|c\n|c\n
4300|u.bf|b\n|
END
    # A clock that ran ahead: 2099.
    exits 0 at 2270908800 t.bf <<<a
    for form in t.bf 'add t.bf'; do
        exits 0 at 0 $form <<<b
        says 't\.bf: was last written at 2099-01-01 00:00:00 UTC, which is in the future, '
    done
    # Reading needs no word, and a minute is nothing to speak of.
    exits 1 at 0 query -v t.bf < <(printf "a\nb\n")
    silent_on_stderr
    exits 0 at 0 create --like t.bf new.bf
    succeeds at 60 new.bf <<<a
    succeeds at 0 new.bf <<<a
    succeeds at 7200 new.bf <<<a
    prints 'a\n'
}

@test "--forget-after: a clock that was behind and is put right forgets nothing early, also what is in memory" {
    need_clock
    exits 0 at -36000/100 create --forget-after 1h t.bf
    # Readers and writers know it, until the time has truly passed.
    times <<'END'
-36000/100|t.bf|a\n|a\n
0/160|query t.bf|a\n|a\n
60/220|t.bf|a\nb\n|b\n
3600/3699|query t.bf|a\nb\n|a\nb\n
3760/3860|query t.bf|a\nb\n||1
END
    # A writer that came after the clock was right has corrected the time of a; then the uptime is not needed any more.
    exits 0 at -36000/100 create --force --forget-after 1h t.bf
    times <<'END'
-36000/100|t.bf|a\n|a\n
-34000/2100|t.bf|b\n|b\n
0/2160|t.bf|c\n|c\n
1500/10|query t.bf|a\nb\n|a\nb\n
3599/20|query t.bf|a\nb\nc\n|c\n
END
    # Without that, only the clock is left after the next boot.
    exits 0 at -36000/100 create --force --forget-after 1h t.bf
    times <<'END'
-36000/100|t.bf|a\n|a\n
0/50|query t.bf|a\n||1
END
    echo "$((noon - 36000)) 100" >clock
    FAKE_CLOCK=$PWD/clock LD_PRELOAD=$preload converse "$UNSEEN" --forget-after 10m
    say a
    hear a
    echo "$noon 160" >clock
    say a
    say b
    hear b
    echo "$((noon + 600)) 760" >clock
    say a
    hear a
    farewell
}

@test "--forget-after: grows when more comes than was planned, keeps p, and says so; or the disk is full: 2" {
    local size
    need_clock
    exits 0 at 0 create --forget-after 1d -n 1000 -p 1e-3 t.bf
    exits 0 at 0 t.bf < <(seq 40000)
    says 't.bf: more than 1000 lines within 1d \(-n\); grew to [0-9]+ kB$'
    holds "$(wc -l <"$out") > 40000 * (1 - 2e-3)"
    exits 0 at $((day - 1)) query -c t.bf < <(seq 40000)
    prints '40000\n'
    exits 0 at $((day - 1)) query -c t.bf < <(seq 1000001 1200000)
    holds "$(cat "$out") < 200 + 6 * sqrt(200)"
    exits 0 at $((day - 1)) verify t.bf
    # The next day the same file does.
    size=$(stat -c %s t.bf)
    succeeds at $((2 * day)) t.bf < <(seq 50001 90000)
    [[ $(stat -c %s t.bf) -eq $size ]]
    capture at $((2 * day)) query -c t.bf < <(seq 40000)
    holds "$(cat "$out") < 40 + 6 * sqrt(40)"

    # What is held until the disk has the output finds its room before it is printed, too.
    local form
    for form in 40000 '2500 --durable -a got'; do
        exits 0 at 0 create --force --forget-after 1d -n 1000 full.bf
        seq "${form%% *}" >in
        limited() { (ulimit -f 112; at "$@"); }
        # shellcheck disable=SC2046 # several words, or none
        exits 2 limited 0 full.bf in $(cut -s -d ' ' -f 2- <<<"$form")
        grep -q '^unseen: full.bf: cannot grow: File too large$' "$err"
        [[ $form == 40000 ]] || mv got "$out"
        cp "$out" first
        exits 0 at 0 verify full.bf
        exits 0 at 0 full.bf in
        cat first "$out" | same - in
    done
}

@test "--window: Ctrl-Z while it turns: others go on" {
    # The oldest of five layers, of 24 MB and so of two pieces, is emptied for line 500,001.
    local turning=9240:ffffffffffffffff
    seq 500100 >in
    exits 0 unseen create --window 400k --size 115M f.bf
    interrupted $turning TSTP "$UNSEEN" f.bf in
    comes_to_stop "$pid"
    exits 0 timeout 60 "$UNSEEN" f.bf <<<'another line'
    prints 'another line\n'
    kill -CONT "$pid"
    wait "$pid"
    same got in
    exits 0 unseen verify f.bf
}

@test "--window: a signal while it turns does not keep -x from remembering what CMD took" {
    need_strace
    exits 0 unseen create --window 8000 --size 160K f.bf
    exits 0 unseen add f.bf < <(seq 9000)
    seq 10001 12000 >in
    capture strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:signal=TERM:when=1 \
        "$UNSEEN" f.bf in -x sh -c 'cat >got; exit 0'
    grep -q SIGTERM trace
    same got in
    exits 0 unseen query -c f.bf < <(tail -n 500 in)
    prints '500\n'
}

@test "a window turns where the file system cannot clear a piece of a file: it writes zeros" {
    need_strace
    seq 90000 >in
    exits 0 unseen create --window 8000 --size 160K f.bf
    cp f.bf g.bf
    exits 0 unseen f.bf in
    exits 0 strace -qq -o trace -e trace=fallocate -e inject=fallocate:error=EOPNOTSUPP "$UNSEEN" g.bf in
    same "$out" in
    grep 'FALLOC_FL_ZERO_RANGE.*INJECTED' trace
    cmp <(unseen query f.bf in) <(unseen query g.bf in)
}
