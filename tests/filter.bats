#!/usr/bin/env bats
# The filter form: which lines come out, in which order, as which bytes.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2002 # `cat in |` is there because a pipe is what is tested
load helper

# --- first occurrences -------------------------------------------------------

@test "prints the first occurrence of each line, in input order" {
    mixed_lines 20000 7000 >in
    lines_unique in >"$BATS_TEST_TMPDIR/wanted"
    succeeds unseen <in
    same "$out" "$BATS_TEST_TMPDIR/wanted"
}

@test "in memory: with a geometry for which the small layer has no room, and short of memory" {
    echo a | exits 0 unseen --hashes 1 -p 1e-7
    prints 'a\n'
    plain_build "needs more memory"
    # The large layer cannot be had: exit 2, not a repeat less.
    { seq 133200; echo 5; echo 6; } >in
    exits 0 unseen -j1 -d <in
    prints '5\n6\n'
    short_of_memory() { (ulimit -v 60000 && exec "$UNSEEN" -j1 -d); }
    exits 2 short_of_memory <in
    says '^unseen: filter in memory: '
}

@test "in memory: lines of the small first layer are in the large one that takes its place" {
    # It has 132959 lines; runs end before, at and behind that one.
    local n
    for n in 132958 132959 132960 400000; do
        { seq $n; seq $n; echo end; } | exits 0 unseen -j1
        { seq $n; echo end; } | same "$out" /dev/stdin || { echo "$n lines"; return 1; }
    done
    { seq 300000; seq 300000; } | exits 0 unseen -p 1e-9
    seq 300000 | same "$out" /dev/stdin
    { seq 300000; seq 300000; seq 10; } | exits 0 unseen -d
    seq 300000 | same "$out" /dev/stdin
}

@test "the oracle can tell: a line less, a line twice, two lines swapped" {
    # The comparison all these tests rest on must fail where it should.
    mixed_lines 2000 700 | lines_unique >good
    sed 123d good >less
    sed 77p good >twice
    sed -n '5{h;d};6{p;g;p;d};p' good >swapped
    run ! same less good
    run ! same twice good
    run ! same swapped good
    run ! same <(head -c -1 good) good
}

@test "empty input: prints nothing, exit 0" {
    succeeds unseen </dev/null
    prints ''
    exits 0 unseen --create f.bf </dev/null
    succeeds unseen f.bf </dev/null
    prints ''
}

@test "bytes are bytes: empty lines, blanks, CR, NUL, prefixes, a last line without its newline" {
    local in wanted
    while IFS='|' read -r in wanted; do
        succeeds unseen < <(printf '%b' "$in")
        prints "$wanted" || { echo "of $in"; return 1; }
    done <<'END'
\n\na\n\n|\na\n
\n|\n
a\na \n a\na\t\na\n|a\na \n a\na\t\n
a\nb|a\nb\n
a\nb\na|a\nb\n
a\r\na\na\r\n\r\n\n|a\r\na\n\r\n\n
a\0b\na\0c\na\0b\na\n\0\n\0\0\n\0|a\0b\na\0c\na\n\0\n\0\0\n
ab\nc\na\nbc\nabc\nab\nc\n|ab\nc\na\nbc\nabc\n
END
}

@test "a last line without newline equals the same line with one, from one run to the next" {
    exits 0 unseen --create f.bf < <(printf 'a')
    prints 'a\n'
    succeeds unseen f.bf < <(printf 'a\nb')
    prints 'b\n'
    succeeds unseen f.bf < <(printf 'b\n')
    prints ''
}

@test "invalid UTF-8 is kept, whatever the locale" {
    printf '\xff\xfe\n\xc3\n\xc3\xa4\n\xff\xfe\n\x80\n\xed\xa0\x80\n\xc3\n' >in
    printf '\xff\xfe\n\xc3\n\xc3\xa4\n\x80\n\xed\xa0\x80\n' >wanted
    local locale
    for locale in C C.UTF-8 en_US.UTF-8 no_SUCH.locale; do
        LC_ALL=$locale succeeds unseen <in
        same "$out" wanted
    done
}

@test "upper and lower case, composed and decomposed letters are different lines" {
    printf 'A\na\n\xc3\xa4\na\xcc\x88\n' >in
    succeeds unseen <in
    same "$out" in
}

