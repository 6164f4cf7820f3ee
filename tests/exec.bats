#!/usr/bin/env bats
# -x CMD: new lines go to CMD, and are remembered only if it exits 0.

load helper
load crash

@test "CMD gets the new lines, byte for byte, in order; its output is ours" {
    mixed_lines 20000 9000 >in
    printf 'no newline at the end' >>in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unseen f.bf in -x sh -c 'cat >got; echo from CMD; echo note >&2'
    lines_unique in >wanted
    same got wanted
    prints 'from CMD\n'
    [[ $(cat "$err") == note ]]
    remembers 20001
    no_debris
    succeeds unseen f.bf in -x cat
    prints ''
}

@test "-x takes the rest of the line; options may stand before" {
    exits 0 unseen create -p 1e-9 f.bf
    seq 5 >in
    succeeds unseen -m 2 f.bf in -x sh -c 'cat >/dev/null; printf "%s." "$@"' -m --version -- -x
    prints '--version.--.-x.'
    succeeds unseen f.bf in --exec cat
    prints '3\n4\n5\n'
}

@test "without a new line CMD is not started, and the exit code is 0" {
    exits 0 unseen --create -p 1e-9 f.bf < <(seq 5)
    succeeds unseen f.bf -x touch started < <(seq 5)
    [[ ! -e started ]]
    succeeds unseen f.bf -x touch started </dev/null
    [[ ! -e started ]]
    # -e still says that nothing was new
    exits 1 unseen -e f.bf -x touch started < <(seq 5)
    [[ ! -e started ]]
    # nor is it looked for
    succeeds unseen f.bf -x ./no-such-program < <(seq 5)
}

@test "CMD starts at the first new line, not before" {
    local pid feed
    exits 0 unseen --create -p 1e-9 f.bf < <(seq 5)
    mkfifo pipe
    exec {feed}<>pipe
    "$UNSEEN" f.bf -x sh -c ': >started; cat >got' <pipe 3>&- {feed}>&- &
    pid=$!
    seq 5 >&"$feed"
    while read -r -t 0 -u "$feed"; do sleep 0.01; done
    asleep "$pid"
    [[ ! -e started ]]
    echo 6 >&"$feed"
    filled got || { kill "$pid"; false; }
    exec {feed}>&-
    wait "$pid"
    echo 6 | cmp - got
}

# takes STATUS LINES COMMAND: with this CMD a run over ./in ends so, and so many lines, the
# first ones, are remembered.
takes() {
    local all said
    all=$(wc -l <in)
    exits 0 unseen create --force -p 1e-9 f.bf
    exits "$1" unseen f.bf in -x sh -c "$3" || return 1
    said="exited with 0, but took only $2 lines? "
    [[ $1 -eq 0 ]] || said='(exited with [1-9]|was killed by signal )'
    if [[ $1 -eq 0 && $2 -eq $all ]]; then
        said=
        [[ $3 != 'exit 0' ]] || said="exited with 0 and read nothing; its $2 lines count as done"
    fi
    if [[ -z $said ]]; then silent_on_stderr; else says "^unseen: sh: $said"; fi || return 1
    capture unseen query f.bf in
    cmp "$out" <(head -n "$2" in) && no_debris
}

# take_all: a table of STATUS|LINES|COMMAND.
take_all() {
    local status lines command i runs
    runs=$(rounds "${few:-1}" 20)
    while IFS='|' read -r status lines command; do
        for ((i = 0; i < runs; i++)); do
            takes "$status" "$lines" "$command" </dev/null || { echo "$status|$lines|$command"; return 1; }
        done
    done
}

# bats test_tags=torture
@test "CMD that exits with 0 has taken the lines it has read whole; or, if it has read nothing, what it was started with" {
    # Of its lines 110 lie within the first 4096 bytes.
    input 30000 >in
    take_all <<'END'
0|30000|cat >got
0|0|dd bs=1 count=36 status=none
0|1|dd bs=1 count=37 status=none
0|1|read -r line
0|1|read -r line; sleep 0.1
0|2|read -r line; read -r line; exec <&-; sleep 0.1
0|110|dd bs=37 count=110 status=none
0|8108|head -c 300000
0|110|exit 0
0|110|sleep 0.1
0|110|exec <&-; exit 0
0|110|exec <&-; sleep 0.1
0|110|exec </dev/null; sleep 0.1
3|0|cat >got; exit 1
3|0|cat >got; exit 127
3|0|head -n 15000; exit 255
3|0|head -n 15000; kill -9 $$
3|0|read -r line; kill -TERM $$
3|0|exec <&-; sleep 0.1; exit 9
3|0|exit 1
END
    # The rest, to the byte, is what the next one gets; and who has taken one line has taken one.
    takes 0 8108 'head -c 300000'
    succeeds unseen f.bf in -x cat
    cmp "$out" <(tail -n +8109 in)
    printf '%s\n' a b c >in
    few=10 take_all <<<'0|3|exit 0'
}

