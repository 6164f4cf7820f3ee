#!/usr/bin/env bash
# Subject: encoding/csv of Go (seen in 1.26)
# Question: does csv.Reader read back what csv.Writer wrote?
# One would guess: yes, as to rows and fields; CR LF may become LF.
# What happens: a row whose only field is empty is lost. The writer writes it as an empty line,
#     without quotes, and the reader skips empty lines. Python and Rust's csv write it as "".
# Why it matters: a column of keys, one a row, is the simplest CSV there is. Row numbers shift after
#     the first empty key, and a second file that was written beside it no longer fits.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/rows.go" <<'GO'
package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
)

func main() {
	var file bytes.Buffer
	csv.NewWriter(&file).WriteAll([][]string{{"apple"}, {""}, {"pear"}})
	fmt.Printf("%q\n", file.String())
	rows, err := csv.NewReader(&file).ReadAll()
	fmt.Printf("%q %v\n", rows, err)
}
GO
go version
got=$(go run "$here/rows.go")
shows "written" "$(sed -n 1p <<<"$got")" '"apple\n\npear\n"'
shows "read" "$(sed -n 2p <<<"$got")" '[["apple"] ["pear"]] <nil>'
shows "written by Python" \
    "$(python3 -c 'import csv, sys; csv.writer(sys.stdout).writerow([""])' | tr -d '\r')" '""'
