#!/usr/bin/env bats
# What goes wrong around the program: descriptors that are closed or not made for waiting, limits, a full
# disk. Never a signal, never success. (Errors without such a state: messages.txt. What is
# remembered in spite of them: delivery.bats, faults.bats.)

load helper

small_filter() {
    exits 0 unseen --create f.bf < <(seq 50)
}

without_stdin() { "$@" <&-; }
without_stdout() { "$@" >&-; }
without_stderr() { "$@" 2>&-; }

# --- standard input, output and error ----------------------------------------

# open(2) returns the lowest free descriptor.
@test "a closed stdin, stdout or stderr: the filter does not take its place" {
    plain_build "waits for ever for a descriptor of its own"
    small_filter
    seq 40 60 >in
    exits 2 without_stdout unseen f.bf in
    says '^unseen: standard output: Bad file descriptor'
    exits 2 without_stdin unseen f.bf
    says '^unseen: standard input: Bad file descriptor'
    exits 2 without_stderr unseen f.bf nofile
    succeeds unseen verify f.bf
    # a FILE is read as ever
    succeeds without_stdin unseen f.bf in
    same "$out" <(seq 51 60)
    capture without_stdout unseen --create g.bf in
    [[ $code -eq 2 ]]
    exits 0 without_stderr unseen --create h.bf in
    succeeds unseen verify h.bf
}

@test "a closed descriptor where there is no /dev/null: the filter does not take its place" {
    plain_build "waits for ever for a descriptor of its own"
    small_filter
    seq 40 60 >in
    need_mounts
    exits 2 unshare -m sh -c 'mount -t tmpfs none /dev && exec "$@" >&-' sh "$UNSEEN" f.bf in
    says '^unseen: standard output: Bad file descriptor'
    exits 2 unshare -m sh -c 'mount -t tmpfs none /dev && exec "$@" <&- >&- 2>&-' sh "$UNSEEN" f.bf
    # nothing can take its place, either
    exits 2 sh -c 'exec >&-; ulimit -n 3 && exec "$@"' sh "$UNSEEN" f.bf in
    says '^unseen: standard output: Too many open files'
    succeeds unseen verify f.bf
    succeeds unseen f.bf in
    same "$out" <(seq 51 60)
}

# into_head ENV-OPTION CODE FIRST ARGUMENT...: a run whose reader goes away after a line, FIRST, ends so.
into_head() {
    local option=$1 wanted=$2 first=$3 status
    shift 3
    env "$option" "$UNSEEN" "$@" <big 2>"$err" | head -n 1 >first
    status=("${PIPESTATUS[@]}")
    [[ ${status[0]} -eq $wanted && $(cat first) == "$first" ]] || complain "$*: ${status[0]}"
}

@test "a closed pipe ends it by SIGPIPE, without a word; with SIGPIPE ignored by a message and exit 2" {
    need_signals
    small_filter
    seq 200000 >big
    into_head --default-signal=PIPE 141 1
    silent_on_stderr
    into_head --default-signal=PIPE 141 51 f.bf big
    silent_on_stderr
    succeeds unseen add f.bf big
    into_head --default-signal=PIPE 141 1 query f.bf big
    silent_on_stderr
    into_head --default-signal=PIPE 141 1 key big
    silent_on_stderr
    into_head --ignore-signal=PIPE 2 1
    says '^unseen: standard output: Broken pipe'
    exits 0 unseen create --force f.bf
    into_head --ignore-signal=PIPE 2 1 f.bf big
    says '^unseen: standard output: Broken pipe'
    succeeds unseen verify f.bf
}

# nonblocking IN|OUT COMMAND...: with O_NONBLOCK set on that descriptor; in the background.
nonblocking() {
    exec perl -e 'use Fcntl;
        my $fd = shift(@ARGV) eq "IN" ? \*STDIN : \*STDOUT;
        fcntl($fd, F_SETFL, fcntl($fd, F_GETFL, 0) | O_NONBLOCK) or die;
        exec @ARGV or die' "$@"
}

