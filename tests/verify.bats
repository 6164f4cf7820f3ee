#!/usr/bin/env bats
# unseen verify: each finding that it has, alone; the exit codes; and that it changes
# nothing. (What makes a file invalid: errors.bats. Queues: queue.bats. Windows:
# window.bats.)

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash

# write_at OFFSET ESCAPES: in ./f.bf.
write_at() {
    # shellcheck disable=SC2059
    printf "$2" | dd of=f.bf bs=1 seek="$1" conv=notrunc status=none
}

number_at() { od -An -v -tu8 -j "$1" -N 8 f.bf | tr -d ' '; }

# finds PATTERN: verify exits 1 with exactly one finding, a line that matches; nothing changes.
finds() {
    unchanged exits 1 unseen verify f.bf || return 1
    silent_on_stderr || return 1
    [[ $(wc -l <"$out") -eq 1 ]] || { complain 'one finding, please'; return 1; }
    grep -Exq "f\.bf: $1" "$out" || complain "should find: $1"
}

@test "a sound filter: exit 0 and not a word; --summary says so" {
    exits 0 unseen --create -n 1000 -p 1e-3 f.bf < <(seq 900)
    unchanged succeeds unseen verify f.bf
    prints ''
    unchanged exits 0 unseen verify --summary f.bf
    says '^unseen: f\.bf: 0 notes; damaged parts: 0$'
    prints ''
    # Grown, and empty.
    exits 0 unseen f.bf < <(seq 1000 9000)
    unchanged succeeds unseen verify f.bf
    prints ''
    exits 0 unseen create --force f.bf
    unchanged succeeds unseen verify f.bf
    prints ''
}

@test "a counter that is too low, or too high" {
    exits 0 unseen --create -n 1000 -p 1e-3 f.bf < <(seq 900)
    [[ $(number_at 9216) -ge 890 ]]
    write_at 9216 '\001\000'
    finds 'layer 1: its counter says 1, its bits say [89][0-9]{2} lines \(it grows late, and loses nothing\)'
    # A writer mends it.
    exits 0 unseen f.bf < <(seq 900)
    succeeds unseen verify f.bf
    write_at 9216 '\000\020'
    finds 'layer 1: its counter says 4096, its bits say [89][0-9]{2} lines \(the counter is wrong, or .*\)'
    # A little is no finding.
    write_at 9216 '\204\003'
    succeeds unseen verify f.bf
}

@test "a counter that is too low is mended in an overfull layer, too" {
    local lines counted
    # In the first, a little more than half of the bits are set; in the last, all but a few.
    for lines in 25000 40000 60000 100000; do
        exits 0 unseen create --force -n 20000 -p 1e-3 --fixed f.bf
        exits 0 unseen add f.bf < <(seq "$lines")
        counted=$(number_at 9216)
        write_at 9216 '\001\000\000\000'
        exits 0 unseen f.bf </dev/null
        [[ $(number_at 9216) -ge $((counted * 9 / 10)) ]] || complain "$lines: $(number_at 9216)"
    done
}

@test "the second layer is named as such" {
    exits 0 unseen --create -n 1000 -p 1e-3 f.bf < <(seq 1500)
    write_at 9280 '\001\000'
    finds 'layer 2: its counter says 1, its bits say [45][0-9]{2} lines \(.*\)'
}

@test "pages with every bit set" {
    local at
    exits 0 unseen create -n 100k -p 1e-3 f.bf
    at=$(number_at 4096)
    head -c 4096 /dev/zero | tr '\0' '\377' | dd of=f.bf bs=1 seek="$at" conv=notrunc status=none
    fails_with 2 'f\.bf: damaged filter: layer 1: 1 of [0-9]+ pages has every bit set \(restore' \
        unseen verify f.bf
    # By chance, where next to none is left.
    exits 0 unseen create --force --fixed -n 20000 -p 1e-3 f.bf
    exits 0 unseen add f.bf < <(seq 300000)
    unchanged exits 1 unseen verify f.bf
    grep -Exq 'f\.bf: layer 1: [0-9]+ of [0-9]+ pages ha(s|ve) every bit set' "$out"
    grep -Exq 'f\.bf: layer 1: its rate is (1|0\.9[0-9]*), above the 0\.001 it was made for' "$out"
    [[ $(wc -l <"$out") -eq 2 ]]
}

