#!/usr/bin/env bash
# Subject: DuckDB 2.0.1 (PyPI), read_csv with its defaults
# Question: some ids in the first column of a CSV file begin with #. Are these rows read?
# One would guess: yes. CSV has no comments, and nobody asked for any.
# What happens: it depends on the other rows. If their ids are numbers, and the file has up to
#     about 2,000 rows, the sniffer takes # for the beginning of a comment: these rows are left out,
#     without a word, be they one in a hundred or all but one. In a file of 3,000 rows, of one
#     column, or with a # among names, they are read. comment='' reads them in each.
# Why it matters: invoices such as 17 and #18, by two programs, are halved. The small daily files
#     lose rows that the large one of the month has, and what is compared with them is new.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install duckdb==2.0.1

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# counted COUNT STEP CELL OPTIONS: how many rows are read of COUNT, if each STEPth has a #.
counted() {
    { echo id,note && seq "$1" | sed "0~$2s/^/#/; s/\$/,$3/"; } >"$here/in.csv"
    "$here/venv/bin/python" - "$here/in.csv" "$4" <<'PYTHON'
import sys
import duckdb
print(duckdb.sql(f"SELECT count(*) FROM read_csv('{sys.argv[1]}'{sys.argv[2]})").fetchall()[0][0])
PYTHON
}
"$here/venv/bin/pip" list 2>/dev/null | grep duckdb
shows "4 rows, each second with a #" "$(counted 4 2 open '')" 2
shows "2,000 rows, each second" "$(counted 2000 2 open '')" 1000
shows "2,000 rows, each hundredth" "$(counted 2000 100 open '')" 1980
shows "3,000 rows, each hundredth" "$(counted 3000 100 open '')" 3000
shows "2,000 rows, each hundredth, comment=''" "$(counted 2000 100 open ", comment=''")" 2000
sed -i 's/^#*/&k/' "$here/in.csv"
shows "  ids such as k7 and #k100" "$("$here/venv/bin/python" -c 'import duckdb, sys
print(len(duckdb.read_csv(sys.argv[1]).fetchall()))' "$here/in.csv")" 2000
