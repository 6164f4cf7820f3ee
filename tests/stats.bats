#!/usr/bin/env bats
# stats: the truth about a filter at any fill.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load helper

# valid_json FILE: one object a line, as a real parser sees it, where there is one.
valid_json() {
    if command -v python3 >/dev/null; then
        python3 -c '
import json, sys
def strict(x): raise ValueError(x)
for line in open(sys.argv[1]):
    assert isinstance(json.loads(line, parse_constant=strict), dict)' "$1"
    elif command -v jq >/dev/null; then
        [[ $(jq -c 'type' "$1" | sort -u) == '"object"' ]]
    else
        ! grep -vq '^{".*}$' "$1"
    fi
}

@test "text: says everything that it must" {
    exits 0 unseen -n 20000 -p 1e-4 f.bf < <(seq 5000)
    succeeds unseen stats f.bf
    local word
    for word in f.bf capacity layer keys fill size bits geometry hash seed 'target|at most' rate dropped; do
        grep -Eiq -e "$word" "$out" || complain "stats says nothing of: $word"
    done
    grep -q 20000 "$out" || complain "no capacity"
    grep -Eiq 'xxh3' "$out" || complain "no name of the hash"
}

@test "text in a pipe has no escape sequences and no bytes outside ASCII" {
    exits 0 unseen -n 20000 -p 1e-4 f.bf < <(seq 5000)
    succeeds unseen stats f.bf
    [[ $(tr -d '\12\40-\176' <"$out" | wc -c) -eq 0 ]] || complain "odd bytes"
}

@test "on a terminal it draws a gauge" {
    need script
    exits 0 unseen -n 20000 -p 1e-4 f.bf < <(seq 15000)
    succeeds unseen stats f.bf
    script -qec "'$UNSEEN' stats f.bf" /dev/null </dev/null 2>&1 | tr -d '\r' >terminal
    run ! cmp -s "$out" terminal
    [[ $(wc -c <terminal) -gt $(wc -c <"$out") ]]
}

@test "--json: the stable names" {
    exits 0 unseen -n 20000 -p 1e-4 f.bf < <(seq 5000)
    succeeds unseen stats --json f.bf
    [[ $(wc -l <"$out") -eq 1 ]]
    valid_json "$out"
    [[ $(field capacity) == 20000 ]]
    [[ $(field layers) == 1 ]]
    holds "$(field target_rate) == 1e-4"
    holds "$(field keys) > 4950 && $(field keys) < 5050"
    holds "$(field bytes) == $(stat -c %s f.bf)"
    holds "$(field rate) >= 0 && $(field rate) < 1e-4"
}

@test "--json: an empty filter" {
    succeeds unseen create f.bf
    succeeds unseen stats --json f.bf
    valid_json "$out"
    holds "$(field keys) == 0"
    holds "$(field rate) == 0"
    holds "$(field target_rate) == 1e-6"
}

@test "--json: several filters, one object a line; a name that needs quoting" {
    local odd=$'a "quoted" \\ name\twith \x01.bf'
    exits 0 unseen --create "./$odd" < <(seq 10)
    exits 0 unseen --create b.bf < <(seq 100000)
    succeeds unseen stats --json "./$odd" b.bf
    [[ $(wc -l <"$out") -eq 2 ]]
    valid_json "$out"
    succeeds unseen stats "./$odd" b.bf
    grep -q 'b.bf' "$out"
}

@test "--json: a name that is not UTF-8 still gives valid JSON" {
    need python3
    exits 0 unseen --create $'\xff\xfe.bf' < <(seq 10)
    succeeds unseen stats --json $'\xff\xfe.bf'
    valid_json "$out"
}

@test "one bad FILTER of several: a message, the rest go on, exit 2" {
    exits 0 unseen --create a.bf < <(seq 10)
    echo text >list.txt
    unchanged exits 2 unseen stats --json a.bf nofile.bf list.txt a.bf
    says_lines 2 'nofile\.bf: No such file or directory' 'list\.txt: not a filter'
    [[ $(wc -l <"$out") -eq 2 ]]
    valid_json "$out"
}

@test "layers are counted as it grows" {
    exits 0 unseen -n 1000 f.bf < <(seq 100000)
    succeeds unseen stats --json f.bf
    valid_json "$out"
    holds "$(field layers) > 1"
    holds "$(field keys) > 99000 && $(field keys) < 101000"
    holds "$(field bytes) <= $(stat -c %s f.bf)"
    holds "$(field rate) <= 1e-6"
}

# truth RATE: a fixed filter of 100000 at that rate, filled to 0.1, 0.5, 1, 2
# and 5 times its capacity. keys within 1 % while the fill is below 99 %; the
# rate within 10 %, or 6 sigma of what a million disjoint queries can tell. A
# key that was dropped as a false positive had all its bits set already, so the
# bits tell how many were offered, not how many were printed.
truth() {
    local p=$1 n=100000 filled=0 upto keys rate hits queries=1000000
    exits 0 unseen create -n "$n" -p "$p" --fixed f.bf
    seq 1000001 "$((1000000 + queries))" >disjoint
    for upto in 10000 50000 100000 200000 500000; do
        exits 0 unseen add f.bf < <(seq "$((filled + 1))" "$upto")
        filled=$upto
        succeeds unseen stats --json f.bf
        valid_json "$out"
        keys=$(field keys)
        rate=$(field rate)
        capture unseen query -c f.bf disjoint
        hits=$(cat "$out")
        echo "p=$p n=$n held=$upto keys=$keys rate=$rate measured=$hits/$queries"
        holds "$keys >= 0.99 * $upto && $keys <= 1.01 * $upto"
        holds "$hits <= 1.1 * $rate * $queries + 6 * sqrt($rate * $queries) + 1"
        holds "$hits >= 0.9 * $rate * $queries - 6 * sqrt($rate * $queries) - 1"
    done
}

@test "keys and rate against the truth at 0.1, 0.5, 1, 2, 5 x n: p = 1e-2" {
    truth 1e-2
}

@test "keys and rate against the truth at 0.1, 0.5, 1, 2, 5 x n: p = 1e-4" {
    truth 1e-4
}

@test "stats of a full filter: no division by zero, a rate of at most 1" {
    exits 0 unseen create -n 1000 -p 0.5 --fixed f.bf
    exits 0 unseen add f.bf < <(seq 1000000)
    exits 0 unseen stats --json f.bf
    valid_json "$out"
    holds "$(field rate) > 0.99 && $(field rate) <= 1"
    holds "$(field keys) > 10000"
    exits 0 unseen stats f.bf
}

@test "a layer that is read in two halves" {
    need taskset
    exits 0 unseen create -n 20M f.bf
    exits 0 unseen add f.bf < <(seq 200000)
    succeeds unseen stats --json f.bf
    holds "$(field keys) > 198000 && $(field keys) < 202000"
    cp "$out" first
    # In how many threads, and when, must not show.
    succeeds taskset -c 0 "$UNSEEN" stats --json f.bf
    cmp first "$out"
}

@test "stats of one key" {
    exits 0 unseen --create f.bf < <(echo one)
    succeeds unseen stats --json f.bf
    holds "$(field keys) >= 0.5 && $(field keys) <= 1.5"
}

@test "the seed is told" {
    exits 0 unseen --create --seed 1234567890123456789 f.bf </dev/null
    succeeds unseen stats f.bf
    grep -q 1234567890123456789 "$out" || grep -iq 112210f47de98115 "$out" || complain "no seed"
}
