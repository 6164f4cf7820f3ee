#!/usr/bin/env bash
# Subject: github.com/bits-and-blooms/bloom/v3 v3.7.1 on amd64, ApproximatedSize()
# Question: a filter made for 1,000 keys has got 1,000,000. How many does it say that it holds?
# One would guess: a very large number. The estimate has log(1 - bits set / bits), and all are set.
# What happens: 0, as for an empty filter. The estimate is infinity, and its conversion to uint32,
#     which Go leaves to the processor, gives 0. Up to 8,000 keys the estimate is within a tenth.
# Why it matters: who asks for the number to learn when a filter is full gets the answer "nearly
#     empty" from one that takes every new key for a seen one.
set -euo pipefail

here=$(mktemp -d)
trap 'chmod -R u+w "$here"; rm -rf "$here"' EXIT
export GOPATH=$here/go GOCACHE=$here/cache GOFLAGS=-mod=mod
command -v go >/dev/null || { echo "skipped: there is no go"; exit 77; }
[[ $(go env GOARCH) == amd64 ]] || { echo "skipped: this is about amd64"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

mkdir "$here/count"
cd "$here/count"
cat >go.mod <<'GO'
module count

go 1.21

require github.com/bits-and-blooms/bloom/v3 v3.7.1
GO
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/bits-and-blooms/bloom/v3"
)

func main() {
	filter := bloom.NewWithEstimates(1000, 0.001)
	for i := 0; i <= 1000000; i++ {
		if i == 1000 || i == 8000 || i == 1000000 {
			fmt.Println(i, filter.ApproximatedSize())
		}
		filter.AddString(fmt.Sprint(i))
	}
}
GO
go version
go run . >"$here/out" 2>"$here/said" || { cat "$here/said" >&2; exit 1; }
shows "keys added and ApproximatedSize()" "$(paste -sd, "$here/out")" "1000 1005,8000 8084,1000000 0"
