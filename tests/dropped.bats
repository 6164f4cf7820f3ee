#!/usr/bin/env bats
# --dropped FILE: every line of the input is in the output or in FILE, whatever happens.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2094 # that a file is read and written is what some are about
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash
load drops

# split_in KNOWN: of ./in, to ./new the lines that are neither in KNOWN nor came before, to ./held the
# others.
split_in() {
    rm -f new held
    touch new held
    awk -v known="$1" 'BEGIN { while ((getline line <known) > 0) seen[line] = 1 }
        { print >(seen[$0]++ ? "held" : "new") }' in
}

# complete FILE...: together, merged in order, they are ./in, whose lines are unique and sorted.
complete() {
    sort -c "$1" && sort -c "$2" || return 1
    sort -m "$@" >"$BATS_TEST_TMPDIR/merged"
    same "$BATS_TEST_TMPDIR/merged" in
}

# --- what is in it -------------------------------------------------------------------------

@test "the lines that are held back, in order: the filter form, add, push, in memory" {
    local option
    mixed_lines 40000 15000 >in
    head -n 20000 in | mixed_lines 5000 15000 7 >known
    exits 0 unseen create -n 2000 -p 1e-9 made.bf
    exits 0 unseen add made.bf known
    split_in known
    for option in '' '-j 1' '-j 2' --durable '-x cat'; do
        rm -rf f.bf* got dropped
        cp made.bf f.bf
        # shellcheck disable=SC2086 # several words
        exits 0 to got unseen --dropped dropped f.bf in $option
        same got new
        same dropped held
    done
    rm -rf f.bf* dropped
    cp made.bf f.bf
    exits 0 unseen --dropped dropped add f.bf in
    same dropped held
    rm -rf f.bf* dropped
    cp made.bf f.bf
    exits 0 unseen push --dropped dropped f.bf in
    same dropped held
    exits 0 unseen pop f.bf -m 1e6
    same "$out" new
    rm dropped
    exits 0 unseen --pending keys --dropped dropped made.bf in
    same "$out" new
    same dropped held
    split_in /dev/null
    for option in '-j 1' '-j 2'; do
        rm -f dropped
        # shellcheck disable=SC2086
        succeeds unseen -p 1e-9 --dropped dropped $option <in
        same "$out" new
        same dropped held
    done
}

@test "several inputs, and one that cannot be read between them" {
    seq 100 >a
    seq 50 150 >b
    exits 0 unseen create -p 1e-9 f.bf
    exits 2 unseen --dropped dropped f.bf a missing b
    seq 150 | cmp - "$out"
    seq 50 100 | cmp - dropped
}

@test "byte for byte: CR, NUL, empty lines, blanks, other encodings, a last line without its end" {
    printf 'a\r\na\nb\000c\nb\000d\n\n \n\t\n\xff\xfe\nlast' >part
    printf 'a\r\na\nb\000c\nb\000d\n\n \n\t\n\xff\xfe\nlast\n' >all
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen add f.bf part
    succeeds unseen --dropped dropped f.bf part
    prints ''
    same dropped all
    cat all part | succeeds unseen -p 1e-9 --dropped again
    same "$out" all
    same again all
    # With -z, lines have newlines in them.
    tr '\n\000' '\000\n' <part >part0
    tr '\n\000' '\000\n' <all >all0
    rm dropped again
    exits 0 unseen -z add f.bf part0
    succeeds unseen -z --dropped dropped f.bf part0
    prints ''
    same dropped all0
    cat all0 part0 | succeeds unseen -z -p 1e-9 --dropped again
    same "$out" all0
    same again all0
}

@test "lines of 5 MB, and others between them" {
    local i
    for i in 1 2 3; do
        { head -c 5000000 /dev/zero | tr '\0' "$i"; echo; } >"long.$i"
    done
    { seq 10; cat long.1; seq 5 15; cat long.2 long.1; echo x; cat long.3 long.2; } >in
    { seq 10; cat long.1; seq 11 15; cat long.2; echo x; cat long.3; } >new
    { seq 5 10; cat long.1 long.2; } >held
    for i in '-j 1' '-j 2'; do
        rm -f f.bf dropped memory
        # shellcheck disable=SC2086 # several words
        exits 0 unseen $i --create -p 1e-9 --dropped dropped f.bf in
        same "$out" new
        same dropped held
        # shellcheck disable=SC2086
        exits 0 unseen $i -p 1e-9 --dropped memory <in
        same "$out" new
        same memory held
    done
}

