#!/usr/bin/env bats
# plan: sizes and rates of filters not yet made.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load helper

# rate_of: the false-positive rate in the captured line of JSON.
rate_of() {
    field target_rate | grep . || field rate
}

@test "plan writes nothing" {
    unchanged exits 0 unseen plan -n 1e6 -p 1e-6
    unchanged exits 0 unseen plan -n 1e9 -p 1e-6 --json
    unchanged exits 0 unseen plan --table
}

@test "text: size, geometry, bits a key" {
    succeeds unseen plan -n 1000000 -p 1e-6
    local word
    for word in size bits lines fields rate; do
        grep -iq -e "$word" "$out" || complain "plan says nothing of: $word"
    done
    [[ $(tr -d '\12\40-\176' <"$out" | wc -c) -eq 0 ]] || complain "odd bytes in a pipe"
}

@test "the rate is 1e-6 unless told" {
    succeeds unseen plan -n 1000000 --json
    cp "$out" wanted
    succeeds unseen plan -n 1000000 -p 1e-6 --json
    same "$out" wanted
}

@test "any two of n, p, size give the third" {
    local n p bytes
    while read -r n p; do
        succeeds unseen plan -n "$n" -p "$p" --json
        bytes=$(field bytes)
        succeeds unseen plan -n "$n" --size "$bytes" --json
        # in a size that is given, more lines a key may give a better rate
        holds "$(rate_of) <= $p * 1.001 && $(rate_of) >= $p * 0.3"
        succeeds unseen plan -p "$p" --size "$bytes" --json
        holds "$(field capacity) >= $n * 0.999 && $(field capacity) <= $n * 1.06"
    done <<'END'
1000000 1e-2
1000000 1e-6
100000000 1e-4
3000000000 1e-9
END
}

@test "the size is that of the file that create makes" {
    local n p
    while read -r n p; do
        succeeds unseen plan -n "$n" -p "$p" --json
        local bytes
        bytes=$(field bytes)
        succeeds unseen create -n "$n" -p "$p" "$n-$p.bf"
        holds "$bytes == $(stat -c %s "$n-$p.bf")"
    done <<'END'
1 1e-6
1000 1e-6
1000000 1e-3
1000000 1e-9
END
}

@test "--size is kept: the file is not larger" {
    local size bytes
    while read -r size bytes; do
        succeeds unseen create --size "$size" -p 1e-4 f.bf
        holds "$(stat -c %s f.bf) <= $bytes"
        holds "$(stat -c %s f.bf) >= $bytes * 0.9"
        rm f.bf
    done <<'END'
128K 131072
1M 1048576
10M 10485760
1MB 1000000
END
}

@test "bits a key are those of the table in the design" {
    local p bits bytes
    while read -r p bits; do
        succeeds unseen plan -n 1e9 -p "$p" --json
        bytes=$(field bytes)
        # more by what it costs to keep the rate while the filter grows
        holds "$bytes * 8 / 1e9 > $bits * 0.99 && $bytes * 8 / 1e9 < $bits * 1.05"
    done <<'END'
1e-2 9.92
1e-3 14.64
1e-4 19.86
1e-6 29.87
1e-9 44.76
1e-12 60.62
END
}

@test "a billion lines at 1e-4 take 2.4 to 2.6 GB, not 18 MB" {
    succeeds unseen plan -n 1e9 -p 1e-4 --json
    holds "$(field bytes) > 2.4e9 && $(field bytes) < 2.6e9"
    succeeds unseen plan -n 1e9 -p 1e-4
    grep -Eq '2\.[45][0-9]* ?(GB|GiB)|2\.3[0-9]* ?GiB' "$out" || complain "the text does not say so"
}

@test "--bits-per-key 20 --hashes 10: the classic rate beside ours" {
    succeeds unseen plan --bits-per-key 20 --hashes 10
    grep -Eq '8\.89[0-9]*e-0?5|0\.0000889' "$out" || complain "no 8.89e-05"
    # with n, the size is a whole number of pages, a bit larger
    succeeds unseen plan -n 1000000 --bits-per-key 20 --hashes 10
    grep -Eq '8\.8[0-9]*e-0?5' "$out" || complain "no 8.8e-05"
}

@test "--bits-per-key and --hashes: rates of the literature" {
    local bits hashes classic
    # (1 - e^(-k/bits))^k
    while read -r bits hashes classic; do
        succeeds unseen plan --bits-per-key "$bits" --hashes "$hashes"
        grep -Eq -e "$classic" "$out" || complain "--bits-per-key $bits --hashes $hashes: no $classic"
    done <<'END'
10 7 8\.19[0-9]*e-0?3|0\.00819
8 6 2\.16[0-9]*e-0?2|0\.0216
16 8 5\.7[45][0-9]*e-0?4|0\.00057[45]
END
}

@test "--table: the classic table of m/n and k" {
    succeeds unseen plan --table
    # m/n = 8, k = 6; m/n = 10, k = 7; m/n = 16, k = 11
    grep -Eq '0\.0216|2\.16[0-9]*e-0?2' "$out" || complain "no 0.0216"
    grep -Eq '0\.00819|8\.19[0-9]*e-0?3' "$out" || complain "no 0.00819"
    grep -Eq '0\.000459|4\.59[0-9]*e-0?4' "$out" || complain "no 0.000459"
}

@test "--json is one valid object a line" {
    need python3
    succeeds unseen plan -n 1e6 -p 1e-6 --json
    python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$out"
    [[ $(wc -l <"$out") -eq 1 ]]
}

@test "the whole range: n from 1 to 1e12, p from 0.5 to 1e-12" {
    local n p last
    for p in 0.5 1e-3 1e-6 1e-12; do
        last=0
        for n in 1 10 1000 1e5 1e7 1e9 1e12; do
            succeeds unseen plan -n "$n" -p "$p" --json
            holds "$(field bytes) >= $last"
            last=$(field bytes)
            # the bound that no structure can beat
            holds "$last * 8 >= $n * log(1 / $p) / log(2)"
        done
    done
}

@test "too little is an error" {
    fails_with 2 '' unseen plan
    fails_with 2 '' unseen plan -p 0.01
    fails_with 2 '' unseen plan -n 1e12 --size 4K
}

# The geometry that a rate gets is not always the one that suits the size best.
@test "a size and a number of keys: the rate promised is one that the filter keeps" {
    local size
    for size in 1M 1500K 2M 3M 4M 5M 6M; do
        succeeds unseen plan --json -n 1e6 --size $size
        holds "$(field rate) <= $(field target_rate)"
        succeeds unseen plan --json --counting -n 2e5 --size $size
        holds "$(field rate) <= $(field target_rate)"
    done
}
