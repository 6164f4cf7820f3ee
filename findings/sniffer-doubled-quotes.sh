#!/usr/bin/env bash
# Subject: csv.Sniffer of Python (seen in 3.11), as in the example of its manual
# Question: a CSV file has, somewhere, a value with a quote sign, written as "". Its first 1,024
#     bytes are sniffed, and the dialect is given to csv.reader. Are the rows those that csv.reader
#     reads by itself?
# One would guess: yes, where the sniffer found the right delimiter. What it did not see stays at
#     its default, and doublequote is True there.
# What happens: doublequote is False unless the sniffer finds such a value in its sample. Later
#     values with "" are cut at their commas, and rows at their newlines. There is no error, not
#     even with strict=True.
# Why it matters: the rare rows with quotes in them become two rows, one of them with a new id out
#     of the middle of a text. What follows is read right again, so nobody sees it.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/read.py" <<'PYTHON'
import csv
import io
import sys

quote = '"' if 'quoted' in sys.argv else ''
text = 'id,note\n' + ''.join(f'{i},{quote}order {i} is open{quote}\n' for i in range(100, 180))
text += '180,"say ""hi"", to all"\n181,"a ""small""\none, blue"\n182,end\n'
dialect = {}
if 'sniffed' in sys.argv:
    dialect['dialect'] = csv.Sniffer().sniff(text[:1024])
    print(repr(dialect['dialect'].delimiter), dialect['dialect'].doublequote, end=' ')
if 'strict' in sys.argv:
    dialect['strict'] = True
if 'mended' in sys.argv:
    dialect['doublequote'] = True
rows = list(csv.reader(io.StringIO(text, newline=''), **dialect))
print(rows[81:])
PYTHON
python3 --version
right="[['180', 'say \"hi\", to all'], ['181', 'a \"small\"\\none, blue'], ['182', 'end']]"
torn="[['180', 'say \"hi\"\"', ' to all\"'], ['181', 'a \"small\"\"'], ['one', ' blue\"'],"
torn+=" ['182', 'end']]"
shows "by itself" "$(python3 "$here/read.py")" "$right"
shows "sniffed" "$(python3 "$here/read.py" sniffed)" "',' False $torn"
shows "sniffed, all notes in quotes" "$(python3 "$here/read.py" sniffed quoted)" "',' False $torn"
shows "sniffed, strict" "$(python3 "$here/read.py" sniffed strict)" "',' False $torn"
shows "sniffed, doublequote=True" "$(python3 "$here/read.py" sniffed mended)" "',' False $right"
