#!/usr/bin/env bats
# shard: a list in parts. (The mapping itself: tests/unit/test_shard.c.)

# shellcheck disable=SC2154 # UNSEEN, out, err and code are set by helper.bash
load helper

genlines=${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}/genlines

# holds_together N FILE [OPTION...]: by N runs of I/N, and by one of N, each line of FILE is in
# exactly one part, in order, byte for byte.
holds_together() {
    local n=$1 file=$2 i
    shift 2
    exits 0 unseen shard "$n" "$@" "$file"
    cp "$out" tagged
    cut -f 2- tagged | cmp - "$file"
    for ((i = 1; i <= n; i++)); do
        exits 0 unseen shard "$i/$n" "$@" "$file"
        sed -n "s/^$i\t//p" tagged | cmp - "$out"
    done
}

@test "the vectors of unseen(5)" {
    printf '%s\n' '' a http://example.com/ www.example.com >in
    exits 0 unseen shard 2 in
    prints '2\t\n1\ta\n1\thttp://example.com/\n2\twww.example.com\n'
    exits 0 unseen shard 3 in
    prints '3\t\n1\ta\n1\thttp://example.com/\n2\twww.example.com\n'
    exits 0 unseen shard 100 in
    prints '22\t\n17\ta\n16\thttp://example.com/\n63\twww.example.com\n'
    exits 0 unseen shard 1000000 in
    prints '417253\t\n708690\ta\n656297\thttp://example.com/\n195084\twww.example.com\n'
    exits 0 unseen shard 63/100 in
    prints 'www.example.com\n'
}

@test "each line is in one part, in order: one thread and two, small buffers" {
    "$genlines" 60000 30000 1 | sed 's/.*/http:\/\/h&.example\/page/' >in
    holds_together 3 in -j 1
    exits 0 unseen shard 3 -j 2 in
    cmp tagged "$out"
    exits 0 unseen shard 3 -j 2 --buffer-size 4096 in
    cmp tagged "$out"
    exits 0 unseen shard 2/3 -j 2 --buffer-size 4096 in
    sed -n 's/^2\t//p' tagged | cmp - "$out"
    exits 0 unseen shard 1/1 in
    cmp in "$out"
}

@test "each line is in one part: bytes of any kind, empty lines, long lines" {
    local length
    for length in 70000 3000000; do
        { printf 'a\r\n\n\n\0\377\n'; head -c $length /dev/zero | tr '\0' x; printf '\nb\n'; } >in
        holds_together 2 in
    done
    printf 'a\nb\nlast' >in
    exits 0 unseen shard 1/1 in
    prints 'a\nb\nlast\n'
    exits 0 unseen shard 1 </dev/null
    prints ''
}

@test "-z: lines end with NUL" {
    printf 'a\nb\0\0c' >in
    exits 0 unseen shard -z 1 in
    prints '1\ta\nb\0\0061\t\0\0061\tc\0'
    exits 0 unseen shard -z 1/1 in
    prints 'a\nb\0\0c\0'
}

@test "what counts decides: lines with the same key are in one part" {
    printf 'http://A.example/1\nhttp://a.example:80/2\nb.example\nHTTP://B.EXAMPLE/x\n' >in
    exits 0 unseen shard 1000 --by host in
    [[ $(cut -f 1 "$out" | uniq | wc -l) -eq 2 ]] || complain "each host has one part"
    printf '1 x\n2 X\r\n3 x \n' >in
    exits 0 unseen shard 1000 --trim -i -f 2 in
    [[ $(cut -f 1 "$out" | sort -u | wc -l) -eq 1 ]] || complain "all have one key"
    exits 0 unseen shard 1000 in
    [[ $(cut -f 1 "$out" | sort -u | wc -l) -eq 3 ]] || complain "three keys"
}

@test "a line without such a field counts as itself, in the same parts as a whole line" {
    printf 'lone\n' >in
    exits 0 unseen shard 1000000 in
    cp "$out" whole
    exits 0 unseen shard 1000000 -f 2 in
    cmp whole "$out"
}