# zero COUNT BYTES AT: writes zeros over COUNT blocks of so many bytes of ./f.bf, from block AT of its
# first layer on.
zero() {
    dd if=/dev/zero of=f.bf bs="$2" seek=$(($(number_at 4096) / $2 + $3)) count="$1" conv=notrunc status=none
}

@test "pages that are empty, as chance does not make them" {
    local counting at
    for counting in '' --counting; do
        exits 0 unseen create --force $counting -n 50000 f.bf
        exits 0 unseen add f.bf < <(seq 50000)
        succeeds unseen verify f.bf
        cp f.bf sound.bf
        for at in '20 0' '1 0' '1 7' '46 0'; do
            cp sound.bf f.bf
            # shellcheck disable=SC2086 # two words
            set -- $at
            zero "$1" 4096 "$2"
            fails_with 2 "f\\.bf: damaged filter: layer 1: ($1 of [0-9]+ pages are|1 of [0-9]+ pages is) empty" unseen verify f.bf
        done
        # A part of one.
        for at in '7 65' '1 65' '4 100'; do
            cp sound.bf f.bf
            # shellcheck disable=SC2086 # two words
            set -- $at
            zero "$1" 512 "$2"
            fails_with 2 "f\\.bf: damaged filter: layer 1: 1 of [0-9]+ pages is empty, wholly or in part, and" \
                unseen verify f.bf
        done
    done
    # Few keys leave pages empty by chance.
    for at in 1 10 50 200; do
        exits 0 unseen create --force -n 50000 f.bf
        exits 0 unseen add f.bf < <(seq "$at")
        succeeds unseen verify f.bf
    done
    # All of them: a power cut may have done it.
    exits 0 unseen add f.bf < <(seq 10000)
    zero 47 4096 0
    finds 'layer 1: its counter says [0-9]+, its bits say 0 lines \(.*\)'
}

# The table in unseen-filters(7).

# pages_of FILE AT COUNT: so many of its pages, from page AT of its first layer on, take the place of those
# of f.bf.
pages_of() {
    dd if="$1" of=f.bf bs=4096 skip=$((at / 4096 + $2)) seek=$((at / 4096 + $2)) count="$3" conv=notrunc status=none
}

# flip STEP: one bit in each STEP bytes of the layer.
flip() {
    # shellcheck disable=SC2059 # the bytes are the format
    printf "$(od -An -v -tu1 -w1 -j "$at" f.bf |
        awk -v step="$1" '{ bit = 2 ^ (NR % 8) }
            NR % step == 0 { $1 += int($1 / bit) % 2 ? -bit : bit } { printf "\\%03o", $1 }')" >rotten
    dd if=rotten of=f.bf bs=4096 seek=$((at / 4096)) conv=notrunc status=none
}

# each_damage: what is said of copies of ./sound.bf after each kind of damage.
each_damage() {
    local what said
    for what in 'zero 1 4096 7' 'zero 1 512 300' 'pages_of ones.bf 20 1' 'pages_of other.bf 20 1' 'pages_of old.bf 20 1' \
        'pages_of old.bf 0 23' 'flip 12' 'flip 1250' swap; do
        cp sound.bf f.bf
        if [[ $what == swap ]]; then
            dd if=sound.bf of=f.bf bs=4096 skip=$((at / 4096 + 3)) seek=$((at / 4096 + 9)) count=1 conv=notrunc status=none
            dd if=sound.bf of=f.bf bs=4096 skip=$((at / 4096 + 9)) seek=$((at / 4096 + 3)) count=1 conv=notrunc status=none
        else
            $what
        fi
        capture unseen verify f.bf
        said=$(cat "$out" "$err" | grep -Eo 'empty, wholly|every bit|its counter|less evenly' | head -n 1)
        echo "$what: $code ${said:-nothing}"
    done
}