@test "a non-blocking stdin is waited for" {
    need perl
    local form
    exits 0 unseen create -n 1000 f.bf
    for form in '' f.bf; do
        converse nonblocking IN "$UNSEEN" $form
        asleep "$pid"
        say 1
        hear 1
        asleep "$pid"
        say 2
        hear 2
        farewell
    done
}

@test "a non-blocking stdout that is full is waited for" {
    need perl
    local form
    seq 100000 >in
    exits 0 unseen create -p 1e-9 f.bf
    for form in '-p 1e-9' f.bf; do
        stall nonblocking OUT sh -c 'exec "$UNSEEN" "$@" <in' sh $form
        drain got
        wait "$stalled"
        same got in
    done
}

# --- limits ------------------------------------------------------------------

# tiny_disk COMMAND...: in a directory on a file system of 1 MB that is gone
# afterwards. What is left there when COMMAND ends is listed in ./left.
tiny_disk() {
    unshare -m sh -c '
        mkdir -p tiny && mount -t tmpfs -o size=1M none tiny && cd tiny || exit 77
        "$@"
        status=$?
        ls -A >../left
        exit $status' sh timeout --foreground -k 5 "$UNSEEN_TIMEOUT" "$@"
}

@test "a full disk while creating: exit 2, how much is needed, nothing left behind" {
    mkdir tiny
    need_mounts tiny_disk true
    fails_with 2 '^unseen: f\.bf: .* \(the filter needs 990 TB' unseen create --size 900T f.bf
    exits 2 tiny_disk "$UNSEEN" create -n 10M f.bf
    says 'f\.bf: .*No space left on device \(the filter needs [0-9]+ MB\)'
    [[ ! -s left ]]
    exits 2 tiny_disk sh -c 'fill=$(($(stat -fc %a . ) - 20)); head -c "$((fill * 4096))" /dev/zero >fill; "$UNSEEN" create f.bf'
    says 'f\.bf: .*No space left on device \(the filter needs 1\.1 MB\)'
    exits 2 tiny_disk "$UNSEEN" --create -n 10M f.bf < <(seq 5)
    says 'f\.bf: .*No space left on device'
    prints ''
    [[ ! -s left ]]
}

@test "out of memory: exit 2" {
    plain_build "needs the address space"
    in_400_mb() { (ulimit -v 400000; "$@"); }
    fails_with 2 '^unseen: .*: (Cannot allocate memory|Out of memory) \(' in_400_mb "$UNSEEN" -n 10G < <(seq 3)
}

