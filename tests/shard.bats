#!/usr/bin/env bats
# shard: a list in parts. (The mapping itself: tests/unit/test_shard.c.)

load helper
load crash

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
    exits 0 unseen shard "$n" --files 'shard.%d' "$@" "$file"
    [[ ! -s $out && ! -s $err ]] || complain "it should be silent"
    for ((i = 1; i <= n; i++)); do
        sed -n "s/^$i\t//p" tagged | cmp - "shard.$i"
    done
    rm shard.*
}

@test "zeros before a number are no octal" {
    exits 0 unseen shard 063/100 < <(printf '%s\n' a www.example.com)
    prints 'www.example.com\n'
}

@test "each line is in one part, in order: one thread and two, bytes of any kind, empty lines, long lines" {
    "$genlines" 20000 10000 1 | sed 's/.*/http:\/\/h&.example\/page/' >in
    holds_together 3 in -j 1
    in_files 3 in
    exits 0 unseen shard 3 -j 2 in
    cmp tagged "$out"
    exits 0 unseen shard 2/3 -j 2 in
    sed -n 's/^2\t//p' tagged | cmp - "$out"
    { printf 'a\r\n\n\n\0\377\n'; head -c 3000000 /dev/zero | tr '\0' x; printf '\nb\n'; } >in
    holds_together 2 in
    in_files 2 in
    printf 'a\nb\nlast' >in
    exits 0 unseen shard 1/1 in
    prints 'a\nb\nlast\n'
    succeeds unseen shard 1 </dev/null
    prints ''
    printf 'a\nb\0\0c' >in
    exits 0 unseen shard -z 1 in
    prints '1\ta\nb\0\0061\t\0\0061\tc\0'
    exits 0 unseen shard -z 1/1 in
    prints 'a\nb\0\0c\0'
}

@test "lines stay whole where several runs append to one file, tags and lines longer than any buffer too: shard, key, --tag" {
    local form runs=(1 2 3 4)
    { seq -f 'http://example.org/%.0f/page' 40000; head -c 6000000 /dev/zero | tr '\0' x | fold -w 300000; echo; } >in
    exits 0 unseen create f.bf
    for form in 'shard 9' 'key --tag' 'query --tag f.bf'; do
        rm -f all
        for _ in "${runs[@]}"; do
            unseen $form in >>all &
        done
        wait
        for _ in "${runs[@]}"; do unseen $form in; done | sort | cmp - <(sort all) || complain "$form"
    done
}

@test "--header: the first header line, once, in every shard" {
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
    [[ $(cat counts) == '1 2' ]] || complain "the header line is in both shards, the line in one"
}

