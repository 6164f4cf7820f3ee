#!/usr/bin/env bash
# Subject: DuckDB 2.0.1 (PyPI), read_json with its defaults
# Question: two lines of JSON have the same members, but for a time, a string, that differs by one
#     nanosecond. How many rows has SELECT DISTINCT?
# One would guess: two. JSON says what is a string.
# What happens: one. A column whose strings all look like times becomes a TIMESTAMP, which has
#     microseconds; the other digits are cut off. columns={...: 'VARCHAR'} keeps them.
# Why it matters: logs of Kubernetes, Go and Java have nanoseconds, and the time is often all that
#     tells two events apart. A reader that guesses types deduplicates before it is asked to.
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

cat >"$here/log.jsonl" <<'JSON'
{"time":"2026-11-01T00:00:00.123456001Z","event":"start"}
{"time":"2026-11-01T00:00:00.123456002Z","event":"start"}
JSON
cat >"$here/distinct.py" <<'PYTHON'
import sys
import duckdb

query = "SELECT count(*) FROM (SELECT DISTINCT * FROM read_json(?" + sys.argv[2] + "))"
print(duckdb.connect().execute(query, [sys.argv[1]]).fetchone()[0])
PYTHON
"$here/venv/bin/pip" list 2>/dev/null | grep duckdb
distinct() { "$here/venv/bin/python" "$here/distinct.py" "$here/log.jsonl" "$1"; }
shows "sort -u, lines" "$(sort -u "$here/log.jsonl" | wc -l)" 2
shows "SELECT DISTINCT, rows" "$(distinct '')" 1
shows "SELECT DISTINCT with columns as VARCHAR, rows" \
    "$(distinct ", columns = {time: 'VARCHAR', event: 'VARCHAR'}")" 2
