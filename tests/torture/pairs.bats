#!/usr/bin/env bats
# Pairs of mechanisms: writers of all forms at once over filters of all kinds, killed at any moment, merged
# over, their inputs run again. What was printed is in, what was put in came out; and twice only what a
# killed run had on its way.

load ../helper
load ../crash

# one_run FORM NUMBER: a run over in.NUMBER. What it delivers is in a file of its own, out.NUMBER.*, which
# may end in the midst of a line if it is killed, or in well.out.NUMBER.* once it has ended well.
one_run() {
    local in=in.$2 out
    out=out.$2.$BASHPID
    : >"$out"
    case $1 in
    plain) "$UNSEEN" f.bf "$in" >"$out" && mv "$out" "well.$out" ;;
    exec) "$UNSEEN" f.bf "$in" -x sh -c "cat >$PWD/$out; :" && mv "$out" "well.$out" ;;
    durable) "$UNSEEN" f.bf "$in" --durable -a "$out" && mv "$out" "well.$out" ;;
    add) "$UNSEEN" add f.bf "$in" && cat "$in" >"added.$2" ;;
    push) "$UNSEEN" push f.bf "$in" ;;
    pending)
        "$UNSEEN" --pending "keys.$2" f.bf "$in" >"given.$2" || return
        "$UNSEEN" commit f.bf "keys.$2" && mv "given.$2" "out.$2.given"
        ;;
    merge) "$UNSEEN" merge --force -o f.bf f.bf other.bf ;;
    esac 2>"err.$2"
}

# killed_after SECONDS FORM NUMBER: the same, and all of its processes die then.
killed_after() {
    timeout -s KILL "$1" bash -c 'one_run "$@"' - "$2" "$3" >/dev/null 2>&1
}
export -f one_run

# round WRITERS FORMS OPTIONS...: so many writers, of these forms in turn; every other one is killed at a
# random moment; then each runs again until it has ended well. Adds to `kills`.
round() {
    local writers=$1 forms i form status pids=()
    read -ra forms <<<"$2"
    shift 2
    rm -rf f.bf* other.bf out.* well.* added.* given.* keys.* .keys.* wanted
    exits 0 unseen create -p 1e-9 "$@" f.bf
    exits 0 unseen create -p 1e-9 "$@" other.bf
    exits 0 unseen push f.bf /dev/null
    for ((i = 0; i < writers; i++)); do
        form=${forms[i % ${#forms[@]}]}
        if ((i % 2 == 0)); then
            killed_after 0.0$((RANDOM % 60 + 10)) "$form" "$i" &
        else
            one_run "$form" "$i" &
        fi
        pids+=($!)
        [[ $form == merge ]] || cat "in.$i" >>wanted
    done
    for i in "${!pids[@]}"; do
        status=0
        wait "${pids[i]}" || status=$?
        ((status != 137)) || kills=$((kills + 1))
        ((status == 0 || status == 137 || status == 75)) ||
            { echo "writer $i, ${forms[i % ${#forms[@]}]}: exit code $status"; cat "err.$i"; return 1; }
    done
    # CMD of a killed run may still be at work.
    while pgrep -f "cat >$PWD/out" >/dev/null; do sleep 0.01; done
    for ((i = 0; i < writers; i++)); do
        form=${forms[i % ${#forms[@]}]}
        until one_run "$form" "$i"; do
            [[ $? -eq 75 ]] || { echo "again, $i, $form"; cat "err.$i"; return 1; }
        done
    done
    "$UNSEEN" pop f.bf -m 1000000 >out.queue || true
}

# judge FORMS...: nothing is lost, nothing forgotten, and twice only what a killed run printed; adds to `twice`.
judge() {
    whole out.* well.* >printed 2>no_such
    # Only --pending reserves nothing.
    [[ $* == *pending* || -z $(whole well.* 2>/dev/null | sort | uniq -d) ]] ||
        { echo "runs that ended well printed a line twice"; return 1; }
    # Lines that were added came out of nobody, unless another had them, too.
    cat printed added.* 2>/dev/null | sort -u >there
    sort -u wanted | comm -13 there - >lost
    [[ ! -s lost ]] || { echo "lost: $(wc -l <lost)"; head -n 3 lost; return 1; }
    [[ $("$UNSEEN" query -vc f.bf there) -eq 0 ]] || { echo "forgotten"; return 1; }
    twice=$((twice + $(sort printed | uniq -d | wc -l)))
}

# pairs WRITERS LINES OPTIONS...: all pairs of forms until enough were killed.
pairs() {
    local writers=$1 lines=$2 a b i round=0 kills=0 twice=0 wanted
    local forms=(plain exec durable pending push add merge)
    shift 2
    [[ $* != *--window* ]] || unset 'forms[6]'
    wanted=$(scaled 1000)
    for ((i = 0; i < writers; i++)); do
        # Half of each input is that of its neighbour.
        input "$lines" $((i * lines / 2)) >"in.$i"
    done
    while ((kills < wanted)); do
        for a in 0 1 2 3 4 5; do
            for b in "${!forms[@]}"; do
                ((kills < wanted)) || break
                if ! round "$writers" "${forms[a]} ${forms[b]}" "$@" || ! judge "${forms[a]}" "${forms[b]}"; then
                    echo "round $round: ${forms[a]} ${forms[b]} $*"
                    return 1
                fi
                round=$((round + 1))
            done
        done
    done
    echo "$kills kills in $round rounds of $writers writers ($*): none lost, none forgotten, $twice lines twice"
}

@test "pairs: a filter that grows, 8 writers" { pairs 8 6000 -n 2000; }
@test "pairs: a filter that grows, 40 writers" { pairs 40 500 -n 2000; }
@test "pairs: a filter of fixed size, 8 writers" { pairs 8 6000 -n 100000 --fixed; }
@test "pairs: a counting filter, 8 writers" { pairs 8 6000 --counting -n 4000; }
@test "pairs: a window that is never full, 8 writers" { pairs 8 6000 --window 200000; }
@test "pairs: a filter that grows, 2 writers with long flights" { pairs 2 60000 -n 20000; }
@test "pairs: stages, 8 writers" {
    with_stages
    pairs 8 6000 -n 200k
}
