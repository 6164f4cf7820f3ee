#!/usr/bin/env bats
# --header: the first line of each input is a heading: printed, never judged, never remembered.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash

# with_headings: ./a and ./b, inputs whose heading is `name,id`; ./lines, all their lines; ./new, what is
# new of them, after the heading of each.
with_headings() {
    mixed_lines 20000 9000 >lines
    { echo name,id; head -n 12000 lines; } >a
    { echo name,id; tail -n 8000 lines; } >b
    awk -v at=12000 'NR == 1 || NR == at + 1 { print "name,id" } !s[$0]++' lines >new
    lines_unique lines >unique
}

known() {
    succeeds unseen query -c f.bf unique || return 1
    prints "$(wc -l <unique)\\n" || return 1
    exits 1 unseen query -c f.bf < <(echo name,id)
}

@test "the heading of each input comes first, and is neither judged nor remembered" {
    local form
    with_headings
    for form in '' '-j 1' '-j 2' '--durable'; do
        rm -f f.bf got
        exits 0 unseen create -n 1000 -p 1e-9 f.bf
        # shellcheck disable=SC2086 # several words
        exits 0 to got unseen --header $form f.bf a b
        same got new
        known
        # and every time
        succeeds unseen --header f.bf a b
        prints 'name,id\nname,id\n'
    done
    rm f.bf
    exits 0 unseen create -p 1e-9 f.bf
    succeeds unseen --header --pending keys f.bf a b
    same "$out" new
    succeeds unseen commit f.bf keys
    known
    succeeds unseen --header -p 1e-9 <a
    { echo name,id; lines_unique < <(head -n 12000 lines); } | cmp - "$out"
    # a line like it, further down, is a line
    printf 'h\nh\nx\nh\n' | succeeds unseen --header -p 1e-9
    prints 'h\nh\nx\n'
}

@test "the heading is not counted: --summary, -e, --dropped" {
    printf 'h\n1\n2\n1\n' >a
    exits 0 unseen --create -p 1e-9 --header --summary --dropped dropped f.bf a a
    grep -q ': 6 lines read, 2 printed, 4 dropped; expected false drops' "$err"
    printf '1\n1\n2\n1\n' | cmp - dropped
    exits 1 unseen -e --header f.bf a
    prints 'h\n'
    exits 0 unseen --header --summary f.bf a
    says '3 lines read, 0 printed'
    # the heading of a list of fields has the field
    printf 'h\nx,1\ny,1\n' | succeeds unseen --header -f 2 -t , -p 1e-9
    prints 'h\nx,1\n'
}

@test "a heading alone, with and without its newline; an empty input" {
    local form input
    exits 0 unseen create -p 1e-9 f.bf
    for form in f.bf '-p 1e-9'; do
        for input in '' 'h\n' '\n' h; do
            # shellcheck disable=SC2059,SC2086 # a format; several words
            succeeds unseen --header $form < <(printf "$input")
            prints "${input/%h/h\\n}"
        done
        # shellcheck disable=SC2086
        exits 1 unseen -e --header $form < <(echo h)
    done
    printf h >a
    : >b
    printf 'h\nx' >c
    succeeds unseen --header f.bf a b c a
    prints 'h\nh\nx\nh\n'
    exits 0 unseen query -v f.bf < <(printf 'h\nx\n')
    prints 'h\n'
    # without an x left: nothing but headings
    exits 2 unseen --header f.bf missing c
    prints 'h\n'
}

@test "-m: the heading is none of the N lines; -z: it ends with NUL" {
    seq 10 >a
    exits 0 unseen create -p 1e-9 f.bf
    succeeds unseen --header -m 1 f.bf a a
    prints '1\n2\n'
    succeeds unseen --header -m 3 f.bf a a
    prints '1\n3\n4\n5\n'
    succeeds unseen query --header -m 2 f.bf a
    prints '1\n2\n3\n'
    # what comes after the last line wanted is left
    { succeeds unseen --header -m 1 -p 1e-9; cat >rest; } <a
    prints '1\n2\n'
    tail -n +3 a | cmp - rest
    printf 'h\n2\0a\nb\0c\0a\nb\0' >b
    printf 'h\n2\0a\nb\0c\0' >wanted
    for form in '-p 1e-9 -' '--create -p 1e-9 g.bf b'; do
        # shellcheck disable=SC2086 # several words
        exits 0 unseen --header -z ${form% -} <b
        same "$out" wanted
    done
}

