#!/usr/bin/env bash
# Subject: pyarrow 26.0.1 (PyPI), pyarrow.csv.read_csv with its defaults
# Question: a valid CSV file has fields with newlines, in quotes. Does read_csv read them?
# One would guess: yes, since it does with any small file; or else it stops with an error.
# What happens: it depends on the size. A file of one block (1 MB) is read right. A larger one is
#     cut at the last newline of each block, in quotes or not. Mostly that is an error; but if what
#     follows the newline has as many commas as a row, it becomes a row, the beginning of the real
#     row is lost with its id, and nothing is said. The number of rows is right. As the new id is
#     no number, all ids are strings then. newlines_in_values=True reads every size right.
# Why it matters: the test file is small, and the export grows. One row of thousands has an id that
#     nobody has ever seen, one is missing, and the ids of the others no longer equal yesterday's.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install pyarrow==26.0.1

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/read.py" <<'PYTHON'
import io
import sys
from pyarrow import csv

count, address = int(sys.argv[1]), sys.argv[2]
ids = [str(100000 + i) for i in range(count)]
text = 'id,address\n' + ''.join(f'{id},"{address}"\n' for id in ids)
options = csv.ParseOptions(newlines_in_values=len(sys.argv) > 3)
try:
    table = csv.read_csv(io.BytesIO(text.encode()), parse_options=options)
except Exception:
    print('an error')
else:
    got = {str(row['id']): row['address'] for row in table.to_pylist()}
    print(f'{table.num_rows} rows, {table.schema.field("id").type};',
          f'{len(set(ids) - set(got))} of the ids missing;',
          [item for item in got.items() if item[1] != address])
PYTHON
"$here/venv/bin/pip" list 2>/dev/null | grep pyarrow
read_rows() { "$here/venv/bin/python" "$here/read.py" "$@"; }
address=$'12 High Street\nSpringfield, Ohio'
shows "20,000 rows" "$(read_rows 20000 "$address")" "20000 rows, int64; 0 of the ids missing; []"
shows "30,000 rows, without the comma" "$(read_rows 30000 "${address/,/}")" "an error"
shows "30,000 rows" "$(read_rows 30000 "$address")" \
    "30000 rows, string; 1 of the ids missing; [('Springfield', ' Ohio\"')]"
shows "30,000 rows, newlines_in_values" "$(read_rows 30000 "$address" yes)" \
    "30000 rows, int64; 0 of the ids missing; []"