@test "a line is printed as soon as it has arrived, by two threads, too" {
    local form word
    yes 'a line of a long list' | head -c 4000000 >long
    for form in 1/1 1; do
        converse "$UNSEEN" shard "$form"
        for word in one two; do
            say "$word"
            hear
            [[ ${reply##*$'\t'} == "$word" ]]
        done
        farewell
        converse bash -c '"$0" shard -j 2 "$1" | grep --line-buffered -v "a line"' "$UNSEEN" "$form"
        cat long >&"$ask"
        for word in one two; do
            say $'\n'"$word"
            while [[ $reply != *"$word" ]]; do hear; done
        done
        farewell
    done
}

# --- --files -----------------------------------------------------------------

@test "--files: a file for each part, empty ones too, as split(1) writes them; other names stay" {
    echo http://example.com/ >in
    mkdir data a1 a2
    echo old >data/first
    chmod 600 data/first
    ln -s data/first shard.1
    echo old >shard.9
    umask 027
    exits 0 unseen shard 3 --files 'shard.%d' in
    cmp shard.1 in
    [[ -e shard.2 && ! -s shard.2 && -e shard.3 && ! -s shard.3 && $(cat shard.9) == old && -L shard.1 ]]
    [[ $(stat -c %a data/first shard.2 shard.3 | paste -sd ' ') == '600 640 640' ]] ||
        complain "a new file has the mode that > gives it, an older one keeps its own"
    [[ $(echo *) == 'a1 a2 data in shard.1 shard.2 shard.3 shard.9' ]]
    exits 0 unseen shard 2 --files 'a%d/100%%' in
    cmp in a1/100%
    exits 0 unseen shard 10 --files '%03d' in
    [[ $(echo 0*) == '001 002 003 004 005 006 007 008 009 010' ]]
}

@test "--files: a file that cannot be written to is not replaced" {
    public_directory
    chmod 777 .
    echo a >in
    echo old | tee shard.1 >shard.2
    chmod 666 shard.1
    chmod 444 shard.2
    fails_with 2 'shard.2: Permission denied' as_nobody "$public/unseen" shard 2 --files 'shard.%d' in
}

@test "--files: nothing is emptied before all files are open, and each has one name" {
    local what file reason hold pattern=s%d
    while IFS='|' read -r what file reason; do
        rm -rf -- * && mkdir there a1
        echo old | tee s1 >s2
        eval "$what"
        fails_with 2 "^unseen: $file: $reason" unseen shard 3 --files "$pattern" < <(seq 9)
    done <<'END'
ln -sf nowhere/x s2|s2|No such file or directory$
rm s2; ln -s s3 s2|s3|is the same file as s2
ln -sf s1 s2|s2|is the same file as s1 \(remove one of the two names, or use other names\)$
rm s1; ln -s s3 s1; echo 3 >s3|s3|is the same file as s1
ln s2 s3|s3|is the same file as s2
ln s1 there/1; ln -s there/1 s3|s3|is the same file as s1
ln -s a1 a2; ln -s a1 a3; echo x >a1/f; pattern=a%d/f|a2/f|is the same file as a1/f
pattern=s%d; mkfifo s3|s3|is not a regular file$
mkdir s3|s3|Is a directory$
END
    # another run is at work on them
    rm -rf -- *
    mkfifo to
    "$UNSEEN" shard 2 --files s%d <to 3>&- &
    exec {hold}>to
    rm to
    asleep $!
    fails_with 75 '^unseen: s1: another run is writing to it$' unseen shard 3 --files s%d <<<1
    exec {hold}>&-
    wait $!
    # where links lead is written to
    rm -rf -- *
    echo old >there
    ln -s there s1
    ln -s new s2
    exits 0 unseen shard 2 --files s%d < <(seq 9)
    [[ -L s1 && -L s2 ]]
    sort there new | cmp - <(seq 9)
}

@test "--files: what another run was first to lock stays, though this one made it" {
    need_strace
    local hold
    mkfifo to
    stopped_after openat 1 s1 shard 2 --files s%d
    "$UNSEEN" shard 2 --files s%d <to 3>&- &
    exec {hold}>to
    asleep $!
    kill -CONT "$child"
    wait "$pid" || code=$?
    [[ $code -eq 75 && $(<said) == 'unseen: s1: another run is writing to it' ]] || complain "$code"
    echo 1 >&$hold
    exec {hold}>&-
    wait $!
    [[ $(cat s1 s2) == 1 ]]
}

@test "--files: a run that fails leaves no part, and tells no size of one" {
    echo old | tee there shard.1 >linked
    ln -s there shard.2
    ln linked shard.3
    exits 2 unseen shard 5 --summary --max-line 3 --files 'shard.%d' < <(seq 50; echo long line)
    says_lines 3 'has a line longer than 3 bytes' 'shard.%d: no shards were kept' 'shard 5: 50 lines read$'
    [[ $(echo *) == 'linked shard.1 shard.2 shard.3 there' && -L shard.2 && ! -s shard.1 && ! -s there && ! -s linked ]]
    rm -- *
    # a limit on file size stands for a full disk, met early, and by the last lines
    seq 5000 >few
    yes "a line, many times" | head -n 100000 >in
    exits 2 bash -c 'ulimit -f 64 && exec "$0" shard 2 --files shard.%d in' "$UNSEEN"
    says_lines 2 'shard.[12]: File too large' 'shard.%d: no shards were kept'
    exits 2 bash -c 'ulimit -f 16 && exec "$0" shard 1 --files shard.%d few' "$UNSEEN"
    says 'shard.1: File too large'
    [[ $(echo *) == 'few in' ]]
    # the limit of open files is raised as far as it can be
    exits 0 bash -c 'ulimit -Sn 50 && exec "$0" shard 90 --files p.%d in' "$UNSEEN"
    [[ $(cat p.* | wc -l) -eq 100000 ]]
}

@test "--files: a run that is ended by a signal leaves no part" {
    local signal pid code
    mkfifo to
    for signal in TERM INT HUP; do
        echo old >shard.1
        env --default-signal=INT,HUP "$UNSEEN" shard 2 --files 'shard.%d' <to 3>&- &
        pid=$!
        exec 8>to
        seq 100000 >&8
        filled shard.2
        kill -"$signal" $pid
        code=0
        wait $pid || code=$?
        exec 8>&-
        [[ $code -eq $((128 + $(kill -l $signal))) && $(echo *) == 'shard.1 to' && ! -s shard.1 ]] || complain "$signal: $code, $(ls)"
    done
}
