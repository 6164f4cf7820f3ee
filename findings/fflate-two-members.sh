#!/usr/bin/env bash
# Subject: fflate 0.8.3 (npm)
# Question: what does gunzipSync make of a .gz file of two members (`cat a.gz b.gz`)?
# One would guess: the contents of both, as gzip(1), zlib in Node and pako give them; or of the
#     first one; or an error.
# What happens: the first member, cut to the size of the last one. The size of the result comes
#     from the last four bytes of the file, which belong to the last member. No error. With NUL
#     bytes as padding at the end, which gzip(1) ignores, the result is empty.
# Why it matters: rotated logs, WARC files and bgzip files have many members. A list that is read
#     so is cut in the middle of a line, and the cut line is new.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cd "$here"
npm install --silent --no-audit --no-fund --prefix "$here" fflate@0.8.3 >/dev/null
version=$(sed -n 's/.*"version": "\(.*\)".*/\1/p' node_modules/fflate/package.json)
echo "fflate $version, Node $(node --version)"
printf 'apple\npear\n' | gzip >a.gz
printf 'fig\n' | gzip >b.gz
cat a.gz b.gz >two.gz
{ cat a.gz && head -c 512 /dev/zero; } >padded.gz
cat >read.cjs <<'NODE'
const { gunzipSync } = require('fflate'), zlib = require('zlib'), fs = require('fs');
const bytes = fs.readFileSync(process.argv[3]);
const result = process.argv[2] === 'fflate' ? gunzipSync(bytes) : zlib.gunzipSync(bytes);
console.log(JSON.stringify(Buffer.from(result).toString()));
NODE
shows "gzip -dc two.gz" "$(gzip -dc two.gz | paste -sd' ' -)" "apple pear fig"
shows "Node's zlib, two.gz" "$(node read.cjs zlib two.gz)" '"apple\npear\nfig\n"'
shows "fflate, two.gz" "$(node read.cjs fflate two.gz)" '"appl"'
shows "fflate, padded.gz" "$(node read.cjs fflate padded.gz)" '""'