@test "every byte value, alone and inside a line" {
    local i octal
    for ((i = 0; i < 256; i++)); do
        [[ $i -eq 10 ]] && continue
        printf -v octal '\\%03o' "$i"
        # shellcheck disable=SC2059
        printf "$octal\nxyz$octal""uvw\n"
    done >in
    cat in in >twice
    succeeds unseen <twice
    same "$out" in
}

@test "random bytes: equal to the oracle on hexadecimal" {
    # The C library's generator differs between machines; awk's own does not.
    awk 'BEGIN { x = 7; for (i = 0; i < 60000; i++) {
        x = x * 16807 % 2147483647; v = int(x / 4096) % 14
        printf "\\%03o", v == 13 ? 255 : v } }' >escaped
    # shellcheck disable=SC2059
    printf "$(cat escaped)" >in
    [[ $(wc -c <in) -eq 60000 ]]
    succeeds unseen <in
    hex_lines <in | lines_unique >wanted
    hex_lines <"$out" >got
    same got wanted
}

@test "lines that differ only in their last, first or middle byte" {
    awk 'BEGIN { for (n = 1; n < 300; n++) {
        s = sprintf("%" n "s", ""); gsub(/ /, "x", s)
        print s; print s "y"; print "y" s
        print substr(s, 1, int(n / 2)) "y" substr(s, 1, n - int(n / 2)) } }' >in
    lines_unique in >wanted
    cat in in | { succeeds unseen; same "$out" wanted; }
}

# --- long lines and the edges of the buffer ----------------------------------

@test "a line of 5 MB, twice, and one that differs in its last byte" {
    { head -c 5000000 /dev/zero | tr '\0' x; } >long
    { cat long; echo; cat long; echo y; cat long; echo; echo short; echo short; } >in
    { cat long; echo; cat long; echo y; echo short; } >wanted
    succeeds unseen <in
    same "$out" wanted
}

@test "lines of every length around the buffer's size" {
    local n
    for ((n = 262136; n <= 262150; n++)); do
        head -c "$n" /dev/zero | tr '\0' z
        printf '\n%s\n' "$n"
    done >once
    cat once once >in
    succeeds unseen <in
    same "$out" once
    cat in | { succeeds unseen; same "$out" once; }
}

@test "the end of the input falls on the end of the buffer" {
    local bytes
    for bytes in 262143 262144 262145 524287 524288 524289; do
        # numbered lines, cut to exactly so many bytes: with and without a last newline
        seq 100000 | head -c "$bytes" >in
        lines_unique in >wanted
        succeeds unseen <in
        same "$out" wanted
        { seq 100000 | head -c $((bytes - 1)); echo; } >in
        lines_unique in >wanted
        succeeds unseen <in
        same "$out" wanted
    done
}

@test "a run of repeats longer than the buffer between two new lines" {
    { echo first; yes repeat | head -n 50000; echo last; } >in
    succeeds unseen <in
    prints 'first\nrepeat\nlast\n'
}

# --- P1: the same bytes however they arrive ----------------------------------

# At p = 0.5 and past a small -n, hundreds of lines are dropped: which ones they
# are must not depend on where a batch ends, and layers change in the middle of one.

@test "the same false positives, too, from a file or a pipe, in memory" {
    seq 100000 >in
    exits 0 unseen -n 1000 -p 0.5 <in
    cp "$out" wanted
    [[ $(wc -l <wanted) -lt 99500 ]]
    local size
    for size in 4097 64K 1M; do
        dd if=in bs="$size" status=none | { exits 0 unseen -n 1000 -p 0.5; same "$out" wanted; }
    done
    # without -n the first layer is larger
    seq 600000 >in
    succeeds unseen -p 0.5 <in
    cp "$out" wanted
    [[ $(wc -l <wanted) -lt 600000 ]]
    for size in 4097 1M; do
        dd if=in bs="$size" status=none | { succeeds unseen -p 0.5; same "$out" wanted; }
    done
}

@test "the seed is 0 unless told: the same output in every run, of another with another" {
    local i
    seq 50000 >in
    exits 0 unseen -n 100 -p 0.5 <in
    cp "$out" wanted
    [[ $(wc -l <wanted) -lt 49800 ]]
    for i in '' '--seed 0'; do
        # shellcheck disable=SC2086 # two words
        exits 0 unseen -n 100 -p 0.5 $i <in
        same "$out" wanted
    done
    exits 0 unseen -n 100 -p 0.5 --seed 1 <in
    run ! cmp -s "$out" wanted
}

