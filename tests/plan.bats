#!/usr/bin/env bats
# plan: sizes and rates of filters not yet made. (What it refuses: messages.txt. The model behind it, for
# all sizes and rates: tests/unit/test_sizing.c.)

load helper

# rate_of: the false-positive rate in the captured line of JSON.
rate_of() {
    field false_positive_rate
}

@test "a report, of a rate of 1e-6 unless told; nothing is written" {
    local word
    unchanged succeeds unseen plan -n 1000000
    for word in size 'bits per key' 'cache lines' hashes rate; do
        grep -iq -e "$word" "$out" || complain "plan says nothing of: $word"
    done
    # log2(1/p) / ln 2, and log2(1/p)
    grep -q 'classic filter 28\.76, any structure at least 19\.93' "$out" || complain "other bits a key"
    cp "$out" wanted
    succeeds unseen plan -n 1000000 -p 1e-6
    same "$out" wanted
}

@test "any two of n, p, size give the third" {
    local n p bytes
    while read -r n p; do
        succeeds unseen plan -n "$n" -p "$p" --json
        bytes=$(field size_bytes)
        succeeds unseen plan -n "$n" --size "$bytes" --json
        # in a size that is given, more lines a key may give a better rate
        holds "$(rate_of) <= $p * 1.001 && $(rate_of) >= $p * 0.3"
        succeeds unseen plan -p "$p" --size "$bytes" --json
        holds "$(field capacity) >= $n * 0.999 && $(field capacity) <= $n * 1.06"
    done <<'END'
1000000 1e-2
100000000 1e-4
3000000000 1e-9
END
}

# The geometry that a rate gets is not always the one that suits the size best.
@test "a size and a number of keys: the rate promised is one that the filter keeps" {
    local size
    for size in 1M 1500K 2M 3M 5M; do
        succeeds unseen plan --json -n 1e6 --size $size
        holds "$(field rate) <= $(field false_positive_rate)"
        succeeds unseen plan --json --counting -n 2e5 --size $size
        holds "$(field rate) <= $(field false_positive_rate)"
    done
}

@test "at high rates it is about the lines that come, too, and its rate is theirs" {
    local p rate
    for p in 0.5 0.1; do
        succeeds unseen plan -n 100000 -p $p --json
        [[ $(field capacity) == 100000 ]]
        rate=$(field rate)
        exits 0 unseen create --force -n 100000 -p $p f.bf
        exits 0 unseen add f.bf < <(seq 100000)
        succeeds unseen stats --json f.bf
        holds "($(field rate) - $rate)^2 < (0.02 * $rate)^2"
    done
    # A window is about lines that are remembered.
    succeeds unseen plan --window 80000 -p 0.5 --json
    rate=$(sed 's/.*{"lines":100000,"rate":\([^}]*\)}.*/\1/' "$out")
    exits 0 unseen create --force --window 80000 -p 0.5 f.bf
    exits 0 unseen f.bf -m 100000 < <(seq 1000000)
    succeeds unseen stats --json f.bf
    holds "($(field rate) - $rate)^2 < (0.02 * $rate)^2"
}

# (The grid of all: tests/unit/test_growth.c.)
# bats test_tags=rate
@test "n lines fit at every rate, more make it grow; plan and stats agree" {
    local n p name
    while read -r n p; do
        succeeds unseen plan -n "$n" -p "$p" --json
        cp "$out" planned
        creates --force -n "$n" -p "$p" f.bf
        # All at once, so that none is a false drop because of another.
        exits 0 unseen f.bf -x cat < <(seq "$n")
        silent_on_stderr
        succeeds unseen stats --json f.bf
        [[ $(field layer_count) -eq 1 && $(field capacity) -eq $n ]] || complain "-n $n -p $p"
        for name in capacity bits_per_key size_bytes; do
            [[ $(field $name) == "$(field $name planned)" ]] || complain "-n $n -p $p: $name"
        done
        exits 0 unseen f.bf < <(seq $((n + 1)) $((3 * n + 10)))
        says "^unseen: f\.bf: more than $n lines? \(-n\); grew to [0-9.]+ .B\$"
    done <<'END'
1 0.5
10 2%
1000 0.5
100000 0.3
1000000 2%
100000 1e-3
3 1e-12
END
}

@test "few lines: each point of the curve once; a large filter: what its staging area takes; windows" {
    succeeds unseen plan -n 1
    [[ $(sed '1,/^lines/d' "$out" | cut -d ' ' -f 1 | paste -sd ' ') == '1 2 5' ]]
    succeeds unseen plan -n 2e8
    grep -Eqx 'with staging area +856948736 bytes \(857 MB\)' "$out"
    succeeds unseen plan --forget-after 30d -n 1M
    grep -Eqx 'window +30d, at most 37d12h' "$out"
}

@test "--size is allocated whole, and kept however many lines come" {
    local options bytes size
    seq 100000 >in
    while read -r bytes options; do
        exits 0 unseen create --force $options f.bf
        size=$(stat -c %s f.bf)
        holds "$size <= $bytes && $size >= $bytes * 0.9 && $(stat -c '%b * %B' f.bf) >= $bytes * 0.9"
        exits 0 unseen f.bf in
        [[ $(stat -c %s f.bf) -eq $size ]] || complain "$options: it has grown"
    done <<'END'
131072 --size 128K -p 1e-4
131072 --size 128K --fixed
128000 --size 128KB -n 3k
1048576 --size 1M --window 10k
131072 --size 128K --hashes 7
131072 -n 9k --bits-per-key 50
131072 --size 128K --counting
END
}

