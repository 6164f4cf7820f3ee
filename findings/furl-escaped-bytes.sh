#!/usr/bin/env bash
# Subject: furl 2.1.4 and courlan 1.4.0 (PyPI)
# Question: what do they make of escapes that are not UTF-8, such as ?q=%E9 (e acute in Latin-1)?
# One would guess: they stay. The bytes that %XX stand for are the server's own affair.
# What happens: each such byte becomes %EF%BF%BD, the escape of U+FFFD. Both decode the query as
#     UTF-8, put the replacement character for what is not, and encode that again. So ?q=%E9 and
#     ?q=%E8 become one URL, and neither is the one that was given. furl does it in the path, too.
# Why it matters: old sites in Latin-1, Windows-1251 or Shift JIS still link this way. As a key, all
#     words of the same shape are one; as a request, the page is not found.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install furl==2.1.4 courlan==1.4.0

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

"$here/venv/bin/pip" list 2>/dev/null | grep -E '^(furl|courlan) '
python=$here/venv/bin/python
furl() { "$python" -c 'import furl, sys; print(furl.furl(sys.argv[1]).url)' "$1"; }
courlan() { "$python" -c 'import courlan, sys; print(courlan.normalize_url(sys.argv[1]))' "$1"; }
for url in 'http://a.example/?q=%E9' 'http://a.example/?q=%E8'; do
    shows "furl, $url" "$(furl "$url")" 'http://a.example/?q=%EF%BF%BD'
    shows "courlan, $url" "$(courlan "$url")" 'http://a.example/?q=%EF%BF%BD'
done
shows "furl, http://a.example/%E9" "$(furl 'http://a.example/%E9')" 'http://a.example/%EF%BF%BD'
