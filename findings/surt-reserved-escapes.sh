#!/usr/bin/env bash
# Subject: surt 0.3.1 (PyPI), whose keys web archives sort their indexes by
# Question: does an escaped /, & or = stay apart from one that is not escaped?
# One would guess: yes. %26 is how a value contains an &; decoding it makes two parameters of one.
# What happens: all escapes are decoded, again and again, and only what must be escaped is escaped
#     again. So a%2Fb is a/b, %2541 is a, and ?q=a%26b=1 is ?b=1&q=a, as parameters are sorted after
#     that.
# Why it matters: a key is good for looking up what an archive may have. As a rule of what is a
#     duplicate it merges pages: ?q=R%26D=x and ?q=R&D=x, or a file name with a slash and a folder.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install surt==0.3.1

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

"$here/venv/bin/pip" list 2>/dev/null | grep '^surt '
key() { "$here/venv/bin/python" -c 'import surt, sys; print(surt.surt(sys.argv[1]))' "$1"; }
shows 'http://a.example/a%2Fb' "$(key 'http://a.example/a%2Fb')" 'example,a)/a/b'
shows 'http://a.example/%2541' "$(key 'http://a.example/%2541')" 'example,a)/a'
for url in 'http://a.example/?q=a%26b=1' 'http://a.example/?b=1&q=a'; do
    shows "$url" "$(key "$url")" 'example,a)/?b=1&q=a'
done
