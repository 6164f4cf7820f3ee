#!/usr/bin/env bats
# unseen verify: each finding that it has, alone; the exit codes; and that it changes
# nothing. (What makes a file invalid: test_header. Queues: queue.bats. Windows:
# window.bats.)

load helper
load crash

# write_at OFFSET ESCAPES: in ./f.bf.
write_at() {
    # shellcheck disable=SC2059
    printf "$2" | dd of=f.bf bs=1 seek="$1" conv=notrunc status=none
}

number_at() { od -An -v -tu8 -j "$1" -N 8 f.bf | tr -d ' '; }

# finds PATTERN [CODE]: verify exits with 1 (or CODE) and exactly one finding, a line that matches; nothing
# changes.
finds() {
    unchanged exits "${2:-1}" unseen verify f.bf || return 1
    silent_on_stderr || return 1
    [[ $(wc -l <"$out") -eq 1 ]] || { complain 'one finding, please'; return 1; }
    grep -Exq "f\.bf: $1" "$out" || complain "should find: $1"
}

@test "a sound filter: exit 0 and not a word; several: each finding names its file, the exit is the worst of all" {
    exits 0 unseen --create -n 1000 -p 1e-3 f.bf < <(seq 900)
    unchanged succeeds unseen verify f.bf
    prints ''
    unchanged exits 0 unseen verify --summary f.bf
    says '^unseen: f\.bf: 0 notes$'
    # Grown, and empty.
    exits 0 unseen f.bf < <(seq 1000 9000)
    exits 0 unseen create a.bf
    unchanged succeeds unseen verify f.bf a.bf
    prints ''
    printf x >>f.bf
    unchanged exits 0 unseen verify a.bf f.bf a.bf
    [[ $(wc -l <"$out") -eq 1 && $(<"$out") == 'f.bf: '* ]]
    write_at 9216 '\001\000\001'
    unchanged exits 1 unseen verify a.bf f.bf a.bf
    write_at 9216 '\350\003\000'
    unchanged exits 2 unseen verify f.bf missing.bf a.bf --summary
    says_lines 3 '^unseen: f\.bf: 1 note$' '^unseen: missing\.bf: No such' '^unseen: a\.bf: 0 notes$'
    grep -q '^f\.bf: ' "$out"
}

@test "a counter that is too low, or too high; that of the second layer" {
    exits 0 unseen --create -n 1000 -p 1e-3 f.bf < <(seq 900)
    [[ $(number_at 9216) -ge 890 ]]
    write_at 9216 '\001\000'
    notes 'layer 1: its counter shows 1 line, its bits [89][0-9]{2} \(as after a kill, or in a copy made while lines were added; .*\)'
    # A writer mends it.
    exits 0 unseen f.bf < <(seq 900)
    succeeds unseen verify f.bf
    write_at 9216 '\000\020'
    finds 'layer 1: its counter shows 4096 lines, its bits [89][0-9]{2} \(the counter is wrong, or .*\)'
    # A little is no finding.
    write_at 9216 '\204\003'
    succeeds unseen verify f.bf
    exits 0 unseen f.bf < <(seq 1500)
    write_at 9280 '\001\000'
    notes 'layer 2: its counter shows 1 line, its bits [45][0-9]{2} \(.*\)'
}

