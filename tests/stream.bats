#!/usr/bin/env bats
# P6: a pipe stays a pipe. A line comes out as soon as it has come in, and
# memory is bounded whatever comes.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load helper
load crash

# ping_pong ARGUMENT...: sends a line and waits for it before sending the next.
ping_pong() {
    local i
    converse "$UNSEEN" "$@"
    for ((i = 1; i <= 200; i++)); do
        say "line $i"
        hear "line $i"
    done
    farewell
}

@test "a line comes out before the next is sent: in memory, with a filter file, while that grows" {
    ping_pong
    ping_pong --create f.bf
    succeeds unseen query -c f.bf < <(seq -f 'line %.0f' 300)
    prints '200\n'
    ping_pong --create -n 10 g.bf
}

@test "a line that came out is remembered before the next one comes" {
    local i
    converse "$UNSEEN" --create f.bf
    for i in 1 2 3; do
        say "$i"
        hear "$i"
        # a second writer must not print it: it is in flight, or settled
        succeeds unseen f.bf < <(echo "$i")
        prints ''
    done
    farewell
    succeeds unseen query -c f.bf < <(seq 5)
    prints '3\n'
}

# in_the_end COUNT: so many lines of ./in are remembered, sooner or later.
in_the_end() {
    local i
    for ((i = 0; i < 1000; i++)); do
        [[ $("$UNSEEN" query -c f.bf in) -ne $1 ]] || return 0
        sleep 0.01
    done
    echo "remembered: $("$UNSEEN" query -c f.bf in), and not $1"
    return 1
}

# talk COUNT: so many lines of ./in go in one by one, each when the one before has come out. Fails when no
# more come out.
talk() {
    local line
    while IFS= read -r line; do
        say "$line" && hear "$line" || return 1
    done < <(sed "$1q" in)
}

@test "in a pause, in a line, too, all that came out is remembered; a kill then repeats nothing" {
    input 60 >in
    exits 0 unseen create -p 1e-9 f.bf
    converse "$UNSEEN" f.bf
    talk 50
    printf 'http://example' >&"$ask"
    in_the_end 50
    kill -9 "$pid"
    farewell || true
    exits 0 unseen f.bf in
    same "$out" <(tail -n 10 in)
}

@test "lines one by one, killed at every system call: none is lost, at most one comes twice" {
    need_strace
    local call when twice kills=0
    input 9 >in
    trap '' PIPE # to talk to who was killed is no reason to die
    for call in read write fcntl newfstatat; do
        for when in {2..24}; do
            exits 0 unseen create --force -p 1e-9 f.bf
            converse strace -D -qq -s 99 -o trace -e "inject=$call:signal=KILL:when=$when" "$UNSEEN" f.bf
            talk 9 >/dev/null 2>&1 || true
            farewell && continue
            kills=$((kills + 1))
            # What came out without having been heard came out as well.
            grep -a '^write(1' trace | sed 's/^write(1, "\(.*\)\\n".*= [0-9]*$/\1/; t; d' >part
            "$UNSEEN" f.bf in >again
            none_lost in part again || { echo "$call $when"; return 1; }
            twice=$(sort part again | uniq -d | wc -l)
            [[ $twice -le 1 ]] || { echo "$call $when: $twice twice"; return 1; }
        done
    done
    echo "$kills kills"
    [[ $kills -ge 50 ]]
}

@test "a line held back keeps nothing else back" {
    local i
    converse "$UNSEEN"
    say same
    hear same
    for ((i = 1; i <= 50; i++)); do
        say "same"$'\n'"$i"
        hear "$i"
    done
    farewell
}

@test "an unfinished line waits for its end, finished ones do not wait for it" {
    converse "$UNSEEN"
    printf 'one\ntw' >&"$ask"
    hear one
    printf 'o\nthr' >&"$ask"
    hear two
    exec {ask}>&-
    hear thr
    wait "$pid"
}

@test "-m N ends at once: it does not wait for the end of input" {
    converse "$UNSEEN" -m 2
    say a
    hear a
    say b
    hear b
    wait "$pid"
}

@test "several writers to one fifo: it ends when the last has gone" {
    mkfifo pipe
    timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" <pipe >got 3>&- &
    local pid=$! feed
    exec {feed}>pipe
    seq 1 5 >&"$feed"
    (seq 4 8 >&"$feed")
    (seq 6 10 >pipe)
    exec {feed}>&-
    wait "$pid"
    seq 10 >wanted
    same got wanted
}

# --- memory ------------------------------------------------------------------

