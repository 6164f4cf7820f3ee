#!/usr/bin/env bats
# Windows: filters that forget, by count and by time. The model is `window_model`: sets without any
# error, cut into generations as the manual says. Rates here are so low that it is exact.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper

# window_model N G: the lines of stdin that a window of N lines in G generations prints.
window_model() {
    awk -v n="$1" -v g="$2" '
        BEGIN { each = int((n + g - 1) / g); filling = 0 }
        $0 in born { next }
        {
            if (keys[filling] == each) {
                filling++
                for (line in born)
                    if (born[line] < filling - g) delete born[line]
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
    local n options generations
    while read -r n options generations; do
        a_stream "$((500 + 6 * n))" $((3 * n + 3)) >in
        window_model "$n" "$generations" <in >expected
        # shellcheck disable=SC2086 # options are several words
        exits 0 unseen --window "$n" ${options//_/ } <in
        same "$out" expected || complain "in memory: $n $options"
        rm -f w.bf
        exits 0 unseen --window "$n" ${options//_/ } w.bf <in
        same "$out" expected || complain "in a file: $n $options"
        rm -f w.bf parts
        split -n l/37 in part.
        for part in part.*; do
            exits 0 unseen --window "$n" ${options//_/ } w.bf "$part"
            cat "$out" >>parts
        done
        same parts expected || complain "in parts: $n $options"
        exits 0 unseen verify w.bf
    done <<'END'
1 --slack_1 1
4 --slack_.25 4
10 --slack_.25 5
100 --slack_.25 4
1000 --slack_0.1 10
1000 --slack_1 1
3333 --slack_.25 5
END
}

@test "--window: the cut of the input into batches and buffers changes nothing" {
    a_stream 30000 700 >in
    window_model 200 4 <in >expected
    unseen create --window 200 w.bf
    exits 0 unseen --buffer-size 4096 w.bf <in
    same "$out" expected
    rm w.bf
    unseen create --window 200 w.bf
    awk '{ print; if (NR % 17 == 0) fflush() }' in | exits 0 unseen w.bf
    same "$out" expected
}

@test "--window: add, query and -m keep to the window" {
    seq 100 | unseen add --window 10 --slack 1 w.bf
    seq 100 | succeeds unseen query w.bf
    seq 81 100 >expected
    # 20 at most, 10 at least.
    seq 91 100 | while read -r line; do grep -qx "$line" "$out"; done
    run -1 grep -vxf expected "$out"
    unseen create --window 10 --slack 1 m.bf
    seq 1 1000 | succeeds unseen -m 25 m.bf
    seq 25 | same "$out" /dev/stdin
    seq 25 | succeeds unseen query m.bf
    seq 11 25 | same "$out" /dev/stdin
}

@test "--window: the file never grows, and each layer is as full as it may be" {
    unseen create --window 5000 w.bf
    size=$(stat -c %s w.bf)
    seq 200000 | unseen w.bf | tail -n 1 >last
    [[ $(stat -c %s w.bf) -eq $size ]]
    exits 0 unseen stats --json w.bf
    [[ $(field window) -eq 5000 && $(field generations) -eq 4 && $(field layers) -eq 5 ]]
    holds "$(field keys) > 5000 * 0.97 && $(field keys) < 6250 * 1.03"
    exits 0 unseen verify w.bf
}

@test "--window: options that contradict each other or the filter" {
    local words
    while IFS='|' read -r words pattern; do
        # shellcheck disable=SC2086 # several words
        fails_with 2 "$pattern" unseen create $words w.bf || complain "$words"
    done <<'END'
--window 10 --forget-after 7d|--window and --forget-after: two ways
--window 10 -n 10|--window and -n: both say
--window 10 --fixed|--window and --fixed: a window
--forget-after 1h --fixed -n 10|--forget-after and --fixed: a window
--slack 0.5|--slack: of which window
--window 0|--window 0: not a value
--window 3|--window 3: too few lines for a slack of 0.25
--window 10 --slack 2|--slack 2: not a value
--window 10 --slack 0.01|--slack 0.01: not a value
--forget-after 7|--forget-after 7: not a value
--forget-after 7x|--forget-after 7x: not a value
--forget-after 0s|--forget-after 0s: not a value
--window 1M --size 1M -p 1e-3|--window, -p and --size: any two
END
    unseen create --window 100 w.bf
    unseen create --forget-after 7d t.bf
    unseen create -n 100 n.bf
    fails_with 2 'was made with --window 100, not 200' unseen --window 200 w.bf
    fails_with 2 'was made without -n' unseen -n 100 w.bf
    fails_with 2 'was made without --window' unseen --window 100 n.bf
    fails_with 2 'was made without --window' unseen --window 100 t.bf
    fails_with 2 'was made without --forget-after' unseen --forget-after 7d w.bf
    fails_with 2 'was made with --forget-after 1w, not 1d' unseen --forget-after 24h t.bf
    fails_with 2 'was made with --slack 0.25, not 0.5' unseen --slack 0.5 w.bf
    fails_with 2 'was made without --slack' unseen --slack 0.5 n.bf
    fails_with 2 '^unseen: -d: needs to remember' unseen -d --window 10
    echo a | succeeds unseen --window 100 --slack 0.25 w.bf
    echo a | succeeds unseen --forget-after 168h t.bf
    # Both make the filter, as -n does.
    echo a | exits 0 unseen --window 100 new.bf
    says 'new.bf: created \(for the last 100 lines at an error rate of 1e-06, '
    echo a | exits 0 unseen --forget-after 90m late.bf
    says 'late.bf: created \(for the lines of 90m at an error rate of 1e-06, grows from '
}
