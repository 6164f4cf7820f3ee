#!/usr/bin/env bats
# The filter form: which lines come out, in which order, as which bytes.

# shellcheck disable=SC2002 # `cat in |` is there because a pipe is what is tested
load helper
load crash

# --- first occurrences -------------------------------------------------------

@test "prints the first occurrence of each line, in input order; -d the second; -m so many, and stops" {
    local many
    mixed_lines 20000 7000 >in
    lines_unique in >wanted
    succeeds unseen <in
    same "$out" wanted
    cat in | { succeeds unseen; same "$out" wanted; }
    lines_repeated in >repeated
    for many in -d --repeated; do
        succeeds unseen $many <in
        same "$out" repeated
    done
    head -n 123 wanted >first
    for many in '-m 123' -m123 '--max-count 123' --max-count=123; do
        succeeds unseen $many <in
        same "$out" first
    done
}

@test "in memory, and short of it" {
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
    for n in 132958 132959 132960 300000; do
        { seq $n; seq $n; echo end; } | exits 0 unseen -j1
        { seq $n; echo end; } | same "$out" /dev/stdin || { echo "$n lines"; return 1; }
    done
    { seq 300000; seq 300000; seq 10; } | exits 0 unseen -d -p 1e-9
    seq 300000 | same "$out" /dev/stdin
}

@test "bytes are bytes, lines are lines; -z, -d, -m" {
    answers <<'END'
|\n\na\n\n|\na\n
|\n|\n
||
|a\na \n a\na\t\na\n|a\na \n a\na\t\n
|a\nb|a\nb\n
|a\nb\na|a\nb\n
|a\r\na\na\r\n\r\n\n|a\r\na\n\r\n\n
|a\0b\na\0c\na\0b\na\n\0\n\0\0\n\0|a\0b\na\0c\na\n\0\n\0\0\n
|ab\nc\na\nbc\nabc\nab\nc\n|ab\nc\na\nbc\nabc\n
|A\na\n\xc3\xa4\na\xcc\x88\n|A\na\n\xc3\xa4\na\xcc\x88\n
-z|a\nb\0a\0a\nb\0\0c\n\0\0|a\nb\0a\0\0c\n\0
-0|a\nb\0a\0a\nb\0\0c\n\0\0|a\nb\0a\0\0c\n\0
--zero-terminated|a\0b\0a|a\0b\0
-z|a\0b|a\0b\0
-d|a\na\na\na|a\n
-d|a\nb\nc|
-d -m 2|a\na\nb\nb\nc\nc\n|a\nb\n
-m 5|a\nb\na|a\nb\n
-m 2|a\nb\n|a\nb\n
-m 0|a\nb\n|
-e|a\n|a\n
-e|||1
END
    local locale
    for locale in C C.UTF-8 en_US.UTF-8 no_SUCH.locale; do
        LC_ALL=$locale answers <<'END'
|\xc3\n\xff\xfe\n\xc3\xa4\n\xff\xfe\n\x80\n\xed\xa0\x80\n\xc3\n|\xc3\n\xff\xfe\n\xc3\xa4\n\x80\n\xed\xa0\x80\n
END
    done
}

@test "from one run to the next: a last line without its end, -z, -e, -m remember the same lines" {
    exits 0 unseen create f.bf
    answers <<'END'
f.bf|a|a\n
f.bf|a\nb|b\n
f.bf|b\n|
-z f.bf|b\0c\0|c\0
f.bf|c\nd\n|d\n
-e f.bf|d\ne\n|e\n
-e f.bf|d\ne\n||1
--exit-status f.bf|||1
f.bf|a\n|
f.bf -m 2|f\na\ng\nh\ni\n|f\ng\n
f.bf -m 1|f\na\ng\nh\ni\n|h\n
query -c f.bf|a\nb\nc\nd\ne\nf\ng\nh\ni\n|8\n
f.bf|f\na\ng\nh\ni\n|i\n
END
    # Trouble is 2, even where a line was new.
    exits 2 unseen -e f.bf <(echo new) nofile
    prints 'new\n'
    says 'nofile: No such file or directory'
    exits 2 unseen -e f.bf <(echo new) nofile
    prints ''
}