@test "at p = 0.5: output and FILE, merged, are the input" {
    local form
    input 60000 >in
    for form in '' '-j 1' '-j 2' --durable '--pending keys' '-x cat'; do
        rm -f got dropped keys
        doubtful
        # shellcheck disable=SC2086 # several words
        exits 0 to got unseen --dropped dropped f.bf in $form
        complete got dropped
        holds "$(wc -l <got) > 20000 && $(wc -l <dropped) > 3000"
    done
    for form in --fixed '--fixed -j 1' '--fixed -j 2'; do
        rm -f dropped
        # shellcheck disable=SC2086
        exits 0 unseen $form -n 30k -p 0.5 --dropped dropped <in
        complete "$out" dropped
        holds "$(wc -l <"$out") > 10000 && $(wc -l <dropped) > 10000"
    done
    with_stages
    for form in '--window 2000' '-n 1000' '-n 300k' '--counting --fixed -n 20k'; do
        rm -f f.bf dropped
        # shellcheck disable=SC2086
        exits 0 unseen create $form -p 0.5 f.bf
        exits 0 unseen --dropped dropped f.bf in
        complete "$out" dropped
        [[ -s dropped ]]
        # and once more, when most are in
        mv dropped first
        exits 0 unseen --dropped dropped f.bf in
        complete "$out" dropped
    done
}

@test "by a recipe: the lines as they came" {
    printf 'a, 1\r\nb, 1\nb\nc,2 \nx\nd,  2\nb\n' >in
    succeeds unseen -p 1e-9 --trim -f 2 -t , --dropped dropped <in
    prints 'a, 1\r\nb\nc,2 \nx\nd,  2\n'
    printf 'b, 1\nb\n' | cmp - dropped
    succeeds unseen -p 1e-9 --by url --dropped urls < <(printf 'http://a\nHTTP://A/ \n')
    prints 'http://a\n'
    printf 'HTTP://A/ \n' | cmp - urls
}

@test "FILE is appended to; half a line that somebody left there is ended first" {
    seq 3 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen add f.bf in
    printf 'one\nhalf a li' >dropped
    succeeds unseen --dropped dropped f.bf in
    printf 'one\nhalf a li\n1\n2\n3\n' | cmp - dropped
    succeeds unseen --dropped dropped f.bf in
    printf 'one\nhalf a li\n1\n2\n3\n1\n2\n3\n' | cmp - dropped
    printf 'one\0half' >dropped0
    tr '\n' '\0' <in >in0
    succeeds unseen -z --dropped dropped0 f.bf in0
    printf 'one\0half\0001\0002\0003\0' | cmp - dropped0
    # with nothing to hold back it is not touched
    printf 'half' >dropped
    succeeds unseen --dropped dropped f.bf < <(echo new)
    printf 'half' | cmp - dropped
    # and is there, empty, after a run that held back nothing
    succeeds unseen --dropped empty f.bf < <(echo newer)
    [[ -e empty && ! -s empty ]]
}

@test "a line that is held back is in FILE before the next one is waited for" {
    local i form
    : >dropped
    exits 0 unseen create -p 1e-9 f.bf
    for form in f.bf '-p 1e-9'; do
        # shellcheck disable=SC2086 # several words
        converse "$UNSEEN" --dropped dropped $form
        say x
        hear x
        for ((i = 1; i <= 20; i++)); do
            : >dropped
            say x
            filled dropped
            echo x | cmp - dropped
        done
        farewell
    done
}

