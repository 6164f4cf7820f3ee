#!/usr/bin/env bash
# Subject: ClickHouse 26.9.2 (chdb 4.4.0, PyPI), a column of Float64 with a bloom_filter index
# Question: the column holds -0.0. Does WHERE x = 0 find it?
# One would guess: yes; -0 = 0 is true there, and an index only leaves out what cannot match.
# What happens: no row, and no error. The filter has the hash of the bytes of -0.0, is asked for that
#     of 0.0, says no, and the granule is not read. Without the index all rows are found.
# Why it matters: a filter is only as right as its idea of equal keys. Bloom filters have no false
#     negatives, but keys that compare equal and hash apart are negatives all the same. A small
#     negative number that is rounded, and zero times a negative number, are -0.0.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install chdb==4.4.0

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/zero.py" <<'PYTHON'
import sys
from chdb import session

at = session.Session(sys.argv[1])

def query(sql):
    return str(at.query(sql)).strip()

query("create table t (i UInt64, x Float64, index f x type bloom_filter(0.01) granularity 1)"
      " engine = MergeTree order by i")
query("insert into t select number, -0. from numbers(1000)")
print(query("select -0. = 0."), *[
    query(f"select count() from t where x = {zero}"
          f" settings use_skip_indexes = {index}, use_query_condition_cache = 0")
    for index in (0, 1) for zero in ("0", "-0.")])
PYTHON
"$here/venv/bin/pip" list 2>/dev/null | grep '^chdb '
shows "-0. = 0.; rows where x = 0 and x = -0. without the index; with it" \
    "$("$here/venv/bin/python" "$here/zero.py" "$here/data")" "1 1000 1000 0 1000"
