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

# in_files N FILE [OPTION...]: the same parts, which `holds_together` left in `tagged`, in files.
in_files() {
    local n=$1 file=$2 i
    shift 2
    exits 0 unseen shard "$n" --files 'part.%d' "$@" "$file"
    [[ ! -s $out && ! -s $err ]] || complain "it should be silent"
    for ((i = 1; i <= n; i++)); do
        sed -n "s/^$i\t//p" tagged | cmp - "part.$i"
    done
    rm part.*
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
    in_files 3 in
    exits 0 unseen shard 3 -j 2 in
    cmp tagged "$out"
    exits 0 unseen shard 2/3 -j 2 in
    sed -n 's/^2\t//p' tagged | cmp - "$out"
    exits 0 unseen shard 1/1 in
    cmp in "$out"
}

@test "each line is in one part: bytes of any kind, empty lines, long lines" {
    local length
    for length in 70000 3000000; do
        { printf 'a\r\n\n\n\0\377\n'; head -c $length /dev/zero | tr '\0' x; printf '\nb\n'; } >in
        holds_together 2 in
        in_files 2 in
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
    says '--like and --by: cannot be given together'
    unchanged exits 2 unseen shard 50 --like missing.bf in
    says 'missing.bf: No such file'
    unchanged exits 2 unseen shard 50 --like in in
    says 'in: is not a filter .is the name right?.'
    unchanged exits 2 unseen shard 50 --like - in
    says '--like -: is not the name of a file'
}

