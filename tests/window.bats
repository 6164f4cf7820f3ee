#!/usr/bin/env bats
# Windows: filters that forget, by count and by time. The model is `window_model`: sets without any
# error, cut into generations as the manual says. Rates here are so low that it is exact.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
# shellcheck disable=SC2016,SC2086 # what sh -c gets is meant for that shell; options are several words
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

@test "--window: prints what the model prints, in memory and with a file, in one run and in many" {
    local n
    for n in 1 4 10 100 1000 3333; do
        a_stream "$((80 + 6 * n))" $((3 * n + 3)) >in
        window_model "$n" <in >expected
        exits 0 unseen --window "$n" <in
        same "$out" expected || complain "in memory: $n"
        rm -f w.bf
        exits 0 unseen --create --window "$n" w.bf <in
        same "$out" expected || complain "in a file: $n"
        rm -f w.bf parts
        split -n l/11 in part.
        for part in part.*; do
            exits 0 unseen --create --window "$n" w.bf "$part"
            cat "$out" >>parts
        done
        same parts expected || complain "in parts: $n"
        exits 0 unseen verify w.bf
    done
}

@test "--window: the cut of the input into batches and buffers changes nothing" {
    a_stream 6000 700 >in
    window_model 200 <in >expected
    unseen create --window 200 w.bf
    exits 0 unseen w.bf <in
    same "$out" expected
    rm w.bf
    unseen create --window 200 w.bf
    awk '{ print; if (NR % 17 == 0) fflush() }' in | exits 0 unseen w.bf
    same "$out" expected
}

@test "--window: add, query and -m keep to the window" {
    seq 100 | unseen add --create --window 12 w.bf
    # 15 at most, 12 at least: 33 generations are full, and one line is in the next.
    seq 100 | succeeds unseen query w.bf
    seq 88 100 | same "$out" /dev/stdin
    unseen create --window 12 m.bf
    seq 1 1000 | succeeds unseen -m 25 m.bf
    seq 25 | same "$out" /dev/stdin
    seq 25 | succeeds unseen query m.bf
    seq 13 25 | same "$out" /dev/stdin
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

@test "--window: options that contradict the filter" {
    unseen create --window 100 w.bf
    unseen create --forget-after 7d t.bf
    unseen create -n 100 n.bf
    fails_with 2 'was made with --window 100, not 200' unseen --window 200 w.bf
    fails_with 2 'was made with --window 100 \(leave -n' unseen -n 100 w.bf
    fails_with 2 'was made without --window' unseen --window 100 n.bf
    fails_with 2 'was made without --window' unseen --window 100 t.bf
    fails_with 2 'was made with --window 100 \(leave --forget-after' unseen --forget-after 7d w.bf
    fails_with 2 'was made with --forget-after 7d, not 1d' unseen --forget-after 24h t.bf
    echo a | succeeds unseen --create --window 100 w.bf
    echo a | succeeds unseen --create --forget-after 168h t.bf
    # Both make the filter, as -n does.
    echo a | exits 0 unseen --create --window 100 new.bf
    says 'new.bf: created \(for the last 100 lines, .*, false-positive rate 1e-6\)'
    echo a | exits 0 unseen --create --forget-after 90m late.bf
    says 'late.bf: created \(forgets lines after 90m, starts at .*, false-positive rate 1e-6\)'
}

@test "--window: stats says what is forgotten next, as text and as JSON" {
    unseen create --window 1000 w.bf
    succeeds unseen stats w.bf
    grep -Eq '^window +the last 1000 lines, at most 1250$' "$out"
    grep -Eq '^forgotten next +nothing yet$' "$out"
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
    seq 251 1100 | exits 0 unseen query -c w.bf
    prints '850\n'
}

@test "--window: plan says how large it will be, and any two of N, -p and --size give the third" {
    local words
    for words in '--window 1M' '--window 30001 -p 1e-3' '--window 100k --size 1M' \
        '--window 50k --bits-per-key 60' '--forget-after 7d -n 1M'; do
        succeeds unseen plan --json $words
        cp "$out" planned
        rm -f w.bf
        creates $words w.bf
        [[ $(field size_bytes planned) -eq $(stat -c %s w.bf) ]] || complain "$words: size"
        [[ $words != *--size* ]] || holds "$(field size_bytes planned) > ${words#*--size }.0 * 950000 + 0 * 1" ||
            holds "$(field size_bytes planned) > 900000"
        succeeds unseen stats --json w.bf
        [[ $(field false_positive_rate planned) == "$(field false_positive_rate)" ]] || complain "$words: rate"
        holds "$(field rate planned) <= $(field false_positive_rate planned)"
        succeeds unseen add $words w.bf
    done
}

@test "--window: with -x, --durable and --pending, lines enter it in their order" {
    local form
    seq 5000 >in
    for form in '-x cat' '--durable -a got' '--pending keys'; do
        rm -f w.bf got
        unseen create --window 1000 w.bf
        case $form in
        -x*) exits 0 unseen w.bf in -x cat && same "$out" in ;;
        --durable*) exits 0 unseen --durable -a got w.bf in && same got in ;;
        *) exits 0 unseen --pending keys w.bf in && same "$out" in && exits 0 unseen commit w.bf keys ;;
        esac
        exits 0 unseen query w.bf in
        seq 4001 5000 >last
        run -1 grep -vxFf "$out" last
        [[ $(wc -l <"$out") -le 1250 && $(head -n 1 "$out") -gt 3750 ]] || complain "$form"
    done
}

