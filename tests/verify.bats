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
    says '^unseen: f\.bf: 0 notes$'
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

# zero COUNT AT: writes zeros over so many pages of ./f.bf, from page AT of its first layer on.
zero() {
    dd if=/dev/zero of=f.bf bs=4096 seek=$(($(number_at 4096) / 4096 + $2)) count="$1" conv=notrunc status=none
}

fuller='lines were chosen to fall there, or bits were changed; .* --secret is safe from chosen lines'
emptier='lines are lost, as by a power cut, or in a copy made while many came'

@test "pages that are empty, as chance does not make them" {
    local counting pages
    for counting in '' --counting; do
        exits 0 unseen create --force $counting -n 50000 f.bf
        exits 0 unseen add f.bf < <(seq 50000)
        succeeds unseen verify f.bf
        cp f.bf sound.bf
        for pages in '1 0' '1 7' '20 0'; do
            cp sound.bf f.bf
            # shellcheck disable=SC2086 # two words
            zero $pages
            finds "layer 1: ${pages% *} of [0-9]+ pages (has|have each) about 0 lines, where chance puts [0-9]+ \\($emptier\\)"
        done
        succeeds unseen stats --json f.bf
        [[ $(field fuller_pages) -eq 0 && $(field emptier_pages) -eq 20 ]]
    done
    # Few keys leave pages empty by chance.
    for pages in 1 10 50 200; do
        exits 0 unseen create --force -n 50000 f.bf
        exits 0 unseen add f.bf < <(seq "$pages")
        succeeds unseen verify f.bf
    done
    # All of them: a power cut may have done it.
    exits 0 unseen add f.bf < <(seq 10000)
    zero 47 0
    finds 'layer 1: its counter says [0-9]+, its bits say 0 lines \(.*\)'
}

# pages_of FILE AT COUNT: so many of its pages, from page AT of its first layer on, take the place of
# those of f.bf.
pages_of() {
    local at=$(($(number_at 4096) / 4096 + $2))
    dd if="$1" of=f.bf bs=4096 skip=$at seek=$at count="$3" conv=notrunc status=none
}

@test "pages with more lines than chance puts there; older ones" {
    exits 0 unseen create -n 50000 full.bf
    exits 0 unseen add full.bf < <(seq 50000)
    exits 0 unseen create -n 50000 f.bf
    exits 0 unseen add f.bf < <(seq 5000)
    cp f.bf tenth.bf
    pages_of full.bf 11 2
    finds "layer 1: 2 of 47 pages have each about 1[01][0-9]{2} lines, where chance puts 1[0-9]{2} \\($fuller\\)"
    succeeds unseen stats f.bf
    grep -qx 'fuller pages        2 than chance makes them (see: unseen verify)' "$out"
    run ! grep 'emptier' "$out"
    succeeds unseen stats --json f.bf
    [[ $(field fuller_pages) -eq 2 && $(field emptier_pages) -eq 0 ]]
    # of a sound one: no word
    succeeds unseen stats full.bf
    run -1 grep -E 'fuller|emptier' "$out"
    succeeds unseen stats --json full.bf
    [[ $(field fuller_pages) -eq 0 && $(field emptier_pages) -eq 0 ]]
    # Every bit set, and next to none.
    head -c 4096 /dev/zero | tr '\0' '\377' | dd of=f.bf bs=1 seek="$(number_at 4096)" conv=notrunc status=none
    finds "layer 1: 3 of 47 pages have each about [0-9]+ lines, where chance puts 1[0-9]{2} \\($fuller\\)"
    # A page from when it was a tenth full.
    cp full.bf f.bf
    pages_of tenth.bf 20 1
    finds "layer 1: 1 of 47 pages has about [0-9]{2,3} lines, where chance puts 1[0-9]{3} \\($emptier\\)"
    # cut short: no command opens it
    truncate -s -1 f.bf
    fails_with 2 '^unseen: f\.bf: damaged filter: layer 1: end' unseen verify f.bf
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

@test "a copy made front to back while lines came has empty pages" {
    local bytes
    exits 0 unseen create -n 50000 f.bf
    cp f.bf early.bf
    exits 0 unseen add f.bf < <(seq 50000)
    bytes=$(stat -c %s f.bf)
    { head -c $((bytes / 2)) early.bf; tail -c +$((bytes / 2 + 1)) f.bf; } >copy.bf
    mv copy.bf f.bf
    finds "layer 1: [12][0-9] of 47 pages have each about 0 lines, .*\\($emptier\\)"
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
        for kind in '' --counting '--forget-after 1d'; do
            # shellcheck disable=SC2086 # two words
            sound -p "$p" -n 10000 $kind
        done
        (with_stages && sound -p "$p" -n 100000) || return 1
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
    exits 0 unseen f.bf < <(seq 90000)
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
    exits 137 "$UNSEEN" f.bf in -x sh -c 'cat >got; kill -9 $PPID'
    [[ -e f.bf.flight-0 ]]
    finds 'slot 0: a writer died with lines in flight \(not remembered: they come again when its input does, and the next writer in this slot removes its file\)'
    exits 0 unseen f.bf </dev/null
    [[ ! -e f.bf.flight-0 ]]
    succeeds unseen verify f.bf
}

@test "a slot that counts more keys than it has room for" {
    exits 0 unseen create -p 1e-9 f.bf
    write_at $((12288 + 3 * 32)) '\377\377\000\000'
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
    unchanged exits 1 unseen verify --summary --json f.bf
    [[ $(<"$err") == '{"filter":"f.bf","notes":3}' ]] || complain summary
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
    says_lines 3 '^unseen: f\.bf: 1 note$' '^unseen: missing\.bf: No such' '^unseen: a\.bf: 0 notes$'
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