# bats test_tags=torture
@test "a first line longer than 4096 bytes, or than a pipe: taken if it was read whole, or nothing was" {
    local length
    for length in 5000 3000000; do
        { head -c "$length" /dev/zero | tr '\0' a; printf '\nb\nc\n'; } >in
        take_all <<END
0|3|cat >got
0|1|exit 0
0|1|exec <&-; sleep 0.1
0|1|head -c $((length + 1)) >got
0|2|head -c $((length + 3)) >got
0|0|head -c $length >got
0|0|dd bs=1 count=7 status=none
0|0|dd bs=1 count=1 status=none; exec <&-; sleep 0.1
3|0|dd bs=1 count=7 status=none; exit 3
END
    done
    input 2000 >>in
    takes 0 1 'exit 0'
}

# quoted_rows COUNT: rows of three lines and 40 bytes; what stands between their quotes looks like rows.
quoted_rows() {
    awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) printf "%07d,\"7,8\n\"\"%07d\"\" x\n9,last row\"\r\n", i, i }'
}

# takes_rows ROWS|STATUS|COMMAND on stdin: with this CMD a run over ./in ends so, and the first ROWS rows are
# remembered.
takes_rows() {
    local status rows command
    while IFS='|' read -r rows status command; do
        { exits 0 unseen create --force --csv -f 1 -p 1e-9 f.bf && exits "$status" unseen f.bf in -x "${shell[@]}" "$command" </dev/null; } ||
            return 1
        [[ $status -ne 0 || $rows -eq $all ]] || says "^unseen: ${shell[0]}: exited with 0, but took only $rows lines? " || return 1
        capture unseen query f.bf in
        { cmp "$out" <(head -c $((40 * rows)) in) && no_debris; } || { echo "$rows|$status|$command"; return 1; }
    done
}

# bats test_tags=torture
@test "rows of several lines: CMD has taken those it has read to their end, wherever it stopped" {
    local all=20000 shell=(sh -c) n
    quoted_rows $all >in
    takes_rows <<'END'
20000|0|cat >got
0|0|dd bs=1 count=39 status=none
1|0|dd bs=1 count=40 status=none
102|0|exit 0
102|0|exec <&-; sleep 0.1
7500|0|head -c 300000
3|0|dd bs=1 count=159 status=none; exec <&-; sleep 0.1
0|3|cat >got; exit 1
7500|0|head -c 300039
END
    succeeds unseen f.bf in -x cat
    same "$out" <(tail -c +300001 in)
    all=6000
    quoted_rows $all >in
    # each byte of a row, and of one beyond the pipe's size
    for n in 0 1638 4000; do
        for ((i = 1; i <= 40; i++)); do
            echo "$((n + i / 40))|0|head -c $((40 * n + i)) >got"
        done
    done | takes_rows
}

@test "rows of several lines, in a pipe that CMD has made larger; in one of 4 MB too many may come again" {
    need python3
    local all=200000 taken
    quoted_rows $all >in
    # SIZE READ: CMD makes its pipe so large, reads so many bytes, and ends when the pipe is full.
    cmd() {
        echo "import fcntl, os, struct, termios, time
if $1: fcntl.fcntl(0, 1031, $1)
left = $2
while left: left -= len(os.read(0, left))
full = fcntl.fcntl(0, 1032) * 3 // 4
while struct.unpack('i', fcntl.ioctl(0, termios.FIONREAD, b'    '))[0] < full: time.sleep(0.01)" | tr '\n' '~'
    }
    local shell=(bash -c 'exec python3 -c "$(tr "~" "\n" <<<"$0")"')
    takes_rows <<END
0|0|$(cmd 0 39)
1|0|$(cmd 0 79)
10000|0|$(cmd 0 400001)
0|0|$(cmd 1048576 39)
1|0|$(cmd 1048576 40)
26213|0|$(cmd 1048576 1048559)
100000|0|$(cmd 1048576 4000020)
END
    python3 -c 'import fcntl, os; fcntl.fcntl(os.pipe()[0], 1031, 4 << 20)' 2>/dev/null || skip 'may not make larger pipes (root; all else was tested)'
    exits 0 unseen create --force --csv -f 1 -p 1e-9 f.bf
    exits 0 unseen f.bf in -x "${shell[@]}" "$(cmd 4194304 2000020)"
    says '^unseen: bash: exited with 0, but took only [0-9]+ lines? '
    exits 0 unseen query -c f.bf in
    taken=$(cat "$out")
    [[ $taken -le 50000 ]] || complain "$taken rows are remembered, and 50000 were read"
    succeeds unseen f.bf in -x cat
    same "$out" <(tail -c +$((40 * taken + 1)) in)
}