@test "-m N: what comes after the Nth line is neither printed nor dropped" {
    local n
    mixed_lines 20000 9000 >in
    for n in 1 10 2048 2049 5000; do
        rm -f f.bf dropped memory
        exits 0 unseen create -p 1e-9 f.bf
        succeeds unseen -m $n --dropped dropped f.bf in
        [[ $(wc -l <"$out") -eq $n ]]
        # the Nth new line is the last of the input that was taken
        head -n $(($(wc -l <dropped) + n)) in >taken
        lines_unique taken | cmp - "$out"
        [[ $(tail -n 1 "$out") == "$(tail -n 1 taken)" ]]
        awk 's[$0]++' taken | cmp - dropped
        succeeds unseen -m $n -p 1e-9 --dropped memory <in
        lines_unique taken | cmp - "$out"
        same memory dropped
    done
    succeeds unseen -m 0 --dropped none f.bf in
    [[ ! -s none ]]
    unseen -m 3 -p 1e-9 --dropped d < <(printf '1\n1\n2\n2\n3\n3\n4\n')
    printf '1\n2\n' | cmp - d
}

@test "-x: the lines of a CMD that fails are not dropped, and come again" {
    input 5000 >in
    exits 0 unseen create -p 1e-9 f.bf
    head -n 100 in | succeeds unseen add f.bf
    exits 3 unseen --dropped dropped f.bf in -x sh -c 'cat >/dev/null; exit 1'
    head -n 100 in | cmp - dropped
    rm dropped
    exits 0 unseen --dropped dropped f.bf in -x sh -c 'cat >got; echo done'
    prints 'done\n'
    tail -n +101 in | cmp - got
    head -n 100 in | cmp - dropped
    exits 0 unseen --dropped all f.bf in -x touch started
    same all in
    [[ ! -e started ]]
}

@test "a CMD that takes a few lines: what it left comes again, and nothing is lost" {
    input 60000 >in
    doubtful
    exits 0 unseen --create --dropped dropped f.bf in -x head -n 5
    cp "$out" got
    exits 0 unseen --dropped dropped f.bf in
    cat got >>"$out"
    none_lost in "$out" dropped
}

# --- what it cannot be ---------------------------------------------------------------------

# not FILE [PATTERN]: no form takes FILE.
not() {
    local form
    for form in '--create n.bf in' 'f.bf in' 'f.bf' 'add f.bf in' 'add --create n.bf in' 'push q.bf in' \
        'push --create n.bf in' '-p 0.1' 'f.bf in -x touch started' '--pending keys f.bf in' \
        '--durable f.bf in -a got'; do
        # shellcheck disable=SC2086 # several words
        fails_with 2 "${2:-^unseen: .*$1}" unseen --dropped "$1" $form <in || { echo "$form"; return 1; }
    done
}

@test "FILE that is the filter, an input, the output, or the pending keys: refused" {
    local form
    seq 3 >in
    mkdir d
    ln -s ../in d/link
    ln in hard
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen create q.bf
    local also='is both .*--dropped.* \(name another file\)'
    for form in 'f.bf in' 'f.bf in -a got' 'add f.bf in' '--pending keys f.bf in' 'f.bf in -x touch started'; do
        # shellcheck disable=SC2086 # several words
        {
            fails_with 2 "f\\.bf: $also" unseen --dropped f.bf $form
            fails_with 2 "\\./f\\.bf: $also" unseen --dropped ./f.bf $form
            fails_with 2 "in: $also" unseen --dropped in $form
            fails_with 2 "in: $also" unseen --dropped d/../in $form
            fails_with 2 "(link|in): $also" unseen --dropped d/link $form
            fails_with 2 "(hard|in): $also" unseen --dropped hard $form
        }
    done
    # of files that are not there yet
    fails_with 2 "n\\.bf: $also" unseen --create --dropped ./n.bf n.bf in
    fails_with 2 "got: $also" unseen --dropped ./got -a got f.bf in
    fails_with 2 'keys: is both --dropped and --pending' \
        unseen --dropped ./keys --pending keys f.bf in
    # by redirections
    fails_with 2 "in: $also" unseen --dropped in f.bf <in
    fails_with 2 "in: $also" unseen --dropped in f.bf - <in
    fails_with 2 "in: $also" unseen --dropped in <in
    fails_with 2 "in: $also" unseen add --dropped in f.bf <in
    fails_with 2 "in: $also" unseen push --dropped in q.bf <in
    : >file
    exits 2 to file unseen --dropped file f.bf in
    says "file: $also"
    [[ ! -s file ]]
    exits 2 to file unseen --dropped file <in
    exits 2 to file unseen --dropped /dev/stdout f.bf in
    says "/dev/stdout: $also"
    exits 2 to file unseen --dropped /dev/stdout f.bf in -x cat
    says "/dev/stdout: $also"
    [[ ! -s file ]]
    # a pipe under its name
    unseen --dropped /dev/stdout f.bf in 2>"$err" | cat >"$out"
    says "/dev/stdout: $also"
    [[ ! -s $out ]]
    exits 2 unseen --dropped /dev/stdin f.bf < <(cat in)
    says "/dev/stdin: $also"
    # nothing was taken in
    exits 1 unseen query f.bf in
    # what goes to CMD, or is not printed, leaves standard output free
    exits 0 to file unseen add --dropped file f.bf in
    exits 0 to file unseen add --dropped file f.bf in
    same file in
}

