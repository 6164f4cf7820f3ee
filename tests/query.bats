#!/usr/bin/env bats
# query: what is in a filter, without writing to it.

load helper

# A filter of the even numbers up to 1000.
even_filter() {
    exits 0 unseen --create f.bf < <(seq 2 2 1000)
}

@test "which lines are printed, counted, tagged, and the exit code" {
    even_filter
    unchanged answers <<'END'
query f.bf|4\n3\n4\n2\n\n1001\n4|4\n4\n2\n4\n
query f.bf|1\n3\n||1
query f.bf|||1
query -v f.bf|1\n1\n2\n3|1\n1\n3\n
query --invert-match f.bf|1\n2\n|1\n
query -v f.bf|2\n4\n||1
query -c f.bf|2\n2\n3|2\n
query --count f.bf|2\n3\n4|2\n
query -cv f.bf|2\n2\n3|1\n
query -c f.bf||0\n|1
query -vc f.bf|2\n4\n|0\n|1
query -q f.bf|1\n2\n|
query --quiet f.bf|1\n2\n|
query -q f.bf|1\n3\n||1
query -qv f.bf|1\n2\n|
query -qv f.bf|2\n4\n||1
query -q -c f.bf|1\n2\n|
query -q -c f.bf|1\n3\n||1
query -q -m 1 f.bf|1\n2\n|
query -m 2 f.bf|1\n2\n3\n4\n5\n6\n|2\n4\n
query -v --max-count=2 f.bf|1\n2\n3\n4\n5\n6\n|1\n3\n
query -c -m 2 f.bf|1\n2\n3\n4\n5\n6\n|2\n
query --tag f.bf|2\n3\n\n3\n2\na\tb\n4|seen\t2\nnew\t3\nnew\t\nnew\t3\nseen\t2\nnew\ta\tb\nseen\t4\n
query -z f.bf|2\00003\00004\0a\nb\00006|2\00004\00006\0
query -z --tag f.bf|2\00003\0|seen\t2\0new\t3\0
query -zv f.bf|2\0a\nb\0|a\nb\0
query -z -c f.bf|2\00003\00004\0|2\n
END
    # The exit code is that of all batches, not of the last one.
    succeeds unseen query --tag f.bf < <(echo 2; seq 1001 101000)
    [[ $(grep -c ^new "$out") -eq 100000 ]]
    # -q ends at the first line selected.
    succeeds unseen query -q f.bf < <(yes 2 2>/dev/null)
    succeeds unseen query -qv f.bf < <(yes 3 2>/dev/null)
    prints ''
}

@test "any bytes: NUL, CR, invalid UTF-8, empty; long lines, and --max-line" {
    head -c 3000000 /dev/zero | tr '\0' q >long
    printf '\na\0b\n\r\n\xff\n\n' | cat long - >in
    exits 0 unseen --create f.bf <in
    same "$out" in
    printf 'a\0c\na\n\r\r\n\xfe\n' >others
    succeeds unseen query f.bf in others
    same "$out" in
    succeeds unseen query -v f.bf in others
    same "$out" others
    exits 2 unseen query --max-line 1M f.bf long
    says 'long: has a line longer than'
    prints ''
}

@test "FILE operands, and - for the standard input; one that cannot be read: the rest go on, exit 2" {
    even_filter
    seq 1 3 >a
    seq 4 5 >b
    mkdir dir
    succeeds unseen query f.bf b - a < <(seq 6 8)
    prints '4\n6\n8\n2\n'
    unchanged exits 2 unseen query f.bf a nofile dir b
    says_lines 2 'nofile: No such file or directory' 'dir: Is a directory'
    prints '2\n4\n'
    unchanged exits 2 unseen query -c f.bf a nofile b
    prints '2\n'
    exits 2 unseen query --tag f.bf nofile a
    # -q: a line that is in is the answer, whatever else there was.
    exits 0 unseen query -q f.bf nofile a
    says 'nofile: No such file'
    succeeds unseen query -q f.bf a nofile
    exits 2 unseen query -q f.bf nofile <(echo 1)
    exits 2 unseen query -q f.bf <(echo 1) nofile
}

@test "as a coprocess: each line is answered before the next is asked, with what others have added meanwhile" {
    local i
    even_filter
    converse "$UNSEEN" query --tag f.bf
    for ((i = 1; i <= 200; i += 2)); do
        say "$i"
        hear "new"$'\t'"$i"
        say "$((i + 1))"
        hear "seen"$'\t'"$((i + 1))"
    done
    succeeds unseen add f.bf < <(echo 1)
    say 1
    hear "seen"$'\t'1
    # and when the filter has grown by layers
    succeeds unseen add f.bf < <(seq -f 'n%.0f' 400000)
    succeeds unseen stats --json f.bf
    holds "$(field layer_count) > 1"
    say n399999
    hear "seen"$'\t'n399999
    farewell
    # without --tag, too
    converse "$UNSEEN" query -v f.bf
    say 2
    say odd
    hear odd
    farewell
}