# half_gigabyte: 1000 lines of 1000 bytes, again and again.
half_gigabyte() {
    awk 'BEGIN { s = sprintf("%990s", ""); gsub(/ /, "u", s)
        for (i = 0; i < 1000; i++) printf "%09d%s\n", i, s }' >thousand
    local i
    for ((i = 0; i < 500; i++)); do
        cat thousand
    done
}

@test "memory does not grow with the length of the input" {
    need_memory_figures
    half_gigabyte | {
        peak_of "$UNSEEN" --create f.bf >got
        [[ $peak -lt 64000 ]]
    }
    same got thousand
    half_gigabyte | {
        peak_of "$UNSEEN" >got
        [[ $peak -lt 64000 ]]
    }
}

@test "memory with many new lines is the filter and some buffers" {
    need_memory_figures
    # 2 million keys at 1e-6 are 7.5 MB; DESIGN allows 2.2 x of that, and 64 MB below
    seq 2000000 | {
        peak_of "$UNSEEN" >got
        [[ $peak -lt 80000 ]]
    }
    seq 2000000 | {
        peak_of "$UNSEEN" -n 2M >got
        [[ $peak -lt 40000 ]]
    }
}

@test "a long line leaves: memory is not kept for each of many" {
    need_memory_figures
    # 8 lines of 10 MB: the longest line, not their sum
    for i in 1 2 3 4 5 6 7 8; do
        head -c 10000000 /dev/zero | tr '\0' "$i"
        echo
    done | {
        peak_of "$UNSEEN" >got
        [[ $peak -lt 64000 ]]
    }
    [[ $(wc -c <got) -eq 80000008 ]]
}

@test "a long line after another: one copy of one line, with -j, --tag, query, -x, -z" {
    need_memory_figures
    local command
    lines() {
        local i
        for i in 1 2 3; do
            head -c 32000000 /dev/zero | tr '\0' "$i"
            [[ $i -eq 3 ]] || printf '\n'
        done
    }
    for command in '-j 1' '-j 2' '-z' '-j 2 f.bf' 'query --tag f.bf' 'query -j 2 -v empty.bf' 'f.bf -x cat'; do
        rm -f f.bf empty.bf
        "$UNSEEN" create f.bf
        "$UNSEEN" create empty.bf
        # shellcheck disable=SC2086
        lines | if [[ $command == -z ]]; then tr '\n' '\0'; else cat; fi | {
            # query exits with 1 if no line is in
            peak_of "$UNSEEN" $command >got || true
            [[ $peak -lt 45000 ]] || { echo "$command"; false; }
        }
        [[ $(wc -c <got) -ge 96000003 ]]
    done
    [[ $(tr -d 123 <got | wc -l) -eq 3 ]]
}

# available: megabytes of memory that a program can have without swapping.
available() {
    awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || echo 0
}

# bats test_tags=slow
@test "a line of 900 MB, twice, and one that differs in its last byte" {
    [[ $(available) -ge 4000 ]] || skip "needs 4 GB of free memory"
    plain_build "makes this line take minutes"
    giant() { head -c 900000000 /dev/zero | tr '\0' g; }
    { giant; echo; echo short; giant; echo; echo short; giant; echo h; } |
        timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" |
        cmp - <(giant; echo; echo short; giant; echo h)
    local status=("${PIPESTATUS[@]}")
    [[ ${status[1]} -eq 0 && ${status[2]} -eq 0 ]] || { echo "${status[@]}"; false; }
}

# bats test_tags=slow
@test "a line of 900 MB with a filter file, and without a newline" {
    [[ $(available) -ge 4000 ]] || skip "needs 4 GB of free memory"
    plain_build "makes this line take minutes"
    giant() { head -c 900000000 /dev/zero | tr '\0' g; }
    exits 0 unseen create f.bf
    giant | timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" f.bf | cmp - <(giant; echo)
    local status=("${PIPESTATUS[@]}")
    [[ ${status[1]} -eq 0 && ${status[2]} -eq 0 ]] || { echo "${status[@]}"; false; }
    succeeds unseen f.bf < <(giant; echo)
    prints ''
}

@test "a large filter is read ahead by slices: what has arrived does not wait for all of it" {
    need_strace
    unseen create -n 100M seen.bf
    seq -f '%080g' 100000 >in
    strace -f -o trace -e trace=madvise "$UNSEEN" seen.bf in >out
    cmp in out
    awk -F'[ ,()]+' '/MADV_POPULATE_READ/ { n++; sum += $4; if ($4 > 16 * 1024 * 1024) exit 1 }
        END { exit !(n > 20 && sum > 350 * 1024 * 1024) }' trace
}