@test "FILE that is a directory, a filter, empty, or cannot be made: refused, nothing made" {
    seq 3 >in
    mkdir d
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen create -p 1e-9 other.bf
    exits 0 unseen create -p 1e-9 q.bf
    not d '^unseen: d: Is a directory'
    not d/ '^unseen: d/: Is a directory'
    not other.bf '^unseen: other\.bf: is a filter, not a file of lines'
    not missing/d '^unseen: missing/d: No such file'
    not in/d '^unseen: in/d: Not a directory'
    not '' "^unseen: --dropped '': an empty name is not a file"
}

@test "FILE without the right to write it: refused, nothing made" {
    public_directory
    seq 3 >in
    exits 0 unseen create -p 1e-9 f.bf
    chmod 666 f.bf
    : >closed
    chmod 444 closed
    fails_with 2 '^unseen: closed: Permission denied' as_nobody "$public/unseen" --dropped closed f.bf in
    fails_with 2 '^unseen: closed: Permission denied' as_nobody "$public/unseen" add --dropped closed f.bf in
    fails_with 2 '^unseen: new: Permission denied' as_nobody "$public/unseen" --dropped new f.bf in
    mkdir made
    chmod 777 made
    fails_with 2 '^unseen: closed: Permission denied' \
        as_nobody "$public/unseen" --create --dropped closed made/n.bf in
    fails_with 2 '^unseen: closed: Permission denied' \
        as_nobody "$public/unseen" push --create --dropped closed made/n.bf in
}

# --- what goes wrong ------------------------------------------------------------------------

# rerun FILES...: once the run before is repeated, each line of ./in is in the output, in FILE, or in
# FILES, where the lines are that came before. Of those that were printed, none comes again.
rerun() {
    exits 0 unseen --dropped later f.bf in || return 1
    cat "$@" "$out" | sort | uniq -d >twice
    [[ ! -s twice ]] || complain "printed twice: $(wc -l <twice)" || return 1
    none_lost in "$@" "$out" later
}

@test "a full disk for FILE: named, exit 2, what was printed is remembered, nothing is lost" {
    local form
    need_full
    input 60000 >in
    for form in '' '-j 1' '-j 2' --durable '-x cat'; do
        rm -f got later
        doubtful
        # shellcheck disable=SC2086 # several words
        exits 2 to got unseen --dropped /dev/full f.bf in $form
        grep -q '^unseen: /dev/full: No space left on device' "$err"
        [[ $(grep -c /dev/full "$err") -eq 1 ]]
        [[ -s got ]]
        # The filter holds them: as new they would be printed again.
        exits 1 unseen query -v -c f.bf got
        prints '0\n'
        rerun got
    done
    # pending keys vouch for what was dropped, too
    rm -f got
    doubtful
    exits 2 to got unseen --dropped /dev/full --pending keys f.bf in
    fails_with 2 'keys' unseen commit f.bf keys
    rerun
    rm -f later
    exits 2 unseen -p 0.5 --fixed -n 1000 --dropped /dev/full <in
    grep -q '^unseen: /dev/full: No space left' "$err"
    exits 2 unseen add --dropped /dev/full f.bf in
    says '^unseen: /dev/full: No space left'
    doubtful
    exits 2 unseen push --dropped /dev/full f.bf in
    grep -q '^unseen: /dev/full: No space left' "$err"
    exits 0 unseen pop f.bf -m 1e6
    cp "$out" got
    rerun got
}

