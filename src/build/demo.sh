#!/bin/sh
# A demonstration: one list of URLs passes through one filter twice. Each command is shown as a user
# would type it and then run, and its output is checked, so that the demo cannot show nonsense.
#
#     src/build/demo.sh DIRECTORY     (where unseen and tests/tools were built)
set -u

lines=200000
distinct=120000

build=$(cd "$1" && pwd) || exit 1
unseen() { "$build/unseen" "$@"; }
genlines() { "$build/tests/tools/genlines" "$@"; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
cd "$scratch" || exit 1

wrong() {
    echo "demo: $*" >&2
    exit 1
}

# show COMMAND: prints the command, then its output.
show() {
    echo "\$ $1"
    eval "$1" || wrong "exit status $?: $1"
}

genlines $lines $distinct 1 >urls || exit 1

printf '# %s\n' "A crawler's list of $lines URLs, $distinct of them distinct."
show "head -n 2 urls"
show "wc -l <urls"

printf '\n# %s\n' "Deduplicate it in memory. The order of the list is kept."
show "unseen <urls >new"
show "wc -l <new"
in_memory=$(wc -l <new)

printf '\n# %s\n' "With a filter file, unseen remembers lines between runs. The second run prints nothing."
show "unseen create seen.bf"
show "unseen seen.bf urls >new"
show "wc -l <new"
in_file=$(wc -l <new)
show "unseen seen.bf urls >again"
show "wc -l <again"

printf '\n# %s\n' "A new line is printed."
show "echo https://www.example/tomorrow | unseen seen.bf | tee tomorrow"

printf '\n# %s\n' "How many lines the filter holds (an estimate), and how likely it is to drop a new line by mistake:"
show "unseen stats seen.bf | grep -E '^(lines|rate|size)'"
unseen stats seen.bf >figures

# At most one new line in a million is a false drop, so more than three of 120,000 never are.
for printed in "$in_memory" "$in_file"; do
    if [ "$printed" -gt $distinct ] || [ "$printed" -lt $((distinct - 3)) ]; then
        wrong "printed $printed lines, and $distinct are different"
    fi
done
cmp -s /dev/null again || wrong "the second run printed lines again"
[ -s tomorrow ] || wrong "a new line was not printed"
awk -v lines=$((distinct + 1)) '
    $1 == "lines" { held = $2 > 0.99 * lines && $2 < 1.01 * lines }
    /^rate now/ { rate = $3 > 0 && $3 <= 1e-6 }
    $1 == "size" { size = 1 }
    END { exit !(held && rate && size) }' figures || wrong "stats has other figures"

printf '\ndemo: %s\n' "the first run printed $in_file of $lines lines; the second run printed none of them again."