@test "query: printed with -v and --tag as without, not with -c and -q" {
    local status options wanted
    printf 'h\n1\n2\n3\n' >a
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen add f.bf < <(seq 2)
    while IFS="|" read -r status options wanted; do
        # shellcheck disable=SC2086 # several words
        exits "$status" unseen query --header $options < <(echo 1)
        prints "$wanted"
    done <<'END'
0|f.bf a|h\n1\n2\n
0|f.bf a a|h\n1\n2\nh\n1\n2\n
0|-v f.bf a|h\n3\n
0|--tag f.bf a a|h\nseen\t1\nseen\t2\nnew\t3\nh\nseen\t1\nseen\t2\nnew\t3\n
0|-c f.bf a a|4\n
0|-v -c f.bf a|1\n
0|-q f.bf a|
1|f.bf|1\n
1|-q f.bf|
END
}

@test "add, remove and push leave it out" {
    printf 'h\n1\n2\n' >a
    exits 0 unseen create --counting -p 1e-9 f.bf
    succeeds unseen add --header f.bf a a
    prints ''
    exits 0 unseen query --tag f.bf a
    prints 'new\th\nseen\t1\nseen\t2\n'
    exits 0 unseen add f.bf < <(echo h)
    succeeds unseen remove --header f.bf a
    prints ''
    exits 0 unseen query --tag f.bf a
    prints 'seen\th\nnew\t1\nnew\t2\n'
    succeeds unseen push --header f.bf a a
    succeeds unseen pop f.bf -m 10
    prints '1\n2\n'
}

@test "-x: CMD gets the heading and its lines in one; without a new line it is not started" {
    printf 'h\n1\n2\n' >a
    exits 0 unseen create -p 1e-9 f.bf
    succeeds unseen --header f.bf a -x cat
    prints 'h\n1\n2\n'
    succeeds unseen --header f.bf a -x touch started
    [[ ! -e started ]]
    exits 1 unseen query -q f.bf < <(echo h)
    # four inputs, one CMD, one heading: that of the first input with a new line
    printf 'H\n3\n1\n' >b
    printf 'G\n1\n2\n' >c
    printf 'F\n4\n' >d
    succeeds unseen --header f.bf c b c d -x cat
    prints 'H\n3\n4\n'
    # the heading is no line that has to be done
    printf 'h\n5\n6\n' >e
    exits 3 unseen --header f.bf e -x sh -c 'cat >/dev/null; exit 1'
    succeeds unseen --header f.bf e -x cat
    prints 'h\n5\n6\n'
    # heading and line arrive apart
    converse "$UNSEEN" --header f.bf -x cat
    say h
    asleep "$pid"
    say 7
    hear h
    hear 7
    farewell
}

@test "-x: a CMD that reads only some has taken what it read whole; the heading, short or long, is no line" {
    local length lines command
    for length in 1 6000; do
        { head -c "$length" /dev/zero | tr '\0' h; printf '\n%s\n' 1 2 3; } >in
        while IFS='|' read -r lines command; do
            exits 0 unseen create --force -p 1e-9 f.bf
            exits 0 unseen --header f.bf in -x sh -c "$command" </dev/null
            [[ $lines -eq 3 ]] || says "^unseen: sh: exited with 0, but took only $lines lines? "
            capture unseen query -c f.bf <(seq 3)
            prints "$lines\n" || complain "$length, $command"
        done <<END
3|cat >got
0|read -r heading
0|dd bs=1 count=$length status=none >got
0|dd bs=1 count=1 status=none >got; exec <&-; sleep 0.1
1|read -r heading; read -r line
$([[ $length -gt 4096 ]] && echo 1 || echo 3)|exit 0
END
    done
}

@test "-x: headings of several inputs are no lines that CMD left unread" {
    local i
    for i in 1 2 3 4; do
        printf 'h%d\nline%d\n' $i $i >in$i
    done
    exits 0 unseen create -p 1e-9 f.bf
    # It reads nothing, and ends when all is in its pipe: unseen has no end to write to then.
    # shellcheck disable=SC2016 # for the inner shell
    exits 0 unseen --header f.bf in1 in2 in3 in4 -x sh -c '
        pipe=$(readlink /proc/self/fd/0 | tr -cd 0-9)
        while ls -l "/proc/$PPID/fd" | grep -q "^l-w.*pipe:.$pipe"; do sleep 0.01; done'
    says 'took only 1 line \('
    exits 0 unseen query f.bf <(printf 'line%d\n' 1 2 3 4)
    prints 'line1\n'
}

@test "a heading comes out before any line does, and is not waited for" {
    converse "$UNSEEN" --header -p 1e-9
    say h
    hear h
    say h
    hear h
    say h
    say 2
    hear 2
    farewell
    exits 0 unseen create -p 1e-9 f.bf
    converse "$UNSEEN" --header f.bf
    say h
    hear h
    say 1
    hear 1
    farewell
    converse "$UNSEEN" query --header --tag f.bf
    say h
    hear h
    say 1
    hear $'seen\t1'
    farewell
}
