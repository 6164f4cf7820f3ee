#!/usr/bin/env bats
# --progress and SIGUSR1: what they show, and that nothing else is different.

# shellcheck disable=SC2030,SC2031,SC2154,SC2016 # out, err and code are set by helper.bash; $UNSEEN is for sh
load helper

# input LINES: LINES lines, each of them twice.
input() { seq -f 'http://example.org/%.0f/page' $(($1 / 2)) | sed p; }

# --- the terminal --------------------------------------------------------------

# at_terminal COLUMNS [PATTERN DO]... -- COMMAND...: COMMAND on a terminal of its own; once it has
# shown PATTERN, "^C" or "^Z" is typed, or the words of DO are run by sh with the process in $pid.
# `raw` gets what was sent to the terminal, `screen` what is on it in the end, `code` the exit code,
# 128 and more if it was ended by a signal.
at_terminal() {
    need python3
    code=0
    timeout -k 5 "$UNSEEN_TIMEOUT" python3 - "$@" <<'END' || code=$?
import fcntl, os, pty, re, select, signal, struct, subprocess, sys, termios

columns = int(sys.argv[1])
split = sys.argv.index("--")
steps, command = sys.argv[2:split], sys.argv[split + 1:]
pid, master = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.environ["TERM"] = "xterm"
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execvp(command[0], command)
raw, seen = b"", 0
while True:
    try:
        more = os.read(master, 65536)
    except OSError:
        more = b""
    raw += more
    if not more:
        break
    while steps:
        found = re.compile(steps[0].encode()).search(raw, seen)
        if not found:
            break
        seen, do = found.end(), steps[1]
        steps = steps[2:]
        if do.startswith("^"):
            os.write(master, bytes([ord(do[1]) - 64]))
            if do == "^Z":
                os.waitpid(pid, os.WUNTRACED)
                # What a process wrote comes to the other end of a terminal a little later.
                while select.select([master], [], [], 0 if raw.endswith(b"\x1b[K") else 10)[0]:
                    raw += os.read(master, 65536)
                raw += b"<stopped>"
                seen = len(raw)
                os.kill(pid, signal.SIGCONT)
        else:
            subprocess.Popen(["sh", "-c", do], env=dict(os.environ, pid=str(pid)))
open("raw", "wb").write(raw)
screen, line, at = [], [], 0
for byte in re.findall(rb"\r|\n|\x1b\[K|.", raw, re.S):
    if byte == b"\r":
        at = 0
    elif byte == b"\n":
        screen.append(b"".join(line).rstrip())
        line, at = [], 0
    elif byte == b"\x1b[K":
        del line[at:]
    else:
        line[at:at + 1] = [byte]
        at += 1
open("screen", "wb").write(b"".join(row + b"\n" for row in screen) + b"".join(line))
if steps:
    sys.exit("never shown: " + steps[0])
status = os.waitpid(pid, 0)[1]
sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
END
}

# shows PATTERN [FILE]: a line of the screen is just this.
shows() {
    grep -Eqx -- "$1" "${2:-screen}" || {
        echo "the screen shows no line: $1"
        cat -v screen
        return 1
    }
}

# in_time: the screen tells of no more time than has passed since SECONDS was 0. It may be more than a
# second: a machine may stand still for a while.
in_time() {
    local most=$SECONDS
    holds "$(sed -n 's/.*, in 0:\([0-9]*\), .*/\1/p' screen) <= $most"
}

# drawn: the lines that were drawn, one each.
drawn() { tr '\r' '\n' <raw | sed -n 's/^\x1b\[K//p' | grep -v '^$'; }

# dribble FILE: `pipe`, whose writer gives FILE, and ends when it is told to by ./go.
dribble() {
    mkfifo pipe go
    { cat "$1"; read -r _ <go; } >pipe 3>&- &
}