@test "where nobody can tell what CMD has read, for want of /proc, it counts as read" {
    plain_build 'reads /proc'
    need_mounts
    input 100 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 0 unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$UNSEEN" f.bf in -x sh -c 'read -r line; sleep 0.1'
    silent_on_stderr
    remembers 100
}

@test "lines that come when CMD is gone are never done" {
    local pid feed
    printf 'a\nb\nc\n' >in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo pipe
    "$UNSEEN" -e f.bf pipe -x sh -c 'echo $$ >started' 2>said 3>&- &
    pid=$!
    exec {feed}>pipe
    echo a >&"$feed"
    filled started
    gone "$(cat started)"
    # One line more shows that CMD is gone. No further one is waited for.
    echo b >&"$feed"
    gone "$pid" || { kill -9 "$pid"; false; }
    code=0
    wait "$pid" || code=$?
    exec {feed}>&-
    [[ $code -eq 0 ]]
    grep -q 'unseen: sh: exited with 0, but took only 1 line ' said
    exits 0 unseen query f.bf in
    prints 'a\n'
}

@test "CMD that is not there: exit 127; that cannot be run: 126; nothing remembered" {
    input 50000 >in
    exits 0 unseen create -p 1e-9 f.bf
    exits 127 unseen f.bf in -x ./no-such-program
    says '^unseen: ./no-such-program: cannot be run: No such file or directory'
    exits 127 unseen f.bf in -x no-such-program
    mkdir directory
    exits 126 unseen f.bf in -x ./directory
    says 'Permission denied'
    : >file
    chmod +x file
    exits 126 unseen f.bf in -x ./file
    says 'Exec format error'
    # What CMD itself says so is its own failure; and who got no line was not looked for.
    exits 3 unseen f.bf in -x sh -c 'exit 127'
    exits 0 unseen f.bf -x ./no-such-program </dev/null
    remembers 0
    no_debris
}

@test "no process can be had for CMD: exit 75, and nothing is remembered" {
    plain_build "has processes of its own"
    public_directory
    chmod 777 .
    exits 0 unseen create -p 1e-9 f.bf
    chmod 666 f.bf
    seq 3 >in
    exits 75 as_nobody bash -c 'ulimit -u 1; exec "$@"' bash "$public/unseen" f.bf in -x cat
    says '^unseen: cat: cannot be run: Resource temporarily unavailable$'
    remembers 0
}

