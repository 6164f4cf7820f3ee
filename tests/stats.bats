#!/usr/bin/env bats
# stats: the truth about a filter at any fill.

load helper
load crash

@test "text: says everything that it must, without escape sequences, and in ASCII" {
    local word
    exits 0 unseen --create -n 20000 -p 1e-4 --seed 1234567890123456789 f.bf < <(seq 5000)
    succeeds unseen stats f.bf
    for word in f.bf capacity 20000 layers lines fill size 'bits per key' hashes hash xxh3 seed \
        1234567890123456789 'false-positive rate' 'rate now'; do
        grep -Eiq -e "$word" "$out" || complain "stats says nothing of: $word"
    done
    [[ $(tr -d '\12\40-\176' <"$out" | wc -c) -eq 0 ]] || complain "odd bytes"
}

@test "on a terminal it draws how full each layer is" {
    need_terminal
    exits 0 unseen --create -n 20000 -p 1e-4 f.bf < <(seq 15000)
    # The rows before the picture, and no more.
    succeeds unseen stats f.bf
    grep -v '^layer [0-9]' "$out" >report
    on_terminal 60 C "'$UNSEEN' stats f.bf" >terminal
    { cat report -; } >wanted <<'END'

  layer 1 ##########.|.............   39%  15K of 20K
Fill by layer; | marks where a layer is full.
END
    same terminal wanted
    on_terminal 60 en_US.UTF-8 "'$UNSEEN' stats f.bf" | tail -n 2 >terminal
    printf '%s\n' '  layer 1 ██████████·│·············   39%  15K of 20K' \
        'Fill by layer; │ marks where a layer is full.' | cmp terminal -
    # Past what it was made for.
    exits 0 unseen create --fixed -n 1000 full.bf
    exits 0 unseen add full.bf < <(seq 20000)
    on_terminal 40 C "'$UNSEEN' stats full.bf" | sed '1,/^$/d' >terminal
    head -n 1 terminal | grep -Eqx '  layer 1 #+\|#+  100%'
    # Many layers, and the generation that is being filled.
    exits 0 unseen create -n 1000 many.bf
    exits 0 unseen add many.bf < <(seq 500000)
    on_terminal 130 C "'$UNSEEN' stats many.bf" >terminal
    [[ $(grep -Ec '^ *layer [0-9]+ [#.|]+ +[0-9]+%  [0-9.]+K? of [0-9.]+K?  rate [0-9.e-]+ of [0-9.e-]+$' terminal) -gt 3 ]]
    exits 0 unseen create --window 1000 window.bf
    exits 0 unseen add window.bf < <(seq 1100)
    on_terminal 80 C "'$UNSEEN' stats window.bf" >terminal
    [[ $(grep -Ec '^  layer [1-5] [#.|]+ +[0-9]+%  100 of 250  filling$' terminal) -eq 1 ]]
    [[ $(grep -Ec '^  layer [1-5] [#.|]+ +[0-9]+%  [0-9]+ of 250  full$' terminal) -eq 4 ]]
    # --json draws nothing; nor does anything into a pipe or a file.
    exits 0 unseen create --force -n 100 f.bf
    exits 0 unseen add f.bf < <(seq 5000)
    succeeds unseen stats --json f.bf
    on_terminal 80 C "'$UNSEEN' stats --json f.bf" | cmp - "$out"
    succeeds unseen stats f.bf
    grep -Eq '^layer 2: [0-9]+ lines, [0-9]+ at capacity, ' "$out"
    on_terminal 80 C.UTF-8 "'$UNSEEN' stats f.bf | cat >pipe; '$UNSEEN' stats f.bf >file" >terminal
    [[ ! -s terminal ]]
    cmp pipe "$out"
    cmp file "$out"
}

@test "layers are counted as it grows" {
    local ones
    exits 0 unseen --create -n 1000 f.bf < <(seq 100000)
    succeeds unseen stats --json f.bf
    holds "$(field layer_count) > 1"
    holds "$(field lines) > 99000 && $(field lines) < 101000"
    holds "$(field size_bytes) <= $(stat -c %s f.bf)"
    holds "$(field rate) <= 1e-6"
    # The fill is that of all layers together, which are the rest of the file.
    ones=$(tail -c +69633 f.bf | od -An -v -tu1 -w1 |
        awk '{ for (byte = $1; byte > 0; byte = int(byte / 2)) ones += byte % 2 } END { print ones }')
    holds "($(field fill) - $ones / (8 * ($(bytes_of f.bf) - 69632)))^2 < 1e-6"
}

# about A B PART: they differ by less than PART of B and 6 standard deviations.
about() { holds "($1 - $2)^2 < ($3 * $2 + 6 * sqrt($2) + 1)^2"; }

@test "at high rates: the lines that came, dropped ones, too" {
    local p kind n
    for p in 0.5 0.1; do
        for kind in '-n 100k' '-n 100k --fixed' '-n 100k --counting'; do
            for n in 50000 250000; do
                exits 0 unseen create --force -p $p $kind f.bf
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
        says '^unseen: f\.bf: more than 100000 lines \(-n\); grew to '
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
            holds "$(field capacity) == $((5 * each))" || complain "$p $n: capacity"
        done
    done
}