size='[0-9.]+ [kMGT]?B'
count='[0-9.]+[kMGT]?'
rates="$size/s, $count lines/s"
unknown="$size, $count lines, $count new, $rates"
at_end="$size, in [0-9:]+, $count lines, $count new, $rates"

@test "--progress: the last line stays, alone; what was printed is the same" {
    input 10000 >in
    lines_unique in >expected
    SECONDS=0
    at_terminal 80 -- sh -c '"$UNSEEN" --progress <in >got'
    [[ $code -eq 0 ]]
    in_time
    same got expected
    shows "100 % of $((($(wc -c <in) + 500) / 1000)) kB, in 0:[0-9]{2}, 10.0k lines, 5.00k new, $rates"
    [[ $(wc -l <screen) -eq 1 && $(tail -c 1 screen | wc -l) -eq 1 ]]
    # to the nearest; and of one line
    at_terminal 80 -- sh -c '{ seq 19996; seq 4; } | "$UNSEEN" --progress >got'
    shows "109 kB, in 0:[0-9]{2}, 20.0k lines, 20.0k new, $rates"
    at_terminal 80 -- sh -c 'echo a | "$UNSEEN" --progress >got'
    shows "2 B, in 0:[0-9]{2}, 1 line, 1 new, $rates"
}

@test "percent is of all files, and of what is left of standard input" {
    input 10000 >a
    input 20000 >b
    : >empty
    SECONDS=0
    at_terminal 80 -- sh -c '"$UNSEEN" --create --progress f.bf a empty b >got'
    in_time
    shows "100 % of $((($(cat a b | wc -c) + 500) / 1000)) kB, in 0:[0-9]{2}, 30.0k lines, 10.0k new, .*"
    at_terminal 80 -- sh -c '{ dd bs=100000 count=1 of=/dev/null 2>/dev/null; "$UNSEEN" --progress; } <a >got'
    shows "100 % of $((($(wc -c <a) + 500) / 1000 - 100))(\.[0-9]*)? kB, .*"
    at_terminal 80 -- sh -c '"$UNSEEN" --progress -m 100 <b >got'
    shows "[0-9]+ % of .*, 100 new, .*"
}

@test "sizes that nobody knows are not made up: pipes, and files of /proc" {
    local i
    input 10000 >in
    at_terminal 80 -- sh -c 'cat in | "$UNSEEN" --progress >got'
    shows "$at_end"
    at_terminal 80 -- sh -c 'cat in | "$UNSEEN" --progress --create f.bf in - >got'
    shows "$at_end"
    [[ -e /proc/self/status ]] || return 0
    at_terminal 80 -- sh -c '"$UNSEEN" --progress </proc/self/status >got'
    shows "$at_end"
}

@test "while a pipe is silent, the line goes on, with true rates" {
    input 10000 >in
    dribble in
    at_terminal 80 "[1-9]$size?.*10.0k lines, .*/s" : ' 0 B/s, 0 lines/s' 'echo >go' \
        -- sh -c '"$UNSEEN" --progress <pipe >got'
    [[ $code -eq 0 ]]
    drawn | grep -Eqx "$unknown"
    shows "$at_end"
}

@test "the line fits the terminal, and leaves out what does not" {
    local columns
    input 10000 >in
    for columns in 20 30 44 80 200; do
        at_terminal $columns -- sh -c '"$UNSEEN" --progress <in >got'
        [[ $code -eq 0 ]]
        drawn | awk -v most=$((columns - 1)) 'length > most { exit 1 }'
        shows '100 % of .*'
    done
    grep -q 'lines/s$' screen
}

