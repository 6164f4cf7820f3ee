#!/usr/bin/env bats
# What goes wrong around the program: outputs that fail, inputs that are not
# what they should be, files that are damaged. Never a signal, never success.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load helper

closed='Bad file descriptor \(it is closed; to read or print nothing: < /dev/null, > /dev/null\)$'

small_filter() {
    exits 0 unseen --create f.bf < <(seq 50)
}

without_stdin() { "$@" <&-; }
without_stdout() { "$@" >&-; }
without_stderr() { "$@" 2>&-; }
in_64k_files() { (ulimit -f 64; "$@"); }
in_400_mb() { (ulimit -v 400000; "$@"); }

# --- outputs that fail -------------------------------------------------------

@test "/dev/full and a closed stdout: exit 2 and the reason, for whatever prints" {
    local form
    need_full
    small_filter
    seq 40 60 >in
    while read -r form; do
        # shellcheck disable=SC2086 # several words
        {
            fails_with 2 '^unseen: standard output: No space left on device$' to /dev/full unseen $form < <(cat in in)
            fails_with 2 "^unseen: standard output: $closed" without_stdout unseen $form < <(cat in in)
        }
    done <<'END'

-d
-m 3
query f.bf in
query -c f.bf in
query --tag f.bf in
stats f.bf
stats --json f.bf
plan -n 1e6
plan --json -
help
query --help
--version
END
    fails_with 2 '^unseen: /dev/full: No space left on device$' unseen -a /dev/full <in
    # with a filter: the lines are not remembered, see delivery.bats
    exits 2 to /dev/full unseen f.bf in
    says '^unseen: standard output: No space left on device'
}

@test "a full output: how to get the rest, where what was printed is remembered" {
    need_full
    small_filter
    seq 40 60 >in
    exits 2 to /dev/full unseen f.bf in
    says '^unseen: standard output: No space left on device \(what was printed is remembered; make room, and get the rest with the same input and -a FILE\)$'
    exits 2 unseen f.bf in -a /dev/full
    says '^unseen: /dev/full: No space left on device \(make room, and run it again with the same input\)$'
    exits 2 unseen add f.bf in --dropped /dev/full
    says '^unseen: /dev/full: No space left on device \(make room, and run it again with the same input\)$'
    exits 2 to /dev/full unseen --pending keys f.bf < <(seq 70 80)
    says '^unseen: standard output: No space left on device$'
}

@test "a closed stdout: the filter does not take its place" {
    # open(2) returns the lowest free descriptor: it must not be stdout's.
    small_filter
    seq 40 60 >in
    exits 2 without_stdout unseen f.bf in
    says ': '
    succeeds unseen verify f.bf
    succeeds unseen f.bf in
    seq 51 60 >wanted
    same "$out" wanted
    exits 2 without_stdout unseen --create g.bf in
    if [[ -e g.bf ]]; then
        succeeds unseen verify g.bf
        succeeds unseen g.bf in
        same "$out" in
    fi
}

@test "a closed stdin: exit 2, and the filter does not take its place" {
    small_filter
    fails_with 2 "^unseen: standard input: $closed" without_stdin unseen
    fails_with 2 "^unseen: standard input: $closed" without_stdin unseen query f.bf
    exits 2 without_stdin unseen f.bf
    says ': '
    prints ''
    succeeds unseen verify f.bf
    succeeds unseen f.bf < <(seq 51)
    prints '51\n'
    # a FILE is read as ever
    seq 51 53 >in
    succeeds without_stdin unseen f.bf in
    prints '52\n53\n'
}

@test "a closed stderr: messages do not land in the filter" {
    seq 5 >in
    capture without_stderr unseen --create f.bf in
    succeeds unseen verify f.bf
    [[ $(head -c 8 f.bf | tail -c 7) == unseen ]]
    capture without_stderr unseen f.bf nofile in
    [[ $code -eq 2 ]]
    succeeds unseen verify f.bf
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
    seq 1000000 >big
    into_head --default-signal=PIPE 141 1
    silent_on_stderr
    into_head --default-signal=PIPE 141 51 f.bf big
    silent_on_stderr
    succeeds unseen add f.bf big
    into_head --default-signal=PIPE 141 1 query f.bf big
    silent_on_stderr
    into_head --ignore-signal=PIPE 2 1
    says 'Broken pipe'
    exits 0 unseen create --force f.bf
    into_head --ignore-signal=PIPE 2 1 f.bf big
    says 'Broken pipe'
    succeeds unseen verify f.bf
}

