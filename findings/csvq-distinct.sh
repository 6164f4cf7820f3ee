#!/usr/bin/env bash
# Subject: csvq 1.18.1 (Go), SQL on CSV files
# Question: which ids does SELECT DISTINCT id keep of a CSV file? Which ones of a new file are not
#     in another, that was seen?
# One would guess: those that differ as text, since the cells of CSV are text.
# What happens: cells are compared by what they may mean. abc, ABC and " abc" with its space are
#     one; so are 7, 007 and +7; 1.1 and 1.10; 1, true and t; 2026-01-01 and the midnight that
#     it begins with. DISTINCT prints the first of each, GROUP BY counts them as one, and EXCEPT and
#     NOT IN leave out ABC if abc was seen. --strict-equal compares text, but for spaces around
#     it; NOT IN does not heed it.
# Why it matters: of 14 different ids 6 are left. Names of files, and short ids of links and
#     videos, differ by case alone; codes with zeros in front are others than those without.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
command -v go >/dev/null || { echo "skipped: there is no go"; exit 77; }
export GOMODCACHE=$here/modules GOFLAGS=-modcacherw GOBIN=$here/bin
go install github.com/mithrandie/csvq@v1.18.1 2>"$here/log" || { cat "$here/log" >&2; exit 1; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cd "$here"
ids=(abc ABC ' abc' 7 007 +7 1.1 1.10 1 true t yes 2026-01-01 '2026-01-01 00:00:00')
{ echo id,row && printf '"%s",x\n' "${ids[@]}"; } >ids.csv
# query SQL OPTION...: the cells that csvq prints.
query() { bin/csvq --format CSV --without-header "${@:2}" "$1" | paste -sd'|'; }
bin/csvq --version
shows "different ids" "$(printf '%s\n' "${ids[@]}" | sort -u | wc -l)" 14
shows "DISTINCT" "$(query 'SELECT DISTINCT id FROM ids')" "abc|7|1.1|1|yes|2026-01-01"
shows "COUNT(DISTINCT)" "$(query 'SELECT COUNT(DISTINCT id) FROM ids')" 6
shows "GROUP BY" "$(query 'SELECT id, COUNT(*) FROM ids GROUP BY id')" \
    "abc,3|7,3|1.1,2|1,3|yes,1|2026-01-01,2"
shows "DISTINCT, --strict-equal" \
    "$(query 'SELECT COUNT(DISTINCT id) FROM ids' --strict-equal)" 13
printf 'id,row\n%s,x\n%s,x\n' abc 7 >seen.csv
printf 'id,row\n%s,x\n%s,x\n%s,x\n' ABC 007 pear >new.csv
shows "new EXCEPT seen" "$(query 'SELECT id FROM new EXCEPT SELECT id FROM seen')" pear
shows "new EXCEPT seen, --strict-equal" \
    "$(query 'SELECT id FROM new EXCEPT SELECT id FROM seen' --strict-equal)" "ABC|007|pear"
not_in='SELECT id FROM new WHERE id NOT IN (SELECT id FROM seen)'
shows "new NOT IN seen" "$(query "$not_in")" pear
shows "new NOT IN seen, --strict-equal" "$(query "$not_in" --strict-equal)" pear
