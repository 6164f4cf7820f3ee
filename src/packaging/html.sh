#!/bin/sh
# Makes the manual as HTML, in DIRECTORY.
#
#     src/packaging/html.sh DIRECTORY
set -eu

out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
src/build/deps.sh html
cp src/packaging/manual.css "$out"
cd man
for page in *.[1-8]; do
    # Other projects' pages have no place to link to.
    mandoc -T html -O 'style=manual.css,man=%N.%S.html;elsewhere:' "$page" |
        sed 's|<a class="Xr" href="elsewhere:[^"]*">\([^<]*\)</a>|\1|g' >"$out/$page.html"
done
