#!/usr/bin/env bash
# Subject: pybloom-live 4.0.0 (PyPI), a Bloom filter used as a set of Python
# Question: which of 1, 1.0, True and '1' are in a filter to which 1 was added?
# One would guess: those that are equal to 1, as in a set: 1, 1.0 and True.
# What happens: 1 and '1'. A key that is no str is hashed as what str() makes of it. So 1 and 1.0,
#     which are equal, are two keys, and 1 and '1', which are not, are one. The key b'x', read from a
#     file in binary mode, is not the line x but the text b'x', with its letter and quotes. None and
#     the text None are one key.
# Why it matters: a list read as bytes never meets one read as text. Ids that come as 7 one day and
#     as 7.0 the next, as they do once a column has an empty cell in pandas, are all new again.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install pybloom-live==4.0.0

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/keys.py" <<'PYTHON'
from pybloom_live import BloomFilter

for added, asked in ((1, (1, 1.0, True, "1")), (b"x", (b"x", "x", "b'x'")), (None, (None, "None"))):
    as_filter = BloomFilter(1000, 1e-6)
    as_filter.add(added)
    as_set = {added}
    print(repr(added), "filter:", *[repr(key) for key in asked if key in as_filter],
          "set:", *[repr(key) for key in asked if key in as_set])
PYTHON
"$here/venv/bin/pip" list 2>/dev/null | grep pybloom
"$here/venv/bin/python" "$here/keys.py" >"$here/out"
shows "1 is added, then found are" "$(sed -n 1p "$here/out")" \
    "1 filter: 1 '1' set: 1 1.0 True"
shows "b'x' is added, then found are" "$(sed -n 2p "$here/out")" \
    "b'x' filter: b'x' \"b'x'\" set: b'x'"
shows "None is added, then found are" "$(sed -n 3p "$here/out")" \
    "None filter: None 'None' set: None"