@test "a limit on file size: exit 2, not SIGXFSZ" {
    small_filter
    seq 100000 >in
    exits 2 in_64k_files unseen -a part.txt <in
    says 'File too large'
    exits 2 in_64k_files unseen f.bf in -a part2.txt
    says 'File too large'
    succeeds unseen verify f.bf
    succeeds unseen f.bf in -a part2.txt
    sort -u part2.txt >got
    seq 51 100000 | sort >wanted
    # a line that was cut off in the middle stands there, too
    comm -13 got wanted >lost
    [[ ! -s lost ]]
    fails_with 2 'File too large' in_64k_files unseen create -n 1M new.bf
    fails_with 2 'File too large' in_64k_files unseen --create -n 1M new.bf < <(seq 3)
}

# tiny_disk COMMAND...: in a directory on a file system of 1 MB that is gone
# afterwards. What is left there when COMMAND ends is listed in ./left.
tiny_disk() {
    # shellcheck disable=SC2016
    unshare -m sh -c '
        mkdir -p tiny && mount -t tmpfs -o size=1M none tiny && cd tiny || exit 77
        "$@"
        status=$?
        ls -A >../left
        exit $status' sh timeout --foreground -k 5 "$UNSEEN_TIMEOUT" "$@"
}

@test "a full disk while creating: exit 2, nothing left behind" {
    mkdir tiny
    need_mounts tiny_disk true
    exits 2 tiny_disk "$UNSEEN" create -n 10M f.bf
    says 'f\.bf: .*No space left on device \(it needs [0-9]+ MB, [0-9]+ MB more than are free\)'
    [[ ! -s left ]]
    # shellcheck disable=SC2016
    exits 2 tiny_disk sh -c 'fill=$(($(stat -fc %a . ) - 20)); head -c "$((fill * 4096))" /dev/zero >fill; "$UNSEEN" create f.bf'
    says 'f\.bf: .*No space left on device \(it needs 1\.1 MB, 1\.0 MB more than are free\)'
    exits 2 tiny_disk "$UNSEEN" --create -n 10M f.bf < <(seq 5)
    says 'f\.bf: .*No space left on device'
    prints ''
    [[ ! -s left ]]
}

@test "a full disk while growing: exit 2, the file stays good, no line is lost" {
    mkdir tiny
    need_mounts tiny_disk true
    seq 1000000 >in
    # shellcheck disable=SC2016
    exits 2 tiny_disk sh -c '
        "$UNSEEN" create -n 1000 -p 1e-9 f.bf || exit 9
        "$UNSEEN" f.bf ../in
        status=$?
        cp f.bf ../f.bf
        exit $status'
    says_lines 3 'f\.bf: created' 'f\.bf: .*grows' '^unseen: f\.bf: cannot grow: No space left on device \(what was printed is remembered; make room, and get the rest with the same input and -a FILE\)$'
    cp "$out" first
    succeeds unseen verify f.bf
    succeeds unseen f.bf in -a first
    same first in
}

