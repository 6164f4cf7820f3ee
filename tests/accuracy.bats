#!/usr/bin/env bats
# P2: the rate is true. Small statistical tests: inputs and seeds are fixed, so
# each gives the same count in every run; the bounds are 6 sigma wide, so that a
# change of hash or seed does not break them by chance. tests/accuracy has the
# whole grid.

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

# full N OPTION...: a --fixed filter that holds as many lines as it was made for.
full() {
    exits 0 unseen create --force --fixed -n "$@" f.bf && exits 0 unseen add f.bf < <(seq "$1")
}

@test "--fixed, n = 100000: at most p, and at least 0.7 p, and of what is in all" {
    local p
    for p in 0.5 0.1 1e-2 1e-3 1e-4; do
        full 100000 -p $p
        exits 1 unseen query -vc f.bf < <(seq 100000)
        prints '0\n'
        hits f.bf 1000001 2000000
        at_most $p 1000000
        at_least "0.7 * $p" 1000000
    done
}

# grown RATE OPTION...: made with these options, it stays under the rate at
# every point of its growth.
grown() {
    local p=$1 filled=0 upto
    shift
    exits 0 unseen create --force -p "$p" "$@" f.bf
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
    for with in '1e-2 -n 100000' '1e-3 -n 100000' '1e-2 -n 1000' 1e-4; do
        echo "$with"
        grown $with
    done
}

# part_of FILE: what was printed is in order a part of these lines, none of them twice.
part_of() {
    awk -v all="$1" '{ do { if ((getline line <all) <= 0) exit 1 } while (line != $0) }' "$out" || complain 'not a part'
}

@test "in memory: at most p of the distinct lines are lost, none is printed twice" {
    local options
    mixed_lines 400000 160000 >in
    lines_unique in >wanted
    for options in '-p 0.1' '-p 1e-2' '-p 1e-3' '-p 1e-2 -n 30000'; do
        exits 0 unseen $options <in
        part_of wanted
        hits=$(($(wc -l <wanted) - $(wc -l <"$out")))
        at_most "$(cut -d ' ' -f 2 <<<"$options")" "$(wc -l <wanted)"
    done
    # 1e-6 without any option
    seq 2000000 >in
    succeeds unseen <in
    part_of in
    hits=$((2000000 - $(wc -l <"$out")))
    at_most 1e-6 2000000
}