@test "messages and lines on the same terminal do not mix with it" {
    input 300 >in
    lines_unique in >expected
    exits 0 unseen create f.bf
    mkfifo pipe
    {
        sed -n 1,99p in
        read -r _ <go
        sed -n '100,$p' in
    } >pipe 3>&- &
    mkfifo go
    at_terminal 80 ' 0 B/s, 0 lines/s' 'echo >go' -- "$UNSEEN" --progress f.bf missing pipe
    [[ $code -eq 2 ]]
    # missing, the lines, the last of progress
    sed -n 2,151p screen >got
    same got expected
    [[ $(wc -l <screen) -eq 152 ]]
    shows 'unseen: missing: No such file or directory.*'
    sed -n 152p screen >last
    shows "$at_end" last
}

@test "Ctrl-C: the last line stays, and the shell's next one is free" {
    input 100 >in
    dribble in
    at_terminal 80 "100 lines, " ^C -- sh -c 'exec "$UNSEEN" --progress <pipe >got'
    [[ $code -eq 130 ]]
    shows ".*, 100 lines, 50 new, .*"
    [[ $(tail -c 1 screen | wc -l) -eq 1 ]]
    echo >go
    # with something to clean up first
    rm pipe go
    dribble in
    at_terminal 80 "100 lines, " ^C -- sh -c 'exec "$UNSEEN" --progress --summary <pipe >got'
    [[ $code -eq 130 ]]
    shows ".*, 100 lines, 50 new, .*"
    shows 'unseen: .*100 lines read.*'
    echo >go
}

@test "Ctrl-Z: the line is cleared, and drawn again when it goes on" {
    input 100 >in
    dribble in
    at_terminal 80 '100 lines, ' ^Z '100 lines, ' 'echo >go' -- sh -c 'exec "$UNSEEN" --progress <pipe >got'
    [[ $code -eq 0 ]]
    # nothing is on the line when it stops, and the line comes after
    tr '\r' '\n' <raw | grep -q $'^\x1b\[K<stopped>'
    shows "$at_end"
}

@test "in the background, and where standard error is no terminal: nothing" {
    input 10000 >in
    at_terminal 80 -- sh -mc '"$UNSEEN" --progress <in >got & wait $!'
    run ! grep -q lines raw
    succeeds unseen --progress <in
    # shellcheck disable=SC2016
    at_terminal 80 -- env TERM=dumb sh -c '"$UNSEEN" --progress <in >got; echo end'
    shows end
    [[ $(wc -l <screen) -eq 1 ]]
}

@test "every command that reads lines takes it" {
    local command
    input 1000 >in
    exits 0 unseen create --counting f.bf
    exits 0 unseen create --queue q.bf
    for command in 'add f.bf' 'query f.bf' 'remove f.bf' 'push q.bf' 'key' 'plan'; do
        # shellcheck disable=SC2086
        at_terminal 80 -- sh -c '"$UNSEEN" '"${command%% *} --progress ${command#"${command%% *}"}"' in >got'
        [[ $code -eq 0 ]]
        shows '100 % of .*, 1\.00k lines.*'
    done
}

# --- SIGUSR1 ---------------------------------------------------------------------

report="unseen: ([0-9]+ % of )?$size(, (in )?[0-9:]+( left)?)?, $count lines(, $count [a-z]+)?, $rates"

# ready PID: its handler is there; before, the signal would end it. (Until it is the program, it is a
# shell, which has handlers of its own.)
ready() {
    [[ -r /proc/self/status ]] || skip "needs /proc"
    local name mask=0
    while [[ /proc/$1/exe -ef /proc/$$/exe ]]; do :; done
    until ((0x$mask & 0x200)); do
        while read -r name mask && [[ $name != SigCgt: ]]; do :; done <"/proc/$1/status" || return 0
    done
}

# storm FILE COMMAND...: runs it, with FILE as its input and `out` and `err`, while one SIGUSR1
# follows the other. Sets `asked`, how often it was.
storm() {
    local file=$1 feed both pid
    shift
    asked=0
    code=0
    rm -f feed
    mkfifo feed
    exec {both}<>feed
    exec {feed}>feed
    "$@" >"$out" 2>"$err" 3>&- <feed {both}>&- {feed}>&- &
    pid=$!
    ready $pid
    # It may need no input. If it does, it is there to be asked; later it may be done before that.
    ! kill -USR1 $pid || asked=1
    cat "$file" >&"$feed" 3>&- {both}>&- {feed}>&- &
    exec {both}>&- {feed}>&-
    while kill -USR1 $pid 2>/dev/null; do
        asked=$((asked + 1))
    done
    wait $pid || code=$?
}

