#!/usr/bin/env bats
# unseen merge, and create --like: several filters become one, or everything stays as it was.

load helper
load crash
load sweep

# parts COUNT LINES [OPTION...]: all.bf, and part1.bf ... made like it, with so many lines each, in
# part1 ...; all.bf stays empty. p is 1e-9, so that false positives do not come into it.
parts() {
    local count=$1 lines=$2 i
    shift 2
    creates -p 1e-9 -n $((count * lines)) "$@" all.bf
    for ((i = 1; i <= count; i++)); do
        input "$lines" $(((i - 1) * lines)) >part$i
        creates --like all.bf part$i.bf
        succeeds unseen add part$i.bf part$i
    done
}

# bits_of FILE: the bits of a filter of one layer, and nothing else.
bits_of() {
    local pages
    pages=$(unseen stats --json "$1" | grep -o '"pages":[0-9]*')
    tail -c $((${pages#*:} * 4096)) "$1"
}

# lacks FILTER FILE...: none is.
lacks() {
    local filter=$1
    shift
    exits 1 unseen query "$filter" "$@" || return 1
    prints ''
}

# --- create --like -----------------------------------------------------------

@test "--like: the same filter, but for its name; with --create in the plain form, now and again" {
    local options
    for options in "" "-n 5000 -p 1e-3 --seed 7" "--size 256K --fixed" "-n 3000 --hashes 10" \
        "-n 2000 --bits-per-key 20.5" "--window 3000" "--forget-after 2d" "--counting -n 4000"; do
        rm -f ./*.bf
        creates $options a.bf
        exits 0 unseen add a.bf < <(seq 20000)
        creates $options b.bf
        creates --like a.bf c.bf
        cmp -s b.bf c.bf && complain "two filters with one UUID"
        # All but UUID, time and checksum.
        cmp <(tail -c +57 b.bf | head -c 4032) <(tail -c +57 c.bf | head -c 4032) || return 1
        cmp -i 4096 b.bf c.bf || return 1
    done
    parts 1 2000
    exits 0 unseen --create --like all.bf new.bf part1
    same "$out" part1
    says 'new.bf: created \(for 2000 lines'
    succeeds unseen --create --like all.bf new.bf part1
    prints ''
    has new.bf part1
}

# --- what comes of it --------------------------------------------------------

@test "parts that fit are, bit for bit, the filter of all lines; their order and steps change nothing" {
    local filter
    parts 4 4000
    head -n 3000 part4 | exits 0 unseen add part1.bf
    creates --like all.bf empty.bf
    cat part? | exits 0 unseen add all.bf
    succeeds unseen merge -o out.bf part?.bf
    # Lines that are in several are counted once.
    exits 0 unseen stats --json out.bf
    holds "$(field lines) > 15800 && $(field lines) < 16200 && $(field layer_count) == 1"
    input 20000 50000 >others
    lacks out.bf others
    succeeds unseen merge -o copy.bf all.bf
    succeeds unseen merge -o order.bf part4.bf empty.bf part3.bf part2.bf part4.bf part1.bf
    succeeds unseen merge -o first.bf part1.bf part2.bf
    succeeds unseen merge -o last.bf part3.bf part4.bf
    succeeds unseen merge -o steps.bf last.bf first.bf
    for filter in out copy order steps; do
        cmp <(bits_of $filter.bf) <(bits_of all.bf) || complain "$filter"
        has $filter.bf part?
        succeeds unseen verify $filter.bf
    done
    # With layers that stay apart, the order of inputs still does not matter.
    exits 0 unseen create -p 1e-9 -n 1000 small.bf
    exits 0 unseen add small.bf part1
    exits 0 unseen merge -o one.bf small.bf part4.bf part2.bf
    exits 0 unseen merge -o other.bf part2.bf small.bf part4.bf
    cmp -i 14336 one.bf other.bf
    cmp <(tail -c +4097 one.bf | head -c 5120) <(tail -c +4097 other.bf | head -c 5120)
    # And it goes on like a filter that was never anything else.
    exits 0 unseen out.bf part? others
    same "$out" others
    has out.bf part? others
    succeeds unseen verify out.bf
    # All are empty.
    succeeds unseen merge --force -o all.bf empty.bf
    succeeds unseen merge -o none.bf empty.bf all.bf
    succeeds unseen none.bf part1
    same "$out" part1
}

# At high rates a layer counts fewer lines than it is made for: some look seen on the way.
# bats test_tags=rate
@test "parts that fit, at high rates: one layer, and no more false drops than p" {
    local rate
    input 40000 500000 >others
    for rate in 0.5 1e-2; do
        parts 4 20000 -n 82000 -p $rate
        cat part? | exits 0 unseen add all.bf
        succeeds unseen merge -o out.bf part?.bf
        cmp <(bits_of out.bf) <(bits_of all.bf) || complain "p = $rate: other bits"
        exits 0 unseen query -c out.bf others
        holds "$(cat "$out") <= 40000 * $rate + 6 * sqrt(40000 * $rate)"
        rm ./*.bf
    done
    # Lines in stages, too.
    with_stages
    parts 4 28000 -n 120000 -p 0.3
    succeeds unseen merge -o out.bf part?.bf
    has out.bf part?
    exits 0 unseen query -c out.bf others
    holds "$(cat "$out") <= 40000 * 0.3 + 6 * sqrt(40000 * 0.3)"
    succeeds unseen verify out.bf
}

@test "counting filters: cells are added up" {
    parts 2 2000 --counting
    head -n 500 part1 | exits 0 unseen add part2.bf
    succeeds unseen merge -o out.bf part1.bf part2.bf
    has out.bf part1 part2
    succeeds unseen verify out.bf
    # In all that were in once, and in both that were in twice.
    tail -n 1500 part1 | succeeds unseen remove out.bf
    tail -n 1500 part1 >gone
    lacks out.bf gone
    head -n 500 part1 >twice
    succeeds unseen remove out.bf twice
    has out.bf twice part2
    succeeds unseen remove out.bf twice
    lacks out.bf twice
    has out.bf part2
    succeeds unseen remove out.bf part2
    exits 0 unseen stats --json out.bf
    holds "$(field lines) == 0 && $(field fill) == 0"
    # A cell that is full stays full, whatever is added.
    local i many=()
    for i in {1..20}; do
        cp part1.bf "many$i.bf"
        many+=("many$i.bf")
    done
    succeeds unseen merge -o full.bf "${many[@]}"
    for i in {1..16}; do
        succeeds unseen remove full.bf part1 || return 1
    done
    has full.bf part1
}

@test "filters that grew: nothing is lost, and they go on growing" {
    creates -p 1e-9 a.bf
    creates -p 1e-9 b.bf
    input 70000 >one
    input 70000 50000 >two
    exits 0 unseen add a.bf one
    exits 0 unseen add b.bf two
    exits 0 unseen merge -o out.bf a.bf b.bf
    has out.bf one two
    succeeds unseen verify out.bf
    input 150000 120000 >further
    exits 0 unseen out.bf one two further
    same "$out" further
    has out.bf one two further
    exits 0 unseen merge -o again.bf out.bf a.bf b.bf
    has again.bf one two further
}

@test "OUT is one of the inputs: it goes on as that filter" {
    parts 3 2000
    exits 0 unseen add all.bf part1
    chmod 640 all.bf
    exits 0 unseen --pending keys all.bf part3
    ln -s all.bf link.bf
    succeeds unseen merge -o link.bf all.bf part?.bf ./all.bf
    [[ -L link.bf && $(stat -c %a all.bf) == 640 ]]
    has all.bf part?
    succeeds unseen commit all.bf keys
    succeeds unseen verify all.bf
    [[ -z $(find . -name '*.bf?*') ]]
}

@test "OUT that is there: only a filter, with --force; a full disk leaves everything as it was" {
    # Where a disk would be full, a limit on the size of a file is met.
    limited() { (ulimit -f 100 && "$@"); }
    parts 2 20000
    fails_with 2 'out.bf: cannot be created: File too large' limited unseen merge -o out.bf part1.bf part2.bf
    fails_with 2 'part1.bf: cannot be created: File too large' limited unseen merge -o part1.bf part1.bf part2.bf
    fails_with 2 'all.bf: File exists' unseen merge -o all.bf part1.bf part2.bf
    fails_with 2 'part1: is not a filter' unseen merge --force -o part1 part1.bf part2.bf
    touch empty
    fails_with 2 'empty: exists, and is not a filter' unseen merge -o empty part1.bf part2.bf
    fails_with 2 'empty: is not a filter' unseen merge --force -o empty part1.bf part2.bf
    succeeds unseen merge --force -o all.bf part1.bf part2.bf
    has all.bf part1 part2
}

# --- the rate ----------------------------------------------------------------

# measured FILTER: of lines that are in none, no more are dropped than stats says, and not far fewer.
measured() {
    exits 0 unseen stats --json "$1"
    local rate hits figures
    figures=$(cat "$out")
    rate=$(field rate)
    capture unseen query -c "$1" < <(seq 10000001 10400000)
    hits=$(cat "$out")
    holds "$hits <= 400000 * $rate + 6 * sqrt(400000 * $rate)" || complain "$hits, stats says $rate"
    holds "$hits >= 400000 * $rate - 6 * sqrt(400000 * $rate)" || complain "$hits, stats says $rate"
    echo "$figures" >"$out"
}

# merged P FIRST SECOND [OPTION...]: two filters for 100000 lines each that have so many lines
# become out.bf, which has them all, and is sound.
merged() {
    local p=$1 first=$2 second=$3
    shift 3
    rm -f ./*.bf
    creates -n 100000 -p "$p" "$@" a.bf
    creates --like a.bf b.bf
    exits 0 unseen add a.bf < <(seq "$first")
    exits 0 unseen add b.bf < <(seq 100001 $((100000 + second)))
    exits 0 unseen merge -o out.bf a.bf b.bf
    cp "$err" said
    has out.bf <(seq "$first") <(seq 100001 $((100000 + second)))
    succeeds unseen verify out.bf
    measured out.bf
}

@test "layers become one only as far as the rate allows, which is then what stats says" {
    local p first second layers
    while read -r p first second layers; do
        merged "$p" "$first" "$second"
        [[ ! -s said ]] || complain "$p $first $second: $(cat said)"
        holds "$(field layer_count) == $layers && $(field rate) <= $p && $(field false_positive_rate) == $p" ||
            complain "$p $first $second: $(cat "$out")"
    done <<'END'
1e-2 50000 50000 1
1e-3 99000 900 1
0.1 50000 45000 1
0.5 50000 40000 1
1e-2 99000 40000 2
1e-3 60000 60000 2
0.1 99000 30000 2
0.5 99000 20000 1
END
}

@test "above the rate: merge says so, and each run that writes; and all goes on" {
    local above="^unseen: out.bf: false-positive rate is 0.*, above the 0.1 asked for "
    merged 0.1 99000 99000
    grep -Eq "$above" said
    holds "$(field rate) > 0.11 && $(field false_positive_rate) == 0.1 && $(field layer_count) == 2"
    exits 0 unseen out.bf < <(seq 200001 200100)
    says "$above"
    exits 0 unseen add out.bf < <(seq 200001 210000)
    says "$above"
    has out.bf <(seq 200001 210000)
    succeeds unseen query -q out.bf < <(seq 9)
    measured out.bf
    succeeds unseen verify out.bf
    # As one of the inputs, too.
    exits 0 unseen merge -o out.bf out.bf a.bf b.bf
    says "$above"
    has out.bf <(seq 99000) <(seq 100001 199000) <(seq 200001 210000)
}

@test "--fixed filters keep their promise, too" {
    parts 2 10000 --fixed -n 20500
    succeeds unseen merge -o out.bf part1.bf part2.bf
    cmp <(bits_of out.bf) <(cat part1 part2 | unseen add all.bf && bits_of all.bf)
    merged 1e-3 99000 99000 --fixed
    grep -Eq 'out.bf: false-positive rate is 0.00[12][0-9]*, above the 0.001 asked for' said
    # Some lines more, and it says how far it is over.
    exits 0 unseen add out.bf < <(seq 300001 305000)
    says 'out.bf: holds 20[23][0-9]{3} lines but was made for 200000; about 0\.[0-9]*% of new lines'
}

@test "more layers than a filter can have, and still grow" {
    local i
    for ((i = 0; i < 41; i++)); do
        exits 0 unseen create -n $((2000 * (i + 1))) $i.bf || return 1
    done
    fails_with 2 'merge: the result would have 41 layers, more than the limit of 40' unseen merge -o out.bf ./*.bf
    rm 0.bf
    exits 0 unseen merge -o out.bf ./*.bf
    exits 0 unseen stats --json out.bf
    [[ $(field layer_count) -eq 40 ]]
    seq $(($(field lines_left) + 2000)) >in
    exits 0 unseen add out.bf in
    has out.bf in
    exits 0 unseen stats --json out.bf
    [[ $(field layer_count) -eq 41 ]]
}

# sum_holds FILTER P: of lines that are in none, no more than P are dropped, as far as chance goes.
sum_holds() {
    exits 0 unseen query -c "$1" < <(seq 20000000 20399999)
    holds "$(<"$out") <= 400000 * $2 + 6 * sqrt(400000 * $2)" || complain "$1: $(<"$out")"
}

@test "layers that stay apart take new lines within p, and what grows after them, too" {
    local made lines i last layers
    while IFS='|' read -r made lines layers; do
        rm -f ./*.bf
        for i in 1 2 3 4; do
            exits 0 unseen add --create $made $i.bf < <(seq ${i}000000 $((i * 1000000 + lines - 1))) || return 1
        done
        exits 0 unseen merge -o out.bf [1-4].bf
        silent_on_stderr
        exits 0 unseen stats --json out.bf
        holds "$(field layer_count) == $layers && $(field lines_left) > $lines" || complain "$made: $(<"$out")"
        last=$((9999999 + $(field lines_left)))
        # To the last line of room, and then through two layers more.
        exits 0 unseen add out.bf < <(seq 10000000 $last)
        sum_holds out.bf 1e-3
        exits 0 unseen add out.bf < <(seq $((last + 1)) $((last + 30000)))
        exits 0 unseen add out.bf < <(seq $((last + 30001)) $((last + 500000)))
        exits 0 unseen stats --json out.bf
        holds "$(field layer_count) == $layers + 2" || complain "$made: $(<"$out")"
        sum_holds out.bf 1e-3
        succeeds unseen verify out.bf
    done <<'END'
-n 10000 -p 1e-3|6000|4
-n 6100 -p 1e-3|4000|4
END
}

# bats test_tags=rate
@test "merged every week, a filter is about as large as one that saw all lines, and its rate holds" {
    local way week each=4000 first last
    for way in week both; do
        rm -f ./*.bf
        exits 0 unseen add --create -p 1e-3 a.bf < <(seq 600000)
        exits 0 unseen add --create -p 1e-3 b.bf < <(seq 1000001 1600000)
        cp a.bf out.bf
        cp a.bf all.bf
        [[ $way == week ]] || exits 0 unseen add all.bf < <(seq 1000001 1600000)
        for week in {1..10}; do
            first=$((2000000 + week * each))
            if [[ $way == week ]]; then # a new filter each week
                exits 0 unseen add --create -p 1e-3 week.bf < <(seq $first $((first + each - 1)))
                exits 0 unseen merge -o out.bf out.bf week.bf
                rm week.bf
            else # two that grow, and a third that has both
                exits 0 unseen add a.bf < <(seq $first 2 $((first + each - 1)))
                exits 0 unseen add b.bf < <(seq $((first + 1)) 2 $((first + each - 1)))
                exits 0 unseen merge -o out.bf out.bf a.bf b.bf
            fi
            silent_on_stderr
            exits 0 unseen add out.bf < <(seq $((3000000 + week)) $((3000000 + week)))
            exits 0 unseen add all.bf < <(seq $first $((first + each - 1))) || return 1
        done
        [[ $(stat -c %s out.bf) -le $(($(stat -c %s all.bf) * 3 / 2)) ]] ||
            complain "$way: $(stat -c '%n %s' out.bf all.bf)"
        has out.bf <(seq 600000) <(seq 2004000 $((first + each - 1))) <(seq 3000001 3000010)
        [[ $way == week ]] || has out.bf <(seq 1000001 1600000)
        sum_holds out.bf 1e-3
        succeeds unseen verify out.bf
    done
    # Two full layers have nearly all of p. What is added has its part of the rest.
    exits 0 unseen stats --json out.bf
    last=$((4000000 + $(field lines_left) * 51 / 50))
    exits 0 unseen add out.bf < <(seq 4000000 $last)
    exits 0 unseen stats --json out.bf
    holds "$(field layer_count) == 4 && $(grep -o '[^:]*}]}$' "$out" | tr -d '}]') < 1e-5" || complain "$(<"$out")"
    sum_holds out.bf 1e-3
}

# --- parts of a list ---

# shards N: all.bf, and part1.bf ... partN.bf made like it for the parts of a list, all empty.
shards() {
    local i
    creates -n 40000 -p 1e-9 all.bf
    for ((i = 1; i <= $1; i++)); do
        creates --like all.bf --shard "$i/$1" "part$i.bf"
    done
}

# is_part FILE PART PARTS: as its header has it.
is_part() {
    [[ $(od -An -v -tu4 -j 168 -N 8 "$1" | tr -s ' ') == " $2 $3" ]] || complain "$1 is not for part $2/$3"
}

@test "all parts of a list become a filter for the list, which takes any line" {
    shards 4
    input 20000 >in
    local i
    for i in 1 2 3 4; do
        unseen shard $i/4 in >in.$i
        exits 0 unseen add part$i.bf in.$i
    done
    exits 0 unseen add all.bf in
    succeeds unseen merge -o out.bf part4.bf part2.bf part1.bf part3.bf
    is_part out.bf 0 0
    cmp <(bits_of out.bf) <(bits_of all.bf)
    succeeds unseen verify out.bf
    input 21000 >longer
    succeeds unseen out.bf longer
    same "$out" <(tail -n 1000 longer)
    # With one for the list, or a part tried twice, it is the same.
    cp part2.bf again.bf
    succeeds unseen merge -o other.bf part?.bf again.bf all.bf
    is_part other.bf 0 0
    cmp <(bits_of other.bf) <(bits_of all.bf)
    # Over one of them: a filter for the list, with the UUID of that part.
    exits 0 unseen --pending keys part1.bf in.1
    succeeds unseen merge -o part1.bf part?.bf
    is_part part1.bf 0 0
    has part1.bf in
    succeeds unseen commit part1.bf keys
}

@test "if inputs are parts, all must be given, of the same list; an empty one can take the place of one" {
    local i
    shards 8
    fails_with 2 'merge: shard 3 of 8 is missing' unseen merge -o out.bf part[1248].bf
    fails_with 2 'merge: shard 1 of 8 is missing' unseen merge -o out.bf part8.bf all.bf
    fails_with 2 'merge: shard 8 of 8 is missing' unseen merge --force -o all.bf all.bf part[1-7].bf part1.bf
    for i in 1 2 1000000; do
        creates -n 1000 --shard "$i/1000000" "many$i.bf"
    done
    fails_with 2 'merge: shard 3 of 1000000 is missing' unseen merge -o big.bf many*.bf
    creates -n 40000 -p 1e-9 --shard 3/4 four.bf
    fails_with 2 'four.bf: cannot be merged with part1.bf: was made with --shard I/4, not I/8' \
        unseen merge -o out.bf all.bf part?.bf four.bf
    # For one and the same part: one for that part, which is a part like any other.
    cp part2.bf again.bf
    succeeds unseen merge -o again.bf part2.bf again.bf ./part2.bf
    is_part again.bf 2 8
    rm part2.bf
    creates --like part1.bf --shard 3/8 part3.bf --force
    succeeds unseen merge -o out.bf again.bf part?.bf
    is_part out.bf 0 0
    # Of one part, it is all there is.
    creates --shard 1/1 one.bf
    succeeds unseen merge -o one.bf one.bf
    is_part one.bf 0 0
}

@test "parts made for their share add up: as many layers, and what stats says" {
    local i
    seq 40000 >in
    for i in 1 2 3 4; do
        creates -n 10500 -p 1e-2 --shard $i/4 part$i.bf
        unseen shard $i/4 in | succeeds unseen add part$i.bf
    done
    exits 0 unseen merge -o out.bf part?.bf
    says '^unseen: out.bf: false-positive rate is 0\.01[0-9]*, above the 0\.01 asked for'
    is_part out.bf 0 0
    has out.bf in
    measured out.bf
    holds "$(field layer_count) == 4"
}

# --- stages -------------------------------------------------------------------

# All of a filter but what makes each one different, and the settlings.
contents_of() {
    tail -c +4097 "$1" | head -c 4096
    tail -c +9217 "$1"
}

# staged_parts COUNT LINES [OPTION...]: the same as parts, with all lines still in stages.
staged_parts() {
    with_stages
    parts "$@"
    [[ $(od -An -v -tu8 -j 9224 -N 8 part1.bf) -eq 1 && $(od -An -v -tu8 -j 9256 -N 8 part1.bf) -eq 0 ]]
}

@test "lines in stages go to the layers: one filter of one layer, whose stage is a hole" {
    staged_parts 4 10000 -n 80000
    cat part? | exits 0 unseen add all.bf
    succeeds unseen merge -o flat.bf all.bf
    succeeds unseen merge -o out.bf part?.bf
    cmp <(contents_of out.bf) <(contents_of flat.bf)
    has out.bf part?
    input 40000 50000 >others
    lacks out.bf others
    succeeds unseen verify out.bf
    exits 0 unseen stats --json out.bf
    holds "$(field layer_count) == 1 && $(field lines) > 39800 && $(field lines) < 40200"
    [[ $(od -An -v -tu8 -j 9216 -N 8 out.bf) -gt 39800 && $(od -An -v -tu8 -j 9224 -N 8 out.bf) -eq 0 ]]
    [[ $(bytes_of out.bf) -eq $(bytes_of all.bf) ]]
    [[ $(($(stat -c '%b * %B' out.bf))) -lt 600000 ]]
    # Order and steps make no difference, nor does a stage beside none.
    succeeds unseen merge -o other.bf part4.bf part2.bf part3.bf part1.bf
    cmp <(contents_of out.bf) <(contents_of other.bf)
    succeeds unseen merge -o ab.bf part1.bf part2.bf
    succeeds unseen merge -o abcd.bf part3.bf ab.bf part4.bf
    cmp <(contents_of out.bf) <(contents_of abcd.bf)
    # It goes on with its stage.
    exits 0 unseen out.bf part? others
    same "$out" others
    has out.bf part? others
    succeeds unseen verify out.bf
}

@test "lines in stages that do not fit are judged as others, and are in all the same; OUT may be an input" {
    staged_parts 6 9500 -n 10000
    exits 0 unseen merge -o out.bf part?.bf
    says 'out.bf: false-positive rate is 1\.[0-9]*e-9, above the 1e-9 asked for'
    has out.bf part?
    succeeds unseen verify out.bf
    exits 0 unseen add part2.bf < <(input 90000 200000)
    exits 0 unseen merge -o part1.bf part1.bf part2.bf
    has part1.bf part1 part2 <(input 90000 200000)
    succeeds unseen verify part1.bf
}

@test "a stage that cannot be read, and Ctrl-C while it is" {
    need_strace
    staged_parts 2 9000 -n 80000
    strace -qq -o trace -e trace=pread64 "$UNSEEN" merge -o out.bf part1.bf part2.bf
    # After the heads of both, their stages.
    local n
    n=$(grep -n ', 8192, ' trace | sed -n '2s/:.*//p')
    [[ $n -gt 4 ]]
    rm out.bf
    fails_with 2 '^unseen: part[12]\.bf: Input/output error$' strace -qq -o /dev/null -e trace=pread64 \
        -e "inject=pread64:error=EIO:when=$n+" "$UNSEEN" merge -o out.bf part1.bf part2.bf
    exits 130 env --default-signal=INT strace -qq -o trace -e trace=pread64 \
        -e "inject=pread64:signal=INT:when=$n" "$UNSEEN" merge -o out.bf part1.bf part2.bf
    [[ $(echo .out* out*) == '.out* out*' ]]
}

# --- trouble -----------------------------------------------------------------

prepare_merge() { cp part1.bf f.bf; }
form_merge() { strace_it merge -o f.bf f.bf part2.bf; }
again_merge() { "$UNSEEN" merge -o f.bf f.bf part2.bf && has f.bf part1 part2; }

@test "kill -9 at any system call: OUT as it was, or complete, and no debris" {
    need_strace
    parts 2 1000
    # What is left is hidden.
    after_kill() {
        has f.bf part1 && { cmp -s <(bits_of f.bf) <(bits_of part1.bf) || has f.bf part2; } && [[ -z $(find . -name 'f.bf?*') ]]
    }
    in_the_end() { [[ -z $(find . -name '.f.bf*') ]]; }
    killed_at_each merge openat mmap fcntl fallocate pwrite64 fchmod fsync rename close
}

# has_soon FILTER LINE: waits until LINE is in; it was printed a moment before.
has_soon() {
    until "$UNSEEN" query -q "$1" < <(echo "$2"); do
        sleep 0.01
    done
}

@test "writers of an input go on, writers of OUT notice; what they had remembered before is in" {
    local status=0
    parts 2 2000
    converse "$UNSEEN" part1.bf
    say before
    hear before
    has_soon part1.bf before
    succeeds unseen merge -o out.bf part1.bf part2.bf
    say between
    hear between
    has_soon part1.bf between
    lacks out.bf <(echo between)
    succeeds unseen merge -o part1.bf part1.bf part2.bf
    # This line is not printed: it could not be remembered.
    say after
    farewell || status=$?
    [[ $status -eq 75 ]]
    says 'part1.bf: was replaced during this run'
    has out.bf <(echo before) part1 part2
    has part1.bf <(printf 'before\nbetween\n') part1 part2
    lacks part1.bf <(echo after)
}

@test "a batch that is being written when OUT is replaced is not settled in vain" {
    parts 1 20000 -n 60000
    input 7000 50000 >in # one chunk, more than a pipe holds
    mkfifo pipe
    "$UNSEEN" part1.bf in >pipe 2>said 3>&- &
    local writer=$! first
    exec {reader}<pipe
    IFS= read -r first <&"$reader"
    succeeds unseen merge -o part1.bf part1.bf all.bf
    { echo "$first"; cat <&"$reader"; } >printed
    ended 75 "$writer"
    exec {reader}<&-
    cp said "$err"
    says 'part1.bf: was replaced during this run'
    # What it printed is in, but for that batch; the next run prints that, and all that is missing.
    exits 0 unseen part1.bf in
    none_lost in printed "$out"
    [[ $(cat printed "$out" | sort | uniq -d | wc -l) -le $batch_lines ]]
    has part1.bf in part1
}

@test "nobody settles in OUT while it is merged" {
    need_strace
    parts 2 1000
    local pid child waiting
    # The new file is complete then, and has no name.
    stopped_after fsync 1 '' merge -o part1.bf part1.bf part2.bf
    "$UNSEEN" add part1.bf <<<'too late' 2>said 3>&- &
    waiting=$!
    asleep "$waiting"
    exits 1 unseen query part1.bf <<<'too late'
    kill -CONT "$child"
    wait "$pid"
    has part1.bf part1 part2
    ended 75 "$waiting"
    lacks part1.bf <(echo 'too late')
}

# --- queues ------------------------------------------------------------------

@test "a queue stays with its filter, if that is an input: else a new one takes it over once no line waits in it" {
    exits 0 unseen push --create q.bf < <(seq 5)
    exits 0 unseen --create other.bf < <(seq 3 7)
    exits 0 unseen merge -o out.bf q.bf other.bf
    says 'q\.bf: 5 lines are waiting in its queue, and out\.bf treats them as seen'
    exits 1 unseen pop out.bf
    succeeds unseen merge -o q.bf q.bf other.bf
    has q.bf <(seq 7)
    succeeds unseen push q.bf < <(seq 9)
    succeeds unseen pop -m 9 q.bf
    prints '1\n2\n3\n4\n5\n8\n9\n'
    exits 0 unseen merge --force -o q.bf other.bf
    exits 1 unseen pop q.bf
    has q.bf <(seq 3 7)
    succeeds unseen push q.bf <<<new
    succeeds unseen pop -m 9 q.bf
    prints 'new\n'
}

@test "lines that are in several layers are counted once" {
    exits 0 unseen create -n 50000 a.bf
    exits 0 unseen create --like a.bf b.bf
    exits 0 unseen add a.bf < <(seq 50000)
    exits 0 unseen add b.bf < <(seq 40001 90000)
    exits 0 unseen merge -o out.bf a.bf b.bf
    exits 0 unseen stats --json out.bf
    holds "$(field lines) > 89000 && $(field lines) < 91000 && $(field layer_count) == 2"
    # Both layers are full for all that.
    holds "$(field lines_left) < 500"
    has out.bf <(seq 90000)
    # Those of one shape need not be the first.
    exits 0 unseen create -n 1000 few.bf
    exits 0 unseen merge --force -o out.bf few.bf a.bf b.bf
    exits 0 unseen stats --json out.bf
    holds "$(field lines) > 89000 && $(field lines) < 91000 && $(field layer_count) == 3"
}