@test "a full disk for the output: what was held back is in FILE, and nothing is lost" {
    need_full
    input 60000 >in
    doubtful
    exits 2 to /dev/full unseen --dropped dropped f.bf in
    says 'standard output: No space left'
    rerun dropped
    # a limit on file size: what fits is there
    rm -f dropped later got
    doubtful
    exits 2 to got sh -c 'trap "" XFSZ; ulimit -f 100; exec "$UNSEEN" --dropped dropped f.bf in'
    grep -q 'File too large' "$err"
    [[ -s got && -s dropped ]]
    rm -f later
    # half a line may end either of them
    exits 0 unseen --dropped later f.bf in
    none_lost in got dropped "$out" later
}

@test "FIFO as FILE: the reader gets all" {
    input 60000 >in
    doubtful
    mkfifo fifo
    timeout 60 cat fifo >taken 3>&- &
    local pid=$!
    exits 0 timeout 20 "$UNSEEN" --dropped fifo f.bf in
    wait "$pid"
    complete "$out" taken
    doubtful
    exits 0 unseen f.bf in --dropped >(cat >taken2; echo end >ended)
    filled ended
    complete "$out" taken2
    # in memory
    timeout 60 cat fifo >taken 3>&- &
    pid=$!
    exits 0 unseen --fixed -n 3000 -p 0.5 --dropped fifo <in
    wait "$pid"
    complete "$out" taken
}

@test "a reader of FILE that goes away ends it by SIGPIPE, and nothing is lost" {
    need_signals
    local pid
    input 60000 >in
    doubtful
    mkfifo fifo
    timeout 60 head -n 3 fifo >taken 3>&- &
    pid=$!
    exits 141 timeout 20 env --default-signal=PIPE "$UNSEEN" --dropped fifo f.bf in
    silent_on_stderr
    wait "$pid"
    [[ $(wc -l <taken) -eq 3 ]]
    cp "$out" got
    rerun got
    # SIGPIPE ignored: a message
    rm later
    doubtful
    timeout 60 head -n 3 fifo >taken 3>&- &
    pid=$!
    exits 2 timeout 20 env --ignore-signal=PIPE "$UNSEEN" --dropped fifo f.bf in
    says '^unseen: fifo: Broken pipe'
    wait "$pid"
    cp "$out" got
    rerun got
}

@test "/dev/stderr and /dev/null as FILE" {
    input 60000 >in
    doubtful
    exits 0 unseen --dropped /dev/stderr f.bf in
    cp "$err" dropped
    complete "$out" dropped
    exits 0 unseen --dropped /dev/null f.bf in
    exits 0 to /dev/null unseen --dropped /dev/null f.bf in
}

@test "a reader of the output that goes away: what was held back is in FILE, and nothing is lost" {
    need_signals
    input 200000 >in
    doubtful
    env --default-signal=PIPE "$UNSEEN" --dropped dropped f.bf in 2>"$err" | head -n 1 >first
    [[ ${PIPESTATUS[0]} -eq 141 || -s first ]]
    silent_on_stderr
    exits 0 unseen --dropped later f.bf in
    # What was in the pipe is gone, as without --dropped: it was delivered.
    sort -m dropped later | sort -u >all
    cat "$out" >>all
    [[ $(lost in all | wc -l) -lt 4096 ]]
}