@test "more open files than allowed: the way out, which works" {
    local i way few='ulimit -Sn 10'
    for ((i = 0; i < 12; i++)); do
        exits 0 unseen create -n 10 "$i.bf"
    done
    fails_with 2 '^unseen: ./[0-9]+\.bf: (Too many open files|No file descriptors available) \(to allow as many as the system does: ulimit -n \$\(ulimit -Hn\)\)$' \
        sh -c "$few; exec \"\$@\"" sh "$UNSEEN" merge -o all.bf ./*.bf
    way=$(sed 's/.*: \(ulimit .*\))$/\1/' "$err")
    exits 0 sh -c "$few; $way; exec \"\$@\"" sh "$UNSEEN" merge -o all.bf ./*.bf
}

@test "a line longer than --max-line: exit 2, what came before is printed, and that alone remembered" {
    small_filter
    { echo a; printf '%01024d\n' 0; echo b; printf '%01025d\n' 0; echo c; } >in
    head -n 3 in >wanted
    exits 2 unseen --max-line 1K <in
    says 'standard input: has a line longer than 1024 bytes'
    same "$out" wanted
    succeeds unseen --max-line 1025 <in
    same "$out" in
    exits 2 unseen --max-line 1K f.bf in
    says '^unseen: in: has a line longer than 1024 bytes'
    same "$out" wanted
    succeeds unseen f.bf in
    same "$out" <(tail -n 2 in)
    # without a newline, and longer than any buffer
    fails_with 2 'has a line longer than' unseen --max-line 1M < <(head -c 2000000 /dev/zero)
}

# --- input that is no text ---------------------------------------------------

# no_texts: a row for each kind, as printf has it: BYTES|REASON|READER
no_texts() {
    cat <<'END'
\x1f\x8b\x08|gzip data|zcat
\x28\xb5\x2f\xfd|zstd data|zstdcat
\xfd7zXZ\x00|xz data|xzcat
BZh11AY&SY|bzip2 data|bzcat
BZh91AY&SY|bzip2 data|bzcat
BZh5\x17\x72\x45\x38\x50\x90|bzip2 data|bzcat
PK\x03\x04|a zip archive|unzip -p
\x04\x22\x4d\x18|lz4 data|lz4cat
\xff\xfea\x00|UTF-16|iconv -f UTF-16 -t UTF-8
\xff\xfe|UTF-16|iconv -f UTF-16 -t UTF-8
\xfe\xff\x00a|UTF-16|iconv -f UTF-16 -t UTF-8
\xff\xfe\x00\x00a|UTF-32|iconv -f UTF-32 -t UTF-8
\x00\x00\xfe\xff\x00|UTF-32|iconv -f UTF-32 -t UTF-8
END
}

# byte_by_byte FILE: each in a read(2) of its own, where the reader is as fast.
byte_by_byte() {
    python3 -c 'import os, sys, time
for byte in open(sys.argv[1], "rb").read(): os.write(1, bytes([byte])); time.sleep(0.001)' "$1"
}

@test "input that is no text: an error of that FILE, of which nothing is printed or remembered; -z takes it" {
    need python3
    local bytes reason reader
    small_filter
    while IFS='|' read -r bytes reason reader; do
        # The rest of a line, and a line: but not after an empty UTF-16.
        [[ $bytes == *xfe ]] || bytes+='of\nit\n'
        printf %b "$bytes" >odd
        fails_with 2 "^unseen: odd: $reason \($reader odd \| unseen f.bf\)$" unseen f.bf odd
        exits 2 unseen --tag f.bf <odd
        says "^unseen: standard input: $reason \($reader FILE \| unseen --tag f.bf\)$"
        [[ ! -s $out ]]
        exits 2 unseen < <(byte_by_byte odd)
        says "^unseen: standard input: $reason \("
        [[ ! -s $out ]]
        succeeds unseen -z < <(tr '\n' '\0' <odd)
        [[ -s $out ]]
        # the next FILE goes on
        exits 2 unseen odd.bf odd - --create < <(seq 3)
        prints '1\n2\n3\n'
        rm odd.bf
    done < <(no_texts)
}

@test "input that is no text: for each command, with a way out that is this command" {
    local command
    gzip -c <<<line >'x y.gz'
    exits 0 unseen create f.bf
    exits 0 unseen create --counting c.bf
    exits 0 unseen create ./seen
    for command in f.bf 'add f.bf' 'push f.bf' 'remove c.bf' 'query -v f.bf' 'shard 1/2' key plan '-m 3 f.bf' \
        '-a all --durable f.bf' '--pending keys f.bf'; do
        exits 2 unseen $command 'x y.gz'
        says "^unseen: x y.gz: gzip data \(zcat 'x y.gz' \| unseen $command\)$"
        [[ ! -s $out ]] || complain "printed something"
    done
    exits 2 unseen -- seen 'x y.gz'
    says "zcat 'x y.gz' \| unseen ./seen\)$"
    # in the place of FILTER
    exits 2 unseen --by url 'x y.gz'
    says "is not a filter \(to read it without a filter: zcat 'x y.gz' \| unseen --by url\)$"
    gzip -c <<<other >z.gz
    exits 2 unseen 'x y.gz' z.gz
    says "several files without a filter: zcat 'x y.gz' z.gz \| unseen\)$"
    seq 3 >list
    exits 2 unseen 'x y.gz' list
    says "several files without a filter: awk 1 'x y.gz' list \| unseen\)$"
    # of a FIFO nothing is read
    mkfifo fifo
    exec 8<>fifo
    echo line >&8
    exits 2 unseen 'x y.gz' fifo
    exits 2 unseen ./fifo list
    read -r -t 5 line <&8
    [[ $line == line ]]
    exec 8>&-
    # CMD is not started
    exits 2 unseen f.bf 'x y.gz' -x touch 'by cmd'
    says "zcat 'x y.gz' \| unseen f.bf -x touch 'by cmd'\)$"
    [[ ! -e 'by cmd' && ! -e keys && ! -s all ]] || complain "made: $(ls)"
    exits 2 unseen shard 2 --files 'part.%d' 'x y.gz'
    [[ ! -e part.1 ]]
    # The way out does it.
    exits 0 bash -c "unseen() { \"\$UNSEEN\" \"\$@\"; }; zcat 'x y.gz' | unseen f.bf -x touch 'by cmd'"
    [[ -e 'by cmd' ]]
    # What can be told only when it comes: a filter, and pending keys, through a pipe.
    exits 0 unseen --pending keys f.bf <<<new
    fails_with 2 '^unseen: standard input: is a filter, not a file of lines' unseen < <(cat f.bf)
    fails_with 2 '^unseen: standard input: is a file of pending keys' unseen add f.bf - < <(cat keys)
}

# of_others: filters of other programs, for 1000 lines and a rate of 0.001: PROGRAM|its first bytes
of_others() {
    local n='\xe8\x03\0\0\0\0\0\0' p='\xfc\xa9\xf1\xd2\x4d\x62\x50\x3f' k='\n\0\0\0\0\0\0\0' zeros='\0\0\0\0\0\0\0'
    printf '%s|%s\n' 'DCSO bloom' "\x01$zeros$n$p$k\x29\x38" poppy "\x02$zeros$n$p$k" \
        pybloomfiltermmap3 "MBITARRAY\x30\n\0\0\0\0\0\0\xb0\x04\0\0$n$p\x09" \
        libbloom "libbloom2@\0$n\x71\x25\0\0\0\0\0\0\xaf\x04\0\0\0\0\0\0$k$p"
}

@test "a filter of another program: what it is, and a way out, as FILTER and as FILE; it is left as it was" {
    local program bytes command reason
    exits 0 unseen create f.bf
    exits 0 unseen --pending keys f.bf < <(seq 3)
    while IFS='|' read -r program bytes; do
        printf "%b%04000d" "$bytes" 0 >odd.bf
        cp odd.bf wanted
        reason="is a filter of $program, which unseen cannot read \(add its lines again: unseen add --create NEW.bf LINES\)$"
        for command in odd.bf '--create odd.bf' 'add odd.bf' 'add --create odd.bf' 'query odd.bf' 'push odd.bf' 'pop odd.bf' 'remove odd.bf' \
            'stats odd.bf' 'verify f.bf odd.bf' 'commit odd.bf keys' 'merge -o all.bf f.bf odd.bf' 'create --like odd.bf new.bf' \
            'f.bf odd.bf' 'add f.bf odd.bf' 'query f.bf odd.bf' 'push f.bf odd.bf' 'key odd.bf' 'shard 1/2 odd.bf' 'plan odd.bf'; do
            exits 2 unseen $command
            says "^unseen: odd.bf: $reason"
            [[ ! -s $out && ! -e all.bf && ! -e new.bf ]] || complain "$command: $(ls)"
            same odd.bf wanted
        done
        fails_with 2 "^unseen: standard input: $reason" unseen <odd.bf
        succeeds unseen -z <odd.bf
        # without a rate, or without all of its head: lines
        printf %b "${bytes//x3f/x40}" >odd.bf
        succeeds unseen <odd.bf
        head -c 20 wanted >odd.bf
        succeeds unseen <odd.bf
        fails_with 2 '^unseen: odd.bf: is not a filter' unseen stats odd.bf
    done < <(of_others)
}

@test "what begins like no text, and is text, comes at once, and unchanged" {
    local bytes
    for bytes in BZh9 BZh91AY BZh01AY\&SY 'PK\x01\x02' '\x1f' '\x1f\x8b' '\x1f\x8b\x07' '\xff' '\xfe\xfe' '\x00\x00\xfe' \
        '\x28\xb5\x2f' '\xfd7zXZ' '\x04\x22\x4d' '\xef\xbb\xbf' '\x89unsee' '\x89unskez'; do
        printf %b "$bytes" >in
        succeeds unseen <in
        printf '%b\nrest\n' "$bytes" >in
        succeeds unseen <in
        same "$out" in
    done
    converse "$UNSEEN"
    say $'\x1f'
    hear $'\x1f'
    printf 'BZ' >&"$ask"
    asleep "$pid"
    say h9
    hear BZh9
    farewell
    # magic in a later line
    seq 3 | cat - <(printf '\x1f\x8b\x08\n') >in
    succeeds unseen <in
    same "$out" in
}

@test "carriage returns, or NUL at the end, and no newline: one line, and a word about it" {
    printf 'a\rb\r' >mac
    exits 0 unseen <mac
    prints 'a\rb\r\n'
    says "^unseen: standard input: one line, with carriage returns and no newline \(tr '.r' '.n' < FILE \| unseen\)$"
    exits 0 unseen key mac
    says "\(tr '.r' '.n' < mac \| unseen key\)$"
    exits 0 bash -c "$(sed -n 's/.*(\(tr .*\) | unseen key)/\1/p' "$err")"
    prints 'a\nb\n'
    find . -name mac -print0 >found
    exits 0 unseen key found
    says "^unseen: found: one line, with NULs and no newline \(for lines that end with NUL: -z\)$"
    answers <<'END'
-z|a\0b\0|a\0b\0
|a\0b|a\0b\n
|a\0\n\0|a\0\n\0\n
|a\rb|a\rb\n
|a\r|a\r\n
|a\r\nb\r|a\r\nb\r\n
|a\rb\r\n|a\rb\r\n
|a\nb\rc\rd|a\nb\rc\rd\n
-z|a\rb\r|a\rb\r\0
END
}

# way_out COMMAND: the way out says COMMAND to its end, or there is none.
way_out() {
    local said
    said=$(cat "$err")
    [[ $said == *"$1)" || $said != *'('* ]] || complain "cut off: $1"
}

@test "names up to the longest: a way out is whole, or left out" {
    local n long ways=0
    seq 3 >'some text'
    exits 0 unseen create -p 1e-9 q.bf
    exits 0 unseen push q.bf 'some text'
    for n in 0 150 {225..250..5} 300 2000; do
        long=$(printf './%.0s' $(seq "$n"))
        exits 2 unseen "${long}missing.bf"
        says 'No such file'
        way_out "to make it: unseen --create ${long}missing.bf"
        ! grep -q '(' "$err" || ways=$((ways + 1))
        exits 2 unseen "${long}some text"
        way_out "to read it as lines: unseen < '${long}some text'"
        exits 0 unseen merge --force -o out.bf "${long}q.bf"
        says "\(to take them out: unseen pop ${long}q.bf\)$"
    done
    [[ $ways -gt 2 && $ways -lt 9 ]] || complain "$ways of them whole"
    # each byte is shown as four
    long=$(printf '\033%.0s' {1..250})
    exits 2 unseen "$long"
    says "^unseen: (.x1b){250}: No such file or directory"
}