@test "dribbled input, byte by byte and cut inside lines" {
    printf 'one\ntwo\none\nthree\ntwo\nfour' >in
    local i
    for ((i = 0; i < 28; i++)); do
        tail -c +$((i + 1)) in | head -c 1
        [[ $((i % 7)) -ne 0 ]] || sleep 0.02
    done | { succeeds unseen; prints 'one\ntwo\nthree\nfour\n'; }
}

@test "dribbled input in blocks of odd size equals the same input at once" {
    mixed_lines 20000 9000 >in
    lines_unique in >wanted
    dd if=in bs=977 2>/dev/null | dd obs=331 2>/dev/null | { succeeds unseen; same "$out" wanted; }
}

# --- -z ----------------------------------------------------------------------

@test "-z, -0, --zero-terminated: lines end with NUL, in and out; newline is a byte" {
    local option
    for option in -z -0 --zero-terminated; do
        printf 'a\nb\0a\0a\nb\0\0c\n\0\0' | {
            succeeds unseen "$option"
            prints 'a\nb\0000a\0000\0000c\n\0000'
        }
    done
}

@test "-z: a last line without its NUL is printed with one" {
    printf 'a\0b\0a' | { succeeds unseen -z; prints 'a\0000b\0000'; }
    printf 'a\0b' | { succeeds unseen -z; prints 'a\0000b\0000'; }
}

@test "-z: the same key as the line with a newline" {
    exits 0 unseen --create f.bf < <(printf 'a\nb\n')
    succeeds unseen -z f.bf < <(printf 'a\0c\0')
    prints 'c\0000'
    succeeds unseen f.bf < <(printf 'c\nd\n')
    prints 'd\n'
}

# --- -d ----------------------------------------------------------------------

@test "-d, --repeated: each repeated line once, at its second occurrence" {
    mixed_lines 20000 7000 >in
    lines_repeated in >wanted
    succeeds unseen -d <in
    same "$out" wanted
    succeeds unseen --repeated <in
    same "$out" wanted
}

@test "-d: as uniq -d on sorted input; nothing repeated, nothing printed; three times is once" {
    mixed_lines 5000 3000 | sort >in
    uniq -d in >wanted
    succeeds unseen -d <in
    same "$out" wanted
    seq 1000 | { succeeds unseen -d; prints ''; }
    printf 'a\na\na\na' | { succeeds unseen -d; prints 'a\n'; }
    printf 'a\na\nb\nb\nc\nc\n' | { succeeds unseen -d -m 2; prints 'a\nb\n'; }
}

# --- -m ----------------------------------------------------------------------

@test "-m N, --max-count N: prints exactly N lines and stops" {
    mixed_lines 5000 900 >in
    lines_unique in | head -n 123 >wanted
    succeeds unseen -m 123 <in
    same "$out" wanted
    succeeds unseen --max-count=123 <in
    same "$out" wanted
    cat in | { succeeds unseen -m123; same "$out" wanted; }
}

@test "-m N: fewer lines than N is no error; 0 prints nothing" {
    printf 'a\nb\na' | { succeeds unseen -m 5; prints 'a\nb\n'; }
    printf 'a\nb\n' | { succeeds unseen -m 2; prints 'a\nb\n'; }
    printf 'a\nb\n' | { succeeds unseen -m 0; prints ''; }
}

@test "-m N stops reading: an endless input ends" {
    succeeds unseen -m 3 < <(awk 'BEGIN { for (;;) print i++ }' 2>/dev/null)
    prints '0\n1\n2\n'
}

@test "-m N: a seekable stdin is left just behind the last line consumed" {
    printf 'a\nb\na\nc\nd\ne\n' >in
    { capture unseen -m 3; cat >rest; } <in
    [[ $code -eq 0 ]]
    prints 'a\nb\nc\n'
    printf 'd\ne\n' >wanted
    same rest wanted

    seq 100000 >in
    { capture unseen -m 54321; cat >rest; } <in
    [[ $code -eq 0 ]]
    seq 54322 100000 >wanted
    same rest wanted

    # and with a filter, from where the offset was
    { head -c 2 >/dev/null; capture unseen --create f.bf -m 1000; cat >rest; } <in
    [[ $code -eq 0 ]]
    seq 2 1001 >wanted
    same "$out" wanted
    seq 1002 100000 >wanted
    same rest wanted
}

