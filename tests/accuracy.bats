#!/usr/bin/env bats
# P2: the rate is true. Small statistical tests: inputs and seeds are fixed, so
# each gives the same count in every run; the bounds are 6 sigma wide, so that a
# change of hash or seed does not break them by chance. tests/accuracy has the
# whole grid.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper

# hits FILTER FROM TO: sets `hits` to how many of these numbers it says are in.
hits() {
    capture unseen query -c "$1" < <(seq "$2" "$3")
    [[ $code -le 1 ]] || complain "query"
    hits=$(cat "$out")
}

# at_most P QUERIES: 6 sigma above it would be.
at_most() {
    echo "hits $hits of $2 queries, expected at most $(awk "BEGIN { print $1 * $2 }")"
    holds "$hits <= $1 * $2 + 6 * sqrt($1 * $2)"
}

# at_least P QUERIES
at_least() {
    holds "$hits >= $1 * $2 - 6 * sqrt($1 * $2)"
}

# fixed RATE: a filter of exactly 100000 keys holds 100000.
fixed() {
    local p=$1
    exits 0 unseen create --fixed -n 100000 -p "$p" f.bf
    exits 0 unseen add f.bf < <(seq 100000)
    exits 1 unseen query -vc f.bf < <(seq 100000)
    prints '0\n'
    hits f.bf 1000001 2000000
    at_most "$p" 1000000
    at_least "0.7 * $p" 1000000
}

@test "--fixed, n = 100000: at most p, and at least 0.7 p" {
    local p
    for p in 0.5 0.1 1e-2 1e-3 1e-4; do
        rm -f f.bf
        echo "p = $p"
        fixed $p
    done
}

@test "small filters are at most at their rate, too" {
    local n
    for n in 1 10 100 1000; do
        exits 0 unseen create --fixed -n "$n" -p 1e-2 "$n.bf"
        exits 0 unseen add "$n.bf" < <(seq "$n")
        hits "$n.bf" 1000001 1500000
        at_most 1e-2 500000
    done
}

# grown RATE OPTION...: made with these options, it stays under the rate at
# every point of its growth.
grown() {
    local p=$1 filled=0 upto
    shift
    exits 0 unseen create -p "$p" "$@" f.bf
    for upto in 50000 99000 100000 101000 150000 200000 300000 500000; do
        exits 0 unseen add f.bf < <(seq $((filled + 1)) "$upto")
        filled=$upto
        hits f.bf 1000001 1400000
        at_most "$p" 400000
    done
    exits 1 unseen query -vc f.bf < <(seq 500000)
    prints '0\n'
}

@test "grown to 500000 lines: at most p, with -n 100000, with -n 1000, and without" {
    local with
    for with in '1e-2 -n 100000' '1e-3 -n 100000' '1e-2 -n 1000' 1e-2; do
        rm -f f.bf
        echo "$with"
        # shellcheck disable=SC2086 # words
        grown $with
    done
}

@test "lines lost in memory: at most p of the distinct ones, none printed twice" {
    local p
    mixed_lines 1000000 400000 >in
    lines_unique in >wanted
    for p in 0.1 1e-2 1e-3; do
        exits 0 unseen -p "$p" <in
        # what was printed is in order a part of what should have been
        lines_unique "$out" | cmp - "$out"
        hits=$(($(wc -l <wanted) - $(wc -l <"$out")))
        [[ $hits -ge 0 ]]
        at_most "$p" "$(wc -l <wanted)"
        awk 'NR == FNR { s[$0]; next } !($0 in s) { bad = 1 } END { exit bad }' wanted "$out"
    done
}

@test "lines lost in memory with -n, as far as 5 x past it" {
    seq 500000 >in
    exits 0 unseen -n 100000 -p 1e-2 <in
    hits=$((500000 - $(wc -l <"$out")))
    at_most 1e-2 500000
}

@test "1e-6 without any option: of 2 million lines none or a few are dropped" {
    seq 2000000 >in
    succeeds unseen <in
    hits=$((2000000 - $(wc -l <"$out")))
    at_most 1e-6 2000000
}

@test "other seeds: another set of false positives at the same rate" {
    local seed
    for seed in 1 42 18446744073709551615; do
        exits 0 unseen create --fixed -n 100000 -p 1e-2 --seed "$seed" "$seed.bf"
        exits 0 unseen add "$seed.bf" < <(seq 100000)
        hits "$seed.bf" 1000001 1300000
        at_most 1e-2 300000
        at_least 0.7e-2 300000
        capture unseen query "$seed.bf" < <(seq 1000001 1300000)
        cp "$out" "$seed.in"
    done
    [[ $(comm -12 <(sort 1.in) <(sort 42.in) | wc -l) -lt 100 ]]
}

@test "lines and fields by hand: --bits-per-key 10 --hashes 7" {
    exits 0 unseen create --fixed -n 100000 --bits-per-key 10 --hashes 7 f.bf
    exits 0 unseen add f.bf < <(seq 100000)
    hits f.bf 1000001 1400000
    succeeds unseen stats --json f.bf
    holds "$hits <= $(field rate) * 1.1 * 400000 + 6 * sqrt($(field rate) * 400000)"
    holds "$hits >= $(field rate) * 0.9 * 400000 - 6 * sqrt($(field rate) * 400000)"
    # near the classic 0.00819: in one cache line it cannot be less
    holds "$hits > 0.0075 * 400000 && $hits < 0.016 * 400000"
}

@test "keys of one shape: counters, URLs with one digit changed, long common prefixes" {
    local prefix
    prefix=$(printf '%0500d' 0)
    local p=1e-2
    exits 0 unseen create --fixed -n 50000 -p "$p" f.bf
    exits 0 unseen add f.bf < <(seq -f "$prefix%.0f" 50000)
    capture unseen query -c f.bf < <(seq -f "$prefix%.0f" 100001 300000)
    hits=$(cat "$out")
    at_most "$p" 200000
    at_least "0.7 * $p" 200000
}