@test "CMD's own signals are at their defaults, and no file of ours is open in it" {
    need_signals
    exits 0 unseen create -p 1e-9 f.bf
    seq 3 >in
    exits 0 env --default-signal=PIPE,INT "$UNSEEN" f.bf in \
        -x sh -c 'cat >/dev/null; ls -l /proc/self/fd; grep -E "Sig(Ign|Blk)" /proc/self/status'
    ! grep -F .bf "$out" || complain 'the filter is open in CMD'
    grep -q '^SigBlk:.0000000000000000$' "$out" || complain 'signals are blocked'
    # SIGPIPE and SIGINT (the thirteenth and the second bit) are not ignored
    local ignored
    ignored=$(awk '/SigIgn/ { print $2 }' "$out")
    [[ $((16#$ignored & 0x1002)) -eq 0 ]] || complain 'signals are ignored'
}

# --- other writers -----------------------------------------------------------------

# hold_open COMMAND: `unseen f.bf in -x` with a CMD that reads all, says so, waits for ./go, and then does
# COMMAND. Sets `pid`; `cmd` is CMD.
hold_open() {
    rm -f go read
    mkfifo go
    "$UNSEEN" f.bf in -x sh -c 'cat >got; echo $$ >read; read -r word <go; eval "$1"' sh "$1" 2>said 3>&- &
    pid=$!
    filled read
    cmd=$(cat read)
}

@test "while CMD works, its lines are in flight: no other writer prints them, no reader has them in; then it ends" {
    local pid cmd end status lines
    input 20000 >in
    input 30000 10000 >other.in
    while read -r end status lines; do
        rm -f f.bf durable.out
        exits 0 unseen create -n 500 -p 1e-9 f.bf
        hold_open "exit $end"
        remembers 0
        ls f.bf.flight-*
        exits 0 unseen f.bf in
        prints ''
        exits 0 unseen f.bf in --durable -a durable.out
        [[ ! -s durable.out ]]
        exits 0 unseen f.bf in -x touch second
        [[ ! -e second ]]
        exits 0 unseen f.bf other.in
        input 20000 20000 | cmp - "$out"
        if [[ $end == killed ]]; then kill -9 "$pid"; else echo >go; fi
        exits "$status" wait "$pid"
        verify_usable
        remembers "$lines"
        exits 0 unseen f.bf in
        tail -n +$((lines + 1)) in | same "$out" /dev/stdin || complain "$end"
        # What a killed run left beside the filter went with the slot's next owner.
        no_debris
        [[ $end != killed ]] || { echo >go && gone "$cmd"; }
    done <<'END'
0 0 20000
4 3 0
killed 137 0
END
}

@test "a signal goes to CMD, which alone decides; 0 if that is its end and the input had ended, else the signal is raised" {
    need_signals
    local form signals status lines got command signal feed pid
    input 100 >in
    input 100000 >many
    mkfifo feed
    exec {feed}<>feed
    while IFS='|' read -r form signals status lines got command; do
        rm -rf f.bf* read go end
        : >got
        exits 0 unseen create -p 1e-9 f.bf
        [[ $form != pop* ]] || succeeds unseen push f.bf in
        [[ $form != *feed ]] || cat in >feed
        env --default-signal=HUP,INT,TERM "$UNSEEN" $form -x sh -c "
            echo \$\$ >cmd
            for signal in HUP INT TERM; do trap \"echo \$signal >>got\" \$signal; done
            ready() { echo >read; until [ -e go ]; do sleep 0.01; done; }
            $command" 2>said 3>&- {feed}>&- </dev/null &
        pid=$!
        filled read
        asleep "$pid" # it has seen the end of its input, or waits for more, or for CMD to read
        for signal in $signals; do
            kill -s "$signal" "$pid"
            # CMD has noted it, or is gone.
            until grep -q "$signal" got || ! kill -0 "$(cat cmd)" 2>/dev/null; do sleep 0.01; done
        done
        : >go
        code=0
        wait "$pid" || code=$?
        [[ $code -eq $status && $(xargs <got) == "$got" && ! -e end ]] ||
            { echo "$form|$signals|$command: $code"; cat got said; false; }
        if [[ $form == pop* ]]; then
            [[ $(unseen pop f.bf -m 200 | wc -l) -eq $((100 - lines)) ]]
        else
            [[ $(unseen query -c f.bf many) -eq $lines ]]
        fi
        no_debris
    done <<'END'
f.bf in|TERM|0|100|TERM|cat >lines; ready
f.bf in|INT INT|0|100|INT|cat >lines; ready
f.bf in|HUP TERM HUP|0|100|HUP TERM|cat >lines; ready
f.bf in|TERM|0|1|TERM|read -r line; ready
f.bf in|TERM|143|0|TERM|cat >lines; ready; exit 1
f.bf in|TERM|143|0||trap - TERM; cat >lines; ready; echo >end
f.bf in|TERM|0|100||trap 'exit 0' TERM; cat >lines; ready; echo >end
f.bf feed|TERM|143|100|TERM|head -c 3700 >lines; ready; cat >>lines
f.bf feed|HUP TERM|129|100|HUP TERM|head -c 3700 >lines; ready
f.bf feed|TERM|143|0||trap - TERM; echo >read; cat >lines; echo >end
f.bf feed|TERM|143|0||trap 'exit 1' TERM; echo >read; cat >lines; echo >end
f.bf many|TERM|143|1|TERM|read -r line; ready
f.bf many|TERM|143|0||trap - TERM; read -r line; ready; echo >end
pop f.bf -m 60|TERM TERM|0|60|TERM|cat >lines; ready
pop f.bf -m 60|TERM|0|1|TERM|read -r line; ready
pop f.bf -m 60|TERM|143|0||trap - TERM; cat >lines; ready; echo >end
END
    # Before there was a line: there is no CMD to be told.
    env --default-signal=TERM "$UNSEEN" f.bf feed -x touch started 3>&- {feed}>&- &
    pid=$!
    asleep "$pid"
    kill "$pid"
    exits 143 wait "$pid"
    [[ ! -e started ]]
}

@test "a signal that CMD has already is not passed on: from the terminal, to the group, from systemd; else it is" {
    need_strace
    need_signals
    need_terminal
    local form status passed command ours cmd keys
    input 100 >in
    cp "$(command -v bash)" systemd
    mkfifo keys
    while IFS='|' read -r form status passed command; do
        rm -rf f.bf* pids trace go code
        : >got
        exits 0 unseen create -p 1e-9 f.bf
        succeeds unseen push f.bf in
        cat >run <<END
trap '' INT TERM # the program gets them alone
env --default-signal=INT,TERM strace -qq -o trace -e trace=kill "$UNSEEN" pop f.bf -m 60 -x ${command%%:*} sh -c '
    ready() { cat >lines; echo \$PPID \$\$ >pids; until [ -e go ]; do sleep 0.01; done; }
    ${command#*:}' </dev/null
echo \$? >code
END
        exec {keys}<>keys
        case $form in
        terminal) script -qec 'sh run' /dev/null <keys >said 2>&1 3>&- & ;;
        *) setsid sh run >said 2>&1 3>&- {keys}>&- & ;;
        esac
        filled pids
        read -r ours cmd <pids
        asleep "$ours"
        case $form in
        terminal) printf '\003' >&"$keys" ;;
        group) kill -TERM -- "-$!" ;;
        systemd) ./systemd -c "kill -TERM $ours $cmd; until [ -e go ]; do sleep 0.01; done" 3>&- {keys}>&- & ;;
        alone) kill -TERM "$ours" ;;
        esac
        # CMD has it. In the end, nothing is left for the alarm.
        if [[ $status == 0 ]]; then filled got; else gone "$cmd"; fi
        [[ $passed != 0 || $form == group ]] || until grep -q SIGALRM trace; do sleep 0.01; done
        : >go
        filled code
        exec {keys}>&-
        wait
        [[ $(cat code) == "$status" && $(grep -c '^kill(' trace) == "$passed" && $(wc -l <got) == [01] ]] ||
            { echo "$form|$command: $(cat code)"; cat trace got said; false; }
        # Without a handler, at once.
        [[ $status == 0 || $(grep -m 1 -E '^kill|SIGALRM' trace) == kill* ]]
    done <<'END'
