#!/usr/bin/env bash
# Damages copies of ./f.bf in the current directory, one place at a time, and
# looks at what the commands make of them. ./lines is what it is asked about.
#
#     damage.bash KIND FROM TO STEP [refused | harmless]
#
# KIND: flips (a byte inverted), lengths (cut off there). refused, unless told: each command
# exits 2 with one line on stderr that names the file, prints nothing and changes
# nothing. harmless: exit 0, 1 or 2, whatever is there; readers change nothing.
# Exit: 0 so it is, 1 it is not, with the first place that is wrong.
set -u
turn=0

kind=$1 from=$2 to=$3 step=$4 wanted=${5:-refused}
file=damaged.bf
output=$BATS_TEST_TMPDIR/damage.out
messages=$BATS_TEST_TMPDIR/damage.err

wrong() {
    echo "$kind at $place: $*"
    echo "stdout: $(head -c 300 "$output" | head -n 3 | cat -v)"
    echo "stderr: $(head -c 600 "$messages" | head -n 6 | cat -v)"
    exit 1
}

# look COMMAND...: runs it on the damaged file.
look() {
    local code=0 said
    "$UNSEEN" "$@" >"$output" 2>"$messages" || code=$?
    [[ $code -le 2 ]] || wrong "exit code $code: $*"
    [[ $wanted == refused ]] || return 0
    [[ $code -eq 2 ]] || wrong "not refused, exit code $code: $*"
    mapfile -t said <"$messages"
    if [[ $1 == verify ]]; then
        mapfile -t -O "${#said[@]}" said <"$output"
        [[ ${said[*]} == *"$file: "* ]] || wrong "no finding: $*"
    else
        [[ ! -s $output ]] || wrong "prints something: $*"
        [[ ${#said[@]} -eq 1 && ${said[0]} == "unseen: $file: "* ]] ||
            wrong "one line that names the file, please: $*"
    fi
}

unchanged() {
    cmp -s "$file" before || wrong "the file changed"
}

# All commands, or for the sake of time one that reads and another in turn.
look_at() {
    cp "$file" before
    look query -c "$file" lines
    case $turn in
    0) look stats --json "$file" ;;
    1) look verify "$file" ;;
    esac
    unchanged
    case $turn in
    2) look "$file" lines ;;
    3) look add "$file" lines ;;
    esac
    [[ $wanted == harmless ]] || unchanged
    turn=$(((turn + 1) % 4))
}

# write_at OFFSET ESCAPES
write_at() {
    # shellcheck disable=SC2059
    printf "$2" | dd of="$file" bs=1 seek="$1" conv=notrunc status=none
}

mapfile -t bytes < <(od -An -v -tx1 -w1 f.bf | tr -d ' ')

for ((place = from; place < to; place += step)); do
    cp f.bf "$file"
    case $kind in
    flips) write_at "$place" "\\x$(printf '%02x' $((0x${bytes[place]} ^ 0xff)))" ;;
    lengths) truncate -s "$place" "$file" ;;
    esac
    look_at
done
