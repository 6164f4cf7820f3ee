#!/usr/bin/env bats
# A cold filter on a slow disk: how deep reads wait for each other is counted, not timed (powerdisk.c).

# shellcheck disable=SC2154 # out and code are set by helper.bash
load ../helper

@test "100 lines against a cold filter: at most 5 reads deep beyond those of opening, and only their pages" {
    local form figures bytes deep opening
    local -x BUILD=${UNSEEN%/*}
    # Reads that come together must do so within this time.
    capture "$BATS_TEST_DIRNAME/../bench/cold" 200
    [[ $code -ne 77 ]] || skip "$(tail -n 1 "$out")"
    cat "$out"
    [[ $code -eq 0 ]]
    figures='([0-9]+) bytes, ([0-9]+) deep'
    for form in f.bf 'query f.bf' 'add f.bf'; do
        [[ $(grep "^1 lines, $form:" "$out") =~ $figures ]]
        opening=${BASH_REMATCH[2]}
        [[ $(grep "^100 lines, $form:" "$out") =~ $figures ]]
        bytes=${BASH_REMATCH[1]} deep=${BASH_REMATCH[2]}
        [[ $deep -le $((opening + 5)) && $bytes -lt 1000000 ]] || complain "$form: $deep deep, one line $opening; $bytes bytes"
    done
}