@test "--like: by the recipe of a filter, and no other besides" {
    printf 'http://a.example/1\nhttp://a.example/2\nhttp://b.example/\n' >in
    exits 0 unseen create --by host seen.bf
    exits 0 unseen shard 50 --by host in
    cp "$out" hosts
    unchanged exits 0 unseen shard 50 --like seen.bf in
    cmp hosts "$out"
    unchanged exits 2 unseen shard 50 --like seen.bf --by url in
    says '--like: the filter says what counts'
    unchanged exits 2 unseen shard 50 --like missing.bf in
    says 'missing.bf: No such file'
    unchanged exits 2 unseen shard 50 --like in in
    says 'in: is not a filter .is the name right?.'
    unchanged exits 2 unseen shard 50 --like - in
    says '-: standard input cannot be a FILTER$'
}

@test "--header: the first heading, once, in every part" {
    printf 'id,name\n1,x\n' >a
    printf 'id,name\n2,y\n' >b
    : >empty
    exits 0 unseen shard --header 1/1 empty a b
    prints 'id,name\n1,x\n2,y\n'
    exits 0 unseen shard --header 1 a b
    prints 'id,name\n1\t1,x\n1\t2,y\n'
    exits 0 unseen shard --header 2/2 <a
    cp "$out" one
    exits 0 unseen shard --header 1/2 <a
    cat "$out" one | sort | uniq -c | awk '{ print $1 }' | paste -sd ' ' >counts
    [[ $(cat counts) == '1 2' ]] || complain "the heading is in both parts, the line in one"
}

@test "a line is printed as soon as it has arrived" {
    local form
    for form in 1/1 1; do
        mkfifo "to" "from"
        unseen shard "$form" <"to" >"from" 3>&- &
        exec 8>"to" 9<"from"
        for word in one two; do
            echo $word >&8
            IFS= read -r -t 60 line <&9
            [[ ${line##*$'\t'} == "$word" ]]
        done
        exec 8>&- 9<&-
        wait $!
        rm to from
    done
}

@test "parts that are none" {
    local text
    echo a >list
    for text in 0/4 5/4 1/0 0/0 0 3/ /3 / '' 1/2/3 +1/2 1/+2 1e1/20 ' 1/2' '1/2 ' 1.0/2 0x1/2 1/1000001 \
        1000001 4M 99999999999999999999 1/99999999999999999999 1,2/4; do
        unchanged exits 2 unseen shard "$text" list
        [[ ! -s $out && $(wc -l <"$err") -eq 1 ]] || complain "one line of error: '$text'"
    done
    exits 2 unseen shard 0/4 list
    # shellcheck disable=SC2016 # as it is said
    grep -qF 'parts count from 1 (where ranks count from 0: unseen shard $((RANK+1))/4)' "$err"
    exits 2 unseen shard 3/1 list
    says 'shard 3/1: the part is above the number of parts'
    exits 2 unseen shard "3/" list
    says 'a number is missing .is a variable empty'
    exits 2 unseen shard
    says 'shard: which part'
    exits 2 unseen shard list 1/4
    says 'list: is a file, and the part comes first .unseen shard 1/4 list.'
    exits 0 unseen shard 01/01 list
    prints 'a\n'
}

@test "an input that cannot be read: the others go on, and exit 2; a filter is none" {
    echo 1 >a
    echo 3 >c
    exits 2 unseen shard 1/1 a missing c
    says 'missing: No such file'
    prints '1\n3\n'
    exits 0 unseen create seen.bf
    unchanged exits 2 unseen shard 1/1 seen.bf
    says 'seen.bf: is a filter, not a list of lines'
    exits 2 unseen shard --max-line 3 1/1 < <(printf 'a\nb\nlong line\nc\n')
    prints 'a\nb\n'
}

@test "output that cannot be written" {
    [[ -e /dev/full ]] || skip "no /dev/full"
    exits 2 to /dev/full unseen shard 1/1 < <(echo a)
    says 'standard output: No space'
    exits 2 to /dev/full unseen shard 1 < <(echo a)
    says 'standard output: No space'
}

@test "--summary, and most lines without a key" {
    "$genlines" 2000 2000 1 >in
    exits 0 unseen shard --summary 1/2 in
    says "shard 1/2: 2000 lines read, $(wc -l <"$out") passed"
    exits 0 unseen shard --summary=json 2 in
    grep -q '^{"shard":"2","read":2000,"smallest":[0-9]*,"largest":[0-9]*}$' "$err"
    exits 0 unseen shard --by host 2 < <(yes 'no host' | head -n 2000)
    says 'shard: 2000 of 2000 lines have no host'
}