@test "-m N: remembers exactly the N lines that it printed" {
    seq 1000 >in
    exits 0 unseen --create f.bf -m 10 <in
    seq 10 >wanted
    same "$out" wanted
    succeeds unseen f.bf -m 10 <in
    seq 11 20 >wanted
    same "$out" wanted
    succeeds unseen query -c f.bf <in
    prints '20\n'
    succeeds unseen f.bf <in
    seq 21 1000 >wanted
    same "$out" wanted
}

# --- -e ----------------------------------------------------------------------

@test "-e, --exit-status: 0 if a line was new, 1 if none was" {
    seq 10 >in
    exits 0 unseen --create f.bf -e <in
    same "$out" in
    exits 1 unseen f.bf -e <in
    silent_on_stderr
    prints ''
    exits 1 unseen --exit-status f.bf </dev/null
    silent_on_stderr
    exits 0 unseen -e f.bf < <(echo 11)
    prints '11\n'
    exits 0 unseen f.bf <in
    prints ''
    exits 1 unseen -e </dev/null
    printf 'a\n' | { exits 0 unseen -e; prints 'a\n'; }
}

@test "-e: trouble is 2, even where a line was new" {
    exits 0 unseen --create f.bf </dev/null
    seq 3 >in
    exits 2 unseen -e f.bf in nofile
    same "$out" in
    says 'nofile: No such file or directory'
    exits 2 unseen -e f.bf in nofile
    prints ''
}

# --- -a ----------------------------------------------------------------------

@test "-a FILE, --append FILE: writes there, makes it, appends" {
    seq 5 | { succeeds unseen -a new.txt; prints ''; }
    seq 5 >wanted
    same new.txt wanted
    seq 6 7 | { succeeds unseen --append=new.txt; prints ''; }
    seq 7 >wanted
    same new.txt wanted
    [[ $(stat -c %a new.txt) == 644 ]]
}

@test "-a FILE: an unfinished last line is ended first" {
    printf 'whole\nunfini' >new.txt
    seq 2 | { succeeds unseen -a new.txt; prints ''; }
    printf 'whole\nunfini\n1\n2\n' >wanted
    same new.txt wanted
    printf 'whole\0unfini' >new.txt
    printf '1\0' | { succeeds unseen -z -a new.txt; prints ''; }
    printf 'whole\0unfini\0001\0' >wanted
    same new.txt wanted
}

@test "-a FILE that cannot be opened: exit 2, and nothing is made or remembered" {
    exits 0 unseen --create f.bf < <(seq 3)
    fails_with 2 'nodir/new: No such file or directory' unseen f.bf -a nodir/new < <(seq 9)
    mkdir dir
    fails_with 2 'dir: Is a directory' unseen f.bf -a dir < <(seq 9)
    fails_with 2 'nodir/new: No such file or directory' unseen --create g.bf -a nodir/new < <(seq 9)
    succeeds unseen f.bf < <(seq 9)
    seq 4 9 >wanted
    same "$out" wanted
}

@test "-a FIFO: waits for a reader, who gets all; nothing is in flight, made or remembered before" {
    need_signals
    local pid
    seq 30000 >in
    mkfifo fifo
    exits 0 unseen create -p 1e-9 f.bf
    env --default-signal=TERM "$UNSEEN" f.bf in -a fifo 3>&- &
    pid=$!
    sleep 0.3
    kill -TERM "$pid"
    code=0
    wait "$pid" || code=$?
    [[ $code -eq 143 ]] || { echo "$code"; false; }
    exits 1 unseen query -c f.bf in
    prints '0\n'
    "$UNSEEN" f.bf in -a fifo 3>&- &
    pid=$!
    cat fifo >got
    wait "$pid"
    same got in
    succeeds unseen f.bf in
    prints ''
}

@test "-a FIFO: Ctrl-Z while it waits for a reader does not end it" {
    local pid
    seq 5 >in
    mkfifo fifo
    "$UNSEEN" -a fifo <in 3>&- &
    pid=$!
    sleep 0.2
    kill -TSTP "$pid"
    sleep 0.1
    kill -CONT "$pid"
    cat fifo >got
    wait "$pid"
    same got in
}

