#!/usr/bin/env bats
# Counting filters, from which lines can be removed: remove, and all other commands on them.

load helper
load crash
load counting

# --- remove ------------------------------------------------------------------

@test "what was removed is new again, and nothing else is; what is not in is counted, and is no failure" {
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
    layer f.bf >before
    exits 0 unseen remove f.bf < <(input 300 5000)
    says '^unseen: f.bf: 300 of 300 lines were not in the filter$'
    prints ''
    cmp before <(layer f.bf)
    # The second time a line is not there any more.
    exits 0 unseen remove --summary f.bf < <(head -n 1 in; head -n 1 in)
    says_lines 2 'f.bf: 1 of 2 lines were not in the filter' ': 2 lines read, 1 removed, 1 not in the filter, 0 ambiguous$'
    exits 0 unseen remove --summary --json f.bf </dev/null
    [[ $(<"$err") == '{"filter":"f.bf","read":0,"removed":0,"absent":0,"ambiguous":0,"without_key":0,'* ]]
}

@test "added often, in one run and in several, removed once: gone" {
    exits 0 unseen create --counting f.bf
    exits 0 unseen add f.bf < <(printf 'again\nother\nagain\n')
    exits 0 unseen add f.bf < <(printf 'again\nother\nagain\n')
    succeeds unseen remove f.bf < <(echo again)
    succeeds unseen query --tag f.bf < <(printf 'again\nother\n')
    prints 'new\tagain\nseen\tother\n'
}

@test "lines are bytes: -z, an empty line, a last line without its end" {
    exits 0 unseen create --counting f.bf
    answers <<'END'
add f.bf|a\n\nb|
remove f.bf|\nb|
query f.bf|a\n\nb\n|a\n
add -z f.bf|x\ny\0z\0|
remove -z f.bf|x\ny\0|
query -z f.bf|x\ny\0z\0|z\0
END
}

@test "a filter that does not count is left alone; an input that cannot be read: the others are removed" {
    exits 0 unseen create f.bf
    fails_with 2 '^unseen: f.bf: is not a counting filter' unseen remove f.bf < <(seq 3)
    exits 0 unseen create --force --counting f.bf
    seq 10 >a
    seq 11 20 >b
    exits 0 unseen add f.bf a b
    exits 2 unseen remove f.bf a none b
    says 'none: No such file'
    remembers 0 a b
}

@test "the cells of a line, until it is removed" {
    local line cell cells at=() byte
    exits 0 unseen create --counting -n 1e6 --bits-per-key 32.768 --hashes 18 f.bf
    exits 0 unseen add f.bf < <(echo)
    # block and cells, as in key/vectors/bits; 62 of block 22 comes twice
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
    layer f.bf >cells
    for cell in "${at[@]}"; do
        byte=$(od -An -v -tu1 -j $((cell / 2)) -N 1 cells)
        [[ $((byte >> cell % 2 * 4 & 15)) -eq 1 ]] || { echo "cell $cell: byte $byte"; false; }
    done
    # and no others
    [[ $(tr -d '\0' <cells | od -An -v -tx1 -w1 | grep -o '[1-9a-f]' | tr -d '\n') == 11111111111111111 ]]
    succeeds unseen remove f.bf < <(echo)
    [[ $(layer f.bf | tr -d '\0' | wc -c) -eq 0 ]]
}

# --- the other commands ------------------------------------------------------

@test "a queue beside it: what was removed can be pushed again" {
    exits 0 unseen create --counting f.bf
    answers <<'END'
push f.bf|a\nb\n|
pop f.bf -m 2||a\nb\n
remove f.bf|a\n|
push f.bf|a\nb\n|
pop f.bf -m 2||a\n
END
}

@test "it grows, and lines are removed from whichever layer they are in; freed room is used again" {
    local i
    input 20000 >in
    sed -n '1~2p' in >gone
    sed '1~2d' in >kept
    exits 0 unseen add --create --counting -n 500 -p 1e-9 f.bf in
    says_lines 2 'f.bf: more than 500 lines \(-n\); grew to ' 'created'
    exits 0 unseen remove f.bf gone
    remembers 0 gone
    remembers 10000 kept
    succeeds unseen verify f.bf
    # As many come as go, and it does not grow.
    exits 0 unseen create --counting -n 3000 -p 1e-9 --force f.bf
    for ((i = 0; i < 5; i++)); do
        input 2500 $((i * 2500)) >now
        succeeds unseen f.bf now
        same "$out" now
        succeeds unseen remove f.bf now
    done
    succeeds unseen stats --json f.bf
    [[ $(field layer_count) -eq 1 ]] || complain 'it has grown'
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
    [[ $(layer f.bf | tr -d '\0' | wc -c) -eq 0 ]]
}

# --- several at once ---------------------------------------------------------

@test "8 removers of the same lines, and readers: each line is removed once, what stays is never missed" {
    local i removed pids=()
    input 20000 >gone
    input 5000 50000 >kept
    exits 0 unseen add --create --counting -n 50k -p 1e-9 f.bf gone kept
    for ((i = 0; i < 8; i++)); do
        unseen remove --summary f.bf gone 2>"said.$i" 3>&- &
        pids+=($!)
    done
    for ((i = 0; i < 5; i++)); do
        exits 1 unseen query -v f.bf kept
        prints ''
        # printing looks at the layers, too
        succeeds unseen f.bf kept
        prints ''
    done
    for i in "${pids[@]}"; do wait "$i"; done
    removed=$(sed -n 's/.* lines read, \([0-9]*\) removed.*/\1/p' said.* | awk '{ n += $1 } END { print n }')
    [[ $removed -eq 20000 ]] || { echo "$removed removed"; false; }
    made_of kept -n 50k -p 1e-9
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
    asleep "$pid"
    kill -0 "$pid"
    cmp before <(layer f.bf)
    let_go change
    wait "$pid"
    remembers 0 in
}

# --- kills -------------------------------------------------------------------

# bats test_tags=torture
@test "20 kills of remove: each line is removed whole or not at all, no other is lost" {
    input 20000 >gone
    input 3000 50000 >kept
    kill_removals "$(rounds 20 300)"
}

@test "a journal that means nothing loses no line and is cleared" {
    local kind journal
    input 3000 >in
    exits 0 unseen add --create --counting -n 3000 -p 1e-9 f.bf in
    journal=$(($(od -An -v -tu8 -j 4096 -N 8 f.bf) - 4096))
    cp f.bf sound.bf
    for kind in zeros ones random; do
        cp sound.bf f.bf
        case $kind in
        zeros) printf '\001' ;;
        ones) tr '\0' '\377' </dev/zero | head -c 4096 ;;
        random) printf '\001\0\0\0\0\0\0\0'; "$tools/genlines" 100 100 1 35 40 | head -c 4088 ;;
        esac | dd of=f.bf bs=1 seek="$journal" conv=notrunc status=none
        remembers 3000 in
        exits 0 unseen verify f.bf
        grep -q 'unseen remove was killed' "$out"
        succeeds unseen add f.bf </dev/null
        succeeds unseen verify f.bf
        remembers 3000 in
        cmp <(layer f.bf) <(layer sound.bf)
    done
}
