#!/usr/bin/env bats
# stats: the truth about a filter at any fill.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load helper

@test "text: says everything that it must" {
    exits 0 unseen --create -n 20000 -p 1e-4 f.bf < <(seq 5000)
    succeeds unseen stats f.bf
    local word
    for word in f.bf capacity layers lines fill size 'bits per key' hashes hash seed 'false-positive rate' 'rate now'; do
        grep -Eiq -e "$word" "$out" || complain "stats says nothing of: $word"
    done
    grep -q 20000 "$out" || complain "no capacity"
    grep -Eiq 'xxh3' "$out" || complain "no name of the hash"
}

@test "text in a pipe has no escape sequences and no bytes outside ASCII" {
    exits 0 unseen --create -n 20000 -p 1e-4 f.bf < <(seq 5000)
    succeeds unseen stats f.bf
    [[ $(tr -d '\12\40-\176' <"$out" | wc -c) -eq 0 ]] || complain "odd bytes"
}

# The rows before the picture, and no more.
report_of() {
    succeeds unseen stats "$1"
    grep -v '^layer [0-9]' "$out" >report
}

@test "on a terminal it draws how full each layer is" {
    need_terminal
    exits 0 unseen --create -n 20000 -p 1e-4 f.bf < <(seq 15000)
    report_of f.bf
    on_terminal 60 C "'$UNSEEN' stats f.bf" >terminal
    { cat report -; } >wanted <<'END'

  layer 1 ##########.|.............   39 %  15K of 20K
Fill by layer; | marks where a layer is full.
END
    same terminal wanted
    on_terminal 60 en_US.UTF-8 "'$UNSEEN' stats f.bf" | tail -n 2 >terminal
    printf '%s\n' '  layer 1 ██████████·│·············   39 %  15K of 20K' \
        'Fill by layer; │ marks where a layer is full.' | cmp terminal -
    # Past what it was made for.
    exits 0 unseen create --fixed -n 1000 full.bf
    exits 0 unseen add full.bf < <(seq 20000)
    on_terminal 40 C "'$UNSEEN' stats full.bf" | sed '1,/^$/d' >terminal
    head -n 1 terminal | grep -Eqx '  layer 1 #+\|#+  100 %'
    # Many layers, and the generation that is being filled.
    exits 0 unseen create -n 1000 many.bf
    exits 0 unseen add many.bf < <(seq 500000)
    on_terminal 130 C "'$UNSEEN' stats many.bf" >terminal
    [[ $(grep -Ec '^ *layer [0-9]+ [#.|]+ +[0-9]+ %  [0-9.]+K? of [0-9.]+K?  rate [0-9.e-]+ of [0-9.e-]+$' terminal) -gt 3 ]]
    exits 0 unseen create --window 1000 window.bf
    exits 0 unseen add window.bf < <(seq 1100)
    on_terminal 80 C "'$UNSEEN' stats window.bf" >terminal
    [[ $(grep -Ec '^  layer [1-5] [#.|]+ +[0-9]+ %  100 of 250  filling$' terminal) -eq 1 ]]
    [[ $(grep -Ec '^  layer [1-5] [#.|]+ +[0-9]+ %  [0-9]+ of 250  full$' terminal) -eq 4 ]]
}

@test "on a terminal --json draws nothing; nor does anything into a pipe or a file" {
    need_terminal
    exits 0 unseen --create -n 100 f.bf < <(seq 5000)
    succeeds unseen stats --json f.bf
    on_terminal 80 C "'$UNSEEN' stats --json f.bf" | cmp - "$out"
    succeeds unseen stats f.bf
    grep -Eq '^layer 2: [0-9]+ lines, [0-9]+ at capacity, ' "$out"
    on_terminal 80 C.UTF-8 "'$UNSEEN' stats f.bf | cat >pipe; '$UNSEEN' stats f.bf >file" >terminal
    [[ ! -s terminal ]]
    cmp pipe "$out"
    cmp file "$out"
}

@test "one bad FILTER of several: a message, the rest go on, exit 2" {
    exits 0 unseen --create a.bf < <(seq 10)
    echo text >list.txt
    unchanged exits 2 unseen stats --json a.bf nofile.bf list.txt a.bf
    says_lines 2 'nofile\.bf: No such file or directory' 'list\.txt: is not a filter'
    [[ $(wc -l <"$out") -eq 2 ]]
}

@test "layers are counted as it grows" {
    exits 0 unseen --create -n 1000 f.bf < <(seq 100000)
    succeeds unseen stats --json f.bf
    holds "$(field layer_count) > 1"
    holds "$(field lines) > 99000 && $(field lines) < 101000"
    holds "$(field size_bytes) <= $(stat -c %s f.bf)"
    holds "$(field rate) <= 1e-6"
}

# truth RATE: a fixed filter of 100000 at that rate, filled to 0.1, 0.5, 1, 2
# and 5 times its capacity. keys within 1 % while the fill is below 99 %; the
# rate within 10 %, or 6 sigma of what a million disjoint queries can tell. A
# key that was dropped as a false positive had all its bits set already, so the
# bits tell how many were offered, not how many were printed.
truth() {
    local p=$1 n=100000 filled=0 upto keys rate hits queries=1000000
    exits 0 unseen create -n "$n" -p "$p" --fixed f.bf
    seq 1000001 "$((1000000 + queries))" >disjoint
    for upto in 10000 50000 100000 200000 500000; do
        exits 0 unseen add f.bf < <(seq "$((filled + 1))" "$upto")
        filled=$upto
        succeeds unseen stats --json f.bf
        keys=$(field lines)
        rate=$(field rate)
        capture unseen query -c f.bf disjoint
        hits=$(cat "$out")
        echo "p=$p n=$n held=$upto keys=$keys rate=$rate measured=$hits/$queries"
        holds "$keys >= 0.99 * $upto && $keys <= 1.01 * $upto"
        holds "$hits <= 1.1 * $rate * $queries + 6 * sqrt($rate * $queries) + 1"
        holds "$hits >= 0.9 * $rate * $queries - 6 * sqrt($rate * $queries) - 1"
    done
}

