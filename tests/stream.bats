#!/usr/bin/env bats
# P6: a pipe stays a pipe. A line comes out as soon as it has come in, and
# memory is bounded whatever comes.

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
    input 3 >in
    trap '' PIPE # to talk to who was killed is no reason to die
    for call in read write fcntl newfstatat; do
        for when in {2..12}; do
            rm -f trace
            exits 0 unseen create --force -p 1e-9 f.bf
            converse strace -D -qq -s 99 -o trace -e "inject=$call:signal=KILL:when=$when" "$UNSEEN" f.bf
            talk 3 >/dev/null 2>&1 || true
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
    [[ $kills -ge 20 ]]
}

@test "what waits keeps nothing else back: a repeat, an unfinished line, an input that does not end after -m" {
    local i
    converse "$UNSEEN" -m 53
    say same
    hear same
    for ((i = 1; i <= 50; i++)); do
        say "same"$'\n'"$i"
        hear "$i"
    done
    printf 'one\ntw' >&"$ask"
    hear one
    say o
    hear two
    # The 53rd: it does not wait for the end of input.
    wait "$pid"
    exec {ask}>&- {answer}<&-
    converse "$UNSEEN"
    printf 'unfinished' >&"$ask"
    exec {ask}>&-
    hear unfinished
    wait "$pid"
}

# --- memory ------------------------------------------------------------------

# peaks_below KB ARGUMENT...: the largest size of the program over this standard input; its output is ./got.
peaks_below() {
    local most=$1
    shift
    # query exits with 1 if no line is in
    peak_of "$UNSEEN" "$@" >got || true
    [[ $peak -lt $most ]] || { echo "$*: $peak KB"; return 1; }
}

@test "memory is that of the filter and some buffers: for long inputs, and for many new lines" {
    need_memory_figures
    # 150 MB: a thousand lines of a thousand bytes, again and again.
    awk 'BEGIN { s = sprintf("%990s", ""); gsub(/ /, "u", s)
        for (i = 0; i < 1000; i++) printf "%09d%s\n", i, s }' >thousand
    local i
    for ((i = 0; i < 150; i++)); do cat thousand; done >in
    peaks_below 64000 --create f.bf <in
    same got thousand
    peaks_below 64000 <in
    same got thousand
    rm in
    # 2 million keys at 1e-6 are 7.5 MB; without -n layers may be 2.2 times as large
    seq 2000000 | peaks_below 80000
    seq 2000000 | peaks_below 40000 -n 2M
}

@test "long lines: memory for one copy of the longest, not for each; with -j, --tag, query, -x, -z" {
    need_memory_figures
    local command
    lines() {
        local i
        for i in 1 2 3; do
            head -c 24000000 /dev/zero | tr '\0' "$i"
            [[ $i -eq 3 ]] || printf '\n'
        done
    }
    for command in '-j 1' '-j 2' '-z' '-j 2 f.bf' 'query --tag f.bf' '--tag empty.bf' 'query -j 2 -v empty.bf' 'f.bf -x cat'; do
        exits 0 unseen create --force f.bf
        exits 0 unseen create --force empty.bf
        lines | if [[ $command == -z ]]; then tr '\n' '\0'; else cat; fi | peaks_below 37000 $command
        [[ $(wc -c <got) -ge 72000003 ]]
    done
    [[ $(tr -d 123 <got | wc -l) -eq 3 ]]
}

@test "long lines: memory for the key of the longest: as much again; with CSV and JSON more" {
    need_memory_figures
    local command bytes most
    while IFS='|' read -r command bytes most; do
        # 24 MB; the keys of the last row of each are as long as they can be.
        { printf '{"a":"'; head -c 24000000 /dev/zero | tr '\0' x | sed "s/$(printf x%.0s {1..8})/$bytes/g"; printf '"}\n'; } |
            eval "peaks_below $most $command"
        [[ $(wc -c <got) -gt 24000000 ]]
    done <<'END'
-j 1 -i|xxxxxxxx|61000
-j 1 -t , -f 1,3|,xxxxxxx|61000
-j 1 --max-line 30M --csv -f 1|,xxxxxxx|37000
-j 1 --max-line 30M --csv|,x"xxx"x|109000
-j 1 --jsonl -f a|xxxxxxxx|37000
-j 1 --jsonl -f a,/a -i|\\nxx\\nxx|109000
END
}

@test "a line of 300 MB, twice, and one that differs in its last byte, without its newline" {
    [[ $(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo) -ge 1500 ]] ||
        skip "needs 1.5 GB of free memory"
    plain_build "makes this line take minutes"
    # Of NULs: a hole that takes no room, and no time to make.
    truncate -s 300000000 giant
    cp --sparse=always giant other
    printf h >>other
    echo short >short
    exits 0 unseen create f.bf
    timeout -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" f.bf giant short giant other short |
        cmp - <(cat giant; printf '\nshort\n'; cat other; echo)
    local status=("${PIPESTATUS[@]}")
    [[ ${status[0]} -eq 0 && ${status[1]} -eq 0 ]] || { echo "${status[@]}"; false; }
}

@test "a large filter on disk is read ahead, by pieces of 128 KB; of one in memory, 16 MB" {
    need_strace
    [[ $(stat -f -c %T .) == ext2/ext3 ]] || skip "needs a file system whose pages can be dropped"
    unseen create -n 100M seen.bf
    seq -f '%080g' 100000 >in
    unseen add seen.bf in
    sync seen.bf
    dd of=seen.bf oflag=nocache conv=notrunc,fdatasync count=0 status=none </dev/null
    strace -f -o trace -e trace=fadvise64 "$UNSEEN" query -c seen.bf in
    awk -F'[ ,()]+' '/FADV_WILLNEED/ { sum += $5; if ($5 > 128 * 1024) exit 1 } END { exit !(sum > 300e6) }' trace
    strace -f -o again -e trace=fadvise64 "$UNSEEN" query -c seen.bf in
    awk -F'[ ,()]+' '/FADV_WILLNEED/ { sum += $5 } END { exit !(sum <= 16 * 1024 * 1024) }' again
}

@test "pages are mapped for writing in a run that will change nearly all of them, and in no other" {
    need_strace
    [[ $(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo) -ge 5000 ]] || skip "needs 5 GB of memory"
    # 93,000 pages: four new lines for each; then 30,000 new ones, for a third of them, in as many lines.
    unseen create -n 100M seen.bf
    seq -f '%080g' 600000 >in
    strace -f -o all -e trace=madvise "$UNSEEN" add seen.bf in
    [[ $(grep -c MADV_POPULATE_WRITE all) -ge 10 ]]
    sed 's/^0\(.*[02468]0\)$/x\1/' in >some
    strace -f -o few -e trace=madvise "$UNSEEN" add seen.bf some
    [[ $(unseen query -c seen.bf some) -eq 600000 ]]
    [[ $(grep -c MADV_POPULATE_WRITE few) -eq 0 ]]
}