# undisturbed CODE: so it ended, and all it said besides is in the file `said`.
undisturbed() {
    [[ $code -eq $1 ]] || complain "exit code should be $1"
    grep -Evx "$report" "$err" >rest || true
    same rest said
    [[ $asked -gt 0 ]]
}

@test "a storm of SIGUSR1 changes no byte: what prints" {
    local form wanted
    input 20000 >in
    awk '{print $0 "/and/so/on/for/a/while/as/addresses/do"}' in >long
    cat long long in >in.all
    exits 0 unseen create -n 3000 -p 0.5 full.bf
    exits 0 unseen add full.bf in
    for form in '-n 1000 -p 0.5 -j 1' '-n 1000 -p 0.5 -j 2' '-n 1000 -p 0.5 -j 2 -d' '--create -n 500 -p 0.5 f.bf' \
        'query -j 2 full.bf' 'query --tag full.bf' 'query -vc full.bf' 'key -f 2 -t /' '-m 7000 -p 0.5' \
        '--create -p 0.5 -j 2 f.bf -x cat' '--create -p 0.5 f.bf -x head -n 20'; do
        rm -f f.bf
        # shellcheck disable=SC2086
        capture "$UNSEEN" $form <in.all
        wanted=$code
        cp "$out" expected
        cp "$err" said
        rm -f f.bf
        # shellcheck disable=SC2086
        storm in.all "$UNSEEN" $form
        undisturbed "$wanted" || { echo "in: $form"; return 1; }
        same "$out" expected || { echo "in: $form"; return 1; }
        grep -Eqx "$report" "$err" || complain "said nothing: $form"
    done
}

@test "a storm of SIGUSR1 changes no byte: what remembers" {
    local form which
    input 20000 >in
    for form in '-n 500 -p 0.5' '--window 5000 -p 0.5' '--counting -n 500 -p 0.5' '--stage 1M -n 3M'; do
        # shellcheck disable=SC2086
        exits 0 unseen create $form --queue one.bf
        cp one.bf two.bf
        cp -r one.bf.queue two.bf.queue 2>/dev/null || true
        capture "$UNSEEN" push one.bf in
        sed 's/one\.bf/two.bf/g' "$err" >said
        storm in "$UNSEEN" push two.bf
        undisturbed 0 || { echo "in: $form"; return 1; }
        for which in one two; do
            exits 0 unseen query --tag $which.bf in
            cp "$out" $which.tagged
            exits 0 unseen pop -m 1000000 $which.bf
            cp "$out" $which.popped
        done
        same two.tagged one.tagged
        same two.popped one.popped
        [[ -s one.popped ]]
        rm -rf one.bf* two.bf*
    done
}

@test "a storm of SIGUSR1: --durable, --pending, remove, plan, pop" {
    input 20000 >in
    : >said
    exits 0 unseen --create -n 1M --counting f.bf <in
    cp "$out" expected
    storm expected "$UNSEEN" remove f.bf
    undisturbed 0
    storm in "$UNSEEN" --durable f.bf
    undisturbed 0
    same "$out" expected
    exits 0 unseen remove f.bf expected
    storm in "$UNSEEN" --pending p f.bf
    undisturbed 0
    same "$out" expected
    storm /dev/null "$UNSEEN" commit f.bf p
    [[ $code -eq 0 && ! -s $err ]]
    exits 0 unseen f.bf in
    prints ''
    capture "$UNSEEN" plan - <in
    cp "$out" expected
    storm in "$UNSEEN" plan -
    undisturbed 0
    same "$out" expected
    exits 0 unseen create --queue q.bf
    exits 0 unseen push q.bf in
    lines_unique in >expected
    storm /dev/null "$UNSEEN" pop q.bf -m 1000000
    [[ $code -eq 0 && ! -s $err ]]
    same "$out" expected
}

