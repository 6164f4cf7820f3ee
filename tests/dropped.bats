#!/usr/bin/env bats
# --dropped FILE: every line of the input is in the output or in FILE, whatever happens.

# shellcheck disable=SC2094 # that a file is read and written is what some are about
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

@test "the lines that are held back, in order: the filter form, add, push, --pending, in memory" {
    local form
    mixed_lines 40000 15000 >in
    head -n 20000 in | mixed_lines 5000 15000 7 >known
    exits 0 unseen create -n 2000 -p 1e-9 made.bf
    exits 0 unseen add made.bf known
    split_in known
    for form in 'f.bf in' 'f.bf in -j 1' 'f.bf in -j 2' '--durable f.bf in' 'f.bf in -x cat' '--pending keys f.bf in' \
        'add f.bf in' 'push f.bf in'; do
        rm -rf f.bf* dropped
        cp made.bf f.bf
        exits 0 to got unseen --dropped dropped $form
        [[ $form != push* ]] || unseen pop f.bf -m 1e6 >got
        [[ $form == add* ]] || same got new
        same dropped held || complain "$form"
    done
    split_in /dev/null
    for form in '-j 1' '-j 2'; do
        rm -f dropped
        succeeds unseen -p 1e-9 --dropped dropped $form <in
        same "$out" new
        same dropped held
    done
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
    cat all0 part0 | succeeds unseen -z -p 1e-9 --dropped again0
    same "$out" all0
    same again0 all0
}

