#!/usr/bin/env bash
# Subject: yq 4.54.3 of Mike Farah (Go), -p csv
# Question: `yq -p csv -o json` makes JSON of a CSV file. What becomes of an id such as #17?
# One would guess: "#17". Cells may be taken for numbers, true or null where they look so.
# What happens: null. Each cell is read as a document of YAML, where # begins a comment, and no
#     message says so. From CSV to CSV, too, the cell is empty afterwards. 010 is 10, 1_000 is 1000,
#     0x1F is 31, and "a: b" an object. --csv-auto-parse=false keeps all but such numbers.
# Why it matters: rows lose the id that they are told apart by. All that begin with # have the same
#     one then, and unique_by(.id) keeps one row of them. Invoices, tags and channels begin so.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
command -v go >/dev/null || { echo "skipped: there is no go"; exit 77; }
export GOMODCACHE=$here/modules GOFLAGS=-modcacherw GOBIN=$here/bin
go install github.com/mikefarah/yq/v4@v4.54.3 2>"$here/log" || { cat "$here/log" >&2; exit 1; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

{ echo id,row && printf '%s,x\n' '#17' '#18' 'n#19' 010 1_000 0x1F 'a: b'; } >"$here/in.csv"
# cells FORMAT OPTION...: the cells of the column id, as yq writes them in this format.
cells() { "$here/bin/yq" -p csv -I0 -o "$1" "${@:2}" '[.[].id]' "$here/in.csv"; }
"$here/bin/yq" --version
shows "ids in JSON" "$(cells json)" '[null,null,"n#19",10,1000,31,{"a":"b"}]'
shows "ids in JSON, --csv-auto-parse=false" "$(cells json --csv-auto-parse=false)" \
    '["#17","#18","n#19",10,1000,31,"a: b"]'
sed -i /a:/d "$here/in.csv"
shows "from CSV to CSV" "$("$here/bin/yq" -p csv -o csv "$here/in.csv" | paste -sd' ')" \
    "id,row ,x ,x n#19,x 010,x 1_000,x 0x1F,x"
# one_each CELL...: the cells of the column id that unique_by(.id) keeps, from CSV to CSV.
one_each() {
    { echo id,row && printf '%s,x\n' "$@"; } |
        "$here/bin/yq" -p csv -o csv 'unique_by(.id)' | sed '1d; s/,x$//' | paste -sd'|'
}
shows "one row each of n#17 n#18" "$(one_each 'n#17' 'n#18')" 'n#17|n#18'
shows "one row each of #17 #18 19" "$(one_each '#17' '#18' 19)" '|19'