@test "every byte value, and random bytes: equal to the oracle on hexadecimal" {
    # The C library's generator differs between machines; awk's own does not.
    awk 'BEGIN { x = 7
        for (i = 0; i < 256; i++) printf "\\%03o\\012xyz\\%03ouvw\\012", i, i
        for (i = 0; i < 60000; i++) {
            x = x * 16807 % 2147483647; v = int(x / 4096) % 14
            printf "\\%03o", v == 13 ? 255 : v } }' >escaped
    # shellcheck disable=SC2059
    printf "$(cat escaped)" >in
    succeeds unseen <in
    hex_lines <in | lines_unique >wanted
    [[ $(wc -l <wanted) -gt 1000 ]]
    hex_lines <"$out" | same - wanted
}

# --- long lines and the edges of the buffer ----------------------------------

@test "lines longer than the buffer, of every length around its size, and repeats that fill it" {
    local n
    {
        head -c 5000000 /dev/zero | tr '\0' x
        printf '\n'
        head -c 5000000 /dev/zero | tr '\0' x
        printf 'y\n'
        for ((n = 262136; n <= 262150; n++)); do
            head -c "$n" /dev/zero | tr '\0' z
            printf '\n%s\n' "$n"
        done
        echo first
    } >once
    { cat once once; yes first | head -n 50000; echo last; } >in
    echo last | cat once - >wanted
    succeeds unseen <in
    same "$out" wanted
    cat in | { succeeds unseen; same "$out" wanted; }
}

# --- P1: the same bytes however they arrive ----------------------------------

# At p = 0.5 and past a small -n, hundreds of lines are dropped: which ones they
# are must not depend on where a batch ends, and layers change in the middle of one.

@test "the same false positives, too, from a file or a pipe, in memory; others with another seed" {
    local size options
    for options in '-n 1000 -p 0.5' '-p 0.5'; do
        # without -n the first layer is larger
        case $options in -n*) seq 100000 ;; *) seq 600000 ;; esac >in
        exits 0 unseen $options <in
        cp "$out" wanted
        [[ $(wc -l <wanted) -lt $(($(wc -l <in) - 500)) ]]
        for size in 4097 1M; do
            dd if=in bs="$size" status=none | { exits 0 unseen $options; same "$out" wanted; }
        done
        exits 0 unseen $options --seed 0 <in
        same "$out" wanted
        exits 0 unseen $options --seed 1 <in
        run ! cmp -s "$out" wanted
    done
}

# --- -a ----------------------------------------------------------------------

@test "-a FILE, --append FILE: writes there, makes it, appends; an unfinished last line is ended first" {
    seq 5 | { succeeds unseen -a new.txt; prints ''; }
    [[ $(stat -c %a new.txt) == 644 ]]
    printf unfini >>new.txt
    seq 6 7 | { succeeds unseen --append=new.txt; prints ''; }
    printf '1\n2\n3\n4\n5\nunfini\n6\n7\n' | same new.txt -
    printf 'whole\0unfini' >new.txt
    printf '1\0' | { succeeds unseen -z -a new.txt; prints ''; }
    printf 'whole\0unfini\0001\0' | same new.txt -
}

@test "-a FILE that cannot be opened, or is the input: exit 2, and nothing is made or remembered" {
    exits 0 unseen --create f.bf < <(seq 3)
    mkdir dir
    mkfifo fifo
    fails_with 2 'nodir/new: No such file or directory' unseen f.bf -a nodir/new < <(seq 9)
    fails_with 2 'dir: Is a directory' unseen f.bf -a dir < <(seq 9)
    fails_with 2 'nodir/new: No such file or directory' unseen --create g.bf -a nodir/new < <(seq 9)
    fails_with 2 'fifo: used for both -a and input' unseen --create g.bf fifo -a fifo
    exec {hold}<>fifo
    fails_with 2 '/dev/stdin: used for both -a and input' unseen --create g.bf -a /dev/stdin <fifo
    exec {hold}>&-
    succeeds unseen f.bf < <(seq 9)
    seq 4 9 | same "$out" -
}

