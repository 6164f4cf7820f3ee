#!/usr/bin/env bats
# Counting filters, from which lines can be removed: remove, and all other commands on them.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash
load counting

# --- remove ------------------------------------------------------------------

@test "what was removed is new again, and nothing else is" {
    input 3000 >in
    sed -n '1~3p' in >gone
    sed '1~3d' in >kept
    exits 0 unseen --create --counting -p 1e-9 f.bf in
    same "$out" in
    succeeds unseen remove f.bf gone
    prints ''
    remembers 0 gone
    remembers 2000 kept
    succeeds unseen f.bf in
    same "$out" gone
    succeeds unseen f.bf in
    prints ''
    succeeds unseen verify f.bf
}

@test "added a hundred times, removed once: gone" {
    local i
    exits 0 unseen create --counting f.bf
    for ((i = 0; i < 50; i++)); do
        exits 0 unseen add f.bf < <(printf 'again\nother\nagain\n')
    done
    succeeds unseen remove f.bf < <(echo again)
    succeeds unseen query --tag f.bf < <(printf 'again\nother\n')
    prints 'new\tagain\nseen\tother\n'
}

@test "what is not in is counted, changes nothing, and is no failure" {
    input 2000 >in
    input 300 5000 >others
    exits 0 unseen add --create --counting -n 2000 -p 1e-9 f.bf in
    layer f.bf >before
    exits 0 unseen remove f.bf others
    says '^unseen: f.bf: 300 of 300 lines were not in the filter$'
    prints ''
    cmp before <(layer f.bf)
    remembers 2000 in
    # the second time a line is not there any more
    exits 0 unseen remove f.bf < <(head -n 1 in; head -n 1 in)
    says 'f.bf: 1 of 2 lines were not in the filter'
    succeeds unseen remove f.bf </dev/null
}

@test "--summary counts what was removed, and what was not in" {
    exits 0 unseen create --counting f.bf
    exits 0 unseen add f.bf < <(echo a)
    exits 0 unseen remove --summary f.bf < <(printf 'a\nb\n\n')
    says_lines 2 '^unseen: f.bf: 2 of 3 lines were not in the filter$' \
        '^unseen: f.bf: 3 lines read, 1 removed, 2 not in the filter, 0 left in$'
    exits 0 unseen remove --summary --json f.bf </dev/null
    [[ $(<"$err") == '{"filter":"f.bf","read":0,"removed":0,"absent":0,"ambiguous":0}' ]]
}

@test "lines are bytes: -z, an empty line, a last line without its end" {
    exits 0 unseen create --counting f.bf
    exits 0 unseen add f.bf < <(printf 'a\n\nb')
    succeeds unseen remove f.bf < <(printf '\nb')
    succeeds unseen query f.bf < <(printf 'a\n\nb\n')
    prints 'a\n'
    exits 0 unseen add -z f.bf < <(printf 'x\ny\0z\0')
    succeeds unseen remove -z f.bf < <(printf 'x\ny\0')
    capture unseen query -z f.bf < <(printf 'x\ny\0z\0')
    tr '\0' . <"$out" | cmp - <(printf 'z.')
}

@test "a filter that does not count is refused and left alone" {
    exits 0 unseen create f.bf
    fails_with 2 '^unseen: f.bf: is not a counting filter, so lines cannot be removed from it \(to make one: unseen create --counting NEW\)$' \
        unseen remove f.bf < <(seq 3)
    fails_with 2 'none.bf: No such file' unseen remove none.bf < <(seq 3)
    seq 3 >list
    fails_with 2 'list: is not a filter' unseen remove list < <(seq 3)
    exits 0 unseen create --counting c.bf
    fails_with 2 'c.bf: is both FILTER and input' unseen remove c.bf c.bf
    fails_with 2 'f.bf: is a filter, not a list' unseen remove c.bf f.bf
    fails_with 2 "did you mean 'remove'" unseen delete c.bf
}

@test "an input that cannot be read: the others are removed, and the status is 2" {
    exits 0 unseen create --counting f.bf
    seq 10 >a
    seq 11 20 >b
    exits 0 unseen add f.bf a b
    exits 2 unseen remove f.bf a none b
    says 'none: No such file'
    remembers 0 a b
}

