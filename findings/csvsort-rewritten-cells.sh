#!/usr/bin/env bash
# Subject: csvsort of csvkit 2.2.0 (PyPI)
# Question: which cells does `csvsort -c 1` print?
# One would guess: those that it read, in another order.
# What happens: whole columns are rewritten by what they look like. A column of 0 and 1 becomes
#     False and True; of 5, 10% and $3 the numbers 3, 5, 10; of may and mon two dates in the year 1;
#     none and n/a become empty. -I (--no-inference) prints what was read.
# Why it matters: sorting is a step before comparing. After it, 007 is 7, 10% is 10, and rows that
#     differed are the same; or yesterday's list, which held other values, was left as it was, and
#     all rows are new.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install csvkit==2.2.0

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# sorted CELL...: a column of these cells, and ids, sorted by the cells.
sorted() {
    { echo cell,id && printf '%s,x\n' "$@"; } >"$here/in.csv"
    "$here/venv/bin/csvsort" "${options[@]}" -c cell "$here/in.csv" |
        sed '1d; s/,x$//' | paste -sd' ' -
}
options=(-q '"')
price=\$3

"$here/venv/bin/pip" list 2>/dev/null | grep csvkit
shows "1 0" "$(sorted 1 0)" "False True"
shows "007 7" "$(sorted 007 7)" "7 7"
shows "5 10% \$3" "$(sorted 5 10% "$price")" "3 5 10"
shows "may mon" "$(sorted may mon)" "0001-01-08 0001-05-01"
shows "x none n/a" "$(sorted x none n/a)" "x  "
options+=(-I)
shows "5 10% \$3 with -I" "$(sorted 5 10% "$price")" "$price 10% 5"
