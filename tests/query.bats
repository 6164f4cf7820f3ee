#!/usr/bin/env bats
# query: what is in a filter, without writing to it.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load helper

# A filter of the even numbers up to 1000.
even_filter() {
    exits 0 unseen --create f.bf < <(seq 2 2 1000)
}

@test "prints the lines that are in, in order, each time they come" {
    even_filter
    succeeds unseen query f.bf < <(printf '4\n3\n4\n2\n\n1001\n4')
    prints '4\n4\n2\n4\n'
    succeeds unseen query f.bf < <(seq 1000)
    seq 2 2 1000 >wanted
    same "$out" wanted
}

@test "-v, --invert-match: the lines that are not in" {
    even_filter
    succeeds unseen query -v f.bf < <(seq 1000)
    seq 1 2 1000 >wanted
    same "$out" wanted
    succeeds unseen query --invert-match f.bf < <(printf '1\n1\n2\n3')
    prints '1\n1\n3\n'
}

@test "-c, --count: how many, and nothing else" {
    even_filter
    succeeds unseen query -c f.bf < <(seq 100)
    prints '50\n'
    succeeds unseen query --count f.bf < <(printf '2\n2\n3')
    prints '2\n'
    succeeds unseen query -cv f.bf < <(printf '2\n2\n3')
    prints '1\n'
    exits 1 unseen query -c f.bf </dev/null
    silent_on_stderr
    prints '0\n'
}

@test "-q, --quiet: only the exit code" {
    even_filter
    succeeds unseen query -q f.bf < <(seq 3)
    prints ''
    succeeds unseen query --quiet f.bf < <(seq 3)
    prints ''
    exits 1 unseen query -q f.bf < <(seq 1 2 9)
    silent_on_stderr
    prints ''
    succeeds unseen query -qv f.bf < <(seq 3)
    exits 1 unseen query -qv f.bf < <(seq 2 2 9)
    silent_on_stderr
}

@test "-q ends at the first line selected: an endless input ends" {
    even_filter
    succeeds unseen query -q f.bf < <(yes 2 2>/dev/null)
    prints ''
    succeeds unseen query -qv f.bf < <(yes 3 2>/dev/null)
    prints ''
}

@test "exit 1 if nothing was selected" {
    even_filter
    exits 1 unseen query f.bf < <(seq 1 2 9)
    silent_on_stderr
    prints ''
    exits 1 unseen query f.bf </dev/null
    silent_on_stderr
    exits 1 unseen query -v f.bf < <(seq 2 2 9)
    silent_on_stderr
    prints ''
    exits 1 unseen query -vc f.bf < <(seq 2 2 9)
    silent_on_stderr
    prints '0\n'
}

@test "--tag: every line, as seen or new, TAB, line" {
    even_filter
    succeeds unseen query --tag f.bf < <(printf '2\n3\n\n2\na\tb\n4')
    prints 'seen\t2\nnew\t3\nnew\t\nseen\t2\nnew\ta\tb\nseen\t4\n'
}

@test "--tag never remembers: a new line stays new" {
    even_filter
    succeeds unseen query --tag f.bf < <(printf '2\n3\n3\n')
    prints 'seen\t2\nnew\t3\nnew\t3\n'
}

@test "-z: NUL-terminated lines, in and out" {
    even_filter
    succeeds unseen query -z f.bf < <(printf '2\0003\0004\0a\nb\0006')
    prints '2\00004\00006\0000'
    succeeds unseen query -z --tag f.bf < <(printf '2\0003\0')
    prints 'seen\t2\0000new\t3\0000'
    succeeds unseen query -zv f.bf < <(printf '2\0a\nb\0')
    prints 'a\nb\0000'
    # a count is a line of text even so
    succeeds unseen query -z -c f.bf < <(printf '2\0003\0')
    [[ $(tr -d '\0\n' <"$out") == 1 ]]
}

@test "any bytes: NUL, CR, invalid UTF-8, empty" {
    printf 'a\0b\n\r\n\xff\n\n' >in
    exits 0 unseen --create f.bf <in
    same "$out" in
    printf 'a\0c\na\n\r\r\n\xfe\n' >others
    succeeds unseen query f.bf in
    same "$out" in
    exits 1 unseen query f.bf others
    succeeds unseen query -v f.bf in others
    same "$out" others
}

@test "FILE operands, and - for the standard input" {
    even_filter
    seq 1 3 >a
    seq 4 5 >b
    succeeds unseen query f.bf a b
    prints '2\n4\n'
    succeeds unseen query f.bf b - a < <(seq 6 8)
    prints '4\n6\n8\n2\n'
    succeeds unseen query -c f.bf a b
    prints '2\n'
}

