#!/usr/bin/env bats
# Lines that a stranger chose: what they can do, and what they cannot.
#
# Who knows the seed, 0 unless another one is given, can make lines for the keys he wants
# (tests/tools/genchosen.c). He voids p with them, for other lines too; that is documented, and shown
# here. But the program stays as fast as it is and as small, and its output is what it always is.

load helper

genchosen() {
    "${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}/genchosen" "$@"
}

# told NAME COMMAND...: a number that it tells in JSON.
told() {
    capture unseen "${@:2}" --json
    field "$1"
}

# --- What chosen lines can do -------------------------------------------------

@test "a thousand different lines with one key: one is printed, at any p, in memory and with a file" {
    local p
    genchosen same 1000 >one_key
    [[ $(sort -u one_key | wc -l) -eq 1000 ]]
    [[ $(awk '{ print length }' one_key | sort -u) -eq 320 ]]
    for p in 0.5 1e-6 1e-12; do
        unseen -p $p <one_key >got
        same got <(head -n 1 one_key)
        rm -f f.bf
        unseen --create -p $p --fixed -n 1e6 f.bf <one_key >got 2>errors
        same got <(head -n 1 one_key)
    done
    # A seed is no secret. But these lines are for another one.
    genchosen -s 77 same 1000 | unseen --seed 77 | wc -l >got
    [[ $(cat got) -eq 1 ]]
    [[ $(unseen --seed 77 <one_key | wc -l) -eq 1000 ]]
}

# hits_of FILTER: of a hundred thousand lines that are not in, how many look seen.
hits_of() {
    capture unseen query -c "$1" < <(genchosen -d 3 any 100000)
    [[ $code -le 1 ]] || complain query
    hits=$(cat "$out")
    echo "$1: $hits of 100000"
}

@test "8000 lines on one page of 256: others look seen, 0.35 % of them, and growth does not help" {
    creates f.bf
    [[ $(told pages stats f.bf) -eq 256 ]]
    hits_of f.bf
    [[ $hits -eq 0 ]]
    genchosen page 8000 256 100 >crowd
    succeeds unseen add f.bf crowd
    hits_of f.bf
    # 350, within six deviations
    holds "$hits > 350 - 6 * sqrt(350) && $hits < 350 + 6 * sqrt(350)"
    # stats says so, and verify.
    holds "$(told rate stats f.bf) > 0.003"
    exits 1 unseen verify f.bf
    grep -Eqx 'f\.bf: layer 1: 1 of 256 pages has about 8[0-9]{3} lines, where chance explains 0 \(lines were crafted to .*' "$out"
    exits 0 unseen add f.bf < <(seq 300000)
    hits_of f.bf
    holds "$hits > 350 - 6 * sqrt(350)"
    [[ $(told layer_count stats f.bf) -gt 1 ]]
}

@test "with --secret they do no harm: all thousand are printed, and p holds for others" {
    genchosen same 1000 >one_key
    unseen --create --secret f.bf <one_key >got 2>errors
    same got one_key
    creates --like f.bf g.bf
    genchosen page 8000 256 100 >crowd_lines
    succeeds unseen add g.bf crowd_lines
    capture unseen query -c g.bf < <(genchosen -d 3 any 100000)
    [[ $code -eq 1 ]] || complain "some look seen"
    prints '0\n'
}

# --- What they cannot do ------------------------------------------------------

@test "lines that come a hundred times in a batch, while another writer has them in flight" {
    creates -n 1e6 f.bf
    seq -f '%0100.0f' 2000 >held
    head -n 20 held | awk '{ for (i = 0; i < 100; i++) print }' >in
    seq 20 >>in
    stall "$UNSEEN" f.bf held
    unseen f.bf in >got
    same got <(seq 20)
    end_stalled undelivered
    unseen f.bf in >got
    same got <(head -n 20 held)
}

# crowd PAGES PAGE...: 2200 lines on each, other ones than before.
draw=0
crowd() {
    local pages=$1 page
    shift
    for page; do
        genchosen -d $((draw += 1)) page 2200 "$pages" "$page"
    done >in
    exits 0 unseen add f.bf in
}

