#!/usr/bin/env bash
# Subject: csv-stringify 6.9.0 (npm), with record_delimiter: 'windows'
# Question: a field has a newline, as addresses do, and rows are to end with CR LF. How is the field
#     written?
# One would guess: in quotes, as without the option, and as RFC 4180 asks.
# What happens: without quotes. Only a field that has the whole end of a row, CR LF, is quoted, and
#     one with a lone LF or CR is not. csv-parse, of the same authors, reads it back, because it
#     takes the first row's CR LF for the only end. Others, such as Python's csv, find two rows.
#     quoted_string: true puts all strings in quotes.
# Why it matters: exports for Excel ask for CR LF, and a newline within a cell is LF. The round trip
#     in the exporter's own tests passes. Whoever compares rows gets halves of them, and takes what
#     follows the newline for an id.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
echo '{"private":true}' >package.json
npm install --silent --no-audit --no-fund csv-stringify@6.9.0 csv-parse@7.0.3

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >write.mjs <<'JS'
import { stringify } from 'csv-stringify/sync'
import { parse } from 'csv-parse/sync'
import { writeFileSync } from 'node:fs'
const [, , field, options] = process.argv
const text = stringify([['id', 'address'], ['7', JSON.parse(field)]], JSON.parse(options))
writeFileSync('written.csv', text)
console.log(JSON.stringify(text))
console.log(JSON.stringify(parse(text)))
JS
npm ls --depth 0 2>/dev/null | grep -o 'csv-.*'
# written FIELD OPTIONS: what is written, as JSON; the second line of ./out is what csv-parse reads.
written() { node write.mjs "$@" >out && sed -n 1p out; }
windows='{"record_delimiter":"windows"}'
shows "LF" "$(written '"a\nb"' '{}')" '"id,address\n7,\"a\nb\"\n"'
shows "CR LF, windows" "$(written '"a\r\nb"' "$windows")" '"id,address\r\n7,\"a\r\nb\"\r\n"'
shows "CR, windows" "$(written '"a\rb"' "$windows")" '"id,address\r\n7,a\rb\r\n"'
shows "LF, windows" "$(written '"a\nb"' "$windows")" '"id,address\r\n7,a\nb\r\n"'
shows "  csv-parse" "$(sed -n 2p out)" '[["id","address"],["7","a\nb"]]'
shows "  Python's csv" "$(python3 -c 'import csv
print(list(csv.reader(open("written.csv", newline=""), strict=True)))')" \
    "[['id', 'address'], ['7', 'a'], ['b']]"
shows "LF, windows, quoted_string" \
    "$(written '"a\nb"' '{"record_delimiter":"windows","quoted_string":true}')" \
    '"\"id\",\"address\"\r\n\"7\",\"a\nb\"\r\n"'