@test "one FILE that cannot be read: a message, the rest go on, exit 2" {
    even_filter
    seq 1 3 >a
    seq 4 5 >b
    mkdir dir
    unchanged exits 2 unseen query f.bf a nofile b
    says 'nofile: No such file or directory'
    prints '2\n4\n'
    unchanged exits 2 unseen query f.bf a dir b
    says 'dir: Is a directory'
    prints '2\n4\n'
    unchanged exits 2 unseen query -c f.bf a nofile dir b
    says_lines 2 'nofile: ' 'dir: '
    prints '2\n'
}

@test "-q: a line that is in is the answer, whatever else there was" {
    exits 0 unseen --create f.bf < <(seq 5)
    seq 3 >in
    seq 8 9 >out.of.it
    exits 0 unseen query -q f.bf none in
    says 'none: No such file'
    succeeds unseen query -q f.bf in none
    exits 2 unseen query -q f.bf none out.of.it
    exits 2 unseen query -q f.bf out.of.it none
    exits 2 unseen query -c f.bf none in
    exits 2 unseen query f.bf none in
    exits 2 unseen query --tag f.bf none in
}

@test "writes nothing, even for lines that are new" {
    even_filter
    unchanged exits 0 unseen query f.bf < <(seq 5000)
    unchanged exits 0 unseen query -v f.bf < <(seq 5000)
    unchanged exits 0 unseen query --tag f.bf < <(seq 5000)
    succeeds unseen query -c f.bf < <(seq 5000)
    prints '500\n'
}

@test "long lines, and --max-line" {
    head -c 3000000 /dev/zero | tr '\0' q >long
    { cat long; echo; } >in
    exits 0 unseen --create f.bf <in
    succeeds unseen query f.bf long
    same "$out" in
    exits 2 unseen query --max-line 1M f.bf long
    says 'max-line'
    prints ''
}

@test "lines that a filter holds are in for ever: no false negative" {
    seq 200000 >in
    exits 0 unseen --create -p 0.01 f.bf <in
    exits 1 unseen query -v f.bf in
    prints ''
    exits 1 unseen query -vc f.bf in
    prints '0\n'
}

@test "-m N: the first N lines selected" {
    even_filter
    succeeds unseen query -m 2 f.bf < <(seq 9)
    prints '2\n4\n'
    succeeds unseen query -v --max-count=2 f.bf < <(seq 9)
    prints '1\n3\n'
    succeeds unseen query -c -m 3 f.bf < <(seq 9)
    prints '3\n'
}

# --- as a coprocess ----------------------------------------------------------

@test "--tag as a coprocess: each line is answered before the next is asked" {
    even_filter
    coproc guard { exec "$UNSEEN" query --tag f.bf 3>&-; }
    local i pid=$guard_PID
    for ((i = 1; i <= 300; i++)); do
        echo "$i" >&"${guard[1]}"
        IFS= read -r -t 60 -u "${guard[0]}" reply || { echo "no answer to $i"; return 1; }
        if ((i % 2)); then
            [[ $reply == "new"$'\t'"$i" ]]
        else
            [[ $reply == "seen"$'\t'"$i" ]]
        fi
    done
    eval "exec ${guard[1]}>&-"
    wait "$pid"
}

@test "--tag sees what another process has added meanwhile" {
    even_filter
    converse "$UNSEEN" query --tag f.bf
    say fresh
    hear "new"$'\t'fresh
    succeeds unseen add f.bf < <(echo fresh)
    say fresh
    hear "seen"$'\t'fresh
    # and when the filter has grown by layers
    succeeds unseen add f.bf < <(seq -f 'n%.0f' 400000)
    succeeds unseen stats --json f.bf
    holds "$(field layer_count) > 1"
    say n399999
    hear "seen"$'\t'n399999
    farewell
}

@test "query without --tag answers at once, too" {
    even_filter
    converse "$UNSEEN" query -v f.bf
    say 2
    say odd
    hear odd
    farewell
}

@test "-q and -c count nothing" {
    exits 0 unseen --create f.bf < <(seq 5)
    succeeds unseen query -q -c f.bf < <(seq 5)
    prints ''
    exits 1 unseen query -q -c f.bf < <(seq 6 9)
    prints ''
    succeeds unseen query -q -m 1 f.bf < <(seq 5)
    prints ''
}