@test "which damage to pages is found, and which cannot be: at capacity, and a tenth full" {
    local at
    exits 0 unseen create -n 50000 other.bf
    exits 0 unseen add other.bf < <(seq 100001 150000)
    at=$(od -An -v -tu8 -j 4096 -N 8 other.bf | tr -d ' ')
    { head -c "$at" other.bf; head -c $((47 * 4096)) /dev/zero | tr '\0' '\377'; } >ones.bf
    exits 0 unseen create -n 50000 f.bf
    exits 0 unseen add f.bf < <(seq 2500)
    cp f.bf old.bf
    exits 0 unseen add f.bf < <(seq 2501 5000)
    cp f.bf sound.bf
    each_damage >got
    cat >wanted <<'END'
zero 1 4096 7: 1 less evenly
zero 1 512 300: 0 nothing
pages_of ones.bf 20 1: 2 every bit
pages_of other.bf 20 1: 1 its counter
pages_of old.bf 20 1: 0 nothing
pages_of old.bf 0 23: 1 less evenly
flip 12: 1 its counter
flip 1250: 0 nothing
swap: 0 nothing
END
    same got wanted
    cp sound.bf f.bf
    exits 0 unseen add f.bf < <(seq 5001 25000)
    cp f.bf old.bf
    exits 0 unseen add f.bf < <(seq 25001 50000)
    cp f.bf sound.bf
    each_damage >got
    cat >wanted <<'END'
zero 1 4096 7: 2 empty, wholly
zero 1 512 300: 2 empty, wholly
pages_of ones.bf 20 1: 2 every bit
pages_of other.bf 20 1: 0 nothing
pages_of old.bf 20 1: 1 less evenly
pages_of old.bf 0 23: 1 less evenly
flip 12: 0 nothing
flip 1250: 0 nothing
swap: 0 nothing
END
    same got wanted
    # cut short: no command opens it
    truncate -s -1 f.bf
    fails_with 2 '^unseen: f\.bf: damaged filter: layer 1: end' unseen verify f.bf
}

@test "pages with more lines than their counter knows of: what may be the cause" {
    local at
    exits 0 unseen create -n 50000 other.bf
    at=$(od -An -v -tu8 -j 4096 -N 8 other.bf | tr -d ' ')
    exits 0 unseen add other.bf < <(seq 50000)
    exits 0 unseen create -n 50000 f.bf
    exits 0 unseen add f.bf < <(seq 5000)
    pages_of other.bf 11 2
    finds 'layer 1: 2 of 47 pages have about 1[01][0-9]{2} lines each, where chance puts 1[0-9]{2} \(its counter does not know of them: bits were changed, or the file is a copy made while many came\)'
    succeeds unseen stats f.bf
    grep -qx 'odd pages           2 fuller, 0 emptier than by chance (see: unseen verify)' "$out"
    succeeds unseen stats --json f.bf
    [[ $(field fuller_pages) -eq 2 && $(field emptier_pages) -eq 0 ]]
    # of a sound one: no word
    succeeds unseen stats other.bf
    run -1 grep odd "$out"
    succeeds unseen stats --json other.bf
    [[ $(field fuller_pages) -eq 0 && $(field emptier_pages) -eq 0 ]]
    cp other.bf f.bf
    zero 5 4096 30
    succeeds unseen stats --json f.bf
    [[ $(field fuller_pages) -eq 0 && $(field emptier_pages) -eq 5 ]]
}

@test "lines that were judged beside each other, by -x and --pending, at p = 0.5: sound" {
    local p
    seq 50000 >in
    for p in 0.5 0.3; do
        exits 0 unseen create --force -n 50000 -p $p f.bf
        capture unseen f.bf in -x cat
        succeeds unseen verify f.bf
        exits 0 unseen create --force -n 50000 -p $p f.bf
        rm -f keys
        capture unseen --pending keys f.bf in
        exits 0 unseen commit f.bf keys
        succeeds unseen verify f.bf
    done
}