@test "at p = 0.5: output and FILE, merged, are the input" {
    local form
    input 60000 >in
    for form in '' '-j 1' '-j 2' --durable '--pending keys' '-x cat'; do
        rm -f got dropped keys
        doubtful
        exits 0 to got unseen --dropped dropped f.bf in $form
        complete got dropped
        holds "$(wc -l <got) > 20000 && $(wc -l <dropped) > 3000"
    done
    for form in --fixed '--fixed -j 1' '--fixed -j 2'; do
        rm -f dropped
        exits 0 unseen $form -n 30k -p 0.5 --dropped dropped <in
        complete "$out" dropped
        holds "$(wc -l <"$out") > 10000 && $(wc -l <dropped) > 10000"
    done
    with_stages
    for form in '--window 2000' '-n 1000' '-n 300k' '--counting --fixed -n 20k'; do
        rm -f f.bf dropped
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

@test "FILE is appended to; half a line that somebody left there is ended first, once there is one to add" {
    seq 3 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen add f.bf in
    printf 'one\nhalf a li' >dropped
    succeeds unseen --dropped dropped f.bf < <(echo new)
    printf 'one\nhalf a li' | cmp - dropped
    succeeds unseen --dropped dropped f.bf in
    succeeds unseen --dropped dropped f.bf in
    printf 'one\nhalf a li\n1\n2\n3\n1\n2\n3\n' | cmp - dropped
    printf 'one\0half' >dropped0
    tr '\n' '\0' <in | succeeds unseen -z --dropped dropped0 f.bf
    printf 'one\0half\0001\0002\0003\0' | cmp - dropped0
    # It is there, empty, after a run that held back nothing.
    succeeds unseen --dropped empty f.bf < <(echo newer)
    [[ -e empty && ! -s empty ]]
}

@test "a line that is held back is in FILE before the next one is waited for" {
    local i form
    : >dropped
    exits 0 unseen create -p 1e-9 f.bf
    for form in f.bf '-p 1e-9'; do
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
    for n in 1 2048 2049 5000; do
        rm -f f.bf dropped memory
        exits 0 unseen --create -p 1e-9 -m $n --dropped dropped f.bf in
        [[ $(wc -l <"$out") -eq $n ]]
        # The Nth new line is the last of the input that was taken.
        head -n $(($(wc -l <dropped) + n)) in >taken
        lines_unique taken | cmp - "$out"
        awk 's[$0]++' taken | cmp - dropped
        succeeds unseen -m $n -p 1e-9 --dropped memory <in
        lines_unique taken | cmp - "$out"
        same memory dropped
    done
    succeeds unseen -m 0 --dropped none f.bf in
    [[ ! -s none ]]
}

@test "-x: the lines of a CMD that fails, or that it left, are not dropped, and come again" {
    input 5000 >in
    exits 0 unseen create -p 1e-9 f.bf
    head -n 100 in | succeeds unseen add f.bf
    exits 3 unseen --dropped dropped f.bf in -x sh -c 'cat >/dev/null; exit 1'
    exits 0 unseen --dropped dropped f.bf in -x sh -c 'read -r line; echo "$line" >got'
    exits 0 unseen --dropped dropped f.bf in -x sh -c 'cat >>got'
    tail -n +101 in | cmp - got
    { head -n 100 in; head -n 100 in; head -n 101 in; } | cmp - dropped
    exits 0 unseen --dropped all f.bf in -x touch started
    same all in
    [[ ! -e started ]]
}

# --- what it cannot be ---------------------------------------------------------------------

# By their plain names, and what else it cannot be: messages.txt.
@test "FILE that is the filter, an input or the output, by whatever name: not harmed" {
    local said words
    seq 3 >in
    mkdir d
    ln -s ../in d/link
    ln -s n.bf to-filter
    ln -s new to-output
    ln in hard
    : >file
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen create -p 1e-9 other.bf
    while IFS='|' read -r said words; do
        unchanged exits 2 eval "unseen --dropped $words" </dev/null && says "^unseen: $said" || complain "$words"
        [[ ! -s $out ]]
    done <<'END'
f\.bf: used for both |f.bf add f.bf in
in: used for both |d/../in f.bf in -a got
[a-z/]*: used for both |d/link --pending keys f.bf in
[a-z]*: used for both |hard f.bf in -x touch started
\./n\.bf: used for both |./n.bf --create n.bf in
in: used for both |in f.bf <in
in: used for both |in f.bf - <in
in: used for both |in <in
in: used for both |in add f.bf <in
in: used for both |in push other.bf <in
file: used for both |file f.bf in >>file
/dev/stdout: used for both |/dev/stdout f.bf in >>file
/dev/stdout: used for both |/dev/stdout f.bf in -x cat >>file
/dev/stdout: used for both |/dev/stdout f.bf in | cat; (exit ${PIPESTATUS[0]})
/dev/stdin: used for both |/dev/stdin f.bf < <(cat in)
d/: Is a directory|d/ --create n.bf in
END
    remembers 0
    # What a link leads to that is not made yet.
    exits 2 unseen --create n.bf --dropped to-filter < <(printf 'a\na\n')
    grep -q 'to-filter: used for both FILTER and --dropped' "$err"
    exits 0 unseen verify n.bf
    exits 2 unseen -a new --dropped to-output < <(printf 'a\na\n')
    says 'to-output: used for both -a and --dropped'
    [[ ! -s new ]]
    # What goes to CMD, or is not printed, leaves standard output free.
    exits 0 unseen add f.bf in
    exits 0 to file unseen add --dropped file f.bf in
    same file in
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
        exits 2 to got unseen --dropped /dev/full f.bf in $form
        grep -q '^unseen: /dev/full: No space left on device' "$err"
        [[ $(grep -c /dev/full "$err") -eq 1 ]]
        [[ -s got ]]
        # The filter holds them: as new they would be printed again.
        exits 1 unseen query -v -c f.bf got
        prints '0\n'
        rerun got
    done
    # some of it fits
    rm -f got dropped later
    doubtful
    limited() {
        (ulimit -f 100 && unseen --dropped dropped f.bf in) | cat >got
        return "${PIPESTATUS[0]}"
    }
    exits 2 limited
    says '^unseen: dropped: File too large'
    rerun got dropped
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
}

@test "FIFO, /dev/stderr or /dev/null as FILE: the reader gets all" {
    local pid form
    input 60000 >in
    mkfifo fifo
    for form in 'f.bf in' '--fixed -n 3000 -p 0.5'; do
        doubtful
        timeout 60 cat fifo >taken 3>&- &
        pid=$!
        exits 0 unseen --dropped fifo $form <in
        wait "$pid"
        complete "$out" taken
    done
    doubtful
    exits 0 unseen f.bf in --dropped >(cat >taken2; echo end >ended)
    filled ended
    complete "$out" taken2
    doubtful
    exits 0 unseen --dropped /dev/stderr f.bf in
    cp "$err" dropped
    complete "$out" dropped
    exits 0 to /dev/null unseen --dropped /dev/null f.bf in
    # The messages are written to the same file, which was not opened to append: neither is lost.
    unseen --summary add --dropped /dev/stderr f.bf in >both 2>&1
    grep -v '^unseen: ' both | cmp - in
    [[ $(wc -l <both) -eq 60001 ]]
    # Nor what another program has appended since the last of these.
    {
        unseen add --dropped both f.bf in
        echo other >>both
        unseen add --dropped both f.bf in
    } 2>both
    [[ $(grep -cx other both) -eq 1 && $(wc -l <both) -eq 120001 ]]
}

@test "a reader of FILE that goes away ends it by SIGPIPE, or by a message where that is ignored; nothing is lost" {
    need_signals
    local pid how
    input 60000 >in
    mkfifo fifo
    for how in default:141 ignore:2; do
        rm -f later
        doubtful
        timeout 60 head -n 3 fifo >taken 3>&- &
        pid=$!
        exits "${how#*:}" env "--${how%:*}-signal=PIPE" "$UNSEEN" --dropped fifo f.bf in
        if [[ $how == default* ]]; then silent_on_stderr; else says '^unseen: fifo: Broken pipe'; fi
        wait "$pid"
        [[ $(wc -l <taken) -eq 3 ]]
        cp "$out" got
        rerun got
    done
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

# bats test_tags=torture
@test "eight writers to one filter and one FILE: every line of each is in output or FILE" {
    local i
    for ((i = $(rounds 2 100); i > 0; i--)); do
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

# bats test_tags=torture
@test "kills -9 at work: each line is in the output or in FILE, and nothing else but torn lines" {
    local form
    input 30000 >in
    for form in '-j 1' '-j 2' '' --durable; do
        kill_with_drops "$(rounds 4 500)" 3 $form
    done
}

# bats test_tags=torture
@test "8 writers, three of them killed: each line is in the output or in FILE" {
    input 20000 >in
    some_killed_with_drops "$(rounds 4 500)"
}