@test "--durable: nothing is remembered before FILE is on disk" {
    need_strace
    input 3000 >in
    printf 'x\n' | exits 0 unseen --create -p 1e-9 f.bf
    cp f.bf before.bf
    { echo x; cat in; } >both
    traced() {
        strace -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=fdatasync,fsync "$@"
    }
    exits 0 traced "$UNSEEN" --durable --dropped dropped f.bf both -a got
    [[ $(grep -c '^fdatasync' "$BATS_TEST_TMPDIR/trace") -ge 2 ]]
    cp before.bf f.bf
    rm got dropped
    # The output's is the first.
    exits 2 traced -e inject=fdatasync:error=EIO:when=2 "$UNSEEN" --durable --dropped dropped f.bf both -a got
    says '^unseen: dropped: .*(Input/output|I/O) error'
    remembers 0
    same got in
    cp before.bf f.bf
    exits 2 traced -e inject=fdatasync:error=EIO:when=1 "$UNSEEN" --durable --dropped dropped f.bf both -a got
    says '^unseen: got: .*(Input/output|I/O) error'
    remembers 0
    # What is on no disk needs none.
    cp before.bf f.bf
    exits 0 unseen --durable --dropped /dev/null f.bf both -a got
    remembers 3000
}

@test "--durable: where FILE fails, no line is remembered that was not printed" {
    need_full
    head -c 300000 /dev/zero | tr '\0' L >long
    input 400 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen add f.bf long
    { head -n 200 in && cat long && echo && tail -n +201 in; } >both
    exits 2 unseen --durable --dropped /dev/full f.bf both -a got
    exits 0 unseen f.bf in
    none_lost in got "$out"
}

# --- many at once ----------------------------------------------------------------------------

# all_in_one N OPTION...: N writers at once, over the same lines and lines of their own, to one FILE.
all_in_one() {
    local n=$1 i
    shift
    rm -f in.*
    for ((i = 0; i < n; i++)); do
        { input 5000; input 5000 $((100000 + i * 3000)); } >"in.$i"
    done
    rm -f f.bf out.* dropped
    exits 0 unseen create -p 0.5 "$@" f.bf || return 1
    writers "$n" "$UNSEEN" --dropped dropped f.bf in.%i || return 1
    # As often as it came: no line is torn, or lost, or comes twice.
    sort out.* dropped | cmp - <(sort in.*) || {
        sort out.* dropped | diff - <(sort in.*) | head
        return 1
    }
    [[ -s dropped ]]
}

@test "two writers, and eight, to one filter and one FILE: every line of each is in output or FILE" {
    local i
    for ((i = 0; i < 5; i++)); do
        all_in_one 2 -n 2000
        all_in_one 8 -n 2000
        (with_stages && all_in_one 8 -n 300k)
    done
}

@test "eight writers of 100 KB lines: whole lines in FILE" {
    local i
    for ((i = 0; i < 8; i++)); do
        awk -v i=$i 'BEGIN {
            for (n = 0; n < 40; n++) {
                line = sprintf("%d-%02d-", i, n)
                while (length(line) < 100000) line = line line
                print line "\n" line
            }
        }' >"in.$i"
    done
    exits 0 unseen create -p 1e-9 f.bf
    writers 8 "$UNSEEN" --dropped dropped f.bf in.%i
    sort out.* dropped | cmp - <(sort in.*)
    sort dropped | cmp - <(sort -u in.*)
}

@test "20 kills -9 at work: each line is in the output or in FILE, and nothing else but torn lines" {
    input 60000 >in
    kill_with_drops 5 3 -j 1
    kill_with_drops 5 3 -j 2
    kill_with_drops 5 3
    kill_with_drops 5 3 --durable
}

@test "5 times 8 writers, three of them killed: each line is in the output or in FILE" {
    input 20000 >in
    some_killed_with_drops 5
}

@test "FILE that is a link to a file not yet made: the filter, the output" {
    ln -s f.bf link
    exits 2 unseen --create f.bf --dropped link < <(printf 'a\na\n')
    grep -q 'link: is both FILTER and --dropped' "$err"
    exits 0 unseen verify f.bf
    rm link
    ln -s new link
    exits 2 unseen -a new --dropped link < <(printf 'a\na\n')
    says 'link: is both -a and --dropped'
    [[ ! -s new ]]
    rm link
    ln -s g.bf link
    exits 2 unseen --create g.bf -a link < <(printf 'a\na\n')
    grep -q 'link: is both FILTER and -a' "$err"
    exits 0 unseen verify g.bf
}