@test "a copy made front to back while lines came has empty pages, and is not damaged" {
    local bytes
    exits 0 unseen create -n 50000 f.bf
    cp f.bf early.bf
    exits 0 unseen add f.bf < <(seq 50000)
    bytes=$(stat -c %s f.bf)
    { head -c $((bytes / 2)) early.bf; tail -c +$((bytes / 2 + 1)) f.bf; } >copy.bf
    mv copy.bf f.bf
    finds 'layer 1: its pages are filled less evenly than chance fills them \(.*copy made while.*\)'
}

# sound OPTION...: filters of that kind, of fixed lines, in which nothing is to be found.
sound() {
    local first
    for first in 1 200001 400001 600001 800001; do
        rm -f f.bf
        seq "$first" $((first + 19999)) | exits 0 unseen add --create "$@" f.bf || return 1
        unchanged exits 0 unseen verify f.bf || return 1
        prints '' || return 1
    done
}

@test "sound filters of all kinds, at all rates: nothing is found" {
    local first p kind
    # Small layers, whose rate by chance is above the one they were made for.
    for first in {1..40}; do
        rm -f f.bf
        seq $((first * 100000)) $((first * 100000 + 19999)) | exits 0 unseen add --create -n 1000 f.bf
        unchanged exits 0 unseen verify f.bf
        prints ''
    done
    for p in 0.5 0.25 0.1 1e-3 1e-9; do
        for kind in '' --counting '--stage 1M' '--forget-after 1d'; do
            # shellcheck disable=SC2086 # two words
            sound -p "$p" -n 10000 $kind
        done
        sound -p "$p" --window 5000
        sound -p "$p" --fixed -n 20000
    done
}

