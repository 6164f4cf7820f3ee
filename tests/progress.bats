#!/usr/bin/env bats
# --progress: what it shows, and that nothing else is different.

load helper

# input LINES: LINES lines, each of them twice.
input() { seq -f 'http://example.org/%.0f/page' $(($1 / 2)) | sed p; }

# at_terminal COLUMNS [PATTERN DO]... -- COMMAND...: COMMAND on a terminal of its own; once it has
# shown PATTERN, "^C" is typed, or the words of DO are run by sh.
# `raw` gets what was sent to the terminal, `screen` what is on it in the end, `code` the exit code,
# 128 and more if it was ended by a signal.
at_terminal() {
    need python3
    code=0
    timeout -k 5 "$UNSEEN_TIMEOUT" python3 - "$@" <<'END' || code=$?
import fcntl, os, pty, re, signal, struct, subprocess, sys, termios

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
        else:
            subprocess.Popen(["sh", "-c", do])
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

# in_time: all lines of the screen together tell of no more time than has passed since SECONDS was 0. It may
# be more than a second: a machine may stand still for a while.
in_time() {
    local most=$SECONDS
    holds "$(sed -n 's/.*, in 0:\([0-9]*\), .*/\1/p' screen | paste -sd +) <= $most"
}

# drawn: the lines that were drawn, one each.
drawn() { tr '\r' '\n' <raw | sed -n 's/^\x1b\[K//p' | grep -v '^$'; }

# again COMMAND...: until there is ./seen, since a line is drawn at most once a second, and when some come.
again() {
    until "$@" && [[ -e seen ]]; do sleep 0.3; done
    rm seen
}

# dribble FILE: `pipe`, whose writer gives FILE, then a line "more" again and again until it is told to end.
dribble() {
    mkfifo pipe
    { cat "$1"; again echo more; } >pipe 3>&- &
}

size='[0-9.]+ [kMGT]?B'
rates="$size/s, [0-9]+ lines/s"
unknown="$size, [0-9]+ lines, [0-9]+ new, $rates"
at_end="$size, in [0-9:]+, [0-9]+ lines, [0-9]+ new, $rates"

@test "the last line stays, alone, and what was printed is the same; percent is of all that is left" {
    input 10000 >a
    input 20000 >b
    : >empty
    SECONDS=0
    at_terminal 80 -- sh -c '
        "$UNSEEN" --progress <a >got
        "$UNSEEN" --create --progress f.bf a empty b >got.2
        { dd bs=100000 count=1 of=/dev/null 2>/dev/null; "$UNSEEN" --progress; } <a >got.3
        "$UNSEEN" --progress -m 100 <b >got.4'
    [[ $code -eq 0 ]]
    in_time
    same got <(lines_unique a)
    shows "100% of $((($(wc -c <a) + 500) / 1000)) kB, in 0:[0-9]{2}, 10000 lines, 5000 new, $rates"
    shows "100% of $((($(cat a b | wc -c) + 500) / 1000)) kB, in 0:[0-9]{2}, 30000 lines, 10000 new, .*"
    shows "100% of $((($(wc -c <a) + 500) / 1000 - 100))(\.[0-9]*)? kB, .*"
    shows "[0-9]+% of .*, 100 new, .*"
    [[ $(wc -l <screen) -eq 5 && $(tail -c 1 screen | wc -l) -eq 1 ]]
}

@test "sizes that nobody knows are not made up: pipes, and files of /proc" {
    input 10000 >in
    at_terminal 80 -- sh -c '
        echo a | "$UNSEEN" --progress >got
        cat in | "$UNSEEN" --progress --create f.bf in - >got
        "$UNSEEN" --progress </proc/self/status >got'
    shows "2 B, in 0:[0-9]{2}, 1 line, 1 new, $rates"
    [[ $(grep -Ecx "$at_end" screen) -eq $([[ -e /proc/self/status ]] && echo 2 || echo 1) ]]
}

@test "while lines come, the line is drawn, with true rates" {
    input 10000 >in
    dribble in
    at_terminal 80 "100[0-9]+ lines, 5001 new, $size/s, [0-9]{1,4} lines/s" ': >seen' \
        -- sh -c '"$UNSEEN" --progress <pipe >got'
    [[ $code -eq 0 ]]
    drawn | grep -Eqx "$unknown"
    shows "$at_end"
}

@test "the line fits the terminal, and leaves out what does not" {
    local columns
    input 10000 >in
    for columns in 20 44 200; do
        at_terminal $columns -- sh -c '"$UNSEEN" --progress <in >got'
        [[ $code -eq 0 ]]
        drawn | awk -v most=$((columns - 1)) 'length > most { exit 1 }'
        shows '100% of .*'
    done
    grep -q 'lines/s$' screen
}

@test "messages and lines on the same terminal do not mix with it" {
    input 300 >in
    lines_unique in >expected
    exits 0 unseen create f.bf
    mkfifo pipe
    {
        sed -n 1,99p in && again sed -n 100p in
        sed -n 101,299p in && again sed -n 300p in
    } >pipe 3>&- &
    at_terminal 80 '1[0-9][0-9] lines, ' ': >seen' '[3-9][0-9][0-9] lines, ' ': >seen' \
        -- "$UNSEEN" --progress f.bf missing pipe gone
    [[ $code -eq 2 ]]
    # missing, the lines, gone, the last of progress
    sed -n 2,151p screen >got
    same got expected
    [[ $(wc -l <screen) -eq 153 ]]
    shows 'unseen: missing: No such file or directory.*'
    shows 'unseen: gone: No such file or directory.*'
    sed -n 153p screen >last
    shows "$at_end" last
}

@test "Ctrl-C: the last line stays, and the shell's next one is free" {
    input 100 >in
    dribble in
    at_terminal 80 "1[0-9][0-9] lines, 51 new, " ^C -- sh -c 'exec "$UNSEEN" --progress --summary <pipe >got'
    [[ $code -eq 130 ]]
    shows ".*, 1[0-9]* lines, 51 new, .*"
    shows 'unseen: .* lines read, 51 printed.*'
    [[ $(tail -c 1 screen | wc -l) -eq 1 ]]
    echo >go
}

@test "in the background, and where standard error is no terminal: nothing" {
    input 10000 >in
    at_terminal 80 -- sh -mc '"$UNSEEN" --progress <in >got & wait $!'
    run ! grep -q lines raw
    succeeds unseen --progress <in
    at_terminal 80 -- env TERM=dumb sh -c '"$UNSEEN" --progress <in >got; echo end'
    shows end
    [[ $(wc -l <screen) -eq 1 ]]
}

@test "every command that reads lines takes it" {
    input 1000 >in
    exits 0 unseen create --counting f.bf
    exits 0 unseen create q.bf
    at_terminal 80 -- sh -c '
        for command in "add f.bf" "query f.bf" "remove f.bf" "push q.bf" key plan "shard 2"; do
            "$UNSEEN" --progress $command in >got || exit
        done'
    [[ $code -eq 0 ]]
    [[ $(grep -Ecx '100% of .*, 1000 lines.*' screen) -eq 7 ]]
}