@test "--window: what an old generation only seems to have is not forgotten with it" {
    # So many lines that no generation is better than it need be, for want of a smaller page.
    local form
    seq 400000 >in
    for form in '-x cat' '--durable -a got' commit; do
        rm -f w.bf got
        exits 0 unseen create --window 50000 -p 0.5 w.bf
        case $form in
        -x*) exits 0 unseen w.bf in -x cat && cp "$out" got ;;
        --durable*) exits 0 unseen --durable -a got w.bf in ;;
        commit) exits 0 unseen --pending keys w.bf in && cp "$out" got && exits 0 unseen commit w.bf keys ;;
        esac
        tail -n 50000 got >last
        exits 1 unseen query -v -c w.bf last
        prints '0\n' || complain "$form"
    done
}

@test "--window: what is added or committed again takes no room in its generation, and is young again in the next" {
    local i
    seq 250 >a
    exits 0 unseen create --window 1000 w.bf
    exits 0 unseen --pending keys w.bf a
    exits 0 unseen add w.bf < <(seq 1001 1200)
    for ((i = 0; i < 50; i++)); do
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
    # A small window: nothing is lost, and whatever the writers do the last lines are in.
    unseen create --window 200 s.bf
    for i in 0 1 2 3; do
        seq "$((i * 1000000))" "$((i * 1000000 + 4999))" >"in.$i"
    done
    writers 4 "$UNSEEN" s.bf in.%i
    sort -n out.* | cmp - <(sort -n in.*)
    seq 5000000 5000199 | unseen s.bf >last
    exits 0 unseen query -c s.bf last
    prints '200\n'
    exits 0 unseen verify s.bf
}

@test "--window: an empty one says how much fits into its first generation" {
    creates --window 1000 w.bf
    succeeds unseen stats w.bf
    grep -q '^generation full in *250 lines$' "$out" || complain 'not 250'
    exits 0 unseen add w.bf < <(seq 100)
    succeeds unseen stats w.bf
    grep -q '^generation full in *150 lines$' "$out" || complain 'not 150'
}

