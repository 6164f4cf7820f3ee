#!/usr/bin/env bash
# Subject: diskcache 5.6.3 (PyPI), a dictionary on disk
# Question: is a value stored under the key ('a.example', 'a.example') found under an equal tuple?
# One would guess: yes, as in a dictionary.
# What happens: only if both tuples are built alike. A tuple is looked up by the bytes of its
#     pickle. If both places hold the same string object, pickle writes it once and a reference to
#     it; if they hold two equal strings, it writes both. The bytes differ, so the key is new.
# Why it matters: keys such as (host, referring host) come from parsed lines one day and from
#     constants the next. A cache of what was seen then does not find what it holds, at random as it
#     seems.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install diskcache==5.6.3

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/keys.py" <<'PYTHON'
import sys
import diskcache

cache = diskcache.Cache(sys.argv[1])
host = "a.example"
key = (host, host)
same = tuple("a.example\ta.example".split("\t"))
cache[key] = "seen"
print(key == same, key in cache, same in cache)
PYTHON
"$here/venv/bin/pip" list 2>/dev/null | grep diskcache
shows "equal keys, found as stored, found as split from a line" \
    "$("$here/venv/bin/python" "$here/keys.py" "$here/cache")" "True True False"