terminal|0|0|:trap "echo >>got" INT; ready
terminal|0|1|setsid:trap "echo >>got" INT; ready
group|0|0|:trap "echo >>got; exit 0" TERM; ready
systemd|0|0|:trap "echo >>got" TERM; ready
alone|0|1|:trap "echo >>got" TERM; ready
alone|143|1|:ready; echo >end
END
}

# bats test_tags=torture
@test "kills -9 at random moments of -x: all or nothing, never a line lost" {
    local i n kills hits=0
    kills=$(rounds 16 300)
    input 20000 >in
    for ((i = 0; i < kills; i++)); do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        rm -f ended
        # killed's output is the file that CMD writes, so BYTES are CMD's; the last moments are
        # when CMD has ended and its lines are being remembered
        moment $((20000 * line_bytes))
        [[ $((i % 2)) -eq 0 ]] || moment=($((20000 * line_bytes)) $((RANDOM % 3000)))
        "$tools/killed" "${moment[@]}" "$UNSEEN" f.bf in -x sh -c 'cat && : >ended' >got 2>said || hits=$((hits + 1))
        verify_usable
        capture unseen query -c f.bf in
        n=$(cat "$out")
        # CMD sees an end of input all the same, and goes on to its own.
        until [[ ! -s got || -e ended ]]; do sleep 0.01; done
        [[ $n -eq 0 ]] || same got in || { echo "$n remembered, and CMD had not got all"; false; }
        exits 0 unseen f.bf in -x sh -c 'cat >again'
        touch again
        if [[ $n -gt 0 ]]; then none_lost in got again; else same again in; fi
        rm -f again
        remembers 20000
        no_debris
    done
    [[ $hits -gt 0 ]]
}

@test "many at once with -x, some CMDs failing: each line in exactly one that succeeded, or comes again" {
    local i j pids
    input 10000 >in
    for i in 1 2; do
        exits 0 unseen create --force -n 500 -p 1e-9 f.bf
        rm -f got.*
        pids=()
        for j in 0 1 2 3 4 5; do
            "$UNSEEN" f.bf in -x sh -c 'cat >got.$$; [ $(($1 % 2)) = 0 ] || { rm got.$$; exit 1; }' sh "$j" 2>/dev/null 3>&- &
            pids+=($!)
        done
        for j in "${pids[@]}"; do
            wait "$j" || [[ $? -eq 3 ]]
        done
        exits 0 unseen f.bf in -x sh -c 'cat >got.last'
        cat got.* >all
        each_once in all
        remembers 10000
        no_debris
    done
}

