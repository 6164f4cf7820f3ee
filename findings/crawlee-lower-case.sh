#!/usr/bin/env bash
# Subject: crawlee 1.11.0 (PyPI)
# Question: do https://video.example/watch?v=aBc and https://video.example/watch?v=AbC get the same
#     unique key, by which the request queue leaves out duplicates?
# One would guess: no. Scheme and host are the same in either case; path and query are not.
# What happens: yes. The whole URL is folded to lower case, after its query was sorted and trackers'
#     parameters were removed. The second page is never fetched.
# Why it matters: ids in base 64, short links and S3 keys differ by case alone. A normalizer of URLs
#     that merges too much loses pages, which nobody sees; one that merges too little only fetches
#     twice.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install crawlee==1.11.0

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/key.py" <<'PYTHON'
import sys
from crawlee import Request

print(Request.from_url(sys.argv[1]).unique_key)
PYTHON
"$here/venv/bin/pip" list 2>/dev/null | grep crawlee
key() { "$here/venv/bin/python" "$here/key.py" "$1"; }
shows "https://video.example/watch?v=aBc" "$(key 'https://video.example/watch?v=aBc')" \
    'https://video.example/watch?v=abc'
shows "https://video.example/watch?v=AbC" "$(key 'https://video.example/watch?v=AbC')" \
    'https://video.example/watch?v=abc'