# tells RATE_LEAST RATE_MOST: stats, --summary and the warning tell the same about r.bf: a rate between these,
# and the lines in ./told, or at least so many.
tells() {
    local rate lines
    succeeds unseen stats r.bf
    lines=$(awk '/^lines / { $1 = ""; print substr($0, 2) }' "$out")
    rate=$(awk '/^rate now/ { print $3 }' "$out")
    succeeds unseen stats --json r.bf
    holds "$1 <= $(field rate) && $(field rate) <= $2" || return 1
    if [[ $lines == 'at least '* ]]; then
        [[ $(field lines)/$(field lines_at_least) == "null/${lines#at least }" ]] || return 1
    else
        [[ $(field lines)/$(field lines_at_least) == "$lines/" ]] || return 1
    fi
    exits 0 unseen --summary r.bf </dev/null
    says_lines 2 "^unseen: r\.bf: holds $lines lines but was made for 1000; about " "; rate now: $rate\$" || return 1
    echo "$lines" >told
}

# said NAME: that figure of a summary in JSON.
said() {
    grep '^{' "$err" >said
    field "$1" said
}

@test "far past what it was made for: stats, summary and warnings tell the same lines and rate, or a bound" {
    exits 0 unseen create --fixed -n 1000 r.bf
    exits 0 unseen add r.bf < <(seq 8000)
    tells 0.75 0.83
    about "$(<told)" 8000 0.03
    # Of further lines most are dropped, and that is what is expected.
    exits 0 unseen --summary --json r.bf < <(seq 8001 18000)
    holds "$(said false_drops) > 8000"
    exits 0 unseen add r.bf < <(seq 1000000)
    tells 0.9999 1
    grep -Eqx 'at least [0-9]{5}' told
    exits 0 unseen --summary --json r.bf < <(seq 2000001 2010000)
    holds "$(said false_drops) == $(said dropped) && $(said dropped) > 9900"
    # In whole numbers, without an exponent.
    exits 0 unseen --fixed -n 1000 --summary < <(seq 20000)
    grep -Eq '; expected false drops: [0-9]{4,5};' "$err"
}

@test "with lines in it the rate is never 0: of many layers, of a few lines, of those in a stage" {
    local options lines rate told
    while IFS='|' read -r options lines; do
        exits 0 unseen create --force $options f.bf
        exits 0 unseen --summary --json f.bf < <(seq "$lines")
        told=$(said rate)
        succeeds unseen stats --json f.bf
        rate=$(field rate)
        holds "$rate > 0 && $rate < 1e-6" || complain "$options: rate"
        holds "$told > $rate / 5 && $told < $rate * 5" || complain "$options: summary"
        # At least that of each layer, and at most their sum.
        grep -o '"layers":.*' "$out" | grep -o '"rate":[^,]*' | cut -d : -f 2 >rates
        holds "$rate >= $(sort -g rates | tail -n 1) * 0.99999 && $rate <= ($(paste -sd+ rates)) * 1.00001"
        exits 0 unseen merge --force -o merged.bf f.bf --summary --json
        holds "$(said rate) > 0 && $(said rate) < 1e-6"
    done <<'END'
-n 10 -p 1e-12|300000
-n 10 -p 1e-9|100000
-n 1000000|3
-n 100|1
END
    with_stages
    exits 0 unseen create --force -n 1M f.bf
    exits 0 unseen --summary --json f.bf < <(seq 1000)
    holds "$(said rate) > 0"
    succeeds unseen stats --json f.bf
    holds "$(field rate) > 0 && $(field lines) == 1000"
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

# ends_by CODE SIGNAL COMMAND...: it is at work, and ends soon after the signal, and by it.
ends_by() {
    local wanted=$1 signal=$2 pid
    shift 2
    env --default-signal="$signal" "$@" >"$out" 2>"$err" 3>&- &
    pid=$!
    until [[ $(cat "/proc/$pid/comm") == "${UNSEEN##*/}" && $(awk '{ print $14 + $15 }' "/proc/$pid/stat") -gt 5 ]]; do
        kill -0 "$pid" || return 1
        sleep 0.01
    done
    kill -s "$signal" "$pid"
    gone "$pid" || kill -KILL "$pid"
    ended "$wanted" "$pid" || complain "$signal: $*"
}

@test "a signal ends stats and verify, however much there is to read" {
    need_signals
    need_preload sparse
    LD_PRELOAD=$preload capture unseen create --size 3800G large.bf
    [[ $code -eq 0 ]] || skip "no file of 3.8 TB can be made here (TMPDIR on xfs or tmpfs)"
    exits 0 unseen create small.bf
    local command
    for command in 'stats large.bf' 'stats --json small.bf large.bf' 'verify large.bf'; do
        ends_by 130 INT "$UNSEEN" $command
        ends_by 143 TERM "$UNSEEN" $command
    done
}
