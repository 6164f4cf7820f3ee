#!/usr/bin/env bats
# key: what counts in each line is printed. (Which part that is: keys.bats.)

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load helper

@test "without a recipe lines come out as they came" {
    printf 'a b\n\n  c\r\n\0\377\nlast' >in
    succeeds unseen key in
    prints 'a b\n\n  c\r\n\0\0377\nlast\n'
    succeeds unseen key <in
    prints 'a b\n\n  c\r\n\0\0377\nlast\n'
    succeeds unseen key </dev/null
    prints ''
}

@test "one key a line, repeats too; a line without one as it is" {
    succeeds unseen key -f 2 < <(printf 'a b\n\n x  b y\n  lone\t\n')
    prints 'b\n\nb\n  lone\t\n'
}

@test "--tag says which is which" {
    succeeds unseen key --tag -f 2 < <(printf 'a b\n\n  lone \n')
    prints 'key\tb\nnone\t\nnone\t  lone \n'
    succeeds unseen key --tag < <(printf 'a\n\n')
    prints 'key\ta\nkey\t\n'
}

@test "-z: lines and keys end with NUL" {
    succeeds unseen key -z -f 1 < <(printf 'a 1\0b\n2\0c')
    prints 'a\0b\n2\0c\0'
    succeeds unseen key -z --tag -f 2 < <(printf 'a 1\0b\0')
    prints 'key\t1\0none\tb\0'
}

@test "--header: the first line of each input is printed as it is" {
    printf 'id name\n1 x\n' >a
    printf 'name of it\n2 y\n' >b
    succeeds unseen key --header -f 2 a b
    prints 'id name\nx\nname of it\ny\n'
    succeeds unseen key --header --tag -f 2 a b
    prints 'id name\nkey\tx\nname of it\nkey\ty\n'
    printf 'alone' >c
    : >d
    succeeds unseen key --header -f 2 c d b
    prints 'alone\nname of it\ny\n'
}

@test "several inputs, standard input among them; all operands are inputs" {
    echo 1 >a
    echo 3 >c
    unchanged exits 0 unseen key ./a - c < <(echo 2)
    prints '1\n2\n3\n'
}

@test "an input that cannot be read: the others go on, and exit 2" {
    echo 1 >a
    echo 3 >c
    exits 2 unseen key a missing c
    says 'missing: No such file'
    prints '1\n3\n'
}

@test "a filter is no input, nor is the output" {
    creates f.bf
    fails_with 2 'f.bf: is a filter, not a list of lines \(name files with lines\)' unseen key f.bf
    echo 1 >a
    fails_with 2 'a: is both output and input' appending_to a unseen key a
}

@test "a key is printed before the next line comes" {
    local i
    converse "$UNSEEN" key --tag -f 2
    for ((i = 1; i <= 100; i++)); do
        say "line $i"
        hear $'key\t'"$i"
    done
    farewell
}

@test "a heading is printed before the first line comes" {
    converse "$UNSEEN" key --header
    say heading
    hear heading
    say 1
    hear 1
    farewell
}

@test "lines before one that is too long are printed, then the next input is read" {
    { echo a; head -c 10000 /dev/zero | tr '\0' x; echo; echo b; } >in
    converse "$UNSEEN" key --max-line 5000 in -
    hear a
    say c
    hear c
    local status=0
    farewell || status=$?
    [[ $status -eq 2 ]]
    says 'in: has a line of more than 5000 bytes'
}

@test "many lines, with one thread or two" {
    mixed_lines 200000 50000 | awk '{ print $0 " " NR }' >in
    cut -d ' ' -f 2 in >wanted
    local jobs
    for jobs in 1 2; do
        succeeds unseen key -f 2 -j $jobs in
        same "$out" wanted
    done
    awk '{ print "key\t" $2 }' in >wanted
    succeeds unseen key --tag -f 2 < <(cat in)
    same "$out" wanted
}

@test "long lines: longer than what is gathered, and than 64 KiB of fields" {
    local n
    for n in 65536 262143 262144 262145 3000000; do
        { echo short; head -c "$n" /dev/zero | tr '\0' x; echo ' y z'; echo after; } >in
        succeeds unseen key in
        same "$out" in
        { echo short; head -c "$n" /dev/zero | tr '\0' x; echo ' z'; echo after; } >wanted
        succeeds unseen key -f 1,3 in
        same "$out" wanted
        head -c "$n" /dev/zero | tr '\0' X >wanted
        succeeds unseen key -f 2 -i < <(printf 'a '; cat wanted)
        same "$out" <(tr X x <wanted; echo)
    done
}

@test "a full disk: exit 2 and the reason" {
    need_full
    fails_with 2 'No space left on device' to /dev/full unseen key < <(seq 9)
    fails_with 2 'No space left on device' to /dev/full unseen key < <(seq 1000000)
}

@test "a reader that has had enough ends it" {
    need_signals
    seq 1000000 >big
    env --default-signal=PIPE "$UNSEEN" key big 2>"$err" | head -n 1 >first
    local status=("${PIPESTATUS[@]}")
    [[ ${status[0]} -eq 141 ]] || { echo "${status[@]}"; false; }
    [[ $(cat first) == 1 && ! -s $err ]]
}