@test "--header: the first heading, once, in every part" {
    printf 'id,name\n1,x\n' >a
    printf 'id,name\n2,y\n' >b
    exits 0 unseen shard --header 1 --files 'c%d' a b
    printf 'id,name\n1,x\n2,y\n' | cmp - c1
    exits 0 unseen shard --header 3 --files 'd%d' a
    [[ $(head -qn 1 d1 d2 d3 | uniq) == id,name && $(cat d* | wc -l) -eq 4 ]]
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

@test "a line is printed as soon as it has arrived, by two threads, too" {
    local form
    yes 'a line of a long list' | head -c 4000000 >long
    for form in 1/1 1; do
        mkfifo "to" "from"
        unseen shard -j 2 "$form" <"to" 3>&- | grep --line-buffered -v 'a line' >"from" &
        exec 8>"to" 9<"from"
        cat long >&8
        for word in one two; do
            printf '\n%s\n' $word >&8
            while IFS= read -r -t 60 line <&9 && [[ $line != *$word ]]; do :; done
            [[ $line == *$word ]]
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
    grep -qF 'shards count from 1 (where ranks count from 0: unseen shard $((RANK+1))/4)' "$err"
    exits 2 unseen shard 3/1 list
    says 'shard 3/1: there is no such shard'
    for text in 3/ l/2/4 ''; do
        exits 2 unseen shard "$text" list
        says "shard '$text': not a shard \\(expected I/N"
    done
    exits 2 unseen shard
    says 'shard: which one'
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
    says "shard 1/2: 2000 lines read, $(wc -l <"$out") printed"
    exits 0 unseen shard --summary --json 2 in
    [[ $(<"$err") == '{"shard":"2","read":2000}' ]]
    exits 0 unseen shard --by host 2 < <(yes 'no host' | head -n 2000)
    says 'shard: 2000 of 2000 lines have no host'
}

# --- --files -----------------------------------------------------------------

@test "--files: a file for each part, empty ones too, as split(1) writes them; other names stay" {
    echo http://example.com/ >in
    mkdir data a1 a2
    echo old >data/first
    chmod 600 data/first
    ln -s data/first part.1
    echo old >part.9
    umask 027
    exits 0 unseen shard 3 --files 'part.%d' in
    cmp part.1 in
    [[ -e part.2 && ! -s part.2 && -e part.3 && ! -s part.3 && $(cat part.9) == old && -L part.1 ]]
    [[ $(stat -c %a data/first part.2 part.3 | paste -sd ' ') == '600 640 640' ]] ||
        complain "a new file has the mode that > gives it, an older one keeps its own"
    [[ $(echo *) == 'a1 a2 data in part.1 part.2 part.3 part.9' ]]
    exits 0 unseen shard 2 --files 'a%d/100%%' in
    cmp in a1/100%
    exits 0 unseen shard 10 --files '%03d' in
    [[ $(echo 0*) == '001 002 003 004 005 006 007 008 009 010' ]]
}

@test "--files: names that are none" {
    local pattern
    echo a >in
    for pattern in part part. 'a%d%d' 'a;b' %s '%' 'a%' %5d %0d %00d %010d %-3d %ld '%%d' ''; do
        unchanged exits 2 unseen shard 3 --files "$pattern" in
        says '^unseen: --files '
        [[ ! -s $out ]]
    done
    exits 2 unseen shard 3 --files 'a%é' in
    says "^unseen: --files 'a%é': needs one %d, or %03d, for the shard"
    unchanged exits 2 unseen shard 1/3 --files 'part.%d' in
    says '--files: is for all shards'
}

@test "--files: what is not replaced, and then nothing is" {
    local name pattern message
    echo a >in
    echo old | tee a.1 c.1 f.1 g.1 >d.1
    ln g.1 g.3
    ln -s f.1 f.2
    cp in a.2
    mkfifo b.2
    mkdir c.3
    exits 0 unseen create d.3
    exits 0 unseen create seen.bf
    exits 0 unseen seen.bf --pending e.1 in
    while IFS='|' read -r pattern message; do
        fails_with 2 "^unseen: $message" unseen shard 3 --files "$pattern" in a.2
    done <<'END'
a.%d|a.2: is both --files and input
b.%d|b.2: is not a regular file
c.%d|c.3: Is a directory
d.%d|d.3: is a filter, not a file of lines
e.%d|e.1: is a file of pending keys, not a file of lines
f.%d|f.2: is the file of another shard, too
g.%d|g.3: is the file of another shard, too
no/part.%d|no/part.1: No such file or directory .there is no directory no.
END
    fails_with 2 'mistyped: No such file' unseen shard 3 --files 'f.%d' in mistyped
    fails_with 2 'a.2: is both --files and input' unseen shard 3 --files 'a.%d' <a.2
    name=$(printf '%0254d' 0)
    fails_with 2 "${name}10: File name too long" unseen shard 10 --files "$name%d" in
}

@test "--files: a file that cannot be written to is not replaced" {
    public_directory
    chmod 777 .
    echo a >in
    echo old | tee part.1 >part.2
    chmod 666 part.1
    chmod 444 part.2
    fails_with 2 'part.2: Permission denied' as_nobody "$public/unseen" shard 2 --files 'part.%d' in
}

@test "--files: a run that fails leaves no part, and tells no size of one" {
    echo old >part.1
    exits 2 unseen shard 2 --summary --max-line 3 --files 'part.%d' < <(printf 'a\nlong line\n')
    says_lines 3 'has a line of more than 3 bytes' 'part.%d: no shard is left' 'shard 2: 1 line read$'
    [[ -z $(ls) ]]
    # a limit on file size stands for a full disk
    yes "a line, many times" | head -n 100000 >in
    # shellcheck disable=SC2016 # for the other shell
    exits 2 bash -c 'ulimit -f 64 && exec "$0" shard 2 --files part.%d in' "$UNSEEN"
    says_lines 2 'part.[12]: File too large' 'part.%d: no shard is left'
    [[ $(ls) == in ]]
    # shellcheck disable=SC2016 # for the other shell
    unchanged exits 2 bash -c 'ulimit -n 100 && exec "$0" shard 90 --files p.%d in' "$UNSEEN"
    says '--files: 90 files cannot be open at once .raise the limit: ulimit -n 154; .*'
    # shellcheck disable=SC2016 # for the other shell
    exits 0 bash -c 'ulimit -Sn 50 && exec "$0" shard 90 --files p.%d in' "$UNSEEN"
    [[ $(cat p.* | wc -l) -eq 100000 ]]
}

@test "--files: the last lines do not fit on the disk: no part is left" {
    seq 5000 >in
    # shellcheck disable=SC2016 # for the other shell
    exits 2 bash -c 'ulimit -f 16 && exec "$0" shard 1 --files part.%d in' "$UNSEEN"
    says 'part.1: File too large'
    [[ $(ls) == in ]]
}

@test "--files: a run that is ended by a signal leaves no part" {
    local signal pid code
    mkfifo to
    for signal in TERM INT HUP; do
        echo old >part.1
        env --default-signal=INT,HUP "$UNSEEN" shard 2 --files 'part.%d' <to 3>&- &
        pid=$!
        exec 8>to
        seq 100000 >&8
        until [[ -s part.2 ]]; do sleep 0.01; done
        kill -"$signal" $pid
        code=0
        wait $pid || code=$?
        exec 8>&-
        [[ $code -eq $((128 + $(kill -l $signal))) && $(ls) == to ]] || complain "$signal: $code, $(ls)"
    done
}