@test "the cells of unseen(5)'s example" {
    local line cell cells at=() byte
    exits 0 unseen create --counting -n 1e6 --bits-per-key 32.768 --hashes 18 f.bf
    exits 0 unseen add f.bf < <(echo)
    # line and cells, as in the manual; 62 of line 22 comes twice
    while read -r line cells; do
        for cell in $cells; do
            at+=($(((600 * 64 + line) * 128 + cell)))
        done
    done <<'END'
33 127 18 53 52 68 100
22 88 68 83 62 116 62
11 49 118 113 72 36 25
END
    [[ ${at[0]} -eq 4919551 ]]
    for cell in "${at[@]}"; do
        byte=$(layer f.bf | od -An -v -tu1 -j $((cell / 2)) -N 1)
        [[ $((byte >> cell % 2 * 4 & 15)) -eq 1 ]] || { echo "cell $cell: byte $byte"; false; }
    done
    # and no others
    [[ $(layer f.bf | od -An -v -tx1 -w1 | grep -o '[1-9a-f]' | wc -l) -eq 17 ]]
    run ! grep -q '[2-9a-f]' <(layer f.bf | od -An -v -tx1 -w1)
    succeeds unseen remove f.bf < <(echo)
    [[ $(layer f.bf | tr -d '\0' | wc -c) -eq 0 ]]
}

# --- the other commands ------------------------------------------------------

@test "counting and not counting do not contradict each other unnoticed" {
    exits 0 unseen create f.bf
    fails_with 2 'f.bf: was made without --counting' unseen --create --counting f.bf < <(seq 3)
    exits 0 unseen create --counting c.bf
    # what is not given is not compared
    succeeds unseen --create c.bf < <(seq 3)
    succeeds unseen --create --counting c.bf < <(seq 5)
    prints '4\n5\n'
}

@test "a queue beside it: what was removed can be pushed again" {
    exits 0 unseen create --counting f.bf
    succeeds unseen push f.bf < <(printf 'a\nb\n')
    succeeds unseen pop f.bf -m 2
    succeeds unseen remove f.bf < <(echo a)
    succeeds unseen push f.bf < <(printf 'a\nb\n')
    succeeds unseen pop f.bf -m 2
    prints 'a\n'
}

@test "the same lines come out as of a filter of bits" {
    mixed_lines 20000 10000 >in
    lines_unique in >wanted
    exits 0 unseen --create --counting -p 1e-9 f.bf in
    same "$out" wanted
    exits 0 unseen --create -n 1000 --counting -p 1e-9 g.bf in
    same "$out" wanted
    exits 0 unseen --create -n 1000 --counting -p 1e-9 h.bf < <(cat in)
    same "$out" wanted
    cmp <(layer g.bf) <(layer h.bf)
}

@test "stats, plan and verify know it" {
    exits 0 unseen add --create --counting -n 1M f.bf < <(seq 1000)
    succeeds unseen stats --json f.bf
    [[ $(field counting "$out") == true ]] || complain 'stats --json'
    [[ $(field size_bytes "$out") -eq $(stat -c %s f.bf) ]]
    succeeds unseen stats f.bf
    grep -Eq '^counting +cells of 4 bits$' "$out"
    grep -Eq '^fill .* of cells in use' "$out"
    succeeds unseen plan --json --counting -n 1M
    [[ $(field size_bytes "$out") -eq $(stat -c %s f.bf) && $(field counting "$out") == true ]] || complain plan
    succeeds unseen verify f.bf
    exits 0 unseen create --counting --size 2M --fixed -p 1e-3 s.bf
    [[ $(stat -c %s s.bf) -le $((2 << 20)) && $(stat -c %s s.bf) -gt 2000000 ]]
}

@test "it grows, and lines are removed from whichever layer they are in" {
    input 20000 >in
    sed -n '1~2p' in >gone
    sed '1~2d' in >kept
    exits 0 unseen add --create --counting -n 500 -p 1e-9 f.bf in
    says_lines 2 'f.bf: holds 500 of 500 lines, and grows' 'created'
    exits 0 unseen remove f.bf gone
    remembers 0 gone
    remembers 10000 kept
    succeeds unseen verify f.bf
}

@test "room that was freed is used again: as many come as go, and it does not grow" {
    local i
    exits 0 unseen create --counting -n 3000 -p 1e-9 f.bf
    for ((i = 0; i < 10; i++)); do
        input 2500 $((i * 2500)) >now
        succeeds unseen f.bf now
        same "$out" now
        succeeds unseen remove f.bf now
    done
    succeeds unseen stats --json f.bf
    [[ $(field layer_count "$out") -eq 1 ]] || complain 'it has grown'
    succeeds unseen verify f.bf
}