@test "-a FIFO, /dev/stdout, /dev/fd/N: a reader that goes away ends it by SIGPIPE, as without -a" {
    need_signals
    local name status reader
    [[ -e /dev/stdout && -e /dev/fd/1 ]] || skip "needs /dev/stdout and /dev/fd (mount -t proc proc /proc; ln -s /proc/self/fd /dev)"
    seq 1000000 >in
    mkfifo fifo
    for name in /dev/stdout /dev/fd/1 fifo; do
        exits 0 unseen create --force -n 1M -p 1e-9 f.bf
        if [[ $name == fifo ]]; then
            head -n 1 fifo >first 3>&- &
            reader=$!
            code=0
            timeout --foreground 20 env --default-signal=PIPE "$UNSEEN" f.bf in -a fifo || code=$?
            wait "$reader"
        else
            timeout --foreground 20 env --default-signal=PIPE "$UNSEEN" f.bf in -a $name | head -n 1 >first
            status=("${PIPESTATUS[@]}")
            code=${status[0]}
        fi
        [[ $code -eq 141 && $(cat first) == 1 ]] || { echo "$name: $code"; false; }
        # What the pipe took is remembered, and no more.
        exits 0 unseen query f.bf in
        [[ $(wc -l <"$out") -lt 500000 ]]
        cmp "$out" <(head -n "$(wc -l <"$out")" in)
    done
}

@test "-a FIFO with SIGPIPE ignored: a message and exit 2" {
    need_signals
    seq 1000000 >in
    mkfifo fifo
    head -n 1 fifo >first 3>&- &
    exits 2 timeout 20 env --ignore-signal=PIPE "$UNSEEN" -a fifo <in
    says 'fifo: Broken pipe'
}

@test "-a: what is no regular file is opened for writing only" {
    need_strace
    mkfifo fifo
    cat fifo >got 3>&- &
    local reader=$!
    seq 5 | timeout 20 strace -qq -o trace -e trace=openat,open "$UNSEEN" -a fifo
    kill "$reader" 2>/dev/null || true
    wait "$reader" || true
    grep fifo trace
    run ! grep -E 'fifo.*O_RD(WR|ONLY)' trace
}

@test "-a the FIFO that is read: refused" {
    mkfifo fifo
    fails_with 2 'fifo: is both -a and input' unseen --create f.bf fifo -a fifo
    exec {hold}<>fifo
    fails_with 2 '/dev/stdin: is both -a and input' unseen --create f.bf -a /dev/stdin <fifo
    exec {hold}>&-
}

@test "-a FILE that another process keeps locked: says so after five seconds, and goes on" {
    local pid hold
    seq 3 >in
    : >shared.txt
    mkfifo hold
    "${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}/holdlock" shared.txt 4611686018427387904 <hold >held 3>&- &
    exec {hold}>hold
    filled held
    "$UNSEEN" -a shared.txt <in 2>said 3>&- {hold}>&- &
    pid=$!
    filled said
    grep -qx 'unseen: shared.txt: waiting for another process that uses it' said
    [[ ! -s shared.txt ]]
    exec {hold}>&-
    wait "$pid"
    same shared.txt in
    [[ $(wc -l <said) -eq 1 ]]
}

# --- FILE operands -----------------------------------------------------------

@test "several FILEs are read in order, and - is the standard input" {
    printf 'a\nb\n' >one
    printf 'b\nc' >two
    printf 'c\nd' >three
    exits 0 unseen --create f.bf one two three
    prints 'a\nb\nc\nd\n'
    exits 0 unseen --create g.bf one - three < <(printf 'x\na')
    prints 'a\nb\nx\nc\nd\n'
}

@test "a FILE without final newline does not join with the next; an empty FILE, and a FILE twice" {
    printf 'a' >one
    printf 'b' >two
    : >empty
    exits 0 unseen --create f.bf empty one two one empty
    prints 'a\nb\n'
}

@test "-a, --pending: a file that is there is not opened to be made (fs.protected_regular)" {
    need_strace
    : >got
    exits 0 unseen create f.bf
    exits 0 unseen --pending keys f.bf < <(seq 9)
    exits 0 strace -qq -o trace -e trace=?open,openat "$UNSEEN" f.bf -a got < <(seq 3)
    grep -q '"got", O_WRONLY|' trace
    run -1 grep '"got".*O_CREAT' trace
    exits 0 strace -qq -o trace -e trace=?open,openat "$UNSEEN" --pending keys f.bf < <(seq 9)
    run -1 grep '"keys".*O_CREAT' trace
}