@test "--window: a writer killed while it empties a layer: verify says it, the next one mends it" {
    need_strace
    unseen create --window 1000 w.bf
    seq 1250 | unseen w.bf >all
    echo 2001 >next
    exits 137 sh -c 'strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:signal=KILL:when=1 \
        "$UNSEEN" w.bf next'
    exits 1 unseen verify w.bf
    grep -q '^w.bf: layer 1: a writer died while it emptied this layer (the next one ' "$out"
    seq 251 1250 | exits 0 unseen query -c w.bf
    prints '1000\n'
    exits 0 unseen w.bf next
    prints '2001\n'
    exits 0 unseen verify w.bf
    { seq 252 1250; echo 2001; } | exits 0 unseen query -c w.bf
    prints '1000\n'
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

@test "--window: no room on disk to clear a layer is said, and nothing is lost" {
    need_strace
    unseen create --window 1000 w.bf
    seq 1250 | unseen w.bf >all
    seq 1200 6300 >next
    exits 2 strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:error=EIO "$UNSEEN" w.bf next
    says 'w.bf: cannot forget: (Input/output|I/O) error'
    cp "$out" first
    exits 0 unseen w.bf next
    cat first "$out" | same /dev/stdin <(seq 1251 6300)
}

# --- by time --------------------------------------------------------------------

# at SECONDS COMMAND...: with a clock that says so.
at() {
    echo "$1" >clock
    shift
    timeout --foreground -k 5 "$UNSEEN_TIMEOUT" \
        env FAKE_CLOCK="$PWD/clock" LD_PRELOAD="$preload" "$UNSEEN" "$@"
}

need_clock() {
    need_preload clock
    at 0 stats --help >help 2>&1 || skip "cannot fake the clock here: $(head -n 1 help)"
}

day=86400

@test "--forget-after: a line is printed again after the time, and not before" {
    local noon=1800000000
    need_clock
    echo a | exits 0 at "$noon" --create --forget-after 7d t.bf
    prints 'a\n'
    echo a | succeeds at "$((noon + 1))" t.bf
    prints ''
    # Others, all the time, and repeats of a, which do not refresh it.
    for ((i = 1; i <= 28; i++)); do
        { echo "$i"; echo a; } | succeeds at "$((noon + i * day / 4 - 1))" t.bf
        prints "$i\\n"
    done
    { echo later; echo a; } | succeeds at "$((noon + 35 * day / 4))" t.bf
    prints 'later\na\n'
    echo 28 | succeeds at "$((noon + 35 * day / 4))" t.bf
    prints ''
    # Nobody has written for a month: query knows it, too.
    printf '%s\n' a later 28 | succeeds at "$((noon + 9 * day))" query t.bf
    prints 'a\nlater\n28\n'
    printf '%s\n' a later 28 | exits 1 at "$((noon + 40 * day))" query t.bf
    prints ''
    exits 0 at "$((noon + 40 * day))" stats --json t.bf
    grep -q '"lines":0,' "$out"
    grep -q '"forget_after":604800,' "$out"
    grep -q '"forgotten_next":null' "$out"
}

@test "--forget-after: in memory, while it runs" {
    need_clock
    echo 1800000000 >clock
    FAKE_CLOCK=$PWD/clock LD_PRELOAD=$preload converse "$UNSEEN" --forget-after 10m
    say a
    hear a
    say a
    say b
    hear b
    echo 1800000599 >clock
    say a
    say c
    hear c
    echo 1800000751 >clock
    say a
    hear a
    say c
    say d
    hear d
    farewell
}

@test "--forget-after: a generation that gets keys while it is found empty is not cleared" {
    local noon=1800000000 pid child
    need_strace
    need_clock
    echo a | exits 0 at "$noon" --create --forget-after 1h t.bf
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
    printf '%s\n' b c | succeeds at "$((noon + 3000))" query t.bf
    prints 'b\nc\n'
    # Both are counted: a generation without a count is taken for an empty one.
    exits 0 at "$((noon + 3000))" stats --json t.bf
    grep -q '"lines":2,' "$out"
    exits 0 at "$((noon + 3000))" verify t.bf
}

@test "--forget-after: a clock that is set back forgets late, never early" {
    local noon=1800000000
    need_clock
    echo a | exits 0 at "$noon" --create --forget-after 1h t.bf
    # Set back by ten hours, for two hours, and right again. Writers say that nothing is forgotten.
    echo b | exits 0 at "$((noon - 36000))" t.bf
    prints 'b\n'
    says 't\.bf: was last written at 2027-01-15 08:00:00 UTC, which is in the future, .* unseen create --like t\.bf NEW'
    exits 1 at "$((noon - 36000))" verify t.bf
    grep -q 'the clock was set back (its lines are forgotten late)' "$out"
    printf 'a\nb\n' | exits 0 at "$((noon - 32000))" t.bf
    prints ''
    printf 'b\nc\n' | exits 0 at "$((noon - 30000))" t.bf
    prints 'c\n'
    # It is noon + 2 h; b and c may have come a minute ago.
    printf 'b\nc\n' | succeeds at "$((noon + 7200))" t.bf
    prints ''
    echo d | succeeds at "$((noon + 7201))" t.bf
    printf 'b\nc\n' | succeeds at "$((noon + 7201 + 3599))" query t.bf
    prints 'b\nc\n'
    printf 'a\nb\nc\nd\n' | succeeds at "$((noon + 7201 + 3600 * 9 / 4))" t.bf
    prints 'a\nb\nc\nd\n'
}

@test "--forget-after: a clock that ran ahead: every writer says so, and the way out works" {
    local noon=1800000000 form
    need_clock
    exits 0 at "$noon" create --forget-after 1h t.bf
    echo a | succeeds at 4070908800 t.bf
    for form in t.bf 'add t.bf'; do
        # shellcheck disable=SC2086 # words
        echo b | exits 0 at "$noon" $form
        says 't\.bf: was last written at 2099-01-01 00:00:00 UTC, which is in the future, '
    done
    # A minute is nothing to speak of, and reading needs no word.
    exits 1 at "$noon" query -v t.bf < <(printf "a\nb\n")
    silent_on_stderr
    exits 0 at "$noon" create --like t.bf new.bf
    echo a | succeeds at "$((noon + 60))" new.bf
    echo a | succeeds at "$noon" new.bf
    echo a | succeeds at "$((noon + 2 * 3600))" new.bf
    prints 'a\n'
}

@test "--forget-after: a bit of a beginning that is no time of any clock: no hang, and nothing is lost" {
    local noon=1800000000 layer bit
    need_clock
    exits 0 at "$noon" create --forget-after 1d -n 1000 t.bf
    echo a | exits 0 at "$noon" t.bf
    for layer in {0..4}; do
        for bit in 63 62 50 44; do
            cp t.bf f.bf
            at_word=$((9216 + 64 * layer + 32))
            word=$(($(od -An -v -tu8 -j "$at_word" -N 8 f.bf) ^ (1 << bit)))
            printf '%b' "$(for i in {0..7}; do printf '\\x%02x' $((word >> 8 * i & 255)); done)" |
                dd of=f.bf bs=1 seek="$at_word" conv=notrunc status=none
            echo b | UNSEEN_TIMEOUT=20 exits 0 at "$((noon + day / 4))" f.bf
            prints 'b\n'
            # Three days on, a and b are forgotten.
            printf 'a\nc\nb\nc\n' | UNSEEN_TIMEOUT=20 exits 0 at "$((noon + 3 * day))" f.bf
            prints 'a\nc\nb\n' || complain "layer $layer, bit $bit"
        done
    done
}

@test "--forget-after: grows when more comes than was planned, keeps p, and says so" {
    local noon=1800000000
    need_clock
    exits 0 at "$noon" create --forget-after 1d -n 1000 -p 1e-3 t.bf
    seq 40000 | exits 0 at "$noon" t.bf
    says 't.bf: more than 1000 lines came within its time, and it grows \(its rate stays below 0.001\)'
    holds "$(wc -l <"$out") > 40000 * (1 - 2e-3)"
    seq 40000 | exits 0 at "$((noon + day - 1))" query -c t.bf
    prints '40000\n'
    seq 1000001 1200000 | exits 0 at "$((noon + day - 1))" query -c t.bf
    holds "$(cat "$out") < 200 + 6 * sqrt(200)"
    exits 0 at "$((noon + day - 1))" verify t.bf
    # The next day the same file does.
    size=$(stat -c %s t.bf)
    seq 50001 90000 | succeeds at "$((noon + 2 * day))" t.bf
    [[ $(stat -c %s t.bf) -eq $size ]]
    seq 40000 | capture at "$((noon + 2 * day))" query -c t.bf
    holds "$(cat "$out") < 40 + 6 * sqrt(40)"
}

@test "--forget-after: a full disk while it grows: exit 2, and the lines come again" {
    local noon=1800000000
    need_clock
    exits 0 at "$noon" create --forget-after 1d -n 1000 t.bf
    cp t.bf before.bf
    seq 40000 >in
    limited() { (ulimit -f 300; at "$@"); }
    exits 2 limited "$noon" t.bf in
    grep -q '^unseen: t.bf: cannot grow: File too large$' "$err"
    cp "$out" first
    exits 0 at "$noon" t.bf in
    cat first "$out" | same /dev/stdin in
    exits 0 at "$noon" verify t.bf
}

@test "--window: Ctrl-Z while it turns: others go on" {
    # The oldest of five layers, of 22 MB and so of two pieces, is emptied for line 15,000,001.
    local turning=9240:ffffffffffffffff
    seq 15000100 >in
    exits 0 unseen create --window 12M -p 1e-12 f.bf
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
    seq 3010 | unseen --create --window 500 f.bf >all
    seq 10001 12000 >in
    capture strace -qq -o trace -e trace=fdatasync -e inject=fdatasync:signal=TERM:when=1 \
        "$UNSEEN" f.bf in -x sh -c 'cat >got; exit 0'
    grep -q SIGTERM trace
    same got in
    exits 0 unseen query -c f.bf < <(tail -n 500 in)
    prints '500\n'
}

@test "a window turns without writing its zeros; where the file system cannot, it writes them" {
    need_strace
    seq 9000 >in
    exits 0 unseen create --window 1000 -p 1e-9 empty.bf
    cp empty.bf f.bf
    exits 0 strace -qq -o trace -e trace=fallocate "$UNSEEN" f.bf in
    same "$out" in
    grep -q 'FALLOC_FL_ZERO_RANGE' trace
    exits 0 unseen query f.bf in
    mv "$out" wanted
    cp empty.bf f.bf
    exits 0 strace -qq -o trace -e trace=fallocate -e inject=fallocate:error=EOPNOTSUPP "$UNSEEN" f.bf in
    grep -q INJECTED trace
    same "$out" in
    exits 0 unseen query f.bf in
    same "$out" wanted
}
