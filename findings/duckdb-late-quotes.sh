#!/usr/bin/env bash
# Subject: DuckDB 2.0.1 (PyPI), read_csv with its defaults
# Question: COPY ... TO writes a CSV file, and puts those values in quotes that need it. Does
#     read_csv read the file back?
# One would guess: yes. The sniffer may take a number for a text, but a quote sign is one.
# What happens: if the sample, the first 20,480 rows, has no quotes, the file has none: quote is
#     empty, and later ones belong to the values. A value with a newline becomes two rows, without
#     an error if the number of columns fits. An id in quotes is another one than without them. Of
#     a file of one column the first 2,048 lines decide. quote='"' reads all right.
# Why it matters: small files are read right, and large ones where a quote comes early. One row in
#     thousands is torn, or is new although it was seen.
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

cat >"$here/rows.py" <<'PYTHON'
import sys
import duckdb

count, options = int(sys.argv[1]), sys.argv[2]
duckdb.execute('CREATE TABLE t (id TEXT, note TEXT)')
duckdb.execute("INSERT INTO t SELECT 'k' || i, 'open' FROM range(?) r(i)", [count])
duckdb.execute('''INSERT INTO t VALUES ('k-1', 'call' || chr(10) || 'Ann, now'),
    ('k-2', 'say "hi"')''')
duckdb.execute("COPY t TO 'out.csv'")
read = f"FROM read_csv('out.csv'{options})"
quote = duckdb.sql(f"SELECT quote FROM sniff_csv('out.csv'{options})").fetchall()[0][0]
print(quote, duckdb.sql(f'SELECT count(*) {read}').fetchall()[0][0],
      duckdb.sql(f"{read} WHERE id NOT IN (SELECT 'k' || i FROM range({count}) r(i))").fetchall())
PYTHON
# rows COUNT OPTIONS: the quote that is sniffed, how many rows are read, and the last ones.
rows() { (cd "$here" && rm -f out.csv && venv/bin/python rows.py "$@"); }
"$here/venv/bin/pip" list 2>/dev/null | grep duckdb
right="[('k-1', 'call\nAnn, now'), ('k-2', 'say \"hi\"')]"
torn="[('k-1', '\"call'), ('Ann', ' now\"'), ('k-2', '\"say \"\"hi\"\"\"')]"
shows "20,002 rows" "$(rows 20000 '')" "\" 20002 $right"
shows "30,002 rows" "$(rows 30000 '')" "(empty) 30003 $torn"
shows "30,002 rows, quote='\"'" "$(rows 30000 ", quote='\"'")" "\" 30002 $right"
cat >"$here/column.py" <<'PYTHON'
import sys
import duckdb

count = int(sys.argv[1])
duckdb.sql("SELECT 'k' || i FROM range($n) r(i) UNION ALL SELECT 'call' || chr(10) || 'Ann'",
           params={'n': count}).write_csv('out.csv')
print(duckdb.sql(f"FROM read_csv('out.csv') OFFSET {count}").fetchall())
PYTHON
column() { (cd "$here" && venv/bin/python column.py "$1"); }
shows "one column, 2,001 rows" "$(column 2000)" "[('call\nAnn',)]"
shows "one column, 3,001 rows" "$(column 3000)" "[('\"call',), ('Ann\"',)]"