@test "keys and rate against the truth at 0.1, 0.5, 1, 2, 5 x n: p = 1e-2" {
    truth 1e-2
}

@test "keys and rate against the truth at 0.1, 0.5, 1, 2, 5 x n: p = 1e-4" {
    truth 1e-4
}

# about A B PART: they differ by less than PART of B and 6 standard deviations.
about() { holds "($1 - $2)^2 < ($3 * $2 + 6 * sqrt($2) + 1)^2"; }

@test "at high rates: the lines that came, dropped ones, too" {
    local p kind n
    for p in 0.5 0.1; do
        for kind in '-n 100k' '-n 100k --fixed' '-n 100k --counting'; do
            for n in 50000 250000; do
                rm -f f.bf
                # shellcheck disable=SC2086 # words
                exits 0 unseen create -p $p $kind f.bf
                exits 0 unseen add f.bf < <(seq $n)
                succeeds unseen stats --json f.bf
                about "$(field lines)" $n 0.01 || complain "$p $kind $n: lines"
                [[ $n -gt 50000 ]] || holds "$(field capacity) == 100000" || complain "$p $kind: capacity"
            done
        done
    done
}

@test "at high rates: it grows when as many lines have come as stats said" {
    local p first=40000 left
    for p in 0.5 0.1; do
        exits 0 unseen create --force -n 100k -p $p f.bf
        exits 0 unseen f.bf < <(seq $first)
        succeeds unseen stats --json f.bf
        left=$(field lines_left)
        exits 0 unseen f.bf < <(seq $((first + 1)) $((first + left * 98 / 100)))
        silent_on_stderr
        exits 0 unseen f.bf < <(seq $((first + left * 98 / 100)) $((first + left * 102 / 100)))
        says "^unseen: f\\.bf: holds 100000 of 100000 lines, and grows \\(its rate stays below $p\\)$"
    done
}

@test "at high rates: in a window, the lines that were printed, and are not forgotten" {
    local p n each=2500 lines
    for p in 0.5 0.1; do
        # None of them forgotten, and many.
        for n in 5000 12000 40000; do
            exits 0 unseen create --force -p $p --window 10000 f.bf
            capture unseen f.bf < <(seq $n)
            lines=$(wc -l <"$out")
            [[ $lines -le $((5 * each)) ]] || lines=$((4 * each + (lines - 1) % each + 1))
            succeeds unseen stats --json f.bf
            about "$(field lines)" "$lines" 0.01 || complain "$p $n: not $lines lines"
        done
    done
}

@test "stats of a full filter: no division by zero, a rate of at most 1" {
    exits 0 unseen create -n 1000 -p 0.5 --fixed f.bf
    exits 0 unseen add f.bf < <(seq 1000000)
    exits 0 unseen stats --json f.bf
    holds "$(field rate) > 0.99 && $(field rate) <= 1"
    holds "$(field lines) > 10000"
    exits 0 unseen stats f.bf
}

@test "a layer that is read in two halves" {
    need taskset
    exits 0 unseen create -n 20M f.bf
    exits 0 unseen add f.bf < <(seq 200000)
    succeeds unseen stats --json f.bf
    holds "$(field lines) > 198000 && $(field lines) < 202000"
    cp "$out" first
    # In how many threads, and when, must not show.
    succeeds taskset -c 0 "$UNSEEN" stats --json f.bf
    cmp first "$out"
}

@test "stats of one key" {
    exits 0 unseen --create f.bf < <(echo one)
    succeeds unseen stats --json f.bf
    holds "$(field lines) >= 0.5 && $(field lines) <= 1.5"
}

@test "the seed is told" {
    exits 0 unseen --create --seed 1234567890123456789 f.bf </dev/null
    succeeds unseen stats f.bf
    grep -q 1234567890123456789 "$out" || grep -iq 112210f47de98115 "$out" || complain "no seed"
}

# ends_by CODE SIGNAL COMMAND...: it ends soon after the signal, and by it.
ends_by() {
    local wanted=$1 signal=$2 pid status=0
    shift 2
    env --default-signal="$signal" "$@" >"$out" 2>"$err" 3>&- &
    pid=$!
    sleep 0.5
    kill -s "$signal" "$pid"
    for _ in {1..200}; do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" || status=$?
    [[ $status -eq $wanted ]] || complain "$signal: $status: $*"
}

@test "a signal ends stats and verify, however much there is to read" {
    need_signals
    need_preload sparse
    LD_PRELOAD=$preload capture unseen create --size 3800G large.bf
    [[ $code -eq 0 ]] || skip "no file of 3.8 TB can be made here (TMPDIR on xfs or tmpfs)"
    exits 0 unseen create small.bf
    local command
    for command in 'stats large.bf' 'stats --json small.bf large.bf' 'verify large.bf'; do
        # shellcheck disable=SC2086 # words
        ends_by 130 INT "$UNSEEN" $command
        # shellcheck disable=SC2086
        ends_by 143 TERM "$UNSEEN" $command
    done
}
