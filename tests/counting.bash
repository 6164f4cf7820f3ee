# What the tests of counting filters share, small and heavy; load it behind crash.bash.

# shellcheck shell=bash

# made_of FILE OPTION...: the cells of f.bf are those of a filter made by create OPTION... to which
# exactly the lines of FILE were added: no count is too high or too low anywhere.
made_of() {
    local file=$1
    shift
    exits 0 unseen create --force --counting "$@" made.bf || return 1
    exits 0 unseen add made.bf "$file" || return 1
    cmp <(layer f.bf) <(layer made.bf) || {
        echo "f.bf counts other keys than those of $file: $(cmp -l <(layer f.bf) <(layer made.bf) | wc -l) bytes"
        return 1
    }
}

# kill_removals HITS: kills `remove` of ./gone at random moments, until HITS of the kills came while
# it was at work. ./gone and ./kept were added before to a filter for so many
# lines. Of ./kept none may be lost, and of ./gone each is whole in or whole out.
kill_removals() {
    local wanted=$1 span hits=0 tries=0 undone=0 lines status left
    lines=$(cat gone kept | wc -l)
    exits 0 unseen create --force --counting -n "$lines" -p 1e-9 full.bf || return 1
    exits 0 unseen add full.bf gone kept || return 1
    # How long it takes depends on the machine, on how the program was built, and on what else runs
    # at the moment: each kill that came too early or too late moves the time of the next.
    cp full.bf f.bf
    span=${EPOCHREALTIME/[^0-9]/}
    "$UNSEEN" remove f.bf gone || return 1
    span=$((${EPOCHREALTIME/[^0-9]/} - span))
    while [[ $hits -lt $wanted ]]; do
        tries=$((tries + 1))
        [[ $tries -le $((wanted * 20 + 100)) ]] ||
            { echo "only $hits of $tries kills came while it was at work"; return 1; }
        cp full.bf f.bf
        status=0
        "$tools/killed" 0 $((RANDOM * span * 5 / (4 * 32768))) "$UNSEEN" remove f.bf gone 2>"$err" || status=$?
        [[ $status -eq 137 || $status -eq 0 ]] || { echo "exit code $status"; cat "$err"; return 1; }
        # verify says whether a line is half out; the next writer puts it back.
        unseen verify f.bf | grep -q 'remove was killed' && undone=$((undone + 1))
        exits 0 unseen add f.bf </dev/null || return 1
        unseen query f.bf gone >left || true
        left=$(wc -l <left)
        case $left in
        0) span=$((span - span / 8)) && continue ;;
        "$(wc -l <gone)") span=$((span + span / 8)) && continue ;;
        *) hits=$((hits + 1)) ;;
        esac
        exits 0 unseen verify f.bf || complain "verify after kill $tries" || return 1
        remembers "$(wc -l <kept)" kept || { echo "after kill $tries"; return 1; }
        cat kept left >rest
        made_of rest -n "$lines" -p 1e-9 || { echo "after kill $tries"; return 1; }
    done
    echo "$hits kills at work of $tries, $undone of them with a line half out; 0 lost, 0 half out then"
}