# A writer looks at a few pages, in case the counter is too low (src/filter/room.c).
@test "a few pages that are crowded do not make a file grow" {
    local round pages keys
    creates -n 1e6 f.bf
    pages=$(told pages stats f.bf)
    # Pages that would be looked at if they followed from the counter.
    for round in 1 2 3; do
        # shellcheck disable=SC2046
        crowd "$pages" $(for part in {0..15}; do echo $((pages * part / 16)); done)
        keys=$(told lines stats f.bf)
        exits 0 unseen add f.bf < <(genchosen -d $((100 + round)) any $((pages - keys % pages)))
        exits 0 unseen add f.bf < <(genchosen -d $((200 + round)) any 3)
    done
    [[ $(told layer_count stats f.bf) -eq 1 ]]
    # All pages of a small one are looked at.
    rm f.bf
    creates -n 17000 f.bf
    [[ $(told pages stats f.bf) -eq 16 ]]
    crowd 16 0 5 10
    exits 0 unseen add f.bf <<<x
    [[ $(told layer_count stats f.bf) -eq 1 ]]
}

# --- Memory -------------------------------------------------------------------

# bounded KILOBYTES COMMAND...
bounded() {
    local most=$1
    shift
    peak_of "$@" >got
    [[ $peak -lt $most ]] || { echo "$peak KB: $*"; return 1; }
}

@test "three million empty lines, lines of NULs, one line again and again: little memory, for any -j" {
    need_memory_figures
    local j
    head -c 3000000 /dev/zero >nuls
    tr '\0' '\n' <nuls >newlines
    fold -b -w 16 nuls >nul_lines
    yes "$(genchosen any 1 | tr -d '\0')" | head -n 1000000 >equal
    for j in 1 2; do
        bounded 12000 "$UNSEEN" -j $j <newlines
        same got <(echo)
        bounded 12000 "$UNSEEN" -j $j -z <nuls
        same got <(head -c 1 nuls)
        bounded 12000 "$UNSEEN" -j $j <nul_lines
        same got <(head -n 1 nul_lines)
        bounded 12000 "$UNSEEN" -j $j <equal
        same got <(head -n 1 equal)
    done
    bounded 12000 "$UNSEEN" -d <newlines
    same got <(echo)
}

@test "a line without an end: no more memory than --max-line, whatever ends lines" {
    need_memory_figures
    local with
    for with in '' -z '--by url' '-f 2' '-j 2'; do
        bounded 45000 sh -c 'head -c 60000000 /dev/zero | tr "\0" x | { "$UNSEEN" --max-line 16M "$@"; echo $? >code; }' \
            sh $with 2>errors
        [[ $(cat code) -eq 2 && ! -s got ]]
        grep -q '^unseen: .*has a line longer than 16777216 bytes' errors
    done
}

@test "lines on one page, and with one place in a table: no more memory than others need" {
    need_memory_figures
    local lines with page
    genchosen any 40000 >any_keys
    for ((page = 0; page < 20; page++)); do
        genchosen -d "$page" page 2000 926 $((page * 40))
    done >pages
    genchosen slot 40000 >one_slot
    for lines in any_keys pages one_slot; do
        for with in '' '--pending keys' '--durable'; do
            rm -f f.bf keys
            unseen create -n 1e6 f.bf
            bounded 40000 "$UNSEEN" $with f.bf <$lines
            [[ $lines == pages ]] || same got $lines
        done
        rm -f f.bf
        unseen create -n 1e6 f.bf
        bounded 40000 "$UNSEEN" f.bf -x cat <$lines
        [[ $lines == pages ]] || same got $lines
    done
}

@test "a file that says it is full, and is not, does not grow" {
    creates -n 1000 f.bf
    printf '\350\003' | dd of=f.bf bs=1 seek=9216 conv=notrunc status=none
    exits 0 unseen add f.bf < <(seq 1000)
    [[ $(told layer_count stats f.bf) -eq 1 ]]
    exits 0 unseen add f.bf < <(seq 1001 1010)
    [[ $(told layer_count stats f.bf) -eq 2 ]]
}