@test "-x, --durable, --pending and commit" {
    seq 10 >in
    exits 0 unseen create --counting f.bf
    exits 3 unseen f.bf in -x false
    succeeds unseen f.bf in -x cat
    same "$out" in
    succeeds unseen remove f.bf in
    succeeds unseen --durable -a new f.bf in
    same new in
    succeeds unseen remove f.bf in
    # what is in flight is not in
    succeeds unseen --pending keys f.bf in
    exits 0 unseen remove f.bf in
    says '10 of 10 lines were not in the filter'
    # counted once, however often it is committed
    succeeds unseen commit f.bf keys keys
    succeeds unseen commit f.bf keys
    succeeds unseen remove f.bf in
    succeeds unseen f.bf in
    same "$out" in
}

@test "8 writers, the same input: each line once, and each is removed by one removal" {
    input 6000 >in
    exits 0 unseen create --counting -n 1000 -p 1e-9 f.bf
    writers 8 "$UNSEEN" f.bf in
    each_once in out.*
    succeeds unseen remove f.bf in
    remembers 0 in
    # no cell of any layer counts anything
    [[ $(layer f.bf | tr -d '\0' | wc -c) -eq 0 ]]
}

@test "8 removers of the same lines: each line is removed once" {
    local i removed=0 pids=()
    input 6000 >gone
    input 6000 10000 >kept
    exits 0 unseen add --create --counting -n 20k -p 1e-9 f.bf gone kept
    for ((i = 0; i < 8; i++)); do
        unseen remove --summary f.bf gone 2>"said.$i" 3>&- &
        pids+=($!)
    done
    wait "${pids[@]}"
    for ((i = 0; i < 8; i++)); do
        removed=$((removed + $(sed -n 's/.* lines read, \([0-9]*\) removed.*/\1/p' "said.$i")))
    done
    [[ $removed -eq 6000 ]] || { echo "$removed removed"; false; }
    made_of kept -n 20k -p 1e-9
}

@test "nothing is lowered while another holds the lock" {
    local pid
    input 100 >in
    exits 0 unseen add --create --counting -n 100 -p 1e-9 f.bf in
    layer f.bf >before
    mkfifo feed
    "$UNSEEN" remove f.bf feed 3>&- &
    pid=$!
    # Once it has opened this it has opened the filter, and holds no lock.
    exec {feed}>feed
    hold_lock change 4611686018427387904
    cat in >&"$feed"
    exec {feed}>&-
    sleep 0.5
    kill -0 "$pid"
    cmp before <(layer f.bf)
    let_go change
    wait "$pid"
    remembers 0 in
}

@test "removing, querying and printing at once: what stays is never missed" {
    local i remover
    input 20000 >gone
    input 5000 50000 >kept
    exits 0 unseen add --create --counting -n 50k -p 1e-9 f.bf gone kept
    unseen remove f.bf gone 3>&- 2>said &
    remover=$!
    for ((i = 0; i < 5; i++)); do
        exits 1 unseen query -v f.bf kept
        prints ''
        # printing looks at the layers, too
        succeeds unseen f.bf kept
        prints ''
    done
    wait "$remover"
    [[ ! -s said ]]
    made_of kept -n 50k -p 1e-9
}

@test "the filter is removed or replaced while lines are removed: noticed, exit 2" {
    exits 0 unseen add --create --counting f.bf <<<one
    notices_change "$UNSEEN" remove f.bf
}

# --- kills -------------------------------------------------------------------

@test "20 kills of remove: each line is removed whole or not at all, no other is lost" {
    input 2000 >gone
    input 3000 10000 >kept
    kill_removals 20
}

# journal: where the journal page of f.bf begins.
journal() {
    echo $(($(od -An -v -tu8 -j 4096 -N 8 f.bf) - 4096))
}

@test "a journal that means nothing loses no line and is cleared" {
    local kind
    input 3000 >in
    exits 0 unseen add --create --counting -n 3000 -p 1e-9 f.bf in
    cp f.bf sound.bf
    for kind in zeros ones random; do
        cp sound.bf f.bf
        case $kind in
        zeros) printf '\001' ;;
        ones) tr '\0' '\377' </dev/zero | head -c 4096 ;;
        random) printf '\001\0\0\0\0\0\0\0'; "$tools/genlines" 100 100 1 35 40 | head -c 4088 ;;
        esac | dd of=f.bf bs=1 seek="$(journal)" conv=notrunc status=none
        remembers 3000 in
        exits 1 unseen verify f.bf
        grep -q 'a remove was killed' "$out"
        succeeds unseen add f.bf </dev/null
        succeeds unseen verify f.bf
        remembers 3000 in
        cmp <(layer f.bf) <(layer sound.bf)
    done
}
