#!/usr/bin/env bash
# Subject: google-re2 1.1.20251105 (PyPI), the `re2` module by the makers of RE2
# Question: what does `re2.sub('$', '/', 'http://a')` print?
# One would guess: http://a/, as with Python's re, whose interface it has. Both count the places
#     where nothing is matched once each.
# What happens: http://a//. A place where nothing is matched is found twice if the search had to
#     walk to it: finditer() gives (8, 8) and once more (8, 8), split() an empty piece more. Where
#     the search starts at that very place, as in an empty line, it is found once.
# Why it matters: RE2 is what one changes to where patterns may be hostile, and the module calls
#     itself a drop-in. What gave each URL one slash, or each line a mark at its end, gives two from
#     then on, so that no new key equals an old one.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install google-re2==1.1.20251105

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# with MODULE EXPRESSION: the value of EXPRESSION, in which `r` is the module.
with() { "$here/venv/bin/python" -c "import $1 as r; print($2)"; }

"$here/venv/bin/pip" list 2>/dev/null | grep '^google-re2 '
python3 --version
end="r.sub('\$', '/', 'http://a')"
shows "re, a slash at the end" "$(with re "$end")" 'http://a/'
shows "re2, a slash at the end" "$(with re2 "$end")" 'http://a//'
slash="r.sub('/?\$', '/', 'http://a')"
shows "re, a slash if there is none" "$(with re "$slash")" 'http://a/'
shows "re2, a slash if there is none" "$(with re2 "$slash")" 'http://a//'
words="r.sub(r'\\b', '|', 'ab cd')"
shows "re, words" "$(with re "$words")" '|ab| |cd|'
shows "re2, words" "$(with re2 "$words")" '|ab|| |cd||'
places="[m.span() for m in r.finditer('\$', 'http://a')]"
shows "re, places" "$(with re "$places")" '[(8, 8)]'
shows "re2, places" "$(with re2 "$places")" '[(8, 8), (8, 8)]'
shows "re2, an empty line" "$(with re2 "r.sub('\$', '/', '')")" '/'
shows "re2, every place" "$(with re2 "r.sub('', '-', 'ab')")" '-a-b-'
