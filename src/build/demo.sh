#!/bin/sh
# A first look: a list of URLs goes through one filter file twice. Each command is shown as one
# would type it, and what comes out is checked, so that the demo cannot show nonsense.
#
#     src/build/demo.sh DIRECTORY     (where unseen and tests/tools were built)
set -u

lines=200000
distinct=120000

build=$(cd "$1" && pwd) || exit 1
PATH=$build:$build/tests/tools:$PATH
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
cd "$scratch" || exit 1

say() {
    echo
    printf '# %s\n' "$@"
}

wrong() {
    echo "demo: $*" >&2
    exit 1
}

# show COMMAND: what a user would type, then what it prints.
show() {
    echo "\$ $1"
    eval "$1" || wrong "exit status $?: $1"
}

say "A list of $lines URLs, as a crawler finds them; $distinct of them are different."
show "genlines $lines $distinct 1 >urls.txt"
show "head -n 3 urls.txt"
show "sort -u urls.txt | wc -l"

say "Without a filter file, unseen remembers for this run only."
show "unseen <urls.txt >new.txt"
show "wc -l <new.txt"
in_memory=$(wc -l <new.txt)

say "With one, it remembers from run to run. The first run makes the file and prints each URL once," \
    "in the order of the list."
show "unseen --create seen.bf <urls.txt >new.txt"
show "wc -l <new.txt"
in_file=$(wc -l <new.txt)

say "The second run is silent: there is nothing new."
show "unseen seen.bf <urls.txt >again.txt"
show "wc -l <again.txt"

say "A line that was never seen comes through."
show "echo https://www.example/tomorrow | unseen seen.bf | tee tomorrow.txt"

say "What the filter says of itself:"
show "unseen stats seen.bf"

# A millionth of the new lines may be taken for seen ones: of 120,000, more than three never are.
for printed in "$in_memory" "$in_file"; do
    if [ "$printed" -gt $distinct ] || [ "$printed" -lt $((distinct - 3)) ]; then
        wrong "printed $printed lines, and $distinct are different"
    fi
done
cmp -s /dev/null again.txt || wrong "the second run printed lines again"
[ -s tomorrow.txt ] || wrong "a new line did not come through"

echo
echo "demo: $in_file of $lines lines were new; the second run printed none of them again."