@test "out of memory: exit 2" {
    plain_build "needs the address space"
    fails_with 2 'Cannot allocate memory|Out of memory' in_400_mb "$UNSEEN" -n 10G < <(seq 3)
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

# --- inputs ------------------------------------------------------------------

@test "one FILE that cannot be read: a message, the rest go on, exit 2 at the end" {
    small_filter
    mkdir dir
    seq 51 53 >a
    seq 53 55 >b
    exits 2 unseen f.bf a nofile b
    says '^unseen: nofile: No such file or directory$'
    prints '51\n52\n53\n54\n55\n'
    exits 2 unseen f.bf nofile dir b < /dev/null
    says_lines 2 'nofile: No such file or directory' 'dir: Is a directory'
    prints ''
    succeeds unseen query -c f.bf a b
    prints '6\n'
    exits 2 unseen add f.bf nofile a
    says 'nofile: '
}

@test "one FILE that cannot be read, of a very long name: the rest go on" {
    small_filter
    mkdir dir
    seq 51 53 >b
    local long
    long=$(printf './%.0s' {1..300})
    exits 2 unseen f.bf "${long}dir" b
    says 'Is a directory$'
    prints '51\n52\n53\n'
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
    for ((n = 0; n < 2040; n += (n >= 200 && n < 250 ? 2 : 50))); do
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
    [[ $ways -gt 10 ]] || complain "only $ways"
    # each byte is shown as four
    long=$(printf '\033%.0s' $(seq 250))
    exits 2 unseen "$long"
    says "^unseen: (.x1b){250}: No such file or directory"
}

@test "a directory as standard input" {
    small_filter
    fails_with 2 'Is a directory' unseen <.
    fails_with 2 'Is a directory' unseen query f.bf <.
    exits 2 unseen f.bf <.
    says 'Is a directory'
}

@test "swapped operands: a FILTER that is text, and an input that is a filter" {
    local form
    small_filter
    seq 60 >access.log
    fails_with 2 '^unseen: access\.log: is not a filter \(to read it as lines: unseen < access\.log\)$' unseen access.log
    for form in --create '-n 1000' add query stats; do
        # shellcheck disable=SC2086 # several words
        fails_with 2 'access\.log: is not a filter' unseen $form access.log
    done
    # swapped, both are wrong: one of them is named
    for form in '' --create '-n 1000' add query; do
        # shellcheck disable=SC2086
        fails_with 2 'access\.log: is not a filter|f\.bf: is a filter' unseen $form access.log f.bf
    done
    for form in 'new.bf f.bf' '-n 1000 new.bf access.log f.bf' 'add new.bf f.bf'; do
        # shellcheck disable=SC2086
        fails_with 2 'f\.bf: ' unseen --create $form
    done
}

@test "an input that is a filter: refused before a line is printed or remembered" {
    local form
    small_filter
    exits 0 unseen --create other.bf < <(seq 5)
    seq 51 60 >in
    for form in 'f.bf other.bf' 'f.bf in other.bf' 'add f.bf in other.bf' 'query f.bf other.bf' f.bf ''; do
        # shellcheck disable=SC2086 # several words
        fails_with 2 '(other\.bf|standard input): is a filter' unseen $form <other.bf
    done
    succeeds unseen f.bf in
    same "$out" in
}

@test "a filter that is also the input" {
    small_filter
    ln -s f.bf soft.bf
    ln f.bf hard.bf
    local name
    for name in f.bf soft.bf hard.bf ./f.bf; do
        fails_with 2 ': ' unseen f.bf "$name"
        fails_with 2 ': ' unseen f.bf <"$name"
        fails_with 2 ': ' unseen add f.bf "$name"
        fails_with 2 ': ' unseen query f.bf "$name"
    done
    : >new.bf
    # shellcheck disable=SC2094 # that is the mistake which is tested
    fails_with 2 ': ' unseen --create new.bf <new.bf
}

@test "a filter that is also the output" {
    small_filter
    ln -s f.bf soft.bf
    ln f.bf hard.bf
    local name
    for name in f.bf soft.bf hard.bf ./f.bf; do
        fails_with 2 ': ' unseen f.bf -a "$name" < <(seq 60)
        fails_with 2 ': ' appending_to "$name" unseen f.bf < <(seq 60)
        fails_with 2 ': ' appending_to "$name" unseen query f.bf < <(seq 60)
    done
    exits 0 unseen push --create q.bf < <(seq 5)
    unchanged fails_with 2 'both FILTER and output' appending_to q.bf unseen pop q.bf
    unchanged fails_with 2 'both FILTER and output' appending_to q.bf unseen pop q.bf -x cat
    : >new.bf
    fails_with 2 ': ' appending_to new.bf unseen --create new.bf < <(seq 60)
    fails_with 2 ': ' unseen --create new.bf -a new.bf < <(seq 60)
    fails_with 2 ': ' unseen --create absent.bf -a absent.bf < <(seq 60)
}

@test "a line longer than --max-line: exit 2, what came before is printed" {
    small_filter
    awk 'BEGIN { s = sprintf("%1024s", ""); gsub(/ /, "x", s); print "a"; print s; print "b"; print s "y"; print "c" }' >in
    head -n 3 in >wanted
    exits 2 unseen --max-line 1K <in
    says 'max-line'
    same "$out" wanted
    exits 0 unseen --max-line 1025 <in
    same "$out" in
    exits 2 unseen --max-line 1K f.bf in
    says 'max-line'
    same "$out" wanted
    succeeds unseen f.bf in
    tail -n 2 in >wanted
    same "$out" wanted
    fails_with 2 'has a line of more than 1 byte \(' unseen --max-line 1 <<<ab
    # without a newline, and longer than any buffer
    exits 2 unseen --max-line 1M < <(head -c 2000000 /dev/zero)
    says 'max-line'
    prints ''
}

@test "the default limit of a line is far above 100 MB" {
    head -c 100000000 /dev/zero | tr '\0' m >in
    exits 0 unseen <in
    echo >>in
    same "$out" in
}

# nonblocking IN|OUT COMMAND...: with O_NONBLOCK set on that descriptor.
nonblocking() {
    perl -e 'use Fcntl;
        my $fd = shift(@ARGV) eq "IN" ? \*STDIN : \*STDOUT;
        fcntl($fd, F_SETFL, fcntl($fd, F_GETFL, 0) | O_NONBLOCK) or die;
        exec @ARGV or die' "$@"
}

@test "a non-blocking stdin is waited for" {
    need perl
    { sleep 0.2; seq 3; sleep 0.2; seq 5; } |
        nonblocking IN timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" >got
    seq 5 >wanted
    same got wanted
    { sleep 0.2; seq 3; sleep 0.2; seq 5; } |
        nonblocking IN timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" --create -n 1000 f.bf >got 2>"$err"
    same got wanted
}

@test "a non-blocking stdout that is full is waited for" {
    need perl
    seq 300000 >in
    nonblocking OUT timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" -p 1e-9 <in | { sleep 0.3; cat; } >got
    local status=("${PIPESTATUS[@]}")
    [[ ${status[0]} -eq 0 ]]
    same got in
    exits 0 unseen create -p 1e-9 f.bf
    nonblocking OUT timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" f.bf in | { sleep 0.3; cat; } >got
    status=("${PIPESTATUS[@]}")
    [[ ${status[0]} -eq 0 ]]
    same got in
}

# --- FILTER that is no file --------------------------------------------------

@test "a directory as FILTER" {
    mkdir dir
    local name command
    for name in . dir dir/ ./dir ..; do
        # shellcheck disable=SC2102
        fails_with 2 ': Is a directory' unseen -- "$name" < <(seq 3)
        fails_with 2 ': Is a directory' unseen --create -- "$name" < <(seq 3)
        for command in add query stats verify; do
            fails_with 2 ': Is a directory' unseen "$command" "$name"
        done
        fails_with 2 ': (Is a directory|File exists)' unseen create "$name"
        fails_with 2 ': Is a directory' unseen create --force "$name"
    done
}

@test "a FILTER in a directory that is missing, or under a file; a name that is too long" {
    local form long
    : >file
    long=$(printf '%0300d' 0)
    for form in --create create query; do
        [[ $form == query ]] || fails_with 2 'nodir/f\.bf: .*No such file or directory' unseen $form nodir/f.bf < <(seq 3)
        fails_with 2 'file/f\.bf: .*Not a directory' unseen $form file/f.bf < <(seq 3)
        fails_with 2 'File(name| name) too long' unseen $form "$long" < <(seq 3)
    done
}

@test "a FIFO or a device as FILTER: no hang, and it is not replaced by a file" {
    local form name
    mkfifo pipe.bf
    mknod null.bf c 1 3 2>/dev/null || rm -f null.bf # needs the right to make a device
    for name in *.bf; do
        for form in '' --create add query stats verify create 'create --force'; do
            # shellcheck disable=SC2086 # several words
            fails_with 2 "$name: " unseen $form "$name" < <(seq 3)
        done
        [[ ! -f $name ]]
    done
}

@test "not a filter: text, noise, a few bytes, an empty file" {
    seq 100000 >text
    gzip -c text >noise 2>/dev/null || head -c 100000 "$UNSEEN" >noise
    printf 'x' >one
    : >empty
    head -c 100000 /dev/zero >zeros
    local name command
    for name in text noise one empty zeros; do
        fails_with 2 "$name: is (empty, )?not a filter" unseen "./$name" < <(seq 3)
        for command in add query stats; do
            fails_with 2 "$name: is (empty, )?not a filter" unseen "$command" "$name"
        done
        unchanged exits 2 unseen verify "$name"
    done
}

# --- damaged files -----------------------------------------------------------

# Tens of thousands of small steps: in damage.bash, out of bats' tracing.
damage() {
    timeout -k 5 "$UNSEEN_TIMEOUT" bash "$BATS_TEST_DIRNAME/damage.bash" "$@" 3>&-
}

damaged_filter() {
    exits 0 unseen --create -n 100 -p 1e-3 f.bf < <(seq "$1")
    seq $(($1 - 5)) $(($1 + 5)) >lines
}

@test "the detector of damage can tell: a file that is fine, one that was changed" {
    damaged_filter 50
    run -1 damage flips 5000 5001 1
    [[ $output == *"not refused"* ]]
    run -1 damage lengths "$(stat -c %s f.bf)" "$(($(stat -c %s f.bf) + 1))" 1 refused
    [[ $output == *"not refused"* ]]
}

@test "every byte of the header flipped, one at a time: refused" {
    damaged_filter 50
    damage flips 0 200 1
    damage flips 4080 4096 1
    # of those between, most of them zeros, one in 61 (test_header flips each bit)
    damage flips 205 4080 61
}

@test "every byte of a layer's record flipped: refused; other bytes there: harmless" {
    damaged_filter 5000
    succeeds unseen stats --json f.bf
    local end=$((4096 + $(field layer_count) * 80))
    [[ $end -ge $((4096 + 160)) ]]
    damage flips 4096 "$end" 1
    damage flips 8128 8132 1 harmless
    damage flips "$end" 8192 61 harmless
}

@test "counters and keys in flight full of noise: nothing there is believed" {
    exits 0 unseen --create -n 1000 -p 1e-9 f.bf < <(seq 500)
    seq 400 600 >lines
    seq 501 600 >wanted
    local start noise
    # everything between the layers' table and the first layer, but for whether there is a queue
    start=$(od -An -v -tu8 -j 4096 -N 8 f.bf | tr -d ' ')
    [[ $start -ge 14336 && $start -lt $(stat -c %s f.bf) ]]
    for noise in '\377' '\177' '\001' '\200'; do
        cp f.bf damaged.bf
        head -c $((start - 8192)) /dev/zero | tr '\0' "$noise" |
            dd of=damaged.bf bs=8192 seek=1 conv=notrunc status=none
        printf '\0' | dd of=damaged.bf bs=1 seek=8232 conv=notrunc status=none
        exits 0 unseen query -c damaged.bf lines
        prints '101\n'
        exits 0 unseen stats --json damaged.bf
        capture unseen verify damaged.bf
        [[ $code -le 1 ]]
        exits 0 unseen damaged.bf lines
        same "$out" wanted
        exits 0 unseen damaged.bf lines
        prints ''
    done
}

@test "a filter cut off at any length: refused, or harmless" {
    damaged_filter 50
    local size layer
    size=$(stat -c %s f.bf)
    layer=$(od -An -v -tu8 -j 4096 -N 8 f.bf | tr -d ' ')
    damage lengths 0 4200 173 refused
    damage lengths 4200 $((layer + 4096)) 1021 refused
    damage lengths $((layer + 4090)) $((layer + 4096)) 1 refused
    damage lengths $((layer + 4096)) "$size" 509 harmless
}

@test "a version of the past, and one and features from the future, are named as such" {
    local version now
    damaged_filter 50
    cp f.bf damaged.bf
    now=$(od -An -tu1 -j 8 -N 1 f.bf)
    for ((version = 1; version <= now + 1; version++)); do
        printf '%b' "\\$version" | dd of=damaged.bf bs=1 seek=8 conv=notrunc status=none
        [[ $version -ge $now ]] ||
            fails_with 2 'damaged\.bf: was made by an older unseen \(make it again\)' unseen damaged.bf < <(seq 3)
    done
    fails_with 2 "damaged\\.bf: .*version $((now + 1)).*newer unseen" unseen damaged.bf < <(seq 3)
    cp f.bf damaged.bf
    printf '\200' | dd of=damaged.bf bs=1 seek=23 conv=notrunc status=none
    fails_with 2 'damaged\.bf: .*feature' unseen query damaged.bf < <(seq 3)
}

@test "verify: sound 0, damaged 2 with a line for each finding" {
    exits 0 unseen --create -n 100 -p 1e-3 f.bf < <(seq 50)
    succeeds unseen verify f.bf
    cp f.bf damaged.bf
    printf '\1' | dd of=damaged.bf bs=1 seek=110 conv=notrunc status=none
    unchanged exits 2 unseen verify damaged.bf
    [[ $(cat "$out" "$err" | grep -c 'damaged\.bf: ') -ge 1 ]]
    # bits of a layer may be anything: that is no damage that can be told
    cp f.bf damaged.bf
    printf '\377' | dd of=damaged.bf bs=1 seek=$(($(od -An -v -tu8 -j 4096 -N 8 f.bf) + 17)) conv=notrunc status=none
    capture unseen verify damaged.bf
    [[ $code -le 1 ]]
}

@test "a filter truncated while it is mapped: a message and exit 2, not SIGBUS" {
    local form
    for form in 'query --tag f.bf' 'f.bf' 'add f.bf'; do
        exits 0 unseen create --force f.bf
        # shellcheck disable=SC2086
        converse "$UNSEEN" $form
        say 7
        [[ $form == add* ]] || hear
        truncate -s 4096 f.bf
        # it may have met the hole already
        (say 8) 2>/dev/null || true
        code=0
        farewell || code=$?
        : >"$out"
        [[ $code -eq 2 ]] || complain "exit code: $form"
        says 'f\.bf: '
    done
}

@test "a filter that standard output goes to: whether the shell has emptied it" {
    local command
    exits 0 unseen create f.bf
    fails_with 2 '^unseen: f\.bf: is both FILTER and output' \
        appending_to f.bf unseen f.bf < <(seq 3)
    succeeds unseen verify f.bf
    for command in '' remove; do
        exits 2 to f.bf unseen $command f.bf < <(seq 3)
        says '^unseen: f\.bf: is both FILTER and standard output, and the shell has emptied it'
    done
}

@test "a command after FILTER is read as a file: where it belongs is said if there is none" {
    exits 0 unseen create f.bf
    fails_with 2 '^unseen: stats: No such file or directory \(a command comes first: unseen stats FILTER' \
        unseen f.bf stats
    seq 3 >stats
    succeeds unseen f.bf stats
    prints '1\n2\n3\n'
}

@test "a filter that does not fit: how much it needs, and how much there is" {
    fails_with 2 '^unseen: f\.bf: cannot be created: .* \(it needs 990 TB' unseen create --size 900T f.bf
    [[ ! -e f.bf ]]
}

@test "a file made of another size than asked for: which it has is said" {
    exits 0 unseen create --size 4M f.bf
    fails_with 2 '^unseen: f\.bf: was made with --size 4194304, not 2097152 \(leave --size out' \
        unseen --create --size 2M f.bf < <(seq 3)
}

@test "a queue that is missing: a command that can be pasted" {
    exits 0 unseen push --create 'my q.bf' < <(seq 3)
    mv 'my q.bf.queue' away
    fails_with 2 "/my q\.bf\.queue: No such file or directory \(move it back to there; or, to start with an empty queue: mkdir '$PWD/my q\.bf\.queue'\)$" \
        unseen pop 'my q.bf'
    mkdir "$PWD/my q.bf.queue"
    exits 1 unseen pop 'my q.bf'
}

@test "a later FILTER that is empty, or '-': said as of the first" {
    exits 0 unseen create f.bf
    exits 2 unseen stats f.bf ''
    says "^unseen: '': an empty name is not a FILTER"
    fails_with 2 "^unseen: '': an empty name is not a FILTER" unseen verify f.bf ''
    fails_with 2 '^unseen: -: standard input cannot be a FILTER' unseen verify f.bf -
    fails_with 2 "^unseen: --like '': an empty name" unseen create --like '' new.bf
    fails_with 2 "^unseen: '': an empty name is not a FILTER" unseen merge -o new.bf f.bf ''
    fails_with 2 "^unseen: '': an empty name is not a FILE" unseen add f.bf ''
}