@test "--bits-per-key and --hashes: rates of the literature" {
    local bits hashes classic counting
    # (1 - e^(-k/bits))^k; a cell that counts has four
    while read -r bits hashes classic counting; do
        succeeds unseen plan --fixed -n 1e8 --bits-per-key "$bits" --hashes "$hashes" ${counting:+"$counting"}
        grep -Eq -e "$classic" "$out" || complain "--bits-per-key $bits --hashes $hashes: no $classic"
    done <<'END'
20 10 8\.89[0-9]*e-0?5|0\.0000889
10 7 8\.19[0-9]*e-0?3|0\.00819
16 8 5\.7[45][0-9]*e-0?4|0\.00057[45]
40 7 8\.19[0-9]*e-0?3|0\.00819 --counting
END
}

# --- from data ---------------------------------------------------------------

# distinct_is N: within 1 %.
distinct_is() {
    holds "$(field distinct) >= $1 * 0.99 && $(field distinct) <= $1 * 1.01"
}

@test "from data: what is exact is exact, and distinct lines are told within 1 %" {
    local n
    seq 100000 >a
    unchanged succeeds unseen plan --json a - < <(seq 50001 150000)
    [[ $(field read) -eq 200000 ]]
    distinct_is 150000
    # 4.88895 bytes of a, 5.5 of the other
    holds "$(field bytes_per_line) > 5.1 && $(field bytes_per_line) < 5.3"
    # for one in a hundred more, and three digits
    holds "$(field capacity) >= $(field distinct) * 1.01"
    holds "$(field capacity) <= $(field distinct) * 1.02"
    [[ $(field capacity) == ???000 ]]
    [[ $(field command) == "unseen create -n $(field capacity) -p 1e-6 FILTER" ]]
    # few lines are counted exactly
    for n in 1 2 20; do
        succeeds unseen plan --json - < <(seq "$n"; seq "$n"; seq "$n")
        [[ $(field distinct) -eq $n && $(field read) -eq $((3 * n)) && $(field capacity) -eq $((n + 1)) ]]
    done
    succeeds unseen plan -p 1e-4 - < <(seq 10; seq 10)
    head -n 4 "$out" | tr -s ' ' | cmp - <(printf '%s\n' 'lines read 20' 'distinct 10 (within 1%)' \
        'duplicates 50%' 'bytes per line 1.1')
}

@test "from data: many lines, from a file or a pipe, with either number of threads, count alike" {
    local options
    mixed_lines 200000 80000 >in
    succeeds unseen plan --json -j1 in
    cp "$out" wanted
    distinct_is "$(sort -u in | wc -l)"
    for options in -j1 -j2; do
        succeeds unseen plan --json $options in
        same "$out" wanted
        succeeds unseen plan --json $options - < <(cat in)
        same "$out" wanted
    done
}

@test "from data: the plan is that of plan -n, and the command makes it" {
    local options bytes
    seq 30000 >in
    for options in '' '-p 1e-3' '--counting' '--size 200K' '--bits-per-key 12 --hashes 7' \
        '--forget-after 7d' '--fixed --fpr 0.01'; do
        succeeds unseen plan --json $options in
        cp "$out" data
        succeeds unseen plan --json -n "$(grep -o 'create -n [0-9]*' data | cut -d ' ' -f 3)" $options
        # all of it stands in the other one, too
        grep -qF "$(sed 's/^{//; s/}$//' "$out")" data || complain "another plan: $options"
        bytes=$(field size_bytes)
        rm -f FILTER
        eval "exits 0 $(field command data)"
        [[ $(stat -c %s FILTER) -eq $bytes ]] || complain "another size: $options"
    done
}

@test "from data: the recipe says what is counted, and stands in the command; values are quoted" {
    local separator
    # two fields, ten values of the second; every fourth line has only one
    seq 4000 | awk '{ print $1 % 4 ? $1 ";" $1 % 10 : $1 }' >in
    succeeds unseen plan --json -t ';' -f 2 -i in
    [[ $(field without_key) -eq 1000 ]]
    [[ $(field command) == *" -f 2 -t ';' -i "* ]]
    distinct_is 1010
    succeeds unseen plan -t ';' -f 2 in
    grep -Eq '^without a key +1000 \(no value in that field: compared as whole lines\)$' "$out"
    succeeds unseen plan --by url in
    grep -Eq '^without a key +4000 \(no URL: compared as whole lines\)$' "$out"
    # a recipe that every line has a key by
    succeeds unseen plan --trim in
    run ! grep 'without a key' "$out"
    # shellcheck disable=SC1003 # a backslash
    for separator in "'" '\\' '\t' '"' '$' ' ' '*'; do
        rm -f FILTER
        succeeds unseen plan -f 1 -t "$separator" - < <(seq 9)
        eval "exits 0 $(sed -n 's/^To make it: //p' "$out")"
        exits 1 unseen query -f 1 -t "$separator" FILTER < <(echo 1)
    done
}

@test "from data: -z, --header; a file that cannot be read is named, the others count, and exit 2" {
    succeeds unseen plan --json -z - < <(printf 'a\nb\0a\nb\0c')
    [[ $(field read) -eq 3 && $(field distinct) -eq 2 ]]
    [[ $(field command) != *-z* ]]
    seq 10 >a
    seq 10 >b
    succeeds unseen plan --json --header a b
    [[ $(field read) -eq 18 && $(field distinct) -eq 9 ]]
    exits 2 unseen plan --json missing a
    says 'missing: No such file'
    [[ $(field read) -eq 10 ]]
    exits 2 unseen plan --json --max-line 3 a - < <(seq 5; echo 12345; seq 100)
    says 'standard input: has a line longer than 3 bytes'
    [[ $(field read) -eq 15 ]]
}