@test "sound filters, merged, at all rates: nothing is found" {
    local p
    for p in 0.5 0.25 1e-2 1e-6; do
        rm -f ./*.bf
        exits 0 unseen create -p "$p" -n 30000 a.bf
        exits 0 unseen create --like a.bf b.bf
        exits 0 unseen add a.bf < <(seq 20000)
        exits 0 unseen add b.bf < <(seq 10001 35000)
        exits 0 unseen merge -o f.bf a.bf b.bf
        unchanged exits 0 unseen verify f.bf
        prints ''
    done
}

@test "at p = 0.5 a sound counter stays as it is" {
    local printed
    exits 0 unseen create -p 0.5 -n 100000 f.bf
    exits 0 unseen f.bf < <(seq 100000)
    printed=$(wc -l <"$out")
    [[ $(number_at 9216) -eq $printed ]]
    exits 0 unseen f.bf </dev/null
    [[ $(number_at 9216) -eq $printed ]]
}

@test "a rate above the one it was made for" {
    exits 0 unseen --create --fixed -n 100000 -p 1e-2 f.bf < <(seq 150000)
    finds 'layer 1: its rate is 0\.[0-9]+, above the 0\.01 it was made for'
}

@test "a fixed filter at p = 0.5, which counts fewer lines than come" {
    exits 0 unseen create -n 100000 -p 0.5 --fixed f.bf
    exits 0 unseen f.bf < <(seq 100000)
    silent_on_stderr
    succeeds unseen verify f.bf
    exits 0 unseen f.bf < <(seq 100001 130000)
    says '^unseen: f\.bf: holds 1(29|30)[0-9]{3} lines, and was made for 100000; about 5[45] % of new lines are now dropped$'
    finds 'layer 1: its rate is 0\.5[45][0-9]*, above the 0\.5 it was made for'
}

@test "a writer that died with keys in flight, here and in a file; the next one puts both right" {
    input 5000 >in
    exits 0 unseen create -p 1e-9 f.bf
    stall
    # While it lives, that is how it should be.
    succeeds unseen verify f.bf
    end_stalled printed
    finds 'slot 0: a writer died with lines in flight \(not remembered: they come again when its input does\)'
    exits 0 unseen f.bf in
    succeeds unseen verify f.bf

    exits 0 unseen create --force -p 1e-9 f.bf
    # `exec`: what it was told to run must not outlive it, and be waited for.
    exits 137 "$UNSEEN" f.bf in -x sh -c 'read -r line; kill -9 $PPID; exec cat >/dev/null'
    [[ -e f.bf.flight-0 ]]
    finds 'slot 0: a writer died with lines in flight \(not remembered: they come again when its input does, and the next writer removes its file\)'
    exits 0 unseen f.bf </dev/null
    [[ ! -e f.bf.flight-0 ]]
    succeeds unseen verify f.bf
}

@test "a slot that counts more keys than it has room for" {
    exits 0 unseen create -p 1e-9 f.bf
    # Slot 3 of a small filter.
    write_at $((12288 + 3 * 16)) '\377\377\000\000'
    finds 'slot 3: counts 65535 lines in flight, more than it has room for'
    exits 0 unseen f.bf < <(seq 10)
    cmp "$out" <(seq 10)
}

@test "bytes after the last layer, as a writer leaves them that is killed while growing" {
    exits 0 unseen --create -n 1000 -p 1e-3 f.bf < <(seq 900)
    head -c 12345 /dev/zero >>f.bf
    finds '12345 bytes after the last layer \(left by a writer that was killed while it added a layer; the next layer takes their place\)'
    exits 0 unseen f.bf < <(seq 901 3000)
    succeeds unseen verify f.bf
}

@test "several findings: a line each" {
    exits 0 unseen --create -n 1000 -p 1e-3 f.bf < <(seq 900)
    head -c 100 /dev/zero >>f.bf
    write_at 9216 '\001\000'
    write_at $((12288 + 7 * 16)) '\001\000\000\000'
    unchanged exits 1 unseen verify f.bf
    [[ $(wc -l <"$out") -eq 3 ]]
    run -0 grep -c '^f\.bf: ' "$out"
    [[ $output == 3 ]]
    unchanged exits 1 unseen verify --summary=json f.bf
    [[ $(<"$err") == '{"filter":"f.bf","notes":3,"damages":0}' ]] || complain summary
}

@test "several filters: each finding names its file, and the exit is the worst of all" {
    exits 0 unseen create -n 1000 a.bf
    exits 0 unseen create -n 1000 f.bf
    printf x >>f.bf
    unchanged exits 1 unseen verify a.bf f.bf a.bf
    [[ $(wc -l <"$out") -eq 1 ]] && grep -q '^f\.bf: ' "$out"
    silent_on_stderr
    unchanged exits 2 unseen verify missing.bf f.bf
    says '^unseen: missing\.bf: No such file'
    grep -q '^f\.bf: ' "$out"
    unchanged exits 2 unseen verify f.bf missing.bf a.bf --summary
    says_lines 3 '^unseen: f\.bf: 1 note; ' '^unseen: missing\.bf: No such' '^unseen: a\.bf: 0 notes; damaged parts: 0$'
    unchanged succeeds unseen verify a.bf a.bf
}

@test "damage: exit 2, and one line that says what" {
    local place
    exits 0 unseen --create -n 1000 -p 1e-3 whole.bf < <(seq 900)
    while read -r place pattern; do
        cp whole.bf f.bf
        write_at "$place" '\377\377'
        fails_with 2 "^unseen: f\\.bf: $pattern" unseen verify f.bf
    done <<'END'
0 is not a filter
8 has filter format version 65535
12 damaged filter: checksum of the header
16 .*features
100 damaged filter: checksum of the header
4096 damaged filter: layer 1: checksum
8128 damaged filter: number of layers
END
    cp whole.bf f.bf
    truncate -s 20000 f.bf
    fails_with 2 '^unseen: f\.bf: damaged filter: ' unseen verify f.bf
    truncate -s 0 f.bf
    fails_with 2 '^unseen: f\.bf: is empty, not a filter' unseen verify f.bf
}

@test "what it found cannot be printed: exit 2" {
    need_full
    exits 0 unseen --create -n 1000 -p 1e-3 f.bf < <(seq 900)
    head -c 100 /dev/zero >>f.bf
    exits 2 to /dev/full unseen verify f.bf
    says 'standard output: No space left on device'
}