@test "SIGUSR1 at every system call: no read, write, open or lock fails" {
    need_strace
    local form
    input 5000 >in
    sed 's,$,/and/so/on/for/a/while/as/addresses/do,' in >long
    cat long >>in
    exits 0 unseen create e.bf
    for form in '--create -n 500 -p 0.5 -j 1 f.bf in' '--create -p 0.5 --window 900 -j 2 f.bf in' '--create --durable -j 1 f.bf in' \
        '--pending p e.bf in' '--create f.bf in -x cat'; do
        rm -rf f.bf* p
        # shellcheck disable=SC2086
        capture "$UNSEEN" $form
        cp "$out" expected
        cp "$err" said
        rm -rf f.bf* p
        # Only calls that come after the handler; and not every write, since a report is one.
        # shellcheck disable=SC2086
        capture strace -qq -o trace -e signal=none -e inject=write:signal=USR1:when=1+3 \
            -e inject=pwrite64,fcntl,fsync,fdatasync,fallocate,ftruncate,rename,linkat,unlink,wait4,waitid,pipe2,futex:signal=USR1 \
            "$UNSEEN" $form
        asked=1
        undisturbed 0 || { echo "in: $form"; return 1; }
        same "$out" expected
        [[ -s expected ]]
        grep -Eqx "$report" "$err"
    done
}

@test "before the first byte, in the wait for a FIFO's writer and for a lock" {
    local pid
    input 100 >in
    lines_unique in >expected
    mkfifo pipe
    "$UNSEEN" --create f.bf pipe >got 2>"$err" 3>&- &
    pid=$!
    filled "$err" # created: it opens the FIFO next
    kill -USR1 $pid
    until grep -q ' 0 lines' "$err"; do sleep 0.01; done
    exec {feed}>pipe
    : >"$err"
    kill -USR1 $pid
    filled "$err"
    grep -Eqx 'unseen: 0 B, 0 lines, 0 new, 0 B/s, 0 lines/s' "$err"
    cat in >&"$feed"
    exec {feed}>&-
    wait $pid
    same got expected
    # LOCK_CHANGE
    mkfifo hold
    exits 0 unseen create g.bf
    "${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}/holdlock" g.bf 4611686018427387904 <hold >held 3>&- &
    exec {hold}>hold
    filled held
    "$UNSEEN" g.bf <in >got 2>"$err" 3>&- {hold}>&- &
    pid=$!
    ready $pid
    until grep -Eq ' 0 lines' "$err"; do
        kill -USR1 $pid
        sleep 0.01
    done
    exec {hold}>&-
    wait $pid
    same got expected
}

@test "asked all the time, a wait for a lock still says so" {
    local i pids=()
    unseen create f.bf 2>/dev/null
    mkfifo hold
    "${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}/holdlock" f.bf 4611686018427387904 <hold >held 3>&- &
    exec {hold}>hold
    filled held
    for i in 1 2 3 4; do
        echo $i | "$UNSEEN" f.bf >got.$i 2>said.$i 3>&- {hold}>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do ready "$i"; done
    SECONDS=0
    # A signal that comes with the one that ends the wait must not take it away.
    for i in 1 2 3 4; do
        until grep -q 'waiting for another process' said.$i; do
            for _ in {1..2000}; do kill -USR1 "${pids[@]}"; done
            ((SECONDS < 30))
        done
    done
    exec {hold}>&-
    for i in "${pids[@]}"; do wait "$i"; done
    sort got.? | cmp - <(seq 4)
}