# --- memory, growth, combinations -------------------------------------------------------

@test "memory does not grow with the lines that CMD gets" {
    plain_build "has memory of its own"
    exits 0 unseen create --fixed -n 1000 -p 1e-9 f.bf
    # What is mapped of files counts as resident, so the limit is on the rest (data), with room
    # for buffers; the keys alone would be 16 MB.
    input 1000000 >in
    exits 0 sh -c 'ulimit -d 12000; exec "$UNSEEN" f.bf in -x wc -l'
    prints '1000000\n'
}

@test "together with others: repeats batches apart, growth, -m, --create, -z, an input that cannot be read" {
    input 30000 >half
    cat half half >in
    exits 0 unseen create -n 500 -p 1e-9 f.bf
    exits 0 unseen -m 3000 f.bf in -x wc -l
    prints '3000\n'
    remembers 3000 half
    succeeds unseen -m 0 f.bf -x touch started <in
    [[ ! -e started ]]
    exits 0 unseen f.bf in -x cat
    tail -n +3001 half | cmp - "$out"
    remembers 30000 half
    verify_usable
    # The filter is made, whatever becomes of CMD.
    exits 3 unseen --create -p 1e-9 new.bf half -x false
    exits 2 unseen new.bf missing - -x cat < <(seq 3)
    prints '1\n2\n3\n'
    says 'missing: No such file'
    exits 3 unseen new.bf missing - -x false < <(seq 4 5)
    # What lasts outweighs what may pass.
    exits 2 unseen new.bf missing - -x sh -c 'cat; cp new.bf new; mv new new.bf' < <(seq 6)
    exits 0 unseen --create -p 1e-9 z.bf -z -x cat < <(printf 'a\nb\0c\0a\nb\0')
    printf 'a\nb\0c\0' | same "$out" /dev/stdin
}

@test "a directory that cannot be written to: a batch needs no file beside the filter, more lines do, exit 2" {
    public_directory
    seq 3000 >in
    "$UNSEEN" create -p 1e-9 f.bf
    chmod 666 f.bf
    chmod 555 .
    exits 2 as_nobody "$public/unseen" f.bf in -x cat
    says 'cannot create the file for lines in flight'
    remembers "$(wc -l <"$out")"
    exits 0 as_nobody "$public/unseen" f.bf -x cat < <(seq 4001 6000)
    seq 4001 6000 | cmp - "$out"
    chmod 755 .
}

@test "a filter that all may write to, in a sticky directory: a user whose umask hides files, or who was killed, is in nobody's way" {
    public_directory
    chmod 1777 .
    "$UNSEEN" create -p 1e-9 f.bf
    chmod 666 f.bf
    seq 3000 >in
    local pid cmd
    umask 077
    hold_open 'exit 0'
    umask 022
    [[ $(stat -c %a f.bf.flight-0) == 666 ]]
    # What is in flight there is not new here.
    exits 0 as_nobody "$public/unseen" f.bf < <(seq 3002)
    prints '3001\n3002\n'
    kill -9 "$pid"
    exits 137 wait "$pid"
    [[ -e f.bf.flight-0 ]]
    exits 0 as_nobody "$public/unseen" f.bf -x cat < <(seq 6000)
    { seq 3000; seq 3003 6000; } | same "$out" /dev/stdin
    chmod 640 f.bf
    exits 0 unseen f.bf -x sh -c 'cat >got; stat -c %a f.bf.flight-*' < <(seq 9000)
    prints '640\n'
    no_debris
    echo >go
    gone "$cmd"
}

@test "CMD exits 0 and leaves a process behind that reads on: it gets all lines, whole" {
    local i
    seq 20000 >in
    for i in 1 2; do
        rm -f f.bf got ended
        exits 0 unseen create -p 1e-9 f.bf
        succeeds unseen f.bf in -x sh -c 'exec 4<&0; (sleep 0.1; cat <&4 >got; : >ended) 3>&- & exit 0'
        until [[ -e ended ]]; do sleep 0.01; done
        same got in
        exits 0 unseen query -c f.bf in
        prints '20000\n'
    done
}