@test "a counter that is too low is mended in an overfull layer and in a window, too" {
    local lines counted
    # A window so large that a layer has no place for the generation before.
    exits 0 unseen create --window 100000 f.bf
    exits 0 unseen add f.bf < <(seq 20000)
    write_at 9216 '\001\000\000\000'
    exits 0 unseen f.bf </dev/null
    [[ $(number_at 9216) -ge 18000 ]] || complain "window: $(number_at 9216)"
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

# notes PATTERN: the same for what a sound copy shows, or a killed writer left: it exits with 0.
notes() {
    finds "$1" 0
}

# zero COUNT AT: writes zeros over so many pages of ./f.bf, from page AT of its first layer on.
zero() {
    dd if=/dev/zero of=f.bf bs=4096 seek=$(($(number_at 4096) / 4096 + $2)) count="$1" conv=notrunc status=none
}

fuller='lines were crafted to fall there, or bits were changed.*'
emptier='lines were lost.*'

@test "pages that are empty, as chance does not make them" {
    local counting pages
    for counting in '' --counting; do
        exits 0 unseen create --force $counting -n 50000 f.bf
        exits 0 unseen add f.bf < <(seq 50000)
        succeeds unseen verify f.bf
        cp f.bf sound.bf
        for pages in '1 7' '20 0'; do
            cp sound.bf f.bf
            zero $pages
            finds "layer 1: ${pages% *} of [0-9]+ pages (has|have) about 0 lines( each)?, where chance explains [0-9]+ \\($emptier\\)"
        done
        succeeds unseen stats --json f.bf
        [[ $(field fuller_pages) -eq 0 && $(field emptier_pages) -eq 20 ]]
    done
    # Few keys leave pages empty by chance.
    for pages in 1 50 200; do
        exits 0 unseen create --force -n 50000 f.bf
        exits 0 unseen add f.bf < <(seq "$pages")
        succeeds unseen verify f.bf
    done
    # All of them: a power cut may have done it.
    exits 0 unseen add f.bf < <(seq 10000)
    zero 47 0
    finds 'layer 1: its counter shows [0-9]+ lines?, its bits 0 \(.*\)'
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
    finds "layer 1: 2 of 47 pages have about 1[01][0-9]{2} lines each, where chance explains 1[0-9]{2} \\($fuller\\)"
    succeeds unseen stats f.bf
    grep -qx 'pages too full      2, which chance does not explain (see unseen verify)' "$out"
    run ! grep 'too empty' "$out"
    succeeds unseen stats --json f.bf
    [[ $(field fuller_pages) -eq 2 && $(field emptier_pages) -eq 0 ]]
    # of a sound one: no word
    succeeds unseen stats full.bf
    run -1 grep 'pages too' "$out"
    succeeds unseen stats --json full.bf
    [[ $(field fuller_pages) -eq 0 && $(field emptier_pages) -eq 0 ]]
    # Every bit set, and next to none.
    head -c 4096 /dev/zero | tr '\0' '\377' | dd of=f.bf bs=1 seek="$(number_at 4096)" conv=notrunc status=none
    finds "layer 1: 3 of 47 pages have about [0-9]+ lines each, where chance explains 1[0-9]{2} \\($fuller\\)"
    # A page from when it was a tenth full.
    cp full.bf f.bf
    pages_of tenth.bf 20 1
    finds "layer 1: 1 of 47 pages has about [0-9]{2,3} lines, where chance explains 1[0-9]{3} \\($emptier\\)"
    # cut short: no command opens it
    truncate -s -1 f.bf
    fails_with 2 '^unseen: f\.bf: damaged filter: layer 1: end' unseen verify f.bf
}

# sound FIRST OPTION...: of 20000 lines from this one on nothing is to be found in a filter of that kind.
sound() {
    local first=$1
    shift
    exits 0 unseen create --force "$@" f.bf || return 1
    exits 0 unseen add f.bf < <(seq "$first" $((first + 19999))) || return 1
    exits 0 unseen verify f.bf && prints ''
}

# bats test_tags=rate
@test "sound filters of all kinds, merged ones, too, at all rates: nothing is found" {
    local first p kind
    # Small layers, whose rate by chance is above the one they were made for.
    for first in {1..12}; do
        sound $((first * 100000)) -n 1000
    done
    for p in 0.5 0.25 1e-3 1e-9; do
        for kind in '-n 10000' '-n 10000 --counting' '-n 10000 --forget-after 1d' '--window 5000' '-n 20000 --fixed'; do
            sound 1 -p $p $kind
        done
        (with_stages && sound 1 -p $p -n 100000) || return 1
        exits 0 unseen create --force -p $p -n 30000 a.bf
        exits 0 unseen create --force --like a.bf b.bf
        exits 0 unseen add a.bf < <(seq 20000)
        exits 0 unseen add b.bf < <(seq 10001 35000)
        exits 0 unseen merge --force -o f.bf a.bf b.bf
        exits 0 unseen verify f.bf
        prints ''
    done
}

@test "a rate above the one it was made for; at p = 0.5, where fewer lines are counted than come, too" {
    local printed
    exits 0 unseen --create --fixed -n 100000 -p 1e-2 f.bf < <(seq 150000)
    finds 'layer 1: false-positive rate is 0\.[0-9]+, above the 0\.01 it was made for'
    exits 0 unseen create --force -n 100000 -p 0.5 --fixed f.bf
    exits 0 unseen f.bf < <(seq 100000)
    silent_on_stderr
    # A sound counter stays as it is.
    printed=$(wc -l <"$out")
    [[ $(number_at 9216) -eq $printed ]]
    exits 0 unseen f.bf </dev/null
    [[ $(number_at 9216) -eq $printed ]]
    succeeds unseen verify f.bf
    exits 0 unseen f.bf < <(seq 100001 130000)
    says '^unseen: f\.bf: holds 1(29|3[01])[0-9]{3} lines but was made for 100000; about 5[45]% of new lines are now dropped by mistake$'
    finds 'layer 1: false-positive rate is 0\.5[45][0-9]*, above the 0\.5 it was made for'
}

@test "a writer that died with keys in flight, here and in a file; the next one puts both right" {
    local number
    input 5000 >in
    exits 0 unseen create -p 1e-9 f.bf
    stall
    # While it lives, that is how it should be.
    succeeds unseen verify f.bf
    end_stalled printed
    notes 'slot 0: a writer died with lines in flight, or this is a copy made in use \(.*\)'
    exits 0 unseen f.bf in
    succeeds unseen verify f.bf

    # In another slot, too, which no other run may take for long.
    exits 0 unseen create --force -p 1e-9 f.bf
    for number in 0 1; do
        exits 137 "$UNSEEN" f.bf <(input 5000 ${number}0000) -x sh -c 'cat >got; kill -9 $PPID'
        [[ -e f.bf.flight-$number ]]
        notes "slot $number: a writer died with lines in flight, .* \(.* removes its file\)"
        [[ $number -eq 1 ]] || hold_lock first 4611686018427387905 # of slot 0
    done
    # And of one that died before its first line.
    hold_lock second 4611686018427387906
    mkfifo idle
    "$UNSEEN" f.bf <idle >idle.out 3>&- &
    exec 9>idle
    until [[ -e f.bf.flight-2 ]]; do sleep 0.01; done
    kill -9 $!
    wait $! || true
    exec 9>&-
    let_go first
    let_go second
    exits 0 unseen f.bf </dev/null
    [[ ! -e f.bf.flight-0 && ! -e f.bf.flight-1 && ! -e f.bf.flight-2 ]]
    succeeds unseen verify f.bf
}

@test "a slot that counts too much; bytes after the last layer, of a writer killed while growing; several findings" {
    exits 0 unseen --create -n 1000 -p 1e-3 f.bf < <(seq 900)
    write_at $((12288 + 3 * 32)) '\377\377\000\000'
    finds 'slot 3: counts 65535 lines in flight, more than fit in it'
    exits 0 unseen f.bf < <(seq 901 910)
    seq 901 910 | same "$out" -
    write_at $((12288 + 3 * 32)) '\000\000\000\000'
    head -c 12345 /dev/zero | tr '\0' X >>f.bf
    notes '12345 bytes after the last layer \(.*; the next layer overwrites them\)'
    cp f.bf longer.bf
    exits 0 unseen f.bf < <(seq 3000)
    seq 911 3000 | same "$out" -
    succeeds unseen verify f.bf

    cp longer.bf f.bf
    write_at 9216 '\001\000'
    write_at $((12288 + 7 * 16)) '\001\000\000\000'
    unchanged exits 0 unseen verify --summary --json f.bf
    [[ $(wc -l <"$out") -eq 3 && $(grep -c '^f\.bf: ' "$out") -eq 3 ]] || complain
    [[ $(<"$err") == '{"filter":"f.bf","notes":3}' ]] || complain summary
    need_full
    exits 2 to /dev/full unseen verify f.bf
    says 'standard output: No space left on device'
}

# copied FILE OPTION...: while a writer fills a filter made with these options with FILE, copies are taken;
# each opens and has what was remembered before, and verify finds nothing wrong. Some show that they are
# copies.
copied() {
    local file=$1 writer copy said=0
    shift
    exits 0 unseen create --force "$@" f.bf || return 1
    "$UNSEEN" f.bf "$file" >got 2>said 3>&- &
    writer=$!
    filled got
    for copy in {1..12}; do
        cp f.bf copy.bf
        kill -0 "$writer" 2>/dev/null || break
        capture unseen verify copy.bf
        [[ $code -eq 0 ]] || { complain "$*: a copy"; return 1; }
        [[ ! -s $out ]] || said=$((said + 1))
        ! grep -v 'copy made' "$out" || { complain "$*: no word of a copy"; return 1; }
    done
    wait "$writer" || return 1
    exits 0 unseen verify f.bf
    echo "$*: $said of $copy copies" | tee -a copies
}

@test "copies made in use, of all kinds: verify exits with 0, and its notes name the copy" {
    local options
    seq 1500000 >in
    for options in '-n 5M' '-n 300k' '--fixed -n 2M -p 1e-3' '--counting -n 500k' '--window 100k' '--window 3k' \
        '--forget-after 1h' '-p 0.3'; do
        copied in $options
    done
    (with_stages && copied in -n 5M) || return 1
    awk '{ sum += $(NF - 3) } END { exit sum < 5 }' copies || complain "$(<copies)"
}

# Only the first can have been read from front to back.
@test "a copy of two times is none that was damaged: an older part before a newer one, or after it" {
    exits 0 unseen create -n 50000 f.bf
    exits 0 unseen add f.bf < <(seq 5000)
    cp f.bf old.bf
    exits 0 unseen add f.bf < <(seq 50000)
    cp f.bf full.bf
    cp old.bf f.bf
    pages_of full.bf 30 17
    notes 'layer 1: 17 of 47 pages have about 1[0-9]{3} lines each, where .* \(as in a copy made .*\)'
    cp old.bf f.bf
    pages_of full.bf 0 17
    finds "layer 1: 17 of 47 pages have about 1[0-9]{3} lines each, where .* \\($fuller\\)"
}