@test "pop goes on waiting" {
    local worker waiter
    mkfifo go
    exits 0 unseen create --queue q.bf
    exits 0 unseen push q.bf < <(echo 1)
    "$UNSEEN" pop q.bf -x sh -c 'read -r _ <go; exit 1' 2>/dev/null 3>&- &
    worker=$!
    until unseen stats --json q.bf | grep -q '"out":1'; do sleep 0.01; done
    "$UNSEEN" pop q.bf --until-done >got 3>&- &
    waiter=$!
    ready $waiter
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        kill -USR1 $waiter $worker
        sleep 0.02
    done
    kill -0 $waiter
    echo >go
    wait $worker || true
    wait $waiter
    echo 1 | cmp - got
}

@test "--durable: while signals come and no lines do, what was delivered is remembered in time" {
    local pid i
    seq 10 >in
    exits 0 unseen create -p 1e-9 f.bf
    mkfifo pipe
    "$UNSEEN" --durable f.bf pipe >got 2>"$err" 3>&- &
    pid=$!
    exec {feed}>pipe
    cat in >&"$feed"
    filled got
    kill -USR1 $pid # a wait that ends here, ends before its time
    for ((i = 0; i < 1000; i++)); do
        capture unseen query -c f.bf in
        [[ $(cat "$out") -ne 10 ]] || break # one may look while they are being put in
        sleep 0.01
    done
    [[ $(cat "$out") -eq 10 ]]
    exec {feed}>&-
    wait $pid
}

@test "an ignored SIGUSR1 stays ignored, also in CMD; else CMD has the default" {
    need_signals
    local pid
    mkfifo pipe
    env --ignore-signal=USR1 "$UNSEEN" --create f.bf pipe >got 2>"$err" 3>&- &
    pid=$!
    exec {feed}>pipe
    filled "$err"
    : >"$err"
    kill -USR1 $pid
    echo a >&"$feed"
    filled got
    kill -USR1 $pid
    exec {feed}>&-
    wait $pid
    silent_on_stderr
    exits 0 env --ignore-signal=USR1 "$UNSEEN" --create g.bf -x sh -c 'kill -USR1 $$; cat' < <(echo a)
    prints 'a\n'
    exits 3 env --default-signal=USR1 "$UNSEEN" --create h.bf -x sh -c 'kill -USR1 $$; cat' < <(echo a)
    grep -q 'killed by signal 10' "$err"
}

@test "standard error without a reader, or full, or the same pipe as the output" {
    input 20000 >in
    lines_unique in >expected
    : >said
    exits 0 unseen create f.bf
    mkfifo errors
    # nobody reads any more
    exec {open}<>errors
    exec {gone}>errors
    exec {open}>&-
    storm in bash -c "exec env --default-signal=PIPE '$UNSEEN' f.bf 2>&$gone"
    [[ $code -eq 0 ]]
    exec {gone}>&-
    same "$out" expected
    # nobody reads yet, and there is no room
    exits 0 unseen create --force f.bf
    exec {full}<>errors
    dd if=/dev/zero bs=4096 count=16 of=errors oflag=nonblock 2>/dev/null || true
    err=errors storm in "$UNSEEN" f.bf
    same "$out" expected
    [[ $asked -gt 0 ]]
    exec {full}>&-
    # both in one pipe, which is full when it is asked: the answer waits for the end of a line
    exits 0 unseen create --force f.bf
    "$UNSEEN" f.bf in >errors 2>errors 3>&- &
    pid=$!
    exec {both}<errors
    ready $pid
    until read -r -t 0 -u "$both" && grep -q '^State:.S' /proc/$pid/status; do sleep 0.1; done
    sleep 0.1
    kill -USR1 $pid
    dd bs=1000 <&"$both" 2>/dev/null >got
    wait $pid
    grep -Evx "$report" got >lines
    same lines expected
    [[ $(grep -Ecx "$report" got) -eq 1 ]]
}
