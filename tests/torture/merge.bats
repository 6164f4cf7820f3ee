#!/usr/bin/env bats
# merge at its full size: 10 filters of 10^6 lines each, made --like one for 10^7, come to the filter
# of all lines, whatever the order and the steps. make torture.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load ../helper

# parts: all.bf with 10^7 lines, and part0.bf ... part9.bf made like it with 10^6 of them each.
parts() {
    local i
    unseen create -n 1e7 all.bf
    for i in {0..9}; do
        unseen create --like all.bf "part$i.bf"
        seq -f 'http://example.org/%.0f' "${i}000000" "${i}999999" | unseen add "part$i.bf"
    done
    seq -f 'http://example.org/%.0f' 0 9999999 | unseen add all.bf
}

# answers FILTER: what it says of 10^7 lines, half of which were added, half not.
answers() {
    seq -f 'http://example.org/%.0f' 5000000 14999999 | capture unseen query "$1"
    cksum <"$out"
}

# bits FILTER: all behind the fixed part, which has a UUID and what is left of keys in flight.
bits() {
    tail -c +2097153 "$1" | cksum
}

@test "10 x 10^6 lines: the filter of all, in any order and in steps" {
    parts
    succeeds unseen merge -o once.bf part?.bf
    [[ $(bits once.bf) == "$(bits all.bf)" ]]
    expected=$(answers all.bf)
    [[ $(wc -l <"$out") -ge 5000000 && $(wc -l <"$out") -le 5000035 ]]
    [[ $(answers once.bf) == "$expected" ]]
    succeeds unseen merge -o back.bf part{9,8,7,6,5,4,3,2,1,0}.bf
    [[ $(answers back.bf) == "$expected" ]]
    # One after the other, and two halves.
    cp part0.bf steps.bf
    for i in {1..9}; do
        succeeds unseen merge -o steps.bf steps.bf "part$i.bf"
    done
    [[ $(answers steps.bf) == "$expected" ]]
    succeeds unseen merge -o left.bf part{0..4}.bf
    succeeds unseen merge -o right.bf part{5..9}.bf
    succeeds unseen merge -o halves.bf right.bf left.bf
    [[ $(answers halves.bf) == "$expected" ]]
    for filter in back steps halves; do
        cmp -i 2097152 once.bf $filter.bf
    done
    for filter in once steps halves; do
        succeeds unseen verify $filter.bf
    done
    capture unseen stats --json part0.bf once.bf
    holds "$(tail -n 1 "$out" | field keys -) > 9980000 && $(tail -n 1 "$out" | field keys -) < 10020000"
}
