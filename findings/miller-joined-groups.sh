#!/usr/bin/env bash
# Subject: Miller 6.6.0 (Debian 12: 6.6.0-2+b3)
# Question: are the rows of a CSV with a = "1,2", b = 3 and a = 1, b = "2,3" of one group in
#     `mlr --csv head -n 1 -g a,b`?
# One would guess: no. Both columns differ; Miller has read the CSV and knows which value is whose,
#     so the comma within quotes cannot matter any more.
# What happens: they are one group, and the second row is lost. Values of several fields are joined
#     by commas before they are compared. count, count-distinct, stats1, uniq -g and top do so, too,
#     and sums and counts of two groups become one under the name of the first; join pairs rows
#     whose fields all differ. From JSON it is the same. `uniq -a`, maps of the DSL, and groups by
#     one field, are right.
# Why it matters: values with commas, such as "Doe, Jane", lists of tags or decimal commas, are why
#     a CSV has quotes at all. Groups by two such columns are what one deduplicates and adds up by.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
version=6.6.0-2+b3
(cd "$here" && apt-get download -qq "miller=$version" 2>/dev/null && dpkg -x miller_*.deb .) ||
    { echo "skipped: no miller $version from Debian here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# rows ARGUMENT...: what mlr prints as CSV, without the header line, on one line
rows() { "$here/usr/bin/mlr" --csv --headerless-csv-output "$@" | paste -sd' ' -; }

"$here/usr/bin/mlr" --version
cd "$here"
printf '%s\n' a,b,n '"1,2",3,10' '1,"2,3",20' >table
printf '%s\n' a,b,left '"1,2",3,x' >left
printf '%s\n' a,b,right '1,"2,3",y' >right

shows "both rows" "$(rows cat table)" '"1,2",3,10 1,"2,3",20'
shows "head -n 1 -g a,b" "$(rows head -n 1 -g a,b table)" '"1,2",3,10'
shows "tail -n 1 -g a,b" "$(rows tail -n 1 -g a,b table)" '1,"2,3",20'
shows "uniq -g a,b" "$(rows uniq -g a,b table)" '"1,2",3'
shows "count -g a,b" "$(rows count -g a,b table)" '"1,2",3,2'
shows "count-distinct -f a,b" "$(rows count-distinct -f a,b table)" '"1,2",3,2'
shows "stats1 -a sum -f n -g a,b" "$(rows stats1 -a sum -f n -g a,b table)" '"1,2",3,30'
shows "top -f n -g a,b" "$(rows top -f n -a -g a,b table)" '1,"2,3",20'
shows "join -j a,b" "$(rows join -j a,b -f left right)" '"1,2",3,x,y'
shows "from JSON, count -g a,b" \
    "$(printf '%s\n' '{"a":"1,2","b":"3"}' '{"a":"1","b":"2,3"}' | rows --ijsonl count -g a,b)" \
    '"1,2",3,2'

shows "uniq -a" "$(rows cut -f a,b 'then' uniq -a table)" '"1,2",3 1,"2,3"'
# shellcheck disable=SC2016 # Miller's language
shows "sums in a map of the DSL" \
    "$(rows put -q '@sum[$a][$b] += $n; end { emit @sum, "a", "b" }' table)" \
    '"1,2",3,10 1,"2,3",20'
