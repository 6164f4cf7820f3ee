#!/usr/bin/env bats
# key: what counts in each line is printed. (Which part that is: keys.bats; what it refuses: messages.txt.)

load helper

@test "one key a line, repeats too; a line without one as it is; --tag says which is which; -z" {
    local options lines wanted
    while IFS='|' read -r options lines wanted; do
        succeeds unseen key $options < <(printf '%b' "$lines")
        prints "$wanted" || complain "$options"
    done <<'END'
||
|a b\n\n  "c\r\n\0\0377\nlast|a b\n\n"  ""c\r"\n\0\0377\nlast\n
-f 2|a b\n\n x  b y\n  lone\t\n|b\n\nb\n  lone\t\n
--tag -f 2|a b\n\n  lone \n|key\tb\nnone\t\nnone\t  lone \n
--tag|a\n\n|key\ta\nkey\t\n
-z -f 1|a 1\0b\n2\0c|a\0"b\n2"\0c\0
-z --tag -f 2|a 1\0b\0|key\t1\0none\tb\0
END
}

@test "several inputs, standard input among them; --header: without the first line of each" {
    printf 'id name\n1 x\n' >a
    printf 'name of it\n2 y\n' >b
    unchanged succeeds unseen key -f 2 ./a - b < <(echo 2 z)
    prints 'name\nx\nz\nof\ny\n'
    printf 'alone' >c
    : >d
    succeeds unseen key --header --tag -f 2 a c d b
    prints 'key\tx\nkey\ty\n'
}

@test "a key is printed before the next line comes; a line that is too long ends its input only" {
    local i status=0
    { echo header; echo ' a '; head -c 10000 /dev/zero | tr '\0' x; echo; echo b; } >in
    converse "$UNSEEN" key --tag --header --trim --max-line 5000 in -
    hear $'key\ta'
    say header
    for ((i = 1; i <= 20; i++)); do
        say "  line $i"
        hear $'key\tline '"$i"
    done
    farewell || status=$?
    [[ $status -eq 2 ]]
    says 'in: has a line longer than 5000 bytes'
}

@test "long lines: longer than what is gathered, and than 64 KiB of fields" {
    local n
    for n in 65536 262143 262144 262145 3000000; do
        head -c "$n" /dev/zero | tr '\0' x >long
        { echo short; cat long; echo ' y z'; echo after; } >in
        succeeds unseen key in
        same "$out" in
        succeeds unseen key -f 1,3 in
        same "$out" <(echo short; cat long; echo ' z'; echo after)
        succeeds unseen key -f 2 -i < <(printf 'a '; tr x X <long)
        same "$out" <(cat long; echo)
    done
}