@test "-a FIFO: waits for a reader, who gets all; Ctrl-Z does not end it; nothing is in flight or remembered before" {
    need_signals
    local pid
    seq 30000 >in
    mkfifo fifo
    exits 0 unseen create -p 1e-9 f.bf
    env --default-signal=TERM "$UNSEEN" f.bf in -a fifo 3>&- &
    pid=$!
    asleep "$pid"
    kill -TERM "$pid"
    ended 143 "$pid"
    exits 1 unseen query -c f.bf in
    prints '0\n'
    env --default-signal=TSTP "$UNSEEN" f.bf in -a fifo 3>&- &
    pid=$!
    asleep "$pid"
    kill -TSTP "$pid"
    comes_to_stop "$pid"
    kill -CONT "$pid"
    cat fifo >got
    wait "$pid"
    same got in
    succeeds unseen f.bf in
    prints ''
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
            timeout --foreground 60 env --default-signal=PIPE "$UNSEEN" f.bf in -a fifo || code=$?
            wait "$reader"
        else
            timeout --foreground 60 env --default-signal=PIPE "$UNSEEN" f.bf in -a $name | head -n 1 >first
            status=("${PIPESTATUS[@]}")
            code=${status[0]}
        fi
        [[ $code -eq 141 && $(cat first) == 1 ]] || { echo "$name: $code"; false; }
        # What the pipe took is remembered, and no more.
        exits 0 unseen query f.bf in
        [[ $(wc -l <"$out") -lt 500000 ]]
        cmp "$out" <(head -n "$(wc -l <"$out")" in)
    done
    # With SIGPIPE ignored: a message.
    head -n 1 fifo >first 3>&- &
    exits 2 timeout 60 env --ignore-signal=PIPE "$UNSEEN" -a fifo <in
    says 'fifo: Broken pipe'
}

@test "-a, --pending: what is no regular file is opened for writing only; what is there, not to be made" {
    need_strace
    mkfifo fifo
    cat fifo >got 3>&- &
    local reader=$!
    seq 5 | timeout 60 strace -qq -o trace -e trace=?open,openat "$UNSEEN" -a fifo
    wait "$reader"
    seq 5 | same got -
    grep fifo trace
    run ! grep -E 'fifo.*O_RD(WR|ONLY)' trace
    # (fs.protected_regular)
    exits 0 unseen create f.bf
    exits 0 unseen --pending keys f.bf < <(seq 9)
    exits 0 strace -qq -o trace -e trace=?open,openat "$UNSEEN" f.bf -a got < <(seq 3)
    grep -q '"got", O_WRONLY|' trace
    run -1 grep '"got".*O_CREAT' trace
    exits 0 strace -qq -o trace -e trace=?open,openat "$UNSEEN" --pending keys f.bf < <(seq 9)
    run -1 grep '"keys".*O_CREAT' trace
}

@test "-a FILE that another process keeps locked: says so after five seconds, and goes on" {
    local pid
    seq 3 >in
    : >shared.txt
    hold_lock output 4611686018427387904 shared.txt
    "$UNSEEN" -a shared.txt <in 2>said 3>&- {held}>&- &
    pid=$!
    filled said
    grep -qx 'unseen: shared.txt: waiting for another process that is using it' said
    [[ ! -s shared.txt ]]
    let_go output
    wait "$pid"
    same shared.txt in
    [[ $(wc -l <said) -eq 1 ]]
}

# --- FILE operands -----------------------------------------------------------

@test "FILEs are read in order, - is the standard input, a last line does not join with the next FILE" {
    printf 'a\nb\n' >one
    printf 'b\nc' >two
    printf 'c\nd' >three
    : >empty
    exits 0 unseen --create f.bf empty one two three one empty
    prints 'a\nb\nc\nd\n'
    exits 0 unseen --create g.bf one - three < <(printf 'x\na')
    prints 'a\nb\nx\nc\nd\n'
}
